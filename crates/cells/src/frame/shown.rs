//! Recorded calls of the engine: [`shown!`] calls a function and records path, arguments and
//! result, so that "Show the Rust" shows the function that really ran and the values that went in
//! and out.

use std::borrow::Cow;

use engine::nn::attention::{Attention, Mask, Scoring};
use engine::trace::{Observer, Recorder};
use explain::one_head::{OneHead, SelfAttention};
use ndarray::{ArrayBase, Data, Dimension};
use serde::{Deserialize, Serialize};

use crate::computation::{Computation, Tensor};
use crate::error::CellError;

/// Values of a call that are kept for display, at most this many a tensor.
const KEPT: usize = 64;

/// One argument or result of a call: its shape and its first values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Described {
    /// The expression of the argument, or the field of the result.
    pub name: String,
    /// Lengths of the axes; empty for a single number.
    pub shape: Vec<usize>,
    /// The first values in row-major order, at most 64.
    pub values: Vec<f64>,
    /// Description of a value without numbers (`causal mask`, `None`).
    pub text: Option<String>,
}

/// One call of an engine function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Path of the function, `engine::nn::attention::attend`.
    pub path: Cow<'static, str>,
    /// The arguments.
    pub inputs: Vec<Described>,
    /// The result, one entry a tensor.
    pub outputs: Vec<Described>,
}

/// Something that a call can take or give and that the panel can show.
pub trait Describe {
    /// Appends one entry, or several for a result with fields.
    fn describe(&self, name: &str, out: &mut Vec<Described>);
}

fn numbers(name: &str, shape: Vec<usize>, values: impl Iterator<Item = f64>) -> Described {
    Described {
        name: name.to_owned(),
        shape,
        values: values.take(KEPT).collect(),
        text: None,
    }
}

fn words(name: &str, text: String) -> Described {
    Described {
        name: name.to_owned(),
        shape: Vec::new(),
        values: Vec::new(),
        text: Some(text),
    }
}

/// An element of an array that the panel can print.
pub trait Element {
    /// The value; a boolean counts as zero or one.
    fn value(&self) -> f64;
}

impl Element for bool {
    fn value(&self) -> f64 {
        f64::from(u8::from(*self))
    }
}

impl<S: Data<Elem: Element>, D: Dimension> Describe for ArrayBase<S, D> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        out.push(numbers(
            name,
            self.shape().to_vec(),
            self.iter().map(Element::value),
        ));
    }
}

macro_rules! describe_numbers {
    ($($type:ty),*) => {$(
        impl Element for $type {
            fn value(&self) -> f64 {
                *self as f64
            }
        }
        impl Describe for $type {
            fn describe(&self, name: &str, out: &mut Vec<Described>) {
                out.push(numbers(name, Vec::new(), std::iter::once(*self as f64)));
            }
        }
        impl Describe for [$type] {
            fn describe(&self, name: &str, out: &mut Vec<Described>) {
                out.push(numbers(name, vec![self.len()], self.iter().map(|&x| x as f64)));
            }
        }
        impl Describe for Vec<$type> {
            fn describe(&self, name: &str, out: &mut Vec<Described>) {
                self.as_slice().describe(name, out);
            }
        }
    )*};
}
describe_numbers!(f32, f64, usize, isize, u64, u32, i32, u8);

impl<T, const N: usize> Describe for [T; N]
where
    [T]: Describe,
{
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.as_slice().describe(name, out);
    }
}

impl Describe for bool {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        out.push(words(name, self.to_string()));
    }
}

impl Describe for str {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        out.push(words(name, format!("\u{201c}{self}\u{201d}")));
    }
}

impl Describe for String {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.as_str().describe(name, out);
    }
}

impl Describe for [String] {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        out.push(words(name, self.join(" \u{b7} ")));
    }
}

impl Describe for Vec<String> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.as_slice().describe(name, out);
    }
}

impl<T: Describe + ?Sized> Describe for &T {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        (**self).describe(name, out);
    }
}

impl<T: Describe + ?Sized> Describe for &mut T {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        (**self).describe(name, out);
    }
}

