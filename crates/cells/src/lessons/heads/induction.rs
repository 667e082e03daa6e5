//! Random tokens that are said twice, read by tiny-gpt or by a model that the reader has opened: the
//! loss of every token, with any heads switched off.

use std::sync::Arc;

use ndarray::Array2;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::parts::said::{self, Said};
use crate::parts::trained::{self, GPT};
use crate::spec::{CellSpec, Job, Run, WorkerKind};
use crate::text_model::TextModel;

/// The layers of tiny-gpt, and the heads of each.
pub const LAYERS: usize = 4;
/// The heads of each layer of tiny-gpt.
pub const HEADS: usize = 4;

/// The switches of the heads, layer by layer: name and label.
pub const SWITCHES: [(&str, &str); LAYERS * HEADS] = [
    ("head-1-1", "1.1"),
    ("head-1-2", "1.2"),
    ("head-1-3", "1.3"),
    ("head-1-4", "1.4"),
    ("head-2-1", "2.1"),
    ("head-2-2", "2.2"),
    ("head-2-3", "2.3"),
    ("head-2-4", "2.4"),
    ("head-3-1", "3.1"),
    ("head-3-2", "3.2"),
    ("head-3-3", "3.3"),
    ("head-3-4", "3.4"),
    ("head-4-1", "4.1"),
    ("head-4-2", "4.2"),
    ("head-4-3", "4.3"),
    ("head-4-4", "4.4"),
];

/// Heads that the buttons switch off together: the words of the button and the heads, by their
/// numbers in [`SWITCHES`].
pub const TOGETHER: [(&str, &[usize]); 4] = [
    ("All on", &[]),
    ("Previous-token head off", &[2]),
    ("Induction heads off", &[4, 5, 6]),
    ("Layers 3 and 4 off", &[8, 9, 10, 11, 12, 13, 14, 15]),
];

/// The cell `induction`.
pub const SPEC: CellSpec = CellSpec {
    name: "induction",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().collect(),
    start: |inputs, cache| Ok(trained::once_with(inputs, trained::gpt(cache)?, compute)),
    partial_from: None,
};

/// The input that switches the heads of an opened model: a row for each layer, a column for each
/// head, 0 where it is off.
pub const ON: &str = "on";

/// Most layers, and most heads of each, of an opened model.
const MOST: usize = 128;

/// The cell on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: SPEC.name,
    inputs: opened_inputs,
    run: SPEC.run,
};

fn opened_inputs() -> Vec<InputSpec> {
    let mut all = said::inputs();
    let (sides, on) = ((1, MOST), Array2::ones((1, 1)));
    all.push(InputSpec::matrix(ON, "Heads that are on", sides, sides, on));
    all
}

/// Starts the cell on a model that the reader has opened.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(inputs: &Inputs, model: Arc<dyn TextModel>) -> Result<Box<dyn Job>, CellError> {
    Ok(trained::once_with(inputs, model, compute_opened))
}

fn inputs() -> Vec<InputSpec> {
    let mut all = said::inputs();
    all.extend(SWITCHES.map(|(name, label)| InputSpec::toggle(name, label, true)));
    all
}

fn compute(inputs: &Inputs, model: &dyn TextModel) -> Result<Computation, CellError> {
    let mut off = Vec::new();
    for (number, (name, _)) in SWITCHES.into_iter().enumerate() {
        if !inputs.toggle(name)? {
            off.push(number);
        }
    }
    losses(inputs, model, &off)
}

fn compute_opened(inputs: &Inputs, model: &dyn TextModel) -> Result<Computation, CellError> {
    let sizes = (model.decoder().layers(), model.decoder().heads());
    let on = inputs.matrix(ON)?;
    if on.dim() != sizes {
        let (layers, heads) = sizes;
        return Err(CellError::Mismatch(format!(
            "The switches are those of another model: this one has {layers} layers with {heads} heads each."
        )));
    }
    let off = on.iter().enumerate().filter(|&(_, &on)| on == 0.0);
    losses(
        inputs,
        model,
        &off.map(|(number, _)| number).collect::<Vec<_>>(),
    )
}

