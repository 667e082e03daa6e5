//! The logit lens on a Vision Transformer: its answer read off after each block, off the class token or any
//! patch, and the most likely class of every patch. The lesson's cell reads the reader's drawing with
//! digit-vit; the other one the picture that an opened model read last.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use engine::model::vit::Vit;
use engine::nn::softmax::top_indices;
use explain::class_lens::{ReadsTokens, Streams, token_lens};
use ndarray::{Array2, Axis};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Describe, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::opened::window_reach::OpenedWindows;
use crate::parts::digit_models;
use crate::parts::drawn;
use crate::parts::opened_picture;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Classes that are named after each block of an opened model.
pub const TOP: usize = 3;

/// Classes of patches that get a colour of their own: those of the most patches.
pub const COLOURS: usize = 6;

/// Patches along a side of a drawing, and blocks of digit-vit.
const ACROSS: usize = 7;
const BLOCKS: usize = 4;

/// The number of blocks that the lesson begins with: the patches then differ most.
const FIRST: usize = 2;

/// Most patches of a picture that an opened model reads, and most of its blocks.
const MOST_PATCHES: usize = 4096;
const MOST_BLOCKS: usize = 48;

/// The cell `class-token-lens`.
pub const SPEC: CellSpec = CellSpec {
    name: "class-token-lens",
    inputs: || inputs(drawn::input(), ACROSS * ACROSS, (BLOCKS, FIRST)),
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = digit_models::entry(SPEC.name, |inputs, cache| {
    drawn::once_with_vit(inputs, cache, compute)
});

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: || {
        inputs(
            opened_picture::input(),
            MOST_PATCHES,
            (MOST_BLOCKS, MOST_BLOCKS),
        )
    },
    run: SPEC.run,
};

/// Starts the cell on a model and the picture that it read last.
///
/// # Errors
/// A model without classes.
pub fn start_opened(
    inputs: &Inputs,
    opened: Arc<OpenedPicture>,
) -> Result<Box<dyn Job>, CellError> {
    opened.model.classifier()?;
    let inputs = inputs.clone();
    Ok(once(move || compute_opened(&inputs, &opened)))
}

/// Starts the cell on a Swin V2 and the picture that it read last.
///
/// # Errors
/// None: the computation has its own.
pub fn start_windows(
    inputs: &Inputs,
    opened: Arc<OpenedWindows>,
) -> Result<Box<dyn Job>, CellError> {
    let inputs = inputs.clone();
    Ok(once(move || compute_windows(&inputs, &opened)))
}

/// The inputs; of the two numbers of blocks, the first is the most, and the second the default.
fn inputs(picture: InputSpec, patches: usize, blocks: (usize, usize)) -> Vec<InputSpec> {
    vec![
        picture,
        InputSpec::number(
            "token",
            "Token: 0 is what the classifier reads, from 1 a patch",
            (0.0, patches as f64, 1.0),
            0.0,
        ),
        InputSpec::number(
            "blocks",
            "Blocks that have run",
            (0.0, blocks.0 as f64, 1.0),
            blocks.1 as f64,
        ),
    ]
}

fn compute(inputs: &Inputs, vit: &Vit) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let image = drawn::image(&mut record, drawn::drawing(inputs)?)?;
    let streams = shown!(record, explain::class_lens::Streams::of, vit, image.view())?;
    let name = |class: usize| class.to_string();
    let found = read_off(&mut record, (vit, &streams), (ACROSS, ACROSS), inputs, name)?;
    name_depths(&mut record, "embedding", &streams);
    record.tensor("lens", &found);
    let digits = (0..found.ncols()).map(|class| class.to_string());
    record.words("digits", digits.collect());
    Ok(record.finish())
}

fn compute_opened(inputs: &Inputs, opened: &OpenedPicture) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let model = (opened.model.classifier()?, opened.streams()?);
    name_depths(&mut record, "embedding", model.1);
    let name = |class: usize| opened.class_name(class);
    let found = read_off(&mut record, model, opened.grid(), inputs, name)?;
    Ok(with_best(record, &found, name))
}

