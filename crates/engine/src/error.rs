//! The crate's one error type.

/// What can go wrong in the engine. The text names the operation, what it expected and what it was
/// given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// Two shapes do not fit, or one is not what the operation needs.
    #[error("{operation}: expected {expected}, found {found}")]
    Shape {
        /// The function that refused.
        operation: &'static str,
        /// The shapes it needs, in words.
        expected: String,
        /// The shapes it was given.
        found: String,
    },
    /// A number is outside the range in which the operation has a meaning.
    #[error("{operation}: {argument} must be {expected}, found {found}")]
    Value {
        /// The function that refused.
        operation: &'static str,
        /// The argument's name.
        argument: &'static str,
        /// The values that are allowed, in words.
        expected: String,
        /// The value that came.
        found: String,
    },
    /// There is no room left for more tokens.
    #[error(
        "the context is full: the model reads at most {context} tokens, it holds {position} and was given {tokens} more"
    )]
    ContextFull {
        /// How many tokens fit.
        context: usize,
        /// How many it holds.
        position: usize,
        /// How many were to be added.
        tokens: usize,
    },
    /// A model's parameter is missing, has another shape than the model needs, or cannot be read.
    #[error("parameter {name}: expected {expected}, found {found}")]
    Parameter {
        /// Its name in the source.
        name: String,
        /// The shape or content that is needed.
        expected: String,
        /// What the source has.
        found: String,
    },
}

/// The crate's result type.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

impl EngineError {
    /// A shape error; `expected` and `found` are written as `[T, C]`, `[3, 4]`.
    pub fn shape(
        operation: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self::Shape {
            operation,
            expected: expected.into(),
            found: found.into(),
        }
    }

    /// A value error; `found` is printed as it came.
    pub fn value(
        operation: &'static str,
        argument: &'static str,
        expected: impl Into<String>,
        found: impl ToString,
    ) -> Self {
        Self::Value {
            operation,
            argument,
            expected: expected.into(),
            found: found.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EngineError;

    #[test]
    fn the_text_names_operation_and_both_shapes() {
        let error = EngineError::shape("linear", "weight [C_out, 4]", "[2, 3]");
        assert_eq!(
            error.to_string(),
            "linear: expected weight [C_out, 4], found [2, 3]"
        );
        let error = EngineError::value("softmax_temperature", "tau", "above 0", -1.0);
        assert_eq!(
            error.to_string(),
            "softmax_temperature: tau must be above 0, found -1"
        );
    }
}
