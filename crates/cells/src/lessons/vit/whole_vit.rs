//! The forward pass of digit-vit over the reader's drawing: one of its tensors, one number of that
//! tensor with what it was computed from, and the answer.

use std::sync::Arc;

use engine::model::vit::Vit;
use engine::nn::attention::Mask;
use explain::one_number::{OneNumber, Part, Pass, Site};
use ndarray::{Array1, Array2, Axis};

use crate::computation::Computation;
use crate::drawing::Drawing;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, InputValue, Inputs};
use crate::jobs::Entry;
use crate::model_cache::ModelCache;
use crate::parts::block_parts::tensor_of;
use crate::parts::opened_number::{chosen, keep_number, keep_tensor, term_names};
use crate::parts::vit_parts::PARTS;
pub use crate::parts::vit_parts::VIT;
use crate::parts::{digit_models, drawn, trained};
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Tokens of a drawing: the class token and 49 patches.
const TOKENS: usize = 50;

/// Columns of the widest tensor, the first layer of the MLP.
const WIDEST: usize = 128;

/// The name of the class token's row.
const CLASS: &str = "class token";

/// The cell `whole-vit`.
pub const SPEC: CellSpec = CellSpec {
    name: "whole-vit",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, |inputs, cache| {
    Ok(Box::new(Whole {
        vit: digit_models::vit(cache)?,
        inputs: inputs.clone(),
        read: None,
    }))
});

/// The cell begins with the weight that the class token gives patch 18 in the second head of the
/// second block.
fn inputs() -> Vec<InputSpec> {
    let part = InputSpec {
        default: InputValue::Choice("weights".to_owned()),
        ..InputSpec::choice("part", "Part", &PARTS)
    };
    let [layer, head] = trained::layer_and_head(2.0, 2.0);
    let (rows, columns) = (TOKENS as f64, WIDEST as f64);
    vec![
        drawn::input(),
        part,
        layer,
        head,
        // A number beyond means the last: the selection stays where the next tensor is smaller.
        InputSpec::number("row", "Row", (1.0, rows, 1.0), 1.0),
        InputSpec::number("column", "Column", (1.0, columns, 1.0), 19.0),
    ]
}

/// The model with what it has computed of a drawing, of which the reader opens one part after the
/// other.
struct Whole {
    vit: Arc<Vit>,
    inputs: Inputs,
    read: Option<Reading>,
}

impl Job for Whole {
    fn advance(&mut self) -> Result<Progress, CellError> {
        let drawing = drawn::drawing(&self.inputs)?;
        let known = self.read.take().filter(|read| read.drawing == *drawing);
        let read = match known {
            Some(read) => read,
            None => Reading::of(&self.vit, drawing)?,
        };
        let found = read.computed(&self.inputs, &self.vit);
        self.read = Some(read);
        Ok(Progress::Done(Box::new(found?)))
    }

    /// What is opened next is a part of the same pass.
    fn is_kept(&self) -> bool {
        true
    }

    fn go_on(&mut self, inputs: &Inputs, _cache: &ModelCache) -> Result<bool, CellError> {
        self.inputs = inputs.clone();
        Ok(true)
    }
}

/// A forward pass over a drawing.
struct Reading {
    drawing: Drawing,
    pass: Pass,
    /// `[classes]`.
    probabilities: Array1<f32>,
    /// The calls of the picture and of the forward pass.
    calls: Vec<Call>,
}

impl Reading {
    fn of(vit: &Vit, drawing: &Drawing) -> Result<Self, CellError> {
        let mut record = Record::new();
        let image = drawn::image(&mut record, drawing)?;
        let picture = image.view();
        let pass = shown!(record, explain::one_number::Pass::of_picture, vit, picture)?;
        let site = Site {
            part: Part::Probabilities,
            block: 0,
            head: 0,
        };
        Ok(Self {
            drawing: drawing.clone(),
            probabilities: pass.tensor(vit, site)?.index_axis_move(Axis(0), 0),
            pass,
            calls: record.finish().calls,
        })
    }

