//! What a GPT-2 has before and after its blocks: token table, position table, logits of every token.

use engine::error::Result;
use engine::model::gpt2::Gpt2;
use engine::nn::attention::Mask;
use engine::nn::embedding::embed;
use engine::nn::norm::LayerNorm;
use ndarray::Array2;

use super::terms::{Parts, READ, none, products, sum};
use super::{Block, Part, Pass, PreNorm, missing};

impl PreNorm for Gpt2 {
    fn block(&self, n: usize) -> Option<Block<'_>> {
        let block = self.trunk().blocks.get(n)?;
        Some(Block {
            norm_1: &block.norm_1,
            qkv: &block.attention.qkv,
            output: &block.attention.output,
            heads: block.attention.heads,
            norm_2: &block.norm_2,
            mlp: &block.mlp,
        })
    }

    fn layers(&self) -> usize {
        self.config().layers
    }

    fn last_norm(&self) -> &LayerNorm {
        &self.trunk().norm
    }

    fn mask(&self) -> Mask {
        Mask::Causal { first: 0 }
    }

    fn outside(&self, pass: &Pass, part: Part) -> Result<Array2<f32>> {
        // -> [T, C] or [T, V]
        match part {
            Part::Tokens => pass.matrix("embedding"),
            Part::Positions => {
                let table = self.trunk().positions.as_ref();
                let table = table.ok_or_else(|| missing("a table of positions"))?;
                let rows: Vec<usize> = (0..pass.ids()?.len()).collect();
                embed(table.view(), &rows)
            }
            Part::Input => pass.matrix("input"),
            Part::Norm => pass.matrix("norm"),
            Part::Logits => pass.matrix("logits"),
            _ => Err(missing("a part of a decoder")),
        }
    }

    fn outside_number(
        &self,
        pass: &Pass,
        part: Part,
        (t, c): (usize, usize),
        value: f32,
    ) -> Result<Parts> {
        let other = |part| self.outside(pass, part);
        Ok(match part {
            Part::Tokens => {
                let id = pass.ids()?[t];
                let entry = self.tokens().rows(&[id])?[[0, c]];
                none(vec![("row of $E$, the id", id as f32), ("=", entry)])
            }
            Part::Positions => none(vec![("row of the table", t as f32), ("=", value)]),
            Part::Input => sum(
                other(Part::Tokens)?[[t, c]],
                other(Part::Positions)?[[t, c]],
            ),
            Part::Logits => {
                let weights = self.trunk().head().rows(&[c])?;
                let (terms, total) = products(other(Part::Norm)?.row(t), weights.row(0));
                (READ, terms, vec![("= sum", total)])
            }
            _ => return Err(missing("a part of a decoder")),
        })
    }
}