/// The cell on a Swin V2: its last stage, whose tokens have the width that the classifier reads.
fn compute_windows(inputs: &Inputs, opened: &OpenedWindows) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let (stage, side) = opened.last_stage();
    record.number("stage", stage as f64);
    record.number(
        "token.patches",
        (opened.across() / side.max(1)).max(1) as f64,
    );
    let model = (&*opened.model, opened.streams()?);
    let first = if stage > 1 { "the merge" } else { "embedding" };
    name_depths(&mut record, first, model.1);
    let name = |class: usize| opened.class_name(class);
    let found = read_off(&mut record, model, (side, side), inputs, name)?;
    Ok(with_best(record, &found, name))
}

/// The result with the most likely classes at each depth.
fn with_best(
    mut record: Record,
    found: &Array2<f32>,
    name: impl Fn(usize) -> String,
) -> Computation {
    let count = TOP.min(found.ncols());
    let tops: Vec<Vec<usize>> = (found.outer_iter())
        .map(|row| top_indices(row, count))
        .collect();
    let shares = Array2::from_shape_fn((tops.len(), count), |(depth, n)| {
        found[[depth, tops[depth][n]]]
    });
    record.tensor("probabilities", &shares);
    let names = tops.concat();
    record.words("words", names.iter().map(|&class| name(class)).collect());
    record.number("classes", found.ncols() as f64);
    record.finish()
}

/// The probabilities of the classes at each depth, read off the chosen token, `[L + 1, classes]`. What is
/// read off every patch after the chosen number of blocks is recorded, with the answer of the model and
/// the depth from which on it is the most likely class.
fn read_off(
    record: &mut Record,
    (model, streams): (&(impl ReadsTokens + Describe), &Streams),
    (rows, columns): (usize, usize),
    inputs: &Inputs,
    name: impl Fn(usize) -> String,
) -> Result<Array2<f32>, CellError> {
    let patches = rows * columns;
    let token = inputs.count("token")?.min(patches);
    let blocks = inputs.count("blocks")?.min(streams.blocks());
    let asked = token.checked_sub(1).map(|patch| model.before() + patch);
    let found = shown!(
        record,
        explain::class_lens::token_lens,
        model,
        streams,
        asked
    )?;
    let best = most_likely(&found);
    // The model's own answer, whatever was asked.
    let own = match asked {
        None => best.clone(),
        Some(_) => most_likely(&token_lens(model, streams, None)?),
    };
    let answer = own.last().copied().unwrap_or_default();
    record.number("answer", answer as f64);
    record.words("prediction", vec![name(answer)]);
    record.tensor("answer.probability", &found.index_axis(Axis(1), answer));
    // The first depth from which on the most likely class is the answer.
    let knows = own.iter().rposition(|&class| class != answer);
    record.number("knows", knows.map_or(0, |depth| depth + 1) as f64);
    let at = |(depth, &class): (usize, &usize)| f64::from(found[[depth, class]]);
    record.numbers(
        "best.probability",
        best.iter().enumerate().map(at).collect(),
    );
    record.words(
        "best.names",
        best.iter().map(|&class| name(class)).collect(),
    );
    record.numbers("best", best.iter().map(|&class| class as f64).collect());
    record.number("token", token as f64);
    record.number("blocks", blocks as f64);
    record.number("count", streams.blocks() as f64);
    let (classes, probabilities) = shown!(
        record,
        explain::class_lens::patch_lens,
        model,
        streams,
        blocks
    )?;
    let counts = by_count(&classes);
    let group = |class: usize| {
        let mut listed = counts.iter().take(COLOURS);
        listed
            .position(|&(other, _)| other == class)
            .unwrap_or(COLOURS)
    };
    let map = |of: &dyn Fn(usize) -> Option<f32>| {
        Array2::from_shape_fn((rows, columns), |(row, column)| {
            of(row * columns + column).unwrap_or_default()
        })
    };
    record.tensor(
        "patches.class",
        &map(&|n| classes.get(n).map(|&c| c as f32)),
    );
    record.tensor(
        "patches.group",
        &map(&|n| classes.get(n).map(|&c| group(c) as f32)),
    );
    record.tensor(
        "patches.probability",
        &map(&|n| probabilities.get(n).copied()),
    );
    let (listed, others) = counts.split_at(COLOURS.min(counts.len()));
    record.words(
        "groups",
        listed.iter().map(|&(class, _)| name(class)).collect(),
    );
    record.numbers(
        "groups.count",
        listed.iter().map(|&(_, n)| n as f64).collect(),
    );
    record.number("others", others.iter().map(|&(_, n)| n as f64).sum());
    Ok(found)
}

