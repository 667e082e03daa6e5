//! A GPT-2 in small whose positions enter in one of several ways, to compare them.
//!
//! ```text
//! x = √C · E[ids]                                          ids [T], E [V, C]                 -> [T, C]
//!   + PE                                                   sines, added
//!   + √C · P[positions]                                    a learned table P [context, C]
//!   with PE in the last C/4 columns                        sines, appended
//! scores of head h += b[h, min(t − s, R)]                  a learned bias [H, R + 1], one for all blocks
//!                   −= slope_h · (t − s)                   ALiBi
//! queries and keys rotated by their positions              rotary; interpolated: by position / factor
//! hidden = layer_norm(blocks(x)),  logits = hidden · Eᵀ                                      -> [T, V]
//! ```
//! All parameters but P and b are the same in every scheme, also in name, so they are drawn alike.
//!
//! The observer gets `embedding`, `input`, `blocks.n.…` (see [`engine::nn::pre_norm::PreNormBlock`])
//! and `norm`.
//!
//! Source: Vaswani et al. 2017, section 3.5 (sines, √C); Gehring et al. 2017, section 3.1 (learned
//! table); Raffel et al. 2020 (T5), section 2.1 (learned bias, shared by the blocks); Press, Smith
//! and Lewis 2022 (ALiBi); Su et al. 2021 (rotary); Chen et al. 2023 (interpolation).

use engine::error::{EngineError, Result};
use engine::math;
use engine::model::gpt_trunk::{Trunk, block};
use engine::model::gpt2::Config;
use engine::ndarray::Array2;
use engine::nn::compute::Compute;
use engine::nn::feed_forward::Activation;
use engine::nn::grouped::GroupedAttention;
use engine::nn::norm::{LayerNorm, Norm};
use engine::nn::packed::ranges;
use engine::nn::parts::Parts;
use engine::nn::position::rope::{Pairing, Rope, RotaryTable, Scaling};
use engine::nn::position::{alibi, sinusoidal};
use engine::parameters::{Parameters, matrix};
use engine::trainable::{self, Kind, Trainable, Visit};

/// The name of the learned table.
const TABLE: &str = "transformer.wpe.weight";
/// The name of the learned bias.
const BIAS: &str = "transformer.bias_by_distance";
/// The width over that of appended sines.
const APPENDED: usize = 4;
/// The base of the rotary angles.
const BASE: f32 = 10_000.0;

/// The way in which positions enter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Positions {
    /// Not at all, but for the causal mask.
    None,
    /// Sines and cosines, added to the token vectors.
    Sines,
    /// Sines and cosines in the last quarter of the columns, in place of the token's own numbers.
    Appended,
    /// A learned vector for each position up to the context, added to the token vectors.
    Table,
    /// A learned number for each head and distance, added to the scores.
    Bias {
        /// R + 1: distances from R on share the last number.
        distances: usize,
    },
    /// A fixed slope for each head times the distance, subtracted from the scores.
    Alibi,
    /// Queries and keys rotated by position / `factor`.
    Rotary {
        /// 1 as trained; above 1 for positions interpolated between those.
        factor: f32,
    },
}

/// The model.
#[derive(Debug, Clone)]
pub struct PositionDecoder {
    config: Config,
    positions: Positions,
    trunk: Trunk<LayerNorm>,
    /// `[H, R + 1]`.
    bias: Option<Array2<f32>>,
}

/// What the blocks get beside the residual stream.
struct Given<'a, M> {
    lengths: &'a [usize],
    by_distance: Option<M>,
    rotary: Option<RotaryTable>,
}

