//! Training: gradients by reverse-mode differentiation over the layers and models that inference
//! runs, optimisers and tasks.
//!
//! ```text
//! tape:       x_1 = f_1(x_0), …, loss = f_n(…)       each step remembered as it is computed
//! gradients:  ḡ(x) = Σ over the steps that read x of (∂step/∂x)ᵀ ḡ(step),  from the loss backwards, ḡ(loss) = 1
//! optimiser:  parameters − lr · the step that AdamW computes from the gradients
//! ```
//!
//! No model is written twice: [`Tape`] runs the same `run` functions as inference does
//! ([`crate::nn::compute`]); Swin V2 has none and cannot be trained. The tape recognises the
//! parameters of its model by their addresses in memory; their names and order are the model's own
//! ([`crate::trainable`]).
//!
//! ```
//! use engine::grad::{AdamW, Settings, gradients, initialise};
//! use engine::model::gpt2::{Config, Gpt2};
//! use engine::model::decoder::{Decoder, Tokens};
//! use engine::formula::Formula;
//! let config = Config { vocabulary: 5, width: 8, heads: 2, layers: 1, inner: 16, context: 4, norm_eps: 1e-5 };
//! let mut model = Gpt2::load(config.clone(), &mut Formula::new(0, config.shapes()))?;
//! initialise(&mut model, 7, engine::grad::Draw::Normal(0.02))?;
//! let mut optimiser = AdamW::default();
//! let mut losses = Vec::new();
//! for _ in 0..20 {
//!     let (loss, mut found) = gradients(&mut model, &Settings::default(), |model, tape| {
//!         let hidden = model.run(tape, &Tokens::fresh(&[1, 2, 3], &[3], 4, 5)?, &mut model.caches(1))?;
//!         let logits = model.run_logits(tape, &hidden)?;
//!         tape.cross_entropy(&logits, &[Some(2), Some(3), Some(4)], 0.0)
//!     })?;
//!     assert!(found.missing().is_empty()); // Every parameter got one.
//!     found.clip(1.0);
//!     optimiser.step(&mut model, &found, 0.01)?;
//!     losses.push(loss);
//! }
//! assert!(losses[19] < losses[0]);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! # The same bits
//!
//! Threads share the work ([`crate::kernel::threads`]), and each number is computed by the same
//! operations in the same order whoever computes it, so one build always gives the same bits. With the
//! plain kernels ([`Settings::reference`]) and with four lanes ([`Settings::same_bits`]) they are
//! the same natively and in wasm; the quickest kernels of a machine add in another order. Relaxed
//! SIMD, whose results depend on the machine, is never used here.
//!
//! Source: Linnainmaa 1970 (reverse accumulation); Griewank and Walther 2008, "Evaluating
//! derivatives", chapter 3.

mod activation;
mod adam;
mod attention;
mod differences;
mod gradients;
mod initial;
mod learner;
mod linear;
mod loss;
mod mixture;
mod norm;
mod one_word;
mod passages;
mod picture;
mod recurrent;
mod rows;
mod run;
mod schedule;
mod tape;
mod task;

pub use adam::AdamW;
pub use differences::{Difference, difference, losses_along, value_of};
pub use gradients::{Gradients, Settings, gradients, gradients_of_parts};
pub use initial::{Draw, initialise};
pub use learner::{Evaluation, Learner, TaskConfig, TrainingConfig};
pub use one_word::{OneWord, Seen, score_gradients};
pub use passages::Corpus;
pub use schedule::Schedule;
pub use tape::{Sources, Tape, Var};
pub use task::{Pairs, Task};
