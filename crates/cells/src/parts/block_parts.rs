//! The parts of pre-norm Transformers by their names: the way through them, and which number of one
//! is made of which numbers of others. The blocks are the same for all; a kind of model has parts of
//! its own before and after them.

use explain::one_number::Part;

/// Columns of a tensor of an opened model that are shown at once.
pub const AT_ONCE: usize = 128;

/// The parts of a block's attention.
pub const ATTENTION: [&str; 9] = [
    "norm-1",
    "q",
    "k",
    "v",
    "scores",
    "weights",
    "heads",
    "attention-out",
    "residual-1",
];

/// The parts of a block's MLP.
pub const MLP: [&str; 5] = ["norm-2", "mlp-in", "activation", "mlp-out", "residual-2"];

/// The parts of a kind of model.
#[derive(Debug)]
pub struct Stages {
    /// All of them, in the order in which they are computed: those before the blocks, those of a
    /// block, those after the blocks.
    pub parts: &'static [&'static str],
    /// How many there are before the blocks.
    pub before: usize,
    /// Where a number before or after the blocks comes from, as [`Spot::source`] says it.
    pub outside: fn(Spot, Of) -> Option<Spot>,
}

impl Stages {
    /// The parts before the blocks.
    pub fn before(&self) -> &'static [&'static str] {
        self.parts.split_at(self.before).0
    }

    /// The parts after the blocks.
    pub fn after(&self) -> &'static [&'static str] {
        let inner = ATTENTION.len() + MLP.len();
        self.parts.split_at(self.before + inner).1
    }

    /// The block and the part that are `steps` further on the way through a model of `layers`
    /// blocks, counted from 1; `None` past either end.
    pub fn walked(
        &self,
        layers: usize,
        (layer, part): (usize, &str),
        steps: isize,
    ) -> Option<(usize, &'static str)> {
        let inner = ATTENTION.len() + MLP.len();
        let blocks = self.before..self.before + inner;
        let of = self.parts.iter().position(|name| *name == part)?;
        let passed = layer.clamp(1, layers.max(1)) - 1;
        let at = if of < blocks.start {
            of
        } else if of < blocks.end {
            of + passed * inner
        } else {
            of + (layers - 1) * inner
        };
        let to = at.checked_add_signed(steps)?;
        if to < blocks.start {
            return Some((layer, self.parts[to]));
        }
        let within = to - blocks.start;
        if within < layers * inner {
            let part = self.parts[blocks.start + within % inner];
            return Some((within / inner + 1, part));
        }
        let part = self.parts.get(blocks.end + within - layers * inner)?;
        Some((layer, part))
    }
}

/// A number of the model: a part of a block and a head, a row and a column. Block and head are
/// counted from 1, row and column from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The block.
    pub layer: usize,
    /// The head.
    pub head: usize,
    /// The name of the part.
    pub part: &'static str,
    /// The row.
    pub row: usize,
    /// The column.
    pub column: usize,
}

/// A number that another one is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Row and column of the terms.
    Term(usize, usize),
    /// One of the steps after the sum.
    Step(usize),
}

impl Spot {
    /// The spot whose part has this name.
    pub fn new(
        stages: &Stages,
        (layer, head): (usize, usize),
        part: &str,
        (row, column): (usize, usize),
    ) -> Option<Self> {
        let part = stages.parts.iter().find(|name| **name == part)?;
        Some(Self {
            layer,
            head,
            part,
            row,
            column,
        })
    }

    /// The stream that the block reads.
    fn before(self) -> Self {
        match self.layer {
            0 | 1 => self.of("input"),
            layer => Self {
                layer: layer - 1,
                ..self.of("residual-2")
            },
        }
    }

    /// The same place of another part.
    pub(crate) fn of(self, part: &'static str) -> Self {
        Self { part, ..self }
    }

    /// Another place of another part.
    pub(crate) fn at(self, part: &'static str, row: usize, column: usize) -> Self {
        Self {
            part,
            row,
            column,
            ..self
        }
    }

    /// Where a number that this one is made of was computed itself; `None` for a parameter, and for
    /// what the terms make of it. `count` is the number of the terms, the sizes are blocks and heads.
    pub fn source(
        self,
        stages: &Stages,
        of: Of,
        count: usize,
        (layers, heads): (usize, usize),
    ) -> Option<Self> {
        let (row, column) = (self.row, self.column);
        Some(match (self.part, of) {
            ("norm-1", Of::Step(0)) | ("residual-1", Of::Term(0, 0)) => self.before(),
            ("q" | "k" | "v", Of::Term(k, 0)) => self.at("norm-1", row, k),
            ("scores", Of::Term(k, 0)) => self.at("q", row, k),
            ("scores", Of::Term(k, 1)) => self.at("k", column, k),
            ("weights", Of::Term(k, 0)) => self.at("scores", row, k),
            ("heads", Of::Term(k, 0)) => self.at("weights", row, k),
            ("heads", Of::Term(k, 1)) => self.at("v", k, column),
            ("attention-out", Of::Term(k, 0)) => {
                let width = count / heads.max(1);
                Self {
                    head: k.checked_div(width)? + 1,
                    ..self.at("heads", row, k % width)
                }
            }
            ("residual-1", Of::Term(1, 0)) => self.of("attention-out"),
            ("norm-2", Of::Step(0)) | ("residual-2", Of::Term(0, 0)) => self.of("residual-1"),
            ("mlp-in", Of::Term(k, 0)) => self.at("norm-2", row, k),
            ("activation", Of::Step(0)) => self.of("mlp-in"),
            ("mlp-out", Of::Term(k, 0)) => self.at("activation", row, k),
            ("residual-2", Of::Term(1, 0)) => self.of("mlp-out"),
            ("norm", Of::Step(0)) => Self {
                layer: layers,
                ..self.of("residual-2")
            },
            _ => return (stages.outside)(self, of),
        })
    }
}

/// What a part's name stands for; `None` for one that is no tensor of the pass.
pub(crate) fn tensor_of(name: &str) -> Option<Part> {
    Some(match name {
        "pixels" => Part::Pixels,
        "patches" => Part::Patches,
        "embedding" => Part::Embedding,
        "with-class" => Part::WithClass,
        "token" => Part::Tokens,
        "position" => Part::Positions,
        "input" => Part::Input,
        "norm-1" => Part::Norm1,
        "q" => Part::Queries,
        "k" => Part::Keys,
        "v" => Part::Values,
        "scores" => Part::Scores,
        "weights" => Part::Weights,
        "heads" => Part::Heads,
        "attention-out" => Part::AttentionOutput,
        "residual-1" => Part::Residual1,
        "norm-2" => Part::Norm2,
        "mlp-in" => Part::MlpIn,
        "activation" => Part::Activation,
        "mlp-out" => Part::MlpOut,
        "residual-2" => Part::Residual2,
        "norm" => Part::Norm,
        "class" => Part::Class,
        "logits" => Part::Logits,
        _ => return None,
    })
}