impl<T: Describe> Describe for Option<T> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        match self {
            Some(value) => value.describe(name, out),
            None => out.push(words(name, "None".to_owned())),
        }
    }
}

impl<A: Describe, B: Describe> Describe for (A, B) {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.0.describe(&format!("{name}.0"), out);
        self.1.describe(&format!("{name}.1"), out);
    }
}

impl<T: Describe, E: std::fmt::Display> Describe for Result<T, E> {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        match self {
            Ok(value) => value.describe(name, out),
            Err(error) => out.push(words(name, error.to_string())),
        }
    }
}

impl Describe for Mask {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        match self {
            Self::None => out.push(words(name, "no mask".to_owned())),
            Self::Causal { first } => {
                let text = format!("causal mask; the first query is token {first}");
                out.push(words(name, text));
            }
            Self::PerHead(bias) => bias.describe(name, out),
            Self::Boolean(allowed) => allowed.describe(name, out),
            Self::Additive(bias) => bias.describe(name, out),
        }
    }
}

impl Describe for Attention {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.scores.describe("scores", out);
        self.masked.describe("masked", out);
        self.weights.describe("weights", out);
        self.output.describe("output", out);
    }
}

impl Describe for OneHead {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        self.scores.describe("scores", out);
        self.masked.describe("masked", out);
        self.weights.describe("weights", out);
        self.output.describe("output", out);
    }
}

impl Describe for Scoring {
    fn describe(&self, _name: &str, out: &mut Vec<Described>) {
        match self {
            Self::Dot(scale) => scale.describe("scale", out),
            Self::Cosine(temperatures) => temperatures.describe("temperatures", out),
        }
    }
}

impl Describe for dyn Observer + '_ {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        out.push(words(name, "an observer".to_owned()));
    }
}

impl Describe for SelfAttention {
    fn describe(&self, name: &str, out: &mut Vec<Described>) {
        self.q.describe("q", out);
        self.k.describe("k", out);
        self.v.describe("v", out);
        self.attention.describe(name, out);
    }
}

/// Collects what a computation wants to show.
#[derive(Debug, Default)]
pub struct Record {
    done: Computation,
}

impl Record {
    /// An empty record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a tensor under a name; a second one of the same name replaces the first.
    pub fn tensor<S: Data<Elem = f32>, D: Dimension>(
        &mut self,
        name: &str,
        array: &ArrayBase<S, D>,
    ) {
        self.done
            .tensors
            .insert(name.to_owned(), Tensor::from_f32(array));
    }

    /// Keeps a single number: a count, a sum, an error.
    pub fn number(&mut self, name: &str, value: f64) {
        let values = ndarray::arr0(value).into_dyn();
        self.done.tensors.insert(name.to_owned(), Tensor { values });
    }

    /// Keeps a vector of numbers that are not `f32`: counts, errors in `f64`.
    pub fn numbers(&mut self, name: &str, values: Vec<f64>) {
        let values = ndarray::Array1::from_vec(values).into_dyn();
        self.done.tensors.insert(name.to_owned(), Tensor { values });
    }

    /// Keeps a list of words.
    pub fn words(&mut self, name: &str, words: Vec<String>) {
        self.done.texts.insert(name.to_owned(), words);
    }

    /// Keeps a call; used by `shown!`.
    pub fn call(&mut self, path: &'static str, inputs: Vec<Described>, output: &dyn Describe) {
        let mut outputs = Vec::new();
        output.describe("result", &mut outputs);
        self.done.calls.push(Call {
            path: Cow::Borrowed(path),
            inputs,
            outputs,
        });
    }

    /// Keeps a call that a model made itself, and that `recorder` saw under `name`; used by
    /// `traced!`.
    ///
    /// # Errors
    /// [`CellError::Mismatch`] when the model computed that part by another function than the one
    /// at `path`.
    pub fn traced(
        &mut self,
        path: &'static str,
        (recorder, name): (&Recorder, &str),
        inputs: Vec<Described>,
        output: &dyn Describe,
    ) -> Result<(), CellError> {
        if recorder.function(name) != Some(path) {
            let found = recorder
                .function(name)
                .unwrap_or("no function that was seen");
            let message = format!("{name} was computed by {found}, not by {path}");
            return Err(CellError::Mismatch(message));
        }
        self.call(path, inputs, output);
        Ok(())
    }

