//! The tensor that the reader has opened, and the number of it that is selected.

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
use crate::parts::block_parts::tensor_of;
use crate::parts::opened_number::{chosen, keep_number, keep_tensor, term_names};
use crate::parts::trained::Head;

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
        let place = chosen(self.inputs, &tensor)?;
        let number = self.number(record, site, name, place)?;
        keep_tensor(record, name, (&tensor, column_names), place, self.at_once);
        record.number("bits", f64::from(product_bits(model)));
        keep_number(record, &number, term_names(site.part, self.tokens));
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
}
