//! The ideas that keep one colour across all lessons.

/// Meaning of a matrix, a curve or a token; decides its accent colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Concept {
    /// Queries.
    Query,
    /// Keys.
    Key,
    /// Values.
    Value,
    /// Positions.
    Position,
    /// The residual stream, and inputs of a layer.
    Residual,
    /// Outputs of a layer.
    Output,
    /// Scores before the softmax.
    Score,
    /// Attention weights.
    Weight,
    /// None of them.
    #[default]
    Plain,
}

impl Concept {
    /// Class that sets the accent colour for an element and what it holds.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Query => "c-query",
            Self::Key => "c-key",
            Self::Value => "c-value",
            Self::Position => "c-position",
            Self::Residual => "c-residual",
            Self::Output => "c-output",
            Self::Score => "c-score",
            Self::Weight => "c-weight",
            Self::Plain => "c-plain",
        }
    }

    /// The custom property that holds the colour.
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Query => "--c-query",
            Self::Key => "--c-key",
            Self::Value => "--c-value",
            Self::Position => "--c-position",
            Self::Residual => "--c-residual",
            Self::Output => "--c-output",
            Self::Score => "--c-score",
            Self::Weight => "--c-weight",
            Self::Plain => "--c-plain",
        }
    }
}
