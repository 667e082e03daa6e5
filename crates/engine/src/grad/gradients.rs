//! The gradients of a model's parameters.

use super::tape::{Tape, Var, address};
use crate::error::{EngineError, Result};
use crate::kernel::{self, Kernels, threads};
use crate::trainable::Trainable;
use std::collections::BTreeMap;

/// The settings of a pass for training.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The kernels to use.
    pub kernels: &'static Kernels,
    /// The share of numbers that dropout sets to 0, where a layer applies dropout; 0 for none.
    pub dropout: f32,
    /// The seed of dropout; another one for each step.
    pub seed: u64,
}

impl Default for Settings {
    /// The quickest kernels whose bits depend on nothing but the build, no dropout.
    fn default() -> Self {
        Self {
            kernels: kernel::steady(),
            dropout: 0.0,
            seed: 0,
        }
    }
}

impl Settings {
    /// Four lanes ([`kernel::same_bits`]): the same bits natively and in wasm, where they are the
    /// quickest that training may use; no dropout.
    pub fn same_bits() -> Self {
        // Not by the default, whose search for the quickest kernels would bring all of them into a
        // file for the browser.
        Self {
            kernels: kernel::same_bits(),
            dropout: 0.0,
            seed: 0,
        }
    }

    /// The plain kernels, which give the same bits natively and in wasm; no dropout.
    pub fn reference() -> Self {
        Self {
            kernels: &kernel::reference::KERNELS,
            ..Self::default()
        }
    }
}

/// One gradient for each parameter, in the order in which the model visits them.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    names: Vec<String>,
    values: Vec<Vec<f32>>,
    reached: Vec<bool>,
}

impl Gradients {
    /// Name and gradient of each parameter; zeros for one that the loss was not computed from.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[f32])> {
        let names = self.names.iter().map(String::as_str);
        names.zip(self.values.iter().map(Vec::as_slice))
    }

    /// The gradient of one parameter.
    pub fn get(&self, name: &str) -> Option<&[f32]> {
        let mut all = self.iter();
        all.find(|(known, _)| *known == name)
            .map(|(_, values)| values)
    }

    /// The parameters that the loss was not computed from.
    pub fn missing(&self) -> Vec<&str> {
        let all = self.names.iter().zip(&self.reached);
        all.filter_map(|(name, &reached)| (!reached).then_some(name.as_str()))
            .collect()
    }

    /// Refuses gradients in which a parameter is missing: its optimiser step would be of decay
    /// alone, or of nothing. `is_used` is false for the parameters that the model does not compute
    /// with on purpose.
    ///
    /// # Errors
    /// When a parameter that is used has no gradient, as one that the model computes with a clone
    /// of; the error names it.
    pub fn check_complete(&self, is_used: impl Fn(&str) -> bool) -> Result<()> {
        let all = self.names.iter().zip(&self.values).zip(&self.reached);
        let mut missing = all.filter(|((name, values), reached)| {
            !**reached && !values.is_empty() && is_used(name.as_str())
        });
        missing.next().map_or(Ok(()), |((name, _), _)| {
            Err(EngineError::Parameter {
                name: name.clone(),
                expected: "a gradient".to_owned(),
                found: "none: the loss is not computed from it".to_owned(),
            })
        })
    }

    /// The length of all gradients as one vector. Squares are added in f64, in order.
    pub fn norm(&self) -> f32 {
        let square = |&x: &f32| f64::from(x) * f64::from(x);
        let squares = |values: &Vec<f32>| values.iter().map(square).sum::<f64>();
        let mut parts = vec![0.0; self.values.len()];
        threads::chunks(&mut parts, 1, 1, |n, part| {
            part[0] = squares(&self.values[n]);
        });
        parts.iter().sum::<f64>().sqrt() as f32
    }

    /// Gradient clipping: scales all gradients by one factor to a norm of at most `longest`;
    /// returns the norm before (Pascanu, Mikolov and Bengio 2013, "On the difficulty of training
    /// recurrent neural networks", algorithm 1).
    pub fn clip(&mut self, longest: f32) -> f32 {
        let norm = self.norm();
        if norm > longest {
            let factor = longest / norm;
            for value in self.values.iter_mut().flatten() {
                *value *= factor;
            }
        }
        norm
    }

    /// The gradients of the tape's sums.
    fn of(found: Names, leaves: Vec<Option<Vec<f32>>>) -> Self {
        let reached = leaves.iter().map(Option::is_some).collect();
        let values = leaves.into_iter().zip(found.lengths);
        let values = values.map(|(leaf, length)| leaf.unwrap_or_else(|| vec![0.0; length]));
        Self {
            names: found.names,
            values: values.collect(),
            reached,
        }
    }

    pub(super) fn values(&self) -> &[Vec<f32>] {
        &self.values
    }
}