/// The names of the depths, the first of which is what the first block reads.
fn name_depths(record: &mut Record, first: &str, streams: &Streams) {
    let depths = (0..=streams.blocks()).map(|depth| match depth {
        0 => first.to_owned(),
        _ => format!("block {depth}"),
    });
    record.words("depths", depths.collect());
}

/// The most likely class of each row.
fn most_likely(rows: &Array2<f32>) -> Vec<usize> {
    let rows = rows.outer_iter();
    rows.map(|row| drawn::best(&row.to_owned())).collect()
}

/// Each class with the number of its patches, the most patches first, then in the order of the classes.
fn by_count(classes: &[usize]) -> Vec<(usize, usize)> {
    let mut counts = BTreeMap::new();
    for &class in classes {
        *counts.entry(class).or_insert(0) += 1;
    }
    let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(_, count)| Reverse(count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::ready;
    use crate::input::InputValue;
    use crate::parts::test_models::{cache, computed, number};

    fn of(label: usize) -> Computation {
        let drawing = InputValue::Drawing(ready(label));
        let given = Inputs::defaults(&(SPEC.inputs)()).with(drawn::NAME, drawing);
        computed(&SPEC, &given).unwrap()
    }

    /// Before the first block the class token has read nothing: every drawing gets the same answer.
    #[test]
    fn without_a_block_every_drawing_is_a_five() {
        let first = of(0);
        for label in 0..10 {
            let c = of(label);
            assert_eq!(c.at("best", &[0]), Some(5.0));
            assert!((c.at("best.probability", &[0]).unwrap() - 0.38).abs() < 0.005);
            for class in 0..10 {
                assert_eq!(c.at("lens", &[0, class]), first.at("lens", &[0, class]));
            }
        }
    }

    /// What the lesson says of the 4: a nine after the second block, a four after the third.
    #[test]
    fn the_four_is_a_nine_after_two_blocks() {
        let c = computed(&SPEC, &Inputs::defaults(&(SPEC.inputs)())).unwrap();
        let best: Vec<f64> = c.tensor("best").unwrap().values.iter().copied().collect();
        assert_eq!(best, [5.0, 4.0, 9.0, 4.0, 4.0]);
        assert_eq!(c.at("knows", &[]), Some(3.0));
        let at = |depth: usize| c.at("answer.probability", &[depth]).unwrap();
        assert!(at(0) < 0.03 && at(1) < 0.2 && at(3) < 0.5 && at(4) > 0.94);
    }

    /// Nine of the ten ready digits are known after the second block at the latest, all after the third;
    /// none with more than 80 % before that.
    #[test]
    fn most_ready_digits_are_known_after_two_blocks() {
        let knows: Vec<f64> = (0..10)
            .map(|label| of(label).at("knows", &[]).unwrap())
            .collect();
        assert_eq!(
            knows.iter().filter(|&&depth| depth <= 2.0).count(),
            9,
            "{knows:?}"
        );
        assert!(knows.iter().all(|&depth| depth <= 3.0));
        for label in 0..10 {
            let c = of(label);
            assert_eq!(c.at("answer", &[]), Some(label as f64));
            assert!(c.at("answer.probability", &[2]).unwrap() < 0.8);
        }
    }

    fn asked(token: usize, blocks: usize) -> Computation {
        let given = Inputs::defaults(&(SPEC.inputs)())
            .with("token", number(token as f64))
            .with("blocks", number(blocks as f64));
        computed(&SPEC, &given).unwrap()
    }

    /// The row of the class token is what the model's own pooling and head give, to the bit; that of a patch
    /// is the head on the norm of its vector.
    #[test]
    fn a_row_is_the_head_on_the_norm_of_a_token() {
        let vit = digit_models::vit(&cache()).unwrap();
        let image = drawn::quiet_image(&ready(4)).unwrap();
        let mut seen = engine::trace::Recorder::default();
        let hidden = vit.hidden(image.view(), &mut Some(&mut seen)).unwrap();
        let class = asked(0, 4);
        for depth in 0..=4 {
            let name = match depth {
                0 => "input".to_owned(),
                _ => format!("blocks.{}.output", depth - 1),
            };
            let stream = seen.get(&name).unwrap().view();
            let stream = stream.into_dimensionality::<ndarray::Ix2>().unwrap();
            let own = drawn::probabilities(&vit.read_off(stream).unwrap());
            for digit in 0..10 {
                assert_eq!(
                    class.at("lens", &[depth, digit]),
                    Some(f64::from(own[digit]))
                );
            }
        }
        // The last hidden state has gone through the norm: a picture of this one token.
        for patch in [1, 25, 49] {
            let c = asked(patch, 4);
            let one = hidden.select(Axis(0), &[patch]);
            let plain = &mut engine::nn::plain::Plain::silent();
            let logits = vit.run_logits(plain, &one, &[1]).unwrap();
            let own = drawn::probabilities(&logits.row(0).to_owned());
            for digit in 0..10 {
                let found = c.at("lens", &[4, digit]).unwrap();
                assert!((found - f64::from(own[digit])).abs() < 1e-6);
            }
            // The map says the same of it, and the model's answer is still the class token's.
            let place = [(patch - 1) / 7, (patch - 1) % 7];
            assert_eq!(c.at("patches.class", &place), c.at("best", &[4]));
            let p = c.at("patches.probability", &place).unwrap();
            assert!((p - c.at("best.probability", &[4]).unwrap()).abs() < 1e-6);
            for name in ["answer", "knows"] {
                assert_eq!(c.tensor(name), class.tensor(name));
            }
        }
    }

    /// What the lesson says of the patches of the 4: after two blocks most of them are read as something
    /// else, after the last nearly all as a 4, with ink or without.
    #[test]
    fn the_patches_turn_to_the_answer() {
        let fours = |blocks: usize| {
            let c = asked(0, blocks);
            let classes = c.tensor("patches.class").unwrap().values.clone();
            classes.iter().filter(|&&class| class == 4.0).count()
        };
        assert_eq!([0, 1, 2, 3, 4].map(fours), [7, 1, 14, 41, 47]);
        let last = asked(0, 4);
        let image = drawn::quiet_image(&ready(4)).unwrap();
        let blank = |row: usize, column: usize| {
            let pixels = (0..16).map(|n| image[[0, 4 * row + n / 4, 4 * column + n % 4]]);
            pixels.sum::<f32>() == 0.0
        };
        let places = (0..49).map(|n| (n / 7, n % 7));
        let blank: Vec<_> = places.filter(|&(row, column)| blank(row, column)).collect();
        let read = |&&(row, column): &&(usize, usize)| {
            last.at("patches.class", &[row, column]) == Some(4.0)
        };
        assert_eq!((blank.len(), blank.iter().filter(read).count()), (30, 29));
    }

    /// Every patch has a class, and the classes are listed by their patches.
    #[test]
    fn all_patches_are_counted() {
        for blocks in 0..=4 {
            let c = asked(0, blocks);
            assert_eq!(c.at("blocks", &[]), Some(blocks as f64));
            let counts = c.tensor("groups.count").unwrap().values.clone();
            assert!(counts.iter().is_sorted_by(|a, b| a >= b), "{counts}");
            assert_eq!(counts.sum() + c.at("others", &[]).unwrap(), 49.0);
            assert_eq!(counts.len(), c.words("groups").len());
            let (group, class) = (c.tensor("patches.group"), c.tensor("patches.class"));
            for (group, class) in group.unwrap().values.iter().zip(&class.unwrap().values) {
                match c.words("groups").get(*group as usize) {
                    Some(named) => assert_eq!(*named, class.to_string()),
                    None => assert_eq!(*group, COLOURS as f64),
                }
            }
        }
    }
}