impl PositionDecoder {
    /// The model with the parameters of a source, matrices as `[C_out, C_in]`.
    ///
    /// # Errors
    /// When the heads do not divide the width, there is no distance for a bias, or a parameter is
    /// missing or has another shape.
    pub fn load(config: Config, positions: Positions, source: &mut dyn Parameters) -> Result<Self> {
        config.check()?;
        let (c, eps) = (config.width, config.norm_eps);
        let mut blocks = Vec::new();
        for n in 0..config.layers {
            let name = format!("transformer.h.{n}.");
            blocks.push(block(&config, source, &name, Activation::GeluTanh, false)?);
        }
        let (mut table, mut bias) = (None, None);
        match positions {
            Positions::Table => table = Some(matrix(source, TABLE, config.context, c)?),
            Positions::Bias { distances: 0 } => {
                let expected = "at least 1";
                return Err(EngineError::value("positions", "distances", expected, 0));
            }
            Positions::Bias { distances } => {
                bias = Some(matrix(source, BIAS, config.heads, distances)?);
            }
            _ => {}
        }
        let trunk = Trunk {
            tokens: source.weight("transformer.wte.weight", config.vocabulary, c)?,
            positions: table,
            blocks,
            norm: LayerNorm::load(source, "transformer.ln_f", c, eps)?,
            head: None,
        };
        Ok(Self {
            config,
            positions,
            trunk,
            bias,
        })
    }

    /// The names of all parameters with their shapes.
    pub fn shapes(config: &Config, positions: Positions) -> Vec<(String, Vec<usize>)> {
        // Those of GPT-2 but its table of positions; matrices the other way round than in Hugging Face's files.
        let mut all = config.shapes();
        all.retain(|(name, _)| name != TABLE);
        let is_matrix = |name: &str| name.starts_with("transformer.h.");
        let matrices = all.iter_mut().filter(|(name, _)| is_matrix(name));
        matrices.for_each(|(_, shape)| shape.reverse());
        let mut add = |name: &str, shape: [usize; 2]| all.push((name.to_owned(), shape.to_vec()));
        match positions {
            Positions::Table => add(TABLE, [config.context, config.width]),
            Positions::Bias { distances } => add(BIAS, [config.heads, distances]),
            _ => {}
        }
        all
    }

    /// The sizes of the model; its context is the length that it is trained on.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The way in which positions enter.
    pub fn positions(&self) -> Positions {
        self.positions
    }

    /// The same rotary model with positions divided by `factor` (Chen et al. 2023, equation 4).
    ///
    /// # Errors
    /// When positions do not enter by rotation.
    pub fn interpolated(&self, factor: f32) -> Result<Self> {
        let Positions::Rotary { .. } = self.positions else {
            let found = format!("{:?}", self.positions);
            let expected = "rotary ones";
            return Err(EngineError::value(
                "interpolated",
                "positions",
                expected,
                found,
            ));
        };
        let positions = Positions::Rotary { factor };
        Ok(Self {
            positions,
            ..self.clone()
        })
    }

    /// The hidden states of whole texts after the last norm, `lengths[b]` tokens of text b, one text
    /// after the other; generic over the executor.
    ///
    /// # Errors
    /// When an id is outside the vocabulary, the lengths are not those of `ids`, or a text is longer
    /// than a learned table.
    pub fn run<C: Compute>(
        &self,
        compute: &mut C,
        ids: &[usize],
        lengths: &[usize],
    ) -> Result<C::Matrix> {
        // ids [T] -> [T, C]
        let positions: Vec<usize> = ranges(lengths).flat_map(|rows| 0..rows.len()).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let root = math::sqrt(self.config.width as f32);
        let mut x = compute.embed(&self.trunk.tokens, ids)?;
        compute.trace("embedding", &mut x);
        if let Some(table) = &self.trunk.positions {
            let rows = compute.lookup(table, &positions)?;
            x = compute.add(x, &rows)?;
        }
        let mut x = compute.scale(x, root);
        let width = self.config.width;
        if self.positions == Positions::Sines {
            let sines = compute.constant(sines(&positions, longest, width).view());
            x = compute.add(x, &sines)?;
        }
        if self.positions == Positions::Appended {
            let own = width - width / APPENDED;
            let sines = compute.constant(sines(&positions, longest, width - own).view());
            let words = compute.columns(&x, 0..own)?;
            x = compute.concat(&[&words, &sines])?;
        }
        compute.trace("input", &mut x);
        let given = Given {
            lengths,
            by_distance: self.by_distance(compute, longest)?,
            rotary: self.rotary(&positions)?,
        };
        for (n, block) in self.trunk.blocks.iter().enumerate() {
            let prefix = || format!("blocks.{n}.");
            x = compute.scope(prefix, |compute| {
                block.run(compute, x, Parts::default(), |attention, compute, x| {
                    attend(attention, compute, x, &given)
                })
            })?;
        }
        let mut hidden = self.trunk.norm.run(compute, &x)?;
        compute.trace("norm", &mut hidden);
        Ok(hidden)
    }