/// Runs `loss` on a tape; returns the loss and its gradients.
///
/// # Errors
/// When `loss` fails or gives something other than a loss, dropout is not in [0, 1), or two
/// parameters have one name.
pub fn gradients<M: Trainable>(
    model: &mut M,
    settings: &Settings,
    loss: impl FnOnce(&M, &mut Tape) -> Result<Var>,
) -> Result<(f32, Gradients)> {
    let names = Names::of(model)?;
    let part = Part::run(&names, settings, |tape| loss(model, tape))?;
    Ok((part.loss, Gradients::of(names, part.leaves)))
}

/// As [`gradients`], of a batch in several parts, which threads share: each part has settings and a
/// tape of its own, and `loss` gets its number. Loss and gradients are the means of those of the
/// parts, each weighted by the positions that count in it
/// ([`Tape::cross_entropy`](super::Tape::cross_entropy)) and added in their order, so their bits are
/// the same on any number of threads.
///
/// # Errors
/// As [`gradients`], with the first error in the order of the parts; when there is no part.
pub fn gradients_of_parts<M: Trainable + Sync>(
    model: &mut M,
    settings: &[Settings],
    loss: impl Fn(usize, &M, &mut Tape) -> Result<Var> + Sync,
) -> Result<(f32, Gradients)> {
    let names = Names::of(model)?;
    let model = &*model;
    let mut parts: Vec<Option<Result<Part>>> = settings.iter().map(|_| None).collect();
    threads::chunks(&mut parts, 1, 1, |n, part| {
        let run = |tape: &mut Tape| loss(n, model, tape);
        part[0] = Some(Part::run(&names, &settings[n], run));
    });
    let parts = parts.into_iter().flatten().collect::<Result<Vec<_>>>()?;
    let total: usize = parts.iter().map(|part| part.counted).sum();
    if total == 0 {
        let expected = "at least 1 with positions that count";
        return Err(EngineError::value("gradients", "parts", expected, 0));
    }
    let mut loss = 0.0;
    // Of each parameter, the gradients of all parts with their weights.
    let mut leaves: Vec<Vec<(f32, Vec<f32>)>> = names.names.iter().map(|_| Vec::new()).collect();
    for part in parts {
        let weight = part.counted as f64 / total as f64;
        loss += weight * f64::from(part.loss);
        for (all, leaf) in leaves.iter_mut().zip(part.leaves) {
            all.extend(leaf.map(|leaf| (weight as f32, leaf)));
        }
    }
    threads::chunks(&mut leaves, 1, 1, |_, leaves| {
        leaves.iter_mut().for_each(|all| mean(all));
    });
    let sums = leaves.into_iter().map(|mut all| {
        all.truncate(1);
        all.pop().map(|(_, sum)| sum)
    });
    Ok((loss as f32, Gradients::of(names, sums.collect())))
}

/// Makes the first of some gradients their mean.
fn mean(all: &mut [(f32, Vec<f32>)]) {
    let Some(((weight, sum), others)) = all.split_first_mut() else {
        return;
    };
    sum.iter_mut().for_each(|value| *value *= *weight);
    for (weight, other) in others {
        for (sum, value) in sum.iter_mut().zip(other) {
            *sum += *weight * *value;
        }
    }
}

/// The parameters of a model, in the order in which it visits them.
struct Names {
    names: Vec<String>,
    lengths: Vec<usize>,
    /// Where each begins.
    addresses: BTreeMap<usize, usize>,
}

impl Names {
    fn of<M: Trainable>(model: &mut M) -> Result<Self> {
        let (mut names, mut lengths, mut addresses) = (Vec::new(), Vec::new(), BTreeMap::new());
        model.parameters(&mut |parameter| {
            // An empty parameter lies nowhere and has no gradient.
            if !parameter.values.is_empty() {
                addresses.insert(address(parameter.values), names.len());
            }
            names.push(parameter.name.to_owned());
            lengths.push(parameter.values.len());
            Ok(())
        })?;
        Ok(Self {
            names,
            lengths,
            addresses,
        })
    }
}

/// What a tape found.
struct Part {
    loss: f32,
    /// Positions that count in the loss; 1 for a loss that counts none.
    counted: usize,
    leaves: Vec<Option<Vec<f32>>>,
}

impl Part {
    fn run(
        names: &Names,
        settings: &Settings,
        loss: impl FnOnce(&mut Tape) -> Result<Var>,
    ) -> Result<Self> {
        if !(0.0..1.0).contains(&settings.dropout) {
            let expected = "at least 0 and below 1";
            let found = crate::decimal::decimal(settings.dropout.into());
            return Err(EngineError::value("gradients", "dropout", expected, found));
        }
        let mut tape = Tape::of(settings, names.addresses.clone());
        let found = loss(&mut tape)?;
        let value = tape.value(&found)?;
        Ok(Self {
            loss: value.iter().copied().next().unwrap_or_default(),
            counted: tape.counted.max(1),
            leaves: tape.backward(found, names.names.len())?,
        })
    }
}