/// The losses with all heads on, and with the heads `off`, by their numbers layer by layer.
fn losses(inputs: &Inputs, model: &dyn TextModel, off: &[usize]) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let said = Said::chosen(inputs, model)?;
    let (model, ids) = (model.decoder(), &said.ids[..]);
    let now = shown!(
        record,
        explain::switched_heads::token_losses,
        model,
        ids,
        off
    )?;
    let whole = if off.is_empty() {
        now.clone()
    } else {
        explain::switched_heads::token_losses(model, ids, &[])?
    };
    said.keep_tokens(&mut record);
    said.keep_means(&mut record, &whole, "");
    said.keep_means(&mut record, &now, ".now");
    if let Some(first) = said.first_mean(&now) {
        record.number("ratio.now", said.mean(&now) / first);
    }
    record.number("off", off.len() as f64);
    record.number(
        "guess",
        f64::from(engine::math::ln(model.vocabulary() as f32)),
    );
    record.tensor("loss", &whole);
    record.tensor("loss.now", &now);
    Ok(record.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;
    use crate::parts::said::{LIST, YOURS};
    use crate::parts::test_models::{choice, computed, number, text};

    fn with(seed: f64, off: &[usize]) -> Computation {
        let mut given = Inputs::defaults(&inputs()).with("seed", number(seed));
        for &number in off {
            given = given.with(SWITCHES[number].0, InputValue::Toggle(false));
        }
        computed(&SPEC, &given).unwrap()
    }

    fn value(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The heads of the buttons.
    fn together(words: &str) -> &'static [usize] {
        let found = TOGETHER.iter().find(|(name, _)| name.starts_with(words));
        found.unwrap().1
    }

    /// What the lesson says: the first time the loss is far above that of an even guess, the second
    /// time it is nearly zero; the loss of the token that begins the second time is not.
    #[test]
    fn the_loss_falls_off_a_cliff() {
        for seed in 2..8 {
            let c = with(f64::from(seed), &[]);
            assert!(value(&c, "first") > 12.0 && value(&c, "mean") < 0.05);
            assert!((value(&c, "guess") - 7.62).abs() < 0.01);
            assert_eq!(c.words("predicted").len(), 2 * LIST);
            assert_eq!(value(&c, "mean"), value(&c, "mean.now"));
        }
        assert!(with(2.0, &[]).at("loss", &[LIST]).unwrap() > 1.0);
    }

    /// What the lesson says of the buttons, on several lists.
    #[test]
    fn without_either_kind_of_head_the_cliff_is_gone() {
        for seed in 2..6 {
            let seed = f64::from(seed);
            let lost = |words: &str| value(&with(seed, together(words)), "mean.now");
            assert!(lost("Previous") > 8.0, "{}", lost("Previous"));
            assert!(lost("Induction") > 12.0, "{}", lost("Induction"));
            assert!(lost("Layers") < 0.1, "{}", lost("Layers"));
            // Each of the three induction heads can be missing alone.
            for number in together("Induction") {
                let alone = value(&with(seed, &[*number]), "mean.now");
                assert!(alone < 0.8, "{number}: {alone}");
            }
        }
    }

    /// What the lesson says of seed 1: a token that comes twice within the list has two
    /// continuations, and the model expects the wrong one.
    #[test]
    fn a_token_with_two_continuations_is_a_trap() {
        let c = with(1.0, &[]);
        let tokens = &c.words("predicted")[..LIST];
        let twice: Vec<usize> = (0..LIST)
            .filter(|&t| tokens[..t].contains(&tokens[t]))
            .collect();
        assert_eq!(twice, [17]);
        assert_eq!(tokens[17], "\u{2423}his");
        let losses = c.tensor("loss").unwrap();
        let high: Vec<usize> = (LIST + 1..2 * LIST)
            .filter(|&t| losses.values[[t]] > 1.0)
            .collect();
        assert_eq!(high, [LIST + 18]);
    }

    /// What the lesson says of the story: without the induction heads the name is a surprise.
    #[test]
    fn the_induction_heads_know_the_name_of_the_story() {
        let given = Inputs::defaults(&inputs()).with("text", choice(YOURS));
        let mut off = given.clone();
        for &number in together("Induction") {
            off = off.with(SWITCHES[number].0, InputValue::Toggle(false));
        }
        let c = computed(&SPEC, &off).unwrap();
        let names: Vec<usize> = (0..c.words("predicted").len())
            .filter(|&t| c.words("predicted")[t] == "\u{2423}Lily")
            .collect();
        assert_eq!(names.len(), 3);
        let lost = |t: usize| c.at("loss.now", &[t]).unwrap() - c.at("loss", &[t]).unwrap();
        assert!(lost(names[0]) < 0.5);
        assert!(lost(names[1]) > 3.0 && lost(names[2]) > 3.0);
        assert!(c.at("first", &[]).is_none());
    }

    /// The solution of the exercise: ten heads are off, and the list is still known.
    #[test]
    fn ten_heads_can_be_missing() {
        let mut off = together("Layers").to_vec();
        off.extend([1, 3]);
        let c = with(2.0, &off);
        assert_eq!(value(&c, "off"), 10.0);
        assert!(value(&c, "mean.now") < 0.5);
    }

    #[test]
    fn a_text_without_tokens_or_with_too_many_is_refused() {
        let given = Inputs::defaults(&inputs()).with("text", choice(YOURS));
        for words in [" ".to_owned(), "the ".repeat(49)] {
            let found = computed(&SPEC, &given.clone().with("sentence", text(&words)));
            assert!(matches!(found, Err(CellError::Input { .. })), "{words}");
        }
    }
}
