//! A deep encoder that reverses short sequences, with its layer norms before or after the sums: how
//! large the gradient of each block is, and how it learns.
//!
//! ```text
//! pre-norm:   a = x + attention(norm(x))     y = a + mlp(norm(a))      and one norm at the end
//! post-norm:  a = norm(x + attention(x))     y = norm(a + mlp(a))
//! ids [B · T] -> √C · E[ids] + PE, `depth` blocks, logits [B · T, V]; target of position t: the id at T − 1 − t
//! ```
//!
//! ```
//! use explain::norm_stack::{NormStack, Place};
//! let (_, norms) = NormStack::new(Place::Before, 6, 1)?.gradient_norms(1)?;
//! assert_eq!(norms.len(), 6);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Vaswani et al. 2017, section 3.1 (post-norm); Xiong et al. 2020, "On layer normalization
//! in the Transformer architecture", sections 3.2 and 3.3, table 1.

use engine::error::Result;
use engine::grad::{AdamW, Draw, Gradients, Settings, Tape, Var, gradients, initialise};
use engine::math;
use engine::nn::compute::Compute;
use engine::nn::feed_forward::{Activation, FeedForward};
use engine::nn::full_attention::FullAttention;
use engine::nn::grouped::Qkv;
use engine::nn::norm::{LayerNorm, Norm};
use engine::nn::parts::Parts;
use engine::nn::position::sinusoidal;
use engine::nn::post_norm::PostNormBlock;
use engine::nn::pre_norm::PreNormBlock;
use engine::nn::projection::Projection;
use engine::parameters::Weight;
use engine::rng::Rng;
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2};

/// Width of the stack.
pub const WIDTH: usize = 32;

/// Heads of each attention.
const HEADS: usize = 4;

/// Inner width of each MLP.
const INNER: usize = 64;

/// Symbols that a sequence consists of.
pub const SYMBOLS: usize = 8;

/// Symbols in a sequence.
pub const LENGTH: usize = 4;

/// Sequences of a batch.
pub const BATCH: usize = 16;

/// Blocks of the stacks of the logged runs, their steps, the learning rate, and the steps until it
/// is reached in the runs with warm-up.
pub const DEPTH: usize = 6;
/// See [`DEPTH`].
pub const STEPS: u64 = 800;
/// See [`DEPTH`].
pub const RATE: f32 = 0.005;
/// See [`DEPTH`].
pub const WARM_UP: u64 = 300;

/// Where the norms are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Inside each branch, before attention and MLP, and once at the end (pre-norm).
    Before,
    /// After each sum (post-norm).
    After,
}

#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "a stack has few blocks; the matrices lie elsewhere"
)]
enum Block {
    Pre(PreNormBlock),
    Post(PostNormBlock),
}

impl Block {
    fn new(place: Place) -> Self {
        let attention = FullAttention {
            qkv: Qkv::Separate {
                q: layer(WIDTH, WIDTH),
                k: layer(WIDTH, WIDTH),
                v: layer(WIDTH, WIDTH),
            },
            output: layer(WIDTH, WIDTH),
            heads: HEADS,
        };
        let mlp = FeedForward {
            up: layer(WIDTH, INNER),
            activation: Activation::Relu,
            down: layer(INNER, WIDTH),
        };
        let [norm_1, norm_2] = [LayerNorm::new(WIDTH), LayerNorm::new(WIDTH)];
        match place {
            Place::Before => Self::Pre(PreNormBlock {
                norm_1,
                attention,
                scale_1: None,
                norm_2,
                mlp,
                scale_2: None,
            }),
            Place::After => Self::Post(PostNormBlock {
                attention,
                norm_1,
                mlp,
                norm_2,
                parts: Parts::default(),
            }),
        }
    }

    fn run<C: Compute>(
        &self,
        compute: &mut C,
        x: C::Matrix,
        lengths: &[usize],
    ) -> Result<C::Matrix> {
        // x [B · T, C] -> [B · T, C]
        let parts = Parts::default();
        match self {
            Self::Pre(block) => block.run(compute, x, parts, |attention, compute, x| {
                attention.run(compute, x, lengths, parts)
            }),
            Self::Post(block) => block.run(compute, x, lengths),
        }
    }

