//! Observation of a forward pass.
//!
//! An observer may also change an intermediate before the model continues with it
//! ([`Observer::change`]): zero a head, scale a branch, insert another run's values.
//!
//! A layer that takes `Option<&mut dyn Observer>` passes each intermediate, under a name such as
//! `blocks.0.attention.weights`, to the observer. Without an observer no name is built and nothing
//! is copied.
//!
//! ```
//! use engine::trace::{Observer, Prefixed, Recorder};
//! use ndarray::array;
//!
//! let mut recorder = Recorder::default();
//! let mut inner = Prefixed::new("blocks.0.", &mut recorder);
//! inner.observe("norm", array![[1.0, 2.0]].view().into_dyn());
//! assert_eq!(recorder.names(), ["blocks.0.norm"]);
//! assert_eq!(recorder.get("blocks.0.norm").map(|tensor| tensor.shape().to_vec()), Some(vec![1, 2]));
//! ```

use ndarray::{Array, ArrayD, ArrayViewD, ArrayViewMutD, Dimension};

/// Receives the intermediates of a forward pass in the order in which they are computed.
pub trait Observer {
    /// Receives the intermediate called `name`; an observer copies the values that should outlive
    /// the call.
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>);

    /// Is called before [`Self::observe`]; the model continues with the values that are written
    /// into `tensor`.
    fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
        let _ = (name, tensor);
    }

    /// Is called before a part of a model is computed: `function` is the path of the function that
    /// computes the part `name`.
    fn called(&mut self, name: &str, function: &'static str) {
        let _ = (name, function);
    }
}

/// The same observer for a shorter time.
pub fn reborrow<'a>(trace: &'a mut Option<&mut dyn Observer>) -> Option<&'a mut dyn Observer> {
    trace
        .as_mut()
        .map(|observer| &mut **observer as &'a mut dyn Observer)
}

/// Tells the observer, where there is one, which function computes a part.
pub fn called(trace: &mut Option<&mut dyn Observer>, name: &str, function: &'static str) {
    if let Some(observer) = trace {
        observer.called(name, function);
    }
}

/// Lets the observer, where there is one, change and then see an intermediate.
pub fn observe<D: Dimension>(
    trace: &mut Option<&mut dyn Observer>,
    name: &str,
    tensor: &mut Array<f32, D>,
) {
    if let Some(observer) = trace {
        observer.change(name, tensor.view_mut().into_dyn());
        observer.observe(name, tensor.view().into_dyn());
    }
}

/// Puts a prefix before every name, so a block need not know its position in the model.
pub struct Prefixed<'a> {
    prefix: String,
    inner: &'a mut dyn Observer,
}

impl<'a> Prefixed<'a> {
    /// Passes everything on to `inner` under `prefix` + name.
    pub fn new(prefix: impl Into<String>, inner: &'a mut dyn Observer) -> Self {
        Self {
            prefix: prefix.into(),
            inner,
        }
    }
}

impl Observer for Prefixed<'_> {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        self.inner
            .observe(&format!("{}{name}", self.prefix), tensor);
    }

    fn change(&mut self, name: &str, tensor: ArrayViewMutD<'_, f32>) {
        self.inner.change(&format!("{}{name}", self.prefix), tensor);
    }

    fn called(&mut self, name: &str, function: &'static str) {
        self.inner
            .called(&format!("{}{name}", self.prefix), function);
    }
}

/// Runs a part of a model under a prefix; without an observer the prefix is not built.
pub fn scope<R>(
    trace: &mut Option<&mut dyn Observer>,
    prefix: impl FnOnce() -> String,
    run: impl FnOnce(&mut Option<&mut dyn Observer>) -> R,
) -> R {
    match trace {
        Some(observer) => {
            let mut inner = Prefixed::new(prefix(), &mut **observer);
            run(&mut Some(&mut inner))
        }
        None => run(&mut None),
    }
}

/// Keeps a copy of every intermediate, in order.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    tensors: Vec<(String, ArrayD<f32>)>,
    functions: Vec<(String, &'static str)>,
}

impl Recorder {
    /// The tensor recorded under `name`; the last one where a name came twice.
    pub fn get(&self, name: &str) -> Option<&ArrayD<f32>> {
        last(&self.tensors, name)
    }

    /// The path of the function that computed the part `name`, such as `blocks.0.attention`; the
    /// last one where it ran twice.
    pub fn function(&self, name: &str) -> Option<&'static str> {
        last(&self.functions, name).copied()
    }

    /// All names, in the order in which the tensors were computed.
    pub fn names(&self) -> Vec<&str> {
        self.tensors.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// All names with their tensors, in the order in which they were computed.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ArrayD<f32>)> {
        self.tensors
            .iter()
            .map(|(name, tensor)| (name.as_str(), tensor))
    }
}

/// The last entry under `name`.
fn last<'a, T>(entries: &'a [(String, T)], name: &str) -> Option<&'a T> {
    let mut latest = entries.iter().rev();
    latest
        .find(|(known, _)| known == name)
        .map(|(_, entry)| entry)
}

impl Observer for Recorder {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        self.tensors.push((name.to_owned(), tensor.to_owned()));
    }

    fn called(&mut self, name: &str, function: &'static str) {
        self.functions.push((name.to_owned(), function));
    }
}
