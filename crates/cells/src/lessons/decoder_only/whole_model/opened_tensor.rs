//! The tensor that the reader has opened, and the number of it that is selected.

use std::ops::Range;

use engine::model::gpt2::Gpt2;
use engine::nn::attention::Mask;
use engine::parameters::Weight;
use engine::token::tokenizer::Tokenizer;
use explain::one_number::{OneNumber, Part, Pass, Site};
use ndarray::{Array2, Axis};

use super::next_token::words_of;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::Inputs;
use crate::parts::decoder_parts::tensor_of;
use crate::parts::trained::Head;

/// The columns that are shown with a column, of so many.
fn part_of(count: usize, column: usize, at_once: usize) -> Range<usize> {
    let first = column / at_once * at_once;
    first..count.min(first + at_once)
}

/// The bits of the numbers that the model's products multiply its parameters with.
fn product_bits(model: &Gpt2) -> u32 {
    let block = model.trunk().blocks.first();
    match block.map(|block| &block.attention.output.weight) {
        Some(Weight::Packed(matrix)) => matrix.activation_bits(),
        _ => u32::BITS,
    }
}

/// What the opened tensor is read from.
pub(super) struct Opened<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) model: &'a Gpt2,
    pub(super) tokenizer: &'a dyn Tokenizer,
    /// Columns that are shown at once.
    pub(super) at_once: usize,
    pub(super) pass: &'a Pass,
    pub(super) logits: &'a Array2<f32>,
    pub(super) tau: f32,
    /// The tokens that are columns of logits and probabilities.
    pub(super) columns: &'a [usize],
    /// The tokens of the text, which name the rows.
    pub(super) tokens: &'a [String],
}

impl Opened<'_> {
    /// Keeps the opened tensor, and one number of it with its terms.
    pub(super) fn keep(&self, record: &mut Record) -> Result<(), CellError> {
        let model = self.model;
        let sizes = (model.config().layers, model.config().heads);
        let head = Head::chosen(record, self.inputs, sizes)?;
        let name = self.inputs.choice("part")?;
        let site = Site {
            part: tensor_of(name).unwrap_or(Part::Logits),
            block: head.layer,
            head: head.head,
        };
        if site.part.is_of_head() {
            let recorder = self.pass.recorder();
            let mask = Mask::Causal { first: 0 };
            head.attention(record, recorder, ("", "attention"), &mask)?;
        }
        let tensor = match name {
            "probabilities" => self.probabilities()?,
            "logits" => self.logits.select(Axis(1), self.columns),
            _ => self.pass.tensor(model, site)?,
        };
        let column_names = match name {
            "scores" | "weights" => self.tokens.to_vec(),
            "logits" | "probabilities" => words_of(self.tokenizer, self.columns)?,
            _ => Vec::new(),
        };
        let place = (
            self.inputs.count("row")?.clamp(1, tensor.nrows()) - 1,
            self.inputs.count("column")?.clamp(1, tensor.ncols()) - 1,
        );
        let number = self.number(record, site, name, place)?;
        // Of a wide tensor the columns around the selected number, not all.
        let shown = part_of(tensor.ncols(), place.1, self.at_once);
        record.number("first", shown.start as f64);
        record.number("width", tensor.ncols() as f64);
        record.tensor("opened", &tensor.slice_axis(Axis(1), shown.into()));
        record.words("columns", column_names);
        record.words("part", vec![name.to_owned()]);
        record.number("row", (place.0 + 1) as f64);
        record.number("column", (place.1 + 1) as f64);
        record.number("bits", f64::from(product_bits(model)));
        self.keep_number(record, &number, site.part);
        Ok(())
    }

    /// The probabilities of the tokens that are columns, at each position.
    fn probabilities(&self) -> Result<Array2<f32>, CellError> {
        let mut all = Array2::zeros((self.logits.nrows(), self.columns.len()));
        for (mut to, logits) in all.rows_mut().into_iter().zip(self.logits.rows()) {
            let row = engine::nn::softmax::softmax_temperature(logits, self.tau)?;
            for (to, &id) in to.iter_mut().zip(self.columns) {
                *to = row[id];
            }
        }
        Ok(all)
    }

    /// The selected number.
    fn number(
        &self,
        record: &mut Record,
        site: Site,
        name: &str,
        (t, c): (usize, usize),
    ) -> Result<OneNumber, CellError> {
        let (model, pass) = (self.model, self.pass);
        if name == "probabilities" {
            let (logits, id, tau) = (self.logits.row(t), self.columns[c], self.tau);
            return Ok(shown!(
                record,
                explain::one_number::probability,
                logits,
                id,
                tau
            )?);
        }
        let place = match site.part {
            Part::Logits => (t, self.columns[c]),
            _ => (t, c),
        };
        Ok(shown!(
            record,
            explain::one_number::Pass::number,
            pass,
            model,
            site,
            place
        )?)
    }

    fn keep_number(&self, record: &mut Record, number: &OneNumber, part: Part) {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        record.tensor("terms", &number.terms);
        record.words("terms.columns", owned(number.columns));
        let names = match part {
            Part::Weights | Part::Heads => self.tokens.to_vec(),
            Part::Input => owned(&["token", "position"]),
            Part::Residual1 => owned(&["stream before", "attention"]),
            Part::Residual2 => owned(&["stream before", "MLP"]),
            _ => Vec::new(),
        };
        record.words("terms.rows", names);
        let steps = number.steps.iter();
        record.numbers(
            "steps",
            steps.clone().map(|step| f64::from(step.1)).collect(),
        );
        record.words("steps.names", steps.map(|step| step.0.to_owned()).collect());
        record.number("value", f64::from(number.value));
        let difference = f64::from(number.value) - f64::from(number.end());
        record.number("difference", difference.abs());
    }
}

#[cfg(test)]
mod tests {
    use super::part_of;

    #[test]
    fn of_a_wide_tensor_the_columns_around_one_are_shown() {
        for (count, column, expected) in [
            (64, 63, 0..64),
            (512, 0, 0..128),
            (512, 127, 0..128),
            (512, 128, 128..256),
            (300, 299, 256..300),
        ] {
            assert_eq!(part_of(count, column, 128), expected, "{column}");
        }
    }
}
