//! The tape: values as they are computed, and for each the backward pass to its arguments.

use crate::error::{EngineError, Result};
use crate::kernel::{Kernels, ProductShape, threads};
use crate::parameters::Weight;
use crate::rng::Rng;
use crate::shape::{contiguous, matrix};
use ndarray::{Array, Array2, ArrayView2, Dimension};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::gradients::Settings;

/// A matrix on a tape. It has a meaning only on the tape that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Var {
    pub(super) at: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
}

impl Var {
    /// The number of elements.
    pub(super) fn len(self) -> usize {
        self.rows * self.cols
    }

    /// Rows and columns.
    pub(super) fn dim(self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// `[rows, columns]`, for messages.
    pub(super) fn shape(self) -> [usize; 2] {
        [self.rows, self.cols]
    }
}

/// Keys and values of sources on a tape, for cross-attention.
#[derive(Debug, Clone)]
pub struct Sources {
    pub(super) k: Var,
    pub(super) v: Var,
    pub(super) lengths: Vec<usize>,
}

/// The backward pass of one operation: given the values and the gradient of its result, adds to the
/// gradients of its arguments.
pub(super) type Backward = Box<dyn FnOnce(&Values<'_>, Vec<f32>, &mut Adjoints)>;

struct Node {
    value: Vec<f32>,
    /// True when it was computed from a parameter.
    tracked: bool,
    back: Option<Backward>,
}

/// The values of the forward pass, for the backward passes.
pub(super) struct Values<'a> {
    values: &'a [Vec<f32>],
    pub(super) kernels: &'static Kernels,
}

impl Values<'_> {
    pub(super) fn value(&self, var: Var) -> &[f32] {
        &self.values[var.at]
    }
}

/// The gradients accumulated so far: of the matrices on the tape, and of the model's parameters.
pub(super) struct Adjoints {
    tracked: Vec<bool>,
    vars: Vec<Option<Vec<f32>>>,
    pub(super) leaves: Vec<Option<Vec<f32>>>,
}

impl Adjoints {
    /// True when the gradient of `var` is needed.
    pub(super) fn wants(&self, var: Var) -> bool {
        self.tracked[var.at]
    }

    /// Adds a gradient and takes its memory.
    pub(super) fn give(&mut self, var: Var, grad: Vec<f32>) {
        if !self.wants(var) {
            return;
        }
        match &mut self.vars[var.at] {
            Some(sum) => add(sum, &grad),
            none => *none = Some(grad),
        }
    }

    /// Adds a product to the gradient of `var`, where it is needed.
    pub(super) fn add_product(
        &mut self,
        kernels: &Kernels,
        var: Var,
        factors: [&[f32]; 2],
        shape: ProductShape,
    ) {
        if self.wants(var) {
            add_product(kernels, &mut self.vars[var.at], factors, shape);
        }
    }

    /// Adds a gradient.
    pub(super) fn add(&mut self, var: Var, grad: &[f32]) {
        if !self.wants(var) {
            return;
        }
        match &mut self.vars[var.at] {
            Some(sum) => add(sum, grad),
            none => *none = Some(grad.to_vec()),
        }
    }

    /// The sum itself, to add parts to; `None` where no parameter depends on it.
    pub(super) fn at(&mut self, var: Var) -> Option<&mut [f32]> {
        if !self.wants(var) {
            return None;
        }
        let sum = self.vars[var.at].get_or_insert_with(|| vec![0.0; var.len()]);
        Some(sum)
    }

    /// The sum of a parameter's gradient; `None` where it is no parameter of the model.
    pub(super) fn leaf(&mut self, leaf: Option<usize>, length: usize) -> Option<&mut [f32]> {
        let sum = self.leaves[leaf?].get_or_insert_with(|| vec![0.0; length]);
        Some(sum)
    }
}

/// Adds A · B to a sum, which begins with it.
pub(super) fn add_product(
    kernels: &Kernels,
    sum: &mut Option<Vec<f32>>,
    [a, b]: [&[f32]; 2],
    shape: ProductShape,
) {
    match sum {
        Some(sum) => kernels.product(a, b, sum, &ProductShape { add: true, ..shape }),
        none => *none = Some(kernels.new_product(a, b, &shape)),
    }
}

/// sum += part.
pub(super) fn add(sum: &mut [f32], part: &[f32]) {
    for (sum, part) in sum.iter_mut().zip(part) {
        *sum += part;
    }
}