    /// What the inputs open.
    fn computed(&self, inputs: &Inputs, vit: &Vit) -> Result<Computation, CellError> {
        let mut record = Record::new();
        record.calls(&self.calls);
        drawn::note(&mut record, "", &self.probabilities);
        let name = inputs.choice("part")?;
        let sizes = (vit.config().layers, vit.config().heads);
        let head = trained::Head::chosen(&mut record, inputs, sizes)?;
        let site = Site {
            part: tensor_of(name).unwrap_or(Part::Probabilities),
            block: head.layer,
            head: head.head,
        };
        let pass = &self.pass;
        if site.part.is_of_head() {
            let attention = ("", "attention");
            head.attention(&mut record, pass.recorder(), attention, &Mask::None)?;
        }
        let tensor = pass.tensor(vit, site)?;
        let place = chosen(inputs, &tensor)?;
        let number = shown!(
            record,
            explain::one_number::Pass::number,
            pass,
            vit,
            site,
            place
        )?;
        self.keep(&mut record, (name, site.part), &tensor, place, &number);
        Ok(record.finish())
    }

    /// Keeps the opened tensor and its selected number, with their names.
    fn keep(
        &self,
        record: &mut Record,
        (name, part): (&str, Part),
        tensor: &Array2<f32>,
        place: (usize, usize),
        number: &OneNumber,
    ) {
        let tokens = tokens();
        let digits: Vec<String> = (0..self.probabilities.len())
            .map(|digit| digit.to_string())
            .collect();
        let rows = match part {
            Part::Pixels => Vec::new(),
            Part::Patches | Part::Embedding => tokens[1..].to_vec(),
            _ => tokens.clone(),
        };
        let columns = match part {
            Part::Scores | Part::Weights => tokens.clone(),
            Part::Logits | Part::Probabilities => digits.clone(),
            _ => Vec::new(),
        };
        let terms = match part {
            Part::Probabilities => digits,
            _ => term_names(part, &tokens),
        };
        record.words("rows", rows);
        keep_tensor(record, name, (tensor, columns), place, WIDEST);
        keep_number(record, number, terms);
    }
}

