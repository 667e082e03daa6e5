//! The parameters of a model that can be trained, each under one name and visited in one order.
//!
//! A model lists its parameters once ([`Trainable`]). Initialisation, the optimiser, saving and the
//! check that each parameter got a gradient all use that list. The names are those that the model's
//! `load` asks for, so a saved model can be loaded.
//!
//! ```
//! use engine::model::gpt2::{Config, Gpt2};
//! use engine::{formula::Formula, parameters::Parameters, trainable::Trainable};
//! let config = Config { vocabulary: 10, width: 8, heads: 2, layers: 1, inner: 16, context: 4, norm_eps: 1e-5 };
//! let mut model = Gpt2::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! let mut saved = engine::trainable::saved(&mut model)?;
//! assert_eq!(saved.names().len(), config.shapes().len());
//! let again = Gpt2::load(config, &mut saved)?;
//! # Ok::<(), engine::EngineError>(())
//! ```

use crate::error::{EngineError, Result};
use crate::parameters::{Memory, Parameters, Weight, tensor};
use ndarray::{Array, ArrayD, Dimension, IxDyn};

/// The role of a parameter, which decides how it is drawn and whether it decays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A matrix `[outputs, inputs]` to multiply with.
    Matrix,
    /// A row for each token, position or type.
    Table,
    /// An added vector.
    Bias,
    /// The scale of a norm.
    Gain,
}

/// One parameter of a model.
#[derive(Debug)]
pub struct Parameter<'a> {
    /// The name that the model is loaded by.
    pub name: &'a str,
    /// Its shape in a file, rows first.
    pub shape: &'a [usize],
    /// Its role.
    pub kind: Kind,
    /// Its numbers, row by row.
    pub values: &'a mut [f32],
}

/// A function that is called with each parameter.
pub type Visit<'v> = dyn FnMut(Parameter<'_>) -> Result<()> + 'v;

/// A model whose parameters can be changed.
pub trait Trainable {
    /// Visits every parameter, always in the same order. Packed weights become plain numbers first.
    ///
    /// # Errors
    /// When `visit` fails.
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()>;
}

/// Visits a weight; a packed one becomes plain numbers.
///
/// # Errors
/// When `visit` fails.
pub fn weight(weight: &mut Weight, name: &str, kind: Kind, visit: &mut Visit<'_>) -> Result<()> {
    let (rows, cols) = weight.dim();
    weight_as(weight, name, &[rows, cols], kind, visit)
}

/// As [`weight`], for a matrix that files hold in another shape with the same numbers row by row.
///
/// # Errors
/// When `visit` fails.
pub fn weight_as(
    weight: &mut Weight,
    name: &str,
    shape: &[usize],
    kind: Kind,
    visit: &mut Visit<'_>,
) -> Result<()> {
    array_as(weight.dense_mut()?, name, shape, kind, visit)
}

/// Visits a vector or a matrix of plain numbers.
///
/// # Errors
/// When `visit` fails.
pub fn array<D: Dimension>(
    array: &mut Array<f32, D>,
    name: &str,
    kind: Kind,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let shape = array.shape().to_vec();
    array_as(array, name, &shape, kind, visit)
}

/// Visits an array that files hold in the given shape.
///
/// # Errors
/// When `visit` fails.
pub fn array_as<D: Dimension>(
    array: &mut Array<f32, D>,
    name: &str,
    shape: &[usize],
    kind: Kind,
    visit: &mut Visit<'_>,
) -> Result<()> {
    if !array.is_standard_layout() {
        *array = array.as_standard_layout().into_owned();
    }
    let wrong = || EngineError::Parameter {
        name: name.to_owned(),
        expected: format!("{shape:?}"),
        found: "other numbers".to_owned(),
    };
    let values = array.as_slice_mut().ok_or_else(wrong)?;
    if values.len() != shape.iter().product::<usize>() {
        return Err(wrong());
    }
    visit(Parameter {
        name,
        shape,
        kind,
        values,
    })
}

/// A copy of all parameters, under their names: to save them, or to return to them.
///
/// # Errors
/// When two parameters have one name.
pub fn saved(model: &mut dyn Trainable) -> Result<Memory> {
    let mut memory = Memory::default();
    model.parameters(&mut |parameter| {
        let values = parameter.values.to_vec();
        let array = ArrayD::from_shape_vec(IxDyn(parameter.shape), values);
        let array = array.map_err(|error| EngineError::Parameter {
            name: parameter.name.to_owned(),
            expected: format!("{:?}", parameter.shape),
            found: error.to_string(),
        })?;
        if memory.insert(parameter.name, array).is_some() {
            return Err(EngineError::Parameter {
                name: parameter.name.to_owned(),
                expected: "one parameter of this name".to_owned(),
                found: "two".to_owned(),
            });
        }
        Ok(())
    })?;
    Ok(memory)
}

/// Replaces all parameters by the numbers that a source (a copy of [`saved`] or a file) has under
/// their names.
///
/// # Errors
/// When one is missing, has another shape or cannot be read; nothing is changed then.
pub fn restore(model: &mut dyn Trainable, source: &mut dyn Parameters) -> Result<()> {
    let mut read = Vec::new();
    model.parameters(&mut |parameter| {
        read.push(tensor(source, parameter.name, parameter.shape)?);
        Ok(())
    })?;
    let mut read = read.into_iter();
    model.parameters(&mut |parameter| {
        let values = read.next();
        for (to, from) in parameter.values.iter_mut().zip(values.iter().flatten()) {
            *to = *from;
        }
        Ok(())
    })
}

/// Replaces one number of one parameter; returns its old value.
///
/// # Errors
/// When the model has no such parameter, or the parameter has fewer numbers.
pub fn replace(model: &mut dyn Trainable, name: &str, at: usize, value: f32) -> Result<f32> {
    let mut before = None;
    model.parameters(&mut |parameter| {
        if parameter.name == name
            && let Some(number) = parameter.values.get_mut(at)
        {
            before = Some(std::mem::replace(number, value));
        }
        Ok(())
    })?;
    before.ok_or_else(|| EngineError::Parameter {
        name: name.to_owned(),
        expected: format!("more than {at} numbers"),
        found: "fewer, or no such parameter".to_owned(),
    })
}

/// The number of parameters of a model, element by element.
///
/// # Errors
/// When the model cannot visit them.
pub fn count(model: &mut dyn Trainable) -> Result<usize> {
    let mut count = 0;
    model.parameters(&mut |parameter| {
        count += parameter.values.len();
        Ok(())
    })?;
    Ok(count)
}