    /// Keeps calls that an earlier record noted.
    pub(crate) fn calls(&mut self, calls: &[Call]) {
        self.done.calls.extend_from_slice(calls);
    }

    /// The finished computation.
    pub fn finish(self) -> Computation {
        self.done
    }
}

/// The arguments of a call; one compiled function for all calls, as there are many.
#[doc(hidden)]
pub fn described(arguments: &[(&str, &dyn Describe)]) -> Vec<Described> {
    let mut out = Vec::new();
    for (name, value) in arguments {
        value.describe(name, &mut out);
    }
    out
}

/// Calls an engine function and records that it ran.
///
/// `shown!(record, engine::nn::linear::project, x.view(), w.view())?` is the call
/// `engine::nn::linear::project(x.view(), w.view())?`; each argument expression is evaluated twice,
/// so it must be free of side effects (a view, a reference, a number). The page builder finds the
/// function in the source tree by the same path and fails where it does not exist.
#[macro_export]
macro_rules! shown {
    ($record:expr, $($part:ident)::+ $(, $arg:expr)* $(,)?) => {{
        let inputs = $crate::described(&[$((stringify!($arg), &$arg as &dyn $crate::Describe)),*]);
        let result = $($part)::+($($arg),*);
        $record.call($crate::path_text!($($part)::+), inputs, &result);
        result
    }};
}

/// Records a call that a model made itself while a recorder watched: the panel shows the model's
/// own function and its own numbers.
///
/// `traced!(record, engine::nn::attention::attend, recorder, "blocks.0.attention", [q, k, v],
/// found)?` records the arguments and the result that were read from the trace, and fails unless
/// the model said that this function computed `blocks.0.attention`. The page builder finds the
/// function by its path, as for `shown!`.
#[macro_export]
macro_rules! traced {
    ($record:expr, $($part:ident)::+, $recorder:expr, $name:expr, [$($arg:expr),* $(,)?], $result:expr $(,)?) => {{
        // A path that does not exist is an error of the compiler's.
        let _ = $($part)::+;
        let inputs = $crate::described(&[$((stringify!($arg), &$arg as &dyn $crate::Describe)),*]);
        $record.traced($crate::path_text!($($part)::+), ($recorder, $name), inputs, &$result)
    }};
}

/// The text of a path without spaces, for [`shown!`].
#[doc(hidden)]
#[macro_export]
macro_rules! path_text {
    ($first:ident $(:: $rest:ident)*) => { concat!(stringify!($first) $(, "::", stringify!($rest))*) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{array, aview1};

    /// A call that a model made is recorded under the function that the model named, and under no
    /// other.
    #[test]
    fn a_traced_call_must_be_the_one_that_ran() {
        let (mut record, mut seen) = (Record::new(), Recorder::default());
        seen.called("blocks.0.attention", "engine::nn::attention::attend");
        let (q, found) = (array![1.0_f32, 2.0], array![3.0_f32]);
        let name = "blocks.0.attention";
        traced!(
            record,
            engine::nn::attention::attend,
            &seen,
            name,
            [q],
            found
        )
        .unwrap();
        let other = traced!(
            record,
            engine::nn::attention::scores,
            &seen,
            name,
            [q],
            found
        );
        assert!(matches!(other, Err(CellError::Mismatch(_))));
        let unseen = traced!(
            record,
            engine::nn::attention::attend,
            &seen,
            "blocks.1.attention",
            [q],
            found
        );
        assert!(matches!(unseen, Err(CellError::Mismatch(_))));
        let calls = record.finish().calls;
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].inputs[0].values, [1.0, 2.0]);
        assert_eq!(aview1(&calls[0].outputs[0].values), aview1(&[3.0]));
    }
}
