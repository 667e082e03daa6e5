//! Random weights by the engine's formula, packed as they are drawn: the plain numbers of a large
//! matrix are never all in memory.

use std::borrow::Cow;
use std::ops::Range;

use engine::EngineError;
use engine::Result;
use engine::formula::{Formula, fill};
use engine::ndarray::{Array2, ArrayD};
use engine::parameters::{Compressed, Memory, Parameters, Weight, expect_shape, matrix};
use engine::quant::{Matrix, Type, quantize};

/// Numbers that are drawn before they are packed: 4 MiB.
const PANEL: usize = 1 << 20;

/// Parameters by the formula, matrices in a form of the caller's choice.
#[derive(Debug, Clone)]
pub struct RandomWeights {
    formula: Formula,
    seed: u64,
    kind: Type,
}

impl RandomWeights {
    /// A source of the parameters in `shapes`, each rows first, with matrices in `kind`. Those
    /// whose rows are not whole blocks stay plain.
    pub fn new(seed: u64, shapes: Vec<(String, Vec<usize>)>, kind: Type) -> Self {
        Self {
            formula: Formula::new(seed, shapes),
            seed,
            kind,
        }
    }
}

impl Parameters for RandomWeights {
    fn names(&self) -> Vec<String> {
        self.formula.names()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.formula.shape(name)
    }

    fn form(&self, _: &str) -> Type {
        self.kind
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        self.formula.read(name)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        if self.kind == Type::F32 || cols == 0 || !cols.is_multiple_of(self.kind.block_len()) {
            let plain = matrix(&mut self.formula, name, rows, cols)?;
            return self.pack(name, plain);
        }
        expect_shape(self.shape(name), name, &[rows, cols])?;
        let wrong = |error: engine::quant::QuantError| EngineError::Parameter {
            name: name.to_owned(),
            expected: format!("[{rows}, {cols}] in {}", self.kind.name()),
            found: error.to_string(),
        };
        let height = (PANEL / cols).max(1);
        let draw = |rows: Range<usize>| {
            let numbers = rows.len() * cols;
            let mut blocks = Vec::with_capacity(self.kind.bytes(numbers).unwrap_or_default());
            for first in rows.clone().step_by(height) {
                let numbers = height.min(rows.end - first) * cols;
                // Element i of a parameter is the first one of seed + i.
                let seed = self.seed.wrapping_add((first * cols) as u64);
                blocks.extend(quantize(self.kind, &fill(name, 2, numbers, seed))?);
            }
            Ok(Cow::Owned(blocks))
        };
        Matrix::by_rows(self.kind, [rows, cols], draw, |error| error)
            .map(Weight::Packed)
            .map_err(wrong)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        Compressed::new(Memory::default(), self.kind).pack(name, matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_packed_while_they_are_drawn_are_the_formulas() {
        // More rows than one panel holds, and more than are packed at once.
        let (rows, cols) = (130_000, 64);
        let shapes = vec![("a.weight".to_owned(), vec![rows, cols])];
        for kind in [Type::F32, Type::Q8_0, Type::Q4_0] {
            let mut weights = RandomWeights::new(3, shapes.clone(), kind);
            let mut whole = Compressed::new(Formula::new(3, shapes.clone()), kind);
            let (drawn, whole) = (
                weights.weight("a.weight", rows, cols),
                whole.weight("a.weight", rows, cols),
            );
            assert_eq!(drawn, whole, "{}", kind.name());
        }
        let mut weights = RandomWeights::new(3, shapes, Type::Q8_0);
        assert!(weights.weight("a.weight", rows, 32).is_err());
        assert!(weights.weight("b.weight", rows, cols).is_err());
    }
}