    /// The logits of hidden states, generic over the executor.
    ///
    /// # Errors
    /// When the hidden states are not of this width.
    pub fn run_logits<C: Compute>(&self, compute: &mut C, hidden: &C::Matrix) -> Result<C::Matrix> {
        // hidden [T, C] -> [T, V]
        compute.linear(hidden, self.trunk.head(), None)
    }

    /// The number that each head adds to the scores of each distance.
    fn by_distance<C: Compute>(
        &self,
        compute: &mut C,
        longest: usize,
    ) -> Result<Option<C::Matrix>> {
        // -> [H, R + 1]
        let heads = self.config.heads;
        if let Some(bias) = &self.bias {
            let rows: Vec<usize> = (0..heads).collect();
            return compute.lookup(bias, &rows).map(Some);
        }
        if self.positions != Positions::Alibi {
            return Ok(None);
        }
        let mut all = Array2::zeros((heads, longest.max(1)));
        for (mut row, slope) in all.rows_mut().into_iter().zip(alibi::slopes(heads)) {
            // The first token's biases: its distance to key s is s.
            row.assign(&alibi::bias(longest.max(1), slope).row(0));
        }
        Ok(Some(compute.constant(all.view())))
    }

    fn rotary(&self, positions: &[usize]) -> Result<Option<RotaryTable>> {
        let Positions::Rotary { factor } = self.positions else {
            return Ok(None);
        };
        let rope = Rope {
            width: self.config.width / self.config.heads,
            base: BASE,
            pairing: Pairing::Neighbours,
            scaling: Scaling::Linear { factor },
        };
        rope.table(positions).map(Some)
    }
}

/// The sines and cosines of each position.
fn sines(positions: &[usize], longest: usize, width: usize) -> Array2<f32> {
    // positions [T] -> [T, width]
    let known = sinusoidal::table(longest, width);
    let mut rows = Array2::zeros((positions.len(), width));
    for (mut row, &p) in rows.rows_mut().into_iter().zip(positions) {
        row.assign(&known.row(p));
    }
    rows
}

/// The attention of a block.
fn attend<C: Compute>(
    attention: &GroupedAttention,
    compute: &mut C,
    x: &C::Matrix,
    given: &Given<'_, C::Matrix>,
) -> Result<C::Matrix> {
    // x [T, C] -> [T, C]
    let width = attention.heads * attention.head_width;
    let [mut q, mut k, v] = attention.qkv.run(compute, x, [width; 3])?;
    if let Some(rotary) = &given.rotary {
        q = compute.apply_rotary(q, rotary, attention.head_width)?;
        k = compute.apply_rotary(k, rotary, attention.head_width)?;
    }
    // Without a bias, one of 0 for every distance: all schemes run the same attention.
    let none = Array2::zeros((attention.heads, 1));
    let none = compute.constant(none.view());
    let by_distance = given.by_distance.as_ref().unwrap_or(&none);
    let joined = compute.attend_with_bias([q, k, v], by_distance, given.lengths)?;
    let mut output = attention.output.run(compute, &joined)?;
    compute.trace("attention.output", &mut output);
    Ok(output)
}