    fn parameters(&mut self, name: &str, visit: &mut Visit<'_>) -> Result<()> {
        let (attention, mlp, norms) = match self {
            Self::Pre(block) => (
                &mut block.attention,
                &mut block.mlp,
                [&mut block.norm_1, &mut block.norm_2],
            ),
            Self::Post(block) => (
                &mut block.attention,
                &mut block.mlp,
                [&mut block.norm_1, &mut block.norm_2],
            ),
        };
        let of = |part: &str| format!("{name}.{part}");
        let separate = ["q", "k", "v"];
        attention
            .qkv
            .parameters(&of("attention."), "qkv", separate, visit)?;
        attention.output.parameters(&of("attention.o"), visit)?;
        mlp.up.parameters(&of("mlp.up"), visit)?;
        mlp.down.parameters(&of("mlp.down"), visit)?;
        let [norm_1, norm_2] = norms;
        norm_1.parameters(&of("norm_1"), visit)?;
        norm_2.parameters(&of("norm_2"), visit)
    }
}

fn layer(inputs: usize, outputs: usize) -> Projection {
    Projection {
        weight: Weight::Dense(Array2::zeros((outputs, inputs))),
        bias: Some(Array1::zeros(outputs)),
    }
}

/// Sequences one after the other, and the right symbol of each position.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    ids: Vec<usize>,
    targets: Vec<Option<usize>>,
}

impl Batch {
    /// Random sequences of the stream `step` of the seed.
    pub fn new(seed: u64, step: u64) -> Self {
        let mut rng = Rng::named(seed, &format!("batch.{step}"));
        let ids: Vec<usize> = (0..BATCH * LENGTH).map(|_| rng.below(SYMBOLS)).collect();
        let sequences = ids.chunks_exact(LENGTH);
        let targets = sequences.flat_map(|ids| ids.iter().rev().copied().map(Some));
        Self {
            targets: targets.collect(),
            ids,
        }
    }
}

/// The stack.
#[derive(Debug, Clone, PartialEq)]
pub struct NormStack {
    place: Place,
    embedding: Weight,
    positions: Array2<f32>,
    blocks: Vec<Block>,
    last: LayerNorm,
    head: Projection,
}

impl NormStack {
    /// A stack of `depth` blocks with random matrices: the same ones for the same seed and depth,
    /// wherever the norms are.
    ///
    /// # Errors
    /// None for the shapes here; those of the engine's initialisation.
    pub fn new(place: Place, depth: usize, seed: u64) -> Result<Self> {
        let mut stack = Self {
            place,
            embedding: Weight::Dense(Array2::zeros((SYMBOLS, WIDTH))),
            positions: sinusoidal::table(LENGTH, WIDTH),
            blocks: (0..depth).map(|_| Block::new(place)).collect(),
            last: LayerNorm::new(WIDTH),
            head: layer(WIDTH, SYMBOLS),
        };
        initialise(&mut stack, seed, Draw::Xavier)?;
        Ok(stack)
    }

    /// Where its norms are.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The number of its blocks.
    pub fn depth(&self) -> usize {
        self.blocks.len()
    }

    /// The logits of each position.
    fn run<C: Compute>(&self, compute: &mut C, ids: &[usize]) -> Result<C::Matrix> {
        // ids [B · T] -> [B · T, V]
        let lengths = vec![LENGTH; ids.len() / LENGTH];
        let x = compute.embed(&self.embedding, ids)?;
        let x = compute.scale(x, math::sqrt(WIDTH as f32));
        let positions = compute.constant(self.positions.view());
        let mut x = compute.add_repeated(x, &positions)?;
        for block in &self.blocks {
            x = block.run(compute, x, &lengths)?;
        }
        if self.place == Place::Before {
            x = self.last.run(compute, &x)?;
        }
        self.head.run(compute, &x)
    }

    /// Loss and gradients on a batch.
    fn gradients(&mut self, batch: &Batch) -> Result<(f32, Gradients)> {
        gradients(self, &Settings::same_bits(), |stack, tape: &mut Tape| {
            let logits: Var = stack.run(tape, &batch.ids)?;
            tape.cross_entropy(&logits, &batch.targets, 0.0)
        })
    }