/// A weight matrix in the two orders that products read.
pub(super) struct Loaded {
    /// Its index among the model's parameters.
    pub(super) leaf: Option<usize>,
    /// `[C_out, C_in]`.
    pub(super) plain: Vec<f32>,
    /// `[C_in, C_out]`.
    pub(super) transposed: Vec<f32>,
}

/// Dropout: its rate, and the random stream that chooses the elements.
struct Dropout {
    rate: f32,
    rng: Rng,
}

/// The executor that records its operations; see [`crate::nn::compute::Compute`] for the
/// operations.
///
/// A matrix of another tape as an argument is a mistake of the caller's: the operation panics or
/// gives meaningless numbers.
pub struct Tape {
    pub(super) kernels: &'static Kernels,
    nodes: Vec<Node>,
    /// Addresses of the model's parameters, with their indices in its order.
    addresses: BTreeMap<usize, usize>,
    loaded: BTreeMap<usize, Rc<Loaded>>,
    dropout: Option<Dropout>,
    /// Positions that count in the losses so far.
    pub(super) counted: usize,
}

impl Default for Tape {
    fn default() -> Self {
        Self::new()
    }
}

impl Tape {
    /// A tape that knows no parameters: it computes, and nothing has a gradient.
    pub fn new() -> Self {
        Self::of(&Settings::default(), BTreeMap::new())
    }

    /// A tape for a model whose parameters begin at these addresses. The model must stay borrowed
    /// while the tape lives.
    pub(super) fn of(settings: &Settings, addresses: BTreeMap<usize, usize>) -> Self {
        let dropout = (settings.dropout > 0.0).then(|| Dropout {
            rate: settings.dropout,
            rng: Rng::named(settings.seed, "dropout"),
        });
        Self {
            kernels: settings.kernels,
            nodes: Vec::new(),
            addresses,
            loaded: BTreeMap::new(),
            dropout,
            counted: 0,
        }
    }

    /// The numbers of a matrix.
    ///
    /// # Errors
    /// When it is another tape's.
    pub fn value(&self, var: &Var) -> Result<Array2<f32>> {
        let node = self.nodes.get(var.at);
        let value = node.map_or(Vec::new(), |node| node.value.clone());
        matrix("tape", var.rows, var.cols, value)
    }

    pub(super) fn numbers(&self, var: Var) -> &[f32] {
        &self.nodes[var.at].value
    }