impl Trainable for PositionDecoder {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.trunk.parameters(visit)?;
        match &mut self.bias {
            Some(bias) => trainable::array(bias, BIAS, Kind::Bias, visit),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::formula::Formula;
    use engine::grad::{Draw, Settings, gradients, initialise};
    use engine::kernel::threads;
    use engine::ndarray::{Axis, Slice};
    use engine::nn::plain::Plain;
    use engine::trainable::replace;
    use std::ops::Range;

    const SCHEMES: [Positions; 7] = [
        Positions::None,
        Positions::Sines,
        Positions::Appended,
        Positions::Table,
        Positions::Bias { distances: 3 },
        Positions::Alibi,
        Positions::Rotary { factor: 1.0 },
    ];

    fn model(positions: Positions) -> PositionDecoder {
        let config = Config {
            vocabulary: 7,
            width: 8,
            heads: 2,
            layers: 2,
            inner: 16,
            context: 5,
            norm_eps: 1e-5,
        };
        let shapes = PositionDecoder::shapes(&config, positions);
        let mut model =
            PositionDecoder::load(config, positions, &mut Formula::new(0, shapes)).unwrap();
        initialise(&mut model, 3, Draw::Xavier).unwrap();
        model
    }

    fn logits(model: &PositionDecoder, ids: &[usize], lengths: &[usize]) -> Array2<f32> {
        let mut plain = Plain::silent();
        let hidden = model.run(&mut plain, ids, lengths).unwrap();
        model.run_logits(&mut plain, &hidden).unwrap()
    }

    fn rows(all: &Array2<f32>, range: Range<usize>) -> Array2<f32> {
        all.slice_axis(Axis(0), Slice::from(range)).to_owned()
    }

    fn is_close(a: &Array2<f32>, b: &Array2<f32>) -> bool {
        a.dim() == b.dim() && (a - b).iter().all(|d| d.abs() < 1e-4)
    }

    /// The last token after two others, in either order: without positions and with one block, the order
    /// is lost.
    #[test]
    fn only_without_positions_does_the_order_not_matter() {
        for positions in SCHEMES {
            let mut model = model(positions);
            model.trunk.blocks.truncate(1);
            if let Some(bias) = &mut model.bias {
                bias[[0, 1]] = 2.0;
            }
            let last = |ids: &[usize]| rows(&logits(&model, ids, &[3]), 2..3);
            let (one, other) = (last(&[1, 2, 3]), last(&[2, 1, 3]));
            assert_eq!(
                is_close(&one, &other),
                positions == Positions::None,
                "{positions:?}"
            );
        }
    }

    /// Texts are packed: each is computed as if it were alone, and no later token is seen.
    #[test]
    fn each_text_is_read_by_itself_and_from_the_left() {
        for positions in SCHEMES {
            let model = model(positions);
            let both = logits(&model, &[1, 2, 3, 4, 5], &[2, 3]);
            let second = logits(&model, &[3, 4, 5], &[3]);
            assert!(is_close(&rows(&both, 2..5), &second));
            let shorter = logits(&model, &[3, 4], &[2]);
            assert!(is_close(&rows(&both, 2..4), &shorter));
        }
    }

    /// The tape computes the same, and every parameter has the gradient that differences give.
    #[test]
    fn gradients_are_those_of_differences() {
        let (ids, lengths) = ([1, 2, 3, 4, 5, 6, 0, 1], [5, 3]);
        let targets: Vec<Option<usize>> = (0..8).map(|n| Some((n + 3) % 7)).collect();
        for positions in SCHEMES {
            let mut model = model(positions);
            let loss = |model: &mut PositionDecoder| {
                gradients(model, &Settings::default(), |model, tape| {
                    let hidden = model.run(tape, &ids, &lengths)?;
                    let logits = model.run_logits(tape, &hidden)?;
                    let plain = super::tests::logits(model, &ids, &lengths);
                    assert!(is_close(&tape.value(&logits)?, &plain), "{positions:?}");
                    tape.cross_entropy(&logits, &targets, 0.0)
                })
                .unwrap()
            };
            let (_, found) = loss(&mut model);
            assert!(found.missing().is_empty(), "{:?}", found.missing());
            for (name, slopes) in found.iter() {
                let at = slopes.len() / 2;
                let value = replace(&mut model, name, at, 0.0).unwrap();
                let step = 1.0 / 256.0;
                let [below, above] = [-step, step].map(|by| {
                    replace(&mut model, name, at, value + by).unwrap();
                    f64::from(loss(&mut model).0)
                });
                replace(&mut model, name, at, value).unwrap();
                let slope = ((above - below) / f64::from(2.0 * step)) as f32;
                let error = (slope - slopes[at]).abs();
                assert!(
                    error < 2e-3 * (1.0 + slope.abs()),
                    "{positions:?} {name}: {slope} {}",
                    slopes[at]
                );
            }
        }
    }

    /// The bias has a gradient that adds over heads and texts, in the same order on any number of threads.
    #[test]
    fn a_learned_bias_has_the_same_gradient_on_any_number_of_threads() {
        let mut model = model(Positions::Bias { distances: 3 });
        let targets: Vec<Option<usize>> = (0..8).map(|n| Some((n + 3) % 7)).collect();
        threads::start(3).unwrap();
        let runs = [1, 2, 3].map(|count| {
            threads::limit(count);
            let (loss, found) = gradients(&mut model, &Settings::default(), |model, tape| {
                let hidden = model.run(tape, &[1, 2, 3, 4, 5, 6, 0, 1], &[5, 3])?;
                let logits = model.run_logits(tape, &hidden)?;
                tape.cross_entropy(&logits, &targets, 0.0)
            })
            .unwrap();
            let slopes = found.iter().flat_map(|(_, slopes)| slopes.iter());
            let bits: Vec<u32> = slopes.map(|slope| slope.to_bits()).collect();
            (loss.to_bits(), bits)
        });
        assert!(runs[0] == runs[1] && runs[1] == runs[2]);
    }

    #[test]
    fn interpolation_reads_between_the_positions() {
        let rotary = model(Positions::Rotary { factor: 1.0 });
        let ids = [1, 2, 3];
        let same = rotary.interpolated(1.0).unwrap();
        assert!(is_close(
            &logits(&rotary, &ids, &[3]),
            &logits(&same, &ids, &[3])
        ));
        let four = rotary.interpolated(4.0).unwrap();
        assert_eq!(four.positions(), Positions::Rotary { factor: 4.0 });
        assert!(!is_close(
            &logits(&rotary, &ids, &[3]),
            &logits(&four, &ids, &[3])
        ));
        // Token 4 of the interpolated model is rotated as token 1.
        let (one, other) = (rotary.rotary(&[1]).unwrap(), four.rotary(&[4]).unwrap());
        assert_eq!(one, other);
    }

    #[test]
    fn what_a_scheme_cannot_do_is_refused() {
        let table = model(Positions::Table);
        let run = |model: &PositionDecoder, ids: &[usize], lengths: &[usize]| {
            model.run(&mut Plain::silent(), ids, lengths).is_ok()
        };
        assert!(run(&table, &[1; 5], &[5]));
        assert!(!run(&table, &[1; 6], &[6]), "the table has five rows");
        for positions in SCHEMES {
            let model = model(positions);
            assert_eq!(run(&model, &[1; 6], &[6]), positions != Positions::Table);
            assert!(!run(&model, &[1; 4], &[3]));
            assert!(!run(&model, &[7], &[1]));
            let rotary = matches!(positions, Positions::Rotary { .. });
            assert_eq!(model.interpolated(4.0).is_ok(), rotary);
        }
        let rotary = model(Positions::Rotary { factor: 1.0 });
        assert!(!run(&rotary.interpolated(0.0).unwrap(), &[1], &[1]));
        let none = Positions::Bias { distances: 0 };
        let config = rotary.config().clone();
        let shapes = PositionDecoder::shapes(&config, none);
        assert!(PositionDecoder::load(config, none, &mut Formula::new(0, shapes)).is_err());
    }
}