    /// The loss on a batch of this seed, and for each block, from the input up, the length of the
    /// gradient of all its parameters, as one vector.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn gradient_norms(&mut self, seed: u64) -> Result<(f32, Vec<f32>)> {
        // -> scalar, [depth]
        let (loss, found) = self.gradients(&Batch::new(seed, 0))?;
        let mut squares = vec![0.0_f64; self.blocks.len()];
        for (name, values) in found.iter() {
            let block = name
                .strip_prefix("blocks.")
                .and_then(|n| n.split('.').next());
            let block = block.and_then(|n| n.parse::<usize>().ok());
            if let Some(sum) = block.and_then(|n| squares.get_mut(n)) {
                *sum += values
                    .iter()
                    .map(|&g| f64::from(g) * f64::from(g))
                    .sum::<f64>();
            }
        }
        Ok((loss, squares.iter().map(|sum| sum.sqrt() as f32).collect()))
    }
}

impl Trainable for NormStack {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::weight(&mut self.embedding, "embedding", Kind::Table, visit)?;
        for (n, block) in self.blocks.iter_mut().enumerate() {
            block.parameters(&format!("blocks.{n}"), visit)?;
        }
        if self.place == Place::Before {
            self.last.parameters("norm", visit)?;
        }
        self.head.parameters("head", visit)
    }
}

/// A training run: fresh sequences at each step, Adam, and a learning rate that climbs during the
/// warm-up and then stays.
#[derive(Debug, Clone)]
pub struct NormRun {
    stack: NormStack,
    adam: AdamW,
    rate: f32,
    warmup: u64,
    seed: u64,
}

impl NormRun {
    /// Before the first step.
    ///
    /// # Errors
    /// As [`NormStack::new`].
    pub fn new(place: Place, depth: usize, (rate, warmup): (f32, u64), seed: u64) -> Result<Self> {
        let adam = AdamW {
            beta_2: 0.98,
            eps: 1e-9,
            ..AdamW::default()
        };
        Ok(Self {
            stack: NormStack::new(place, depth, seed)?,
            adam,
            rate,
            warmup,
            seed,
        })
    }

    /// One step; returns the loss before it, in nats.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        let n = self.adam.steps + 1;
        let (loss, found) = self.stack.gradients(&Batch::new(self.seed, n))?;
        let rate = match n < self.warmup {
            true => self.rate * n as f32 / self.warmup as f32,
            false => self.rate,
        };
        self.adam.step(&mut self.stack, &found, rate)?;
        Ok(loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_the_sequences_backwards() {
        let batch = Batch::new(3, 1);
        for n in 0..BATCH {
            for t in 0..LENGTH {
                let at = n * LENGTH;
                assert_eq!(batch.targets[at + t], Some(batch.ids[at + LENGTH - 1 - t]));
            }
        }
        assert_ne!(batch, Batch::new(3, 2));
    }

    /// The places of the norms are the only difference: the matrices are the same.
    #[test]
    fn both_places_start_from_the_same_matrices() {
        let numbers = |place| {
            let mut all = std::collections::BTreeMap::new();
            let mut stack = NormStack::new(place, 3, 5).unwrap();
            stack
                .parameters(&mut |p| {
                    all.insert(p.name.to_owned(), p.values.to_vec());
                    Ok(())
                })
                .unwrap();
            all
        };
        let (mut before, after) = (numbers(Place::Before), numbers(Place::After));
        assert!(before.remove("norm.weight").is_some() && before.remove("norm.bias").is_some());
        assert_eq!(before, after);
    }

    /// Every parameter gets a gradient, and the blocks' gradients are part of the whole.
    #[test]
    fn every_parameter_has_a_gradient() {
        for place in [Place::Before, Place::After] {
            let mut stack = NormStack::new(place, 4, 2).unwrap();
            let (loss, all) = stack.gradients(&Batch::new(2, 0)).unwrap();
            assert!(all.missing().is_empty());
            let (again, norms) = stack.gradient_norms(2).unwrap();
            assert_eq!(loss, again);
            let squares: f32 = norms.iter().map(|n| n * n).sum();
            assert!(squares.sqrt() < all.norm() && squares > 0.0);
        }
    }

    /// A shallow stack of either kind learns a little in a few steps.
    #[test]
    fn a_shallow_stack_learns() {
        for place in [Place::Before, Place::After] {
            let mut run = NormRun::new(place, 1, (3e-3, 0), 1).unwrap();
            let losses: Vec<f32> = (0..60).map(|_| run.step().unwrap()).collect();
            let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
            assert!(
                mean(&losses[50..]) < mean(&losses[..10]) - 0.1,
                "{losses:?}"
            );
        }
    }
}