/// The names of the tokens.
fn tokens() -> Vec<String> {
    let patches = (1..TOKENS).map(|n| format!("patch {n}"));
    std::iter::once(CLASS.to_owned()).chain(patches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::jobs::JobCache;
    use crate::parts::block_parts::{ATTENTION, MLP, Of, Spot};
    use crate::parts::test_models::{cache, choice, computed, number};
    use crate::parts::vit_parts::{PATCH, SIDE};
    use engine::trace::Recorder;
    use ndarray::ArrayD;

    /// Numbers in all corners of the tensors and between them; one beyond means the last.
    const PLACES: [(usize, usize); 5] = [(1, 1), (50, 1), (18, 7), (3, 100), (50, 128)];

    fn given() -> Inputs {
        Inputs::defaults(&inputs())
    }

    fn opened(part: &str) -> Computation {
        computed(&SPEC, &given().with("part", choice(part))).unwrap()
    }

    fn at(spot: Spot) -> Inputs {
        let mut at = given().with("part", choice(spot.part));
        for (name, chosen) in [
            ("layer", spot.layer),
            ("head", spot.head),
            ("row", spot.row + 1),
            ("column", spot.column + 1),
        ] {
            at = at.with(name, number(chosen as f64));
        }
        at
    }

    fn shape(c: &Computation, name: &str) -> Vec<usize> {
        c.tensor(name).unwrap().shape().to_vec()
    }

    fn value(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// One computation after the other with one job, as in the worker: each drawing is read once.
    struct Kept(ModelCache, JobCache);

    impl Kept {
        fn new() -> Self {
            Self(cache(), JobCache::default())
        }

        fn computed(&mut self, inputs: &Inputs) -> Computation {
            let mut job = self.1.begin(&ENTRY, inputs, &self.0).unwrap();
            let Progress::Done(found) = job.advance().unwrap() else {
                panic!("one slice does all");
            };
            self.1.keep(SPEC.name, job);
            *found
        }
    }

    /// The way leads through every part of every block, forward and back.
    #[test]
    fn the_way_leads_through_the_whole_model() {
        let groups = [VIT.before(), &ATTENTION, &MLP, VIT.after()];
        assert_eq!(groups.concat(), PARTS);
        let (mut now, mut passed) = ((1, "pixels"), 1);
        while let Some(next) = VIT.walked(4, now, 1) {
            assert_eq!(VIT.walked(4, next, -1).unwrap().1, now.1);
            now = next;
            passed += 1;
        }
        assert_eq!((now.1, passed), ("probabilities", 6 + 4 * 14 + 4));
    }

    /// The shapes of all parts, with C = 64, D = 16 and F = 128, and the terms of a number.
    #[test]
    fn every_part_has_its_shape() {
        let vit = digit_models::vit(&cache()).unwrap();
        let config = vit.config();
        assert_eq!((config.patch, config.image), (PATCH, SIDE));
        let mut kept = Kept::new();
        for part in PARTS {
            let c = kept.computed(&given().with("part", choice(part)));
            let expected = match part {
                "pixels" => [SIDE, SIDE],
                "patches" => [49, 16],
                "embedding" => [49, 64],
                "q" | "k" | "v" | "heads" => [TOKENS, 16],
                "scores" | "weights" => [TOKENS, TOKENS],
                "mlp-in" | "activation" => [TOKENS, WIDEST],
                "class" => [1, 64],
                "logits" | "probabilities" => [1, 10],
                _ => [TOKENS, 64],
            };
            assert_eq!(shape(&c, "opened"), expected, "{part}");
            let terms = match part {
                "embedding" | "scores" => [16, 4],
                "q" | "k" | "v" | "attention-out" | "mlp-in" | "logits" => [64, 4],
                "weights" => [TOKENS, 3],
                "heads" => [TOKENS, 4],
                "mlp-out" => [WIDEST, 4],
                "input" | "residual-1" | "residual-2" => [2, 2],
                "probabilities" => [10, 3],
                _ => [0, 0],
            };
            assert_eq!(shape(&c, "terms"), terms, "{part}");
            assert_eq!(c.words("terms.columns").len(), terms[1]);
            assert_eq!(c.words("steps.names").len(), shape(&c, "steps")[0]);
            let names = c.words("rows").len();
            assert!(names == 0 || names >= expected[0], "{part}");
            assert_eq!(tensor_of(part).is_none(), part == "probabilities");
        }
    }

    /// What is opened after something else is what a new computation opens, of the drawing that was
    /// read before and of another.
    #[test]
    fn a_kept_pass_opens_what_a_new_one_does() {
        let mut kept = Kept::new();
        for (part, digit) in [
            ("weights", 4),
            ("pixels", 4),
            ("probabilities", 7),
            ("q", 7),
            ("q", 4),
        ] {
            let drawing = InputValue::Drawing(ready(digit));
            let inputs = given().with("part", choice(part));
            let inputs = inputs.with(drawn::NAME, drawing);
            let found = kept.computed(&inputs);
            assert_eq!(found, computed(&SPEC, &inputs).unwrap(), "{part}");
        }
    }

    /// Every opened number is that of the model's own pass, in each block and head.
    #[test]
    fn what_is_opened_is_the_models_own_pass() {
        let vit = digit_models::vit(&cache()).unwrap();
        let image = drawn::quiet_image(drawn::drawing(&given()).unwrap()).unwrap();
        let mut recorder = Recorder::default();
        let logits = vit.forward(image.view(), Some(&mut recorder)).unwrap();
        let mut kept = Kept::new();
        let mut same = |part: &'static str, (layer, head): (usize, usize), found: ArrayD<f32>| {
            let spot = Spot::new(&VIT, (layer, head), part, (0, 0)).unwrap();
            let c = kept.computed(&at(spot));
            let expected = found.mapv(f64::from);
            assert_eq!(c.tensor("opened").unwrap().values, expected, "{part}");
        };
        for (layer, head) in [(1, 1), (2, 4), (4, 3)] {
            for (part, name) in [
                ("norm-1", "norm_1"),
                ("q", "attention.q"),
                ("k", "attention.k"),
                ("v", "attention.v"),
                ("scores", "attention.scores"),
                ("weights", "attention.weights"),
                ("heads", "attention.heads"),
                ("attention-out", "attention.output"),
                ("residual-1", "residual_1"),
                ("norm-2", "norm_2"),
                ("mlp-in", "mlp.before"),
                ("activation", "mlp.inner"),
                ("mlp-out", "mlp.output"),
                ("residual-2", "output"),
            ] {
                let name = format!("blocks.{}.{name}", layer - 1);
                let found = recorder.get(&name).unwrap();
                let found = match found.ndim() {
                    3 => found.index_axis(Axis(0), head - 1).to_owned(),
                    _ => found.clone(),
                };
                same(part, (layer, head), found);
            }
        }
        for (part, name) in [
            ("patches", "patches"),
            ("embedding", "embedding"),
            ("position", "positions"),
            ("input", "input"),
            ("norm", "norm"),
        ] {
            same(part, (1, 1), recorder.get(name).unwrap().clone());
        }
        let row = |values: Array1<f32>| values.insert_axis(Axis(0)).into_dyn();
        let pooled = recorder.get("norm").unwrap().index_axis(Axis(0), 0);
        same("class", (1, 1), pooled.insert_axis(Axis(0)).to_owned());
        same("probabilities", (1, 1), row(drawn::probabilities(&logits)));
        same("logits", (1, 1), row(logits));
        let pixels = image.index_axis(Axis(0), 0).to_owned().into_dyn();
        same("pixels", (1, 1), pixels);
        // The class token is a parameter; below it are the embedded patches.
        let class = vit.tokens().class.clone().unwrap();
        let embedded = recorder.get("embedding").unwrap();
        let joined = [row(class), embedded.clone()];
        let joined = ndarray::concatenate(Axis(0), &joined.each_ref().map(|a| a.view())).unwrap();
        same("with-class", (1, 1), joined);
    }

    /// The terms and steps of numbers in all corners of each tensor end at the displayed number, to
    /// the rounding of 32 bits, and the products are those of their factors.
    #[test]
    fn the_running_sum_ends_at_the_number() {
        let mut kept = Kept::new();
        for part in PARTS {
            for head in [(1, 1), (3, 4)] {
                for (row, column) in PLACES {
                    let spot = Spot::new(&VIT, head, part, (row - 1, column - 1)).unwrap();
                    let c = kept.computed(&at(spot));
                    let place = ["row", "column"].map(|name| value(&c, name) as usize - 1);
                    let shown = c.at("opened", &place).unwrap();
                    assert_eq!(value(&c, "value"), shown, "{part}");
                    let steps = c.tensor("steps").unwrap().values.clone();
                    let end = steps.iter().last().copied().unwrap();
                    assert_eq!((end - shown).abs(), value(&c, "difference"));
                    let near = 1e-5 * shown.abs().max(1.0);
                    assert!((end - shown).abs() < near, "{spot:?}: {end} {shown}");
                    let terms = c.tensor("terms").unwrap();
                    if let [count, 4] = *terms.shape() {
                        let mut total = 0.0_f32;
                        for k in 0..count {
                            let at = |m| terms.at(&[k, m]).unwrap() as f32;
                            let product = at(0) * at(1);
                            total += product;
                            assert_eq!((at(2), at(3)), (product, total), "{part} {k}");
                        }
                    }
                }
            }
        }
    }

    /// Each number that can be opened from another one is the very number that its terms have, and
    /// from a probability the way leads down to a pixel.
    #[test]
    fn the_source_of_a_term_is_that_number() {
        let (sizes, mut kept, mut found) = ((4, 4), Kept::new(), 0);
        for part in PARTS {
            for head in [(1, 2), (4, 3)] {
                for place in [(17, 2), (0, 5)] {
                    let c = kept.computed(&at(Spot::new(&VIT, head, part, place).unwrap()));
                    let row = value(&c, "row") as usize - 1;
                    let spot = Spot::new(&VIT, head, part, (row, place.1)).unwrap();
                    let count = shape(&c, "terms")[0];
                    let places = [(0, 0), (1, 0), (3, 0), (1, 1), (4, 1), (49, 0)];
                    let terms = places.map(|(k, m)| (Of::Term(k, m), c.at("terms", &[k, m])));
                    let step = (Of::Step(0), c.at("steps", &[0]));
                    for (of, number) in terms.into_iter().chain([step]) {
                        let source = spot.source(&VIT, of, count, sizes);
                        if let (Some(source), Some(number)) = (source, number) {
                            let opened = kept.computed(&at(source));
                            assert_eq!(value(&opened, "value"), number, "{spot:?} {of:?}");
                            found += 1;
                        }
                    }
                }
            }
        }
        assert!(found > 140, "{found}");
        let mut spot = Spot::new(&VIT, (1, 1), "probabilities", (0, 4)).unwrap();
        let mut way = vec![spot.part];
        // From the MLP of the last block to its attention, and there to a key of patch 7.
        for of in [
            Of::Term(4, 0),
            Of::Term(9, 0),
            Of::Step(0),
            Of::Step(0),
            Of::Term(1, 0),
            Of::Term(2, 0),
            Of::Step(0),
            Of::Term(5, 0),
            Of::Step(0),
            Of::Term(1, 0),
            Of::Term(3, 0),
            Of::Term(18, 0),
            Of::Term(7, 0),
            Of::Term(2, 1),
            Of::Term(5, 0),
            Of::Step(0),
        ] {
            let count = shape(&kept.computed(&at(spot)), "terms")[0];
            spot = spot.source(&VIT, of, count, sizes).unwrap();
            way.push(spot.part);
        }
        assert_eq!((spot.part, spot.layer, spot.row), ("residual-2", 3, 7));
        let mut spot = Spot::new(&VIT, (1, 1), "norm-1", (18, 7)).unwrap();
        for of in [
            Of::Step(0),
            Of::Term(0, 0),
            Of::Step(0),
            Of::Term(6, 0),
            Of::Step(0),
        ] {
            let count = shape(&kept.computed(&at(spot)), "terms")[0];
            spot = spot.source(&VIT, of, count, sizes).unwrap();
        }
        // Patch 18 is the fourth of the third row of patches.
        assert_eq!((spot.part, spot.row, spot.column), ("pixels", 9, 14));
        assert!(
            way.contains(&"activation") && way.contains(&"weights"),
            "{way:?}"
        );
    }

    /// An input that no control gives gets a message: a part that is none, a number beyond every
    /// tensor, and one that is not whole.
    #[test]
    fn inputs_out_of_range_get_a_message() {
        for (name, value, said) in [
            ("part", choice("token"), "is not one of pixels, patches"),
            ("layer", number(5.0), "outside 1 to 4"),
            ("head", number(0.0), "outside 1 to 4"),
            ("row", number(51.0), "outside 1 to 50"),
            ("column", number(129.0), "outside 1 to 128"),
            ("column", number(1.5), "1.5 is not a whole number"),
        ] {
            let spec = inputs().into_iter().find(|spec| spec.name == name).unwrap();
            let error = spec.check(&value).unwrap_err().to_string();
            assert!(error.contains(said), "{name}: {error}");
        }
        // Within the limits, a place beyond the opened tensor means its last one.
        let given = given().with("part", choice("logits"));
        let c = computed(&SPEC, &given.with("column", number(128.0))).unwrap();
        assert_eq!((value(&c, "row"), value(&c, "column")), (1.0, 10.0));
    }

    /// What the lesson says of the cell as it opens, and of its first sums: a weight of a patch on the
    /// left line, and the same row for all patches without ink until positions are added.
    #[test]
    fn patches_without_ink_differ_by_their_positions() {
        let c = opened("weights");
        assert_eq!((value(&c, "layer"), value(&c, "head")), (2.0, 2.0));
        assert_eq!((value(&c, "row"), value(&c, "column")), (1.0, 19.0));
        assert_eq!(c.words("rows")[18], "patch 18");
        assert!((0.91..0.92).contains(&value(&c, "value")));
        let rows = |part: &str| -> Vec<Array1<f64>> {
            let opened = &opened(part).tensor("opened").unwrap().values.clone();
            opened
                .outer_iter()
                .map(|row| row.flatten().into_owned())
                .collect()
        };
        let (patches, embedded) = (rows("patches"), rows("embedding"));
        let is_blank = |patch: &&Array1<f64>| patch.iter().all(|&pixel| pixel == 0.0);
        assert_eq!(patches.iter().filter(is_blank).count(), 30);
        let bias = digit_models::vit(&cache()).unwrap();
        let bias = bias.tokens().patches.bias.clone().unwrap().mapv(f64::from);
        for (patch, embedded) in patches.iter().zip(&embedded) {
            assert_eq!(is_blank(&patch), *embedded == bias);
        }
        let sums = rows("input");
        for (n, one) in sums.iter().enumerate() {
            assert!(sums[..n].iter().all(|other| other != one), "row {n}");
        }
        // *sum* is three buttons after *× E*.
        let place = |name| PARTS.iter().position(|part| *part == name);
        assert_eq!(place("input"), place("embedding").map(|n| n + 3));
    }

    /// The class token's row is the same for every drawing until the attention of the first block.
    #[test]
    fn the_class_token_meets_the_drawing_in_the_first_block() {
        let mut kept = Kept::new();
        let mut row = |part: &str, digit: usize| {
            let given = given()
                .with("part", choice(part))
                .with("layer", number(1.0));
            let drawing = InputValue::Drawing(ready(digit));
            let c = kept.computed(&given.with(drawn::NAME, drawing));
            let opened = &c.tensor("opened").unwrap().values;
            opened.index_axis(Axis(0), 0).to_owned()
        };
        for (part, is_same) in [("input", true), ("norm-1", true), ("residual-1", false)] {
            let four = row(part, 4);
            for digit in [0, 1, 7, 9] {
                assert_eq!(row(part, digit) == four, is_same, "{part}, {digit}");
            }
        }
    }

    /// The answer is that of the model whatever is open, and follows the drawing.
    #[test]
    fn the_answer_follows_the_drawing() {
        let mut kept = Kept::new();
        for digit in 0..10_u8 {
            let drawing = ready(usize::from(digit));
            let image = drawn::quiet_image(&drawing).unwrap();
            let vit = digit_models::vit(&cache()).unwrap();
            let logits = vit.forward(image.view(), None).unwrap();
            let given = given().with(drawn::NAME, InputValue::Drawing(drawing));
            let c = kept.computed(&given);
            let expected = drawn::probabilities(&logits).mapv(f64::from).into_dyn();
            assert_eq!(c.tensor("probabilities").unwrap().values, expected);
            assert_eq!(value(&c, "answer"), f64::from(digit));
        }
        let blank = given().with(drawn::NAME, InputValue::Drawing(Drawing::default()));
        let c = kept.computed(&blank.with("part", choice("pixels")));
        assert_eq!(c.tensor("opened").unwrap().values.sum(), 0.0);
        assert_eq!(value(&c, "answer"), 1.0);
    }
}
