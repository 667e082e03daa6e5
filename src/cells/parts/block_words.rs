//! The parts of a pre-norm Transformer in words: what a button, a title and a sentence call each of its
//! tensors.

use crate::widgets::Concept;

/// The words and the colour of a part.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    /// Name among the choices of the input `part`.
    pub(crate) name: &'static str,
    /// Words of its button.
    pub(crate) short: &'static str,
    /// Title of its map.
    pub(crate) title: &'static str,
    /// Where one of its numbers comes from.
    pub(crate) rule: &'static str,
    /// Accent colour.
    pub(crate) concept: Concept,
}

/// The parts of the blocks, and the norm after them.
const BLOCKS: [Shown; 15] = [
    Shown {
        name: "norm-1",
        short: "norm",
        title: "Layer norm of the stream [T \u{d7} C]",
        rule: "Of each token\u{2019}s vector, the mean is subtracted and the standard deviation divided out. Then each column has a scale $\u{3b3}$ and a shift $\u{3b2}$.",
        concept: Concept::Residual,
    },
    Shown {
        name: "q",
        short: "$Q$",
        title: "Queries $Q$ [T \u{d7} D] of the head",
        rule: "The dot product of the token\u{2019}s row of the norm and a column of $W_Q$, plus a bias.",
        concept: Concept::Query,
    },
    Shown {
        name: "k",
        short: "$K$",
        title: "Keys $K$ [T \u{d7} D] of the head",
        rule: "The dot product of the token\u{2019}s row of the norm and a column of $W_K$, plus a bias.",
        concept: Concept::Key,
    },
    Shown {
        name: "v",
        short: "$V$",
        title: "Values $V$ [T \u{d7} D] of the head",
        rule: "The dot product of the token\u{2019}s row of the norm and a column of $W_V$, plus a bias.",
        concept: Concept::Value,
    },
    Shown {
        name: "scores",
        short: "scores",
        title: "Scores $QK^\u{22a4}/\u{221a}d_k$ [T \u{d7} T] of the head",
        rule: "The dot product of the row token\u{2019}s query and the column token\u{2019}s key, scaled.",
        concept: Concept::Score,
    },
    Shown {
        name: "weights",
        short: "weights",
        title: "Attention weights [T \u{d7} T] of the head",
        rule: "Softmax of a row of scores: exp of each score less the largest, divided by their sum.",
        concept: Concept::Weight,
    },
    Shown {
        name: "heads",
        short: "mix",
        title: "Weighted sums of values [T \u{d7} D] of the head",
        rule: "The dot product of the row token\u{2019}s attention weights and a column of $V$.",
        concept: Concept::Value,
    },
    Shown {
        name: "attention-out",
        short: "$W_O$",
        title: "Output of attention [T \u{d7} C], which is added to the stream",
        rule: "All heads side by side: the dot product of the token\u{2019}s row and a column of $W_O$, plus a bias.",
        concept: Concept::Output,
    },
    Shown {
        name: "residual-1",
        short: "+",
        title: "Residual stream [T \u{d7} C] after attention",
        rule: "The stream before the block plus the output of attention.",
        concept: Concept::Residual,
    },
    Shown {
        name: "norm-2",
        short: "norm",
        title: "Layer norm of the stream [T \u{d7} C]",
        rule: "Of each token\u{2019}s vector, the mean is subtracted and the standard deviation divided out. Then each column has a scale $\u{3b3}$ and a shift $\u{3b2}$.",
        concept: Concept::Residual,
    },
    Shown {
        name: "mlp-in",
        short: "$W_1$",
        title: "First layer of the MLP [T \u{d7} F]",
        rule: "The dot product of the token\u{2019}s row of the norm and a column of $W_1$, plus a bias.",
        concept: Concept::Plain,
    },
    Shown {
        name: "activation",
        short: "GELU",
        title: "Activation [T \u{d7} F]",
        rule: "GELU of one number: about zero where it is negative, about the number itself where it is large.",
        concept: Concept::Plain,
    },
    Shown {
        name: "mlp-out",
        short: "$W_2$",
        title: "Output of the MLP [T \u{d7} C], which is added to the stream",
        rule: "The dot product of the token\u{2019}s row of the activation and a column of $W_2$, plus a bias.",
        concept: Concept::Output,
    },
    Shown {
        name: "residual-2",
        short: "+",
        title: "Residual stream [T \u{d7} C] after the block",
        rule: "The stream after attention plus the output of the MLP.",
        concept: Concept::Residual,
    },
    Shown {
        name: "norm",
        short: "norm",
        title: "Layer norm of the last stream [T \u{d7} C]",
        rule: "Of each token\u{2019}s vector, the mean is subtracted and the standard deviation divided out. Then each column has a scale $\u{3b3}$ and a shift $\u{3b2}$.",
        concept: Concept::Residual,
    },
];

/// The words and the colour of the part of this name, for a model that calls these parts by words of
/// its `own`.
pub(crate) fn shown(own: &'static [Shown], name: &str) -> Option<&'static Shown> {
    own.iter().chain(&BLOCKS).find(|part| part.name == name)
}