    /// Records a result that was computed from the matrices `from` alone.
    pub(super) fn push(
        &mut self,
        dim: (usize, usize),
        value: Vec<f32>,
        from: &[Var],
        back: impl FnOnce(&Values<'_>, Vec<f32>, &mut Adjoints) + 'static,
    ) -> Var {
        self.push_with(dim, value, from, &[], back)
    }

    /// Records a result in the shape of `x`, of which each row depends on the same row of `x`
    /// alone. `back` gets the values, the result and its gradient, which it turns into the gradient
    /// of `x` in place.
    pub(super) fn push_like(
        &mut self,
        x: Var,
        value: Vec<f32>,
        back: impl FnOnce(&Values<'_>, &[f32], &mut [f32]) + 'static,
    ) -> Var {
        let at = self.nodes.len();
        self.push(x.dim(), value, &[x], move |past, mut grad, into| {
            back(past, past.value(Var { at, ..x }), &mut grad);
            into.give(x, grad);
        })
    }

    /// Records a result. `leaves` are the parameters that it was computed from, besides the
    /// matrices `from`.
    pub(super) fn push_with(
        &mut self,
        (rows, cols): (usize, usize),
        value: Vec<f32>,
        from: &[Var],
        leaves: &[Option<usize>],
        back: impl FnOnce(&Values<'_>, Vec<f32>, &mut Adjoints) + 'static,
    ) -> Var {
        debug_assert_eq!(value.len(), rows * cols);
        let tracked =
            from.iter().any(|var| self.nodes[var.at].tracked) || leaves.iter().any(Option::is_some);
        self.nodes.push(Node {
            value,
            tracked,
            back: tracked.then(|| Box::new(back) as Backward),
        });
        let at = self.nodes.len() - 1;
        Var { at, rows, cols }
    }

    /// Records a constant, without a gradient.
    pub(super) fn push_constant(&mut self, x: ArrayView2<'_, f32>) -> Var {
        let value = contiguous(&x).into_owned();
        self.push(x.dim(), value, &[], |_, _, _| {})
    }

    /// The index of a parameter in the model's order; `None` for an array that is not one of the
    /// model's parameters.
    pub(super) fn leaf<D: Dimension>(&self, array: &Array<f32, D>) -> Option<usize> {
        self.addresses.get(&address(array.as_slice()?)).copied()
    }

    /// A weight, ready for products.
    pub(super) fn weight(&mut self, weight: &Weight) -> Result<Rc<Loaded>> {
        let Weight::Dense(dense) = weight else {
            let expected = "weights of plain numbers";
            return Err(EngineError::shape("tape", expected, "packed ones"));
        };
        let leaf = self.leaf(dense);
        // Only a parameter of the model is sure to stay where it is.
        if let Some(known) = leaf.and_then(|leaf| self.loaded.get(&leaf)) {
            return Ok(Rc::clone(known));
        }
        let plain = contiguous(&dense.view()).into_owned();
        let loaded = Rc::new(Loaded {
            leaf,
            transposed: transposed(&plain, dense.nrows(), dense.ncols()),
            plain,
        });
        if let Some(leaf) = leaf {
            self.loaded.insert(leaf, Rc::clone(&loaded));
        }
        Ok(loaded)
    }

    /// Factors 0 or 1 / (1 − rate), drawn again for each call; `None` without dropout.
    pub(super) fn dropout_mask(&mut self, length: usize) -> Option<Vec<f32>> {
        let Dropout { rate, rng } = self.dropout.as_mut()?;
        let kept = 1.0 / (1.0 - *rate);
        let mut draw = || if rng.uniform() < *rate { 0.0 } else { kept };
        Some((0..length).map(|_| draw()).collect())
    }

    /// The gradients of all parameters, in the model's order, of a loss `[1, 1]`; `None` for one
    /// that the loss was not computed from.
    pub(super) fn backward(self, loss: Var, count: usize) -> Result<Vec<Option<Vec<f32>>>> {
        if loss.shape() != [1, 1] || loss.at >= self.nodes.len() {
            let found = format!("{:?}", loss.shape());
            return Err(EngineError::shape("backward", "a loss [1, 1]", found));
        }
        let mut values = Vec::with_capacity(self.nodes.len());
        let mut backs = Vec::with_capacity(self.nodes.len());
        let mut tracked = Vec::with_capacity(self.nodes.len());
        for node in self.nodes {
            values.push(node.value);
            backs.push(node.back);
            tracked.push(node.tracked);
        }
        let mut sums = Adjoints {
            tracked,
            vars: (0..values.len()).map(|_| None).collect(),
            leaves: vec![None; count],
        };
        sums.give(loss, vec![1.0]);
        for (at, back) in backs.into_iter().enumerate().rev() {
            if let (Some(back), Some(grad)) = (back, sums.vars[at].take()) {
                let past = Values {
                    values: &values,
                    kernels: self.kernels,
                };
                back(&past, grad, &mut sums);
            }
            // Only later operations read it, and their gradients are there.
            values[at] = Vec::new();
        }
        Ok(sums.leaves)
    }
}

/// The transpose of a matrix.
fn transposed(x: &[f32], rows: usize, cols: usize) -> Vec<f32> {
    // x [R, C] -> [C, R]
    let mut out = vec![0.0; x.len()];
    let least = threads::LEAST_ELEMENTS / rows.max(1) + 1;
    threads::spans(&mut out, rows, least, |first, out| {
        transpose(&x[first.min(x.len())..], cols, rows, out);
    });
    out
}

/// Writes the columns of a matrix of `count` rows, `step` apart, one after the other, until `out` is
/// full.
pub(super) fn transpose(x: &[f32], step: usize, count: usize, out: &mut [f32]) {
    // As many columns at a time as fill a line of the cache.
    const COLUMNS: usize = 16;
    for (n, columns) in out.chunks_mut((COLUMNS * count).max(1)).enumerate() {
        let width = columns.len() / count;
        for row in 0..count {
            let from = &x[row * step + n * COLUMNS..][..width];
            for (column, &value) in columns.chunks_exact_mut(count).zip(from) {
                column[row] = value;
            }
        }
    }
}

/// Changes rows of `width` numbers on all threads, each of which gets the number of its first row.
pub(super) fn on_threads(
    rows: &mut [f32],
    width: usize,
    change: impl Fn(usize, &mut [f32]) + Sync,
) {
    let least = threads::LEAST_ELEMENTS / width.max(1) + 1;
    threads::spans(rows, width, least, change);
}

/// The address of a slice.
pub(super) fn address(values: &[f32]) -> usize {
    values.as_ptr() as usize
}
