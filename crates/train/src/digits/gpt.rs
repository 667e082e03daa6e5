//! A model that writes digits pixel by pixel, and so completes one of which only the upper part is
//! there.
//!
//! ```text
//! digit [28, 28] -> means of 2 x 2 pixels [14, 14] -> the nearest of 4 greys -> 196 tokens, row by row
//! ```
//! Source: Chen et al. 2020, "Generative pretraining from pixels".

use super::data::{Digits, Mnist, card};
use crate::Result;
use crate::frame::{Card, Choice, Evaluation, Figure, Recipe, Subject};
use engine::drawing::{SIDE, greys, halved};
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::decoder::{Decoder, Tokens};
use engine::model::image_gpt::{Config, ImageGpt, clusters, shapes};
use engine::ndarray::Axis;
use engine::nn::plain::Plain;
use engine::parameters::Parameters;
use engine::rng::Rng;
use serde_json::{Value, json};

/// Greys from paper to ink.
const GREYS: usize = 4;

/// Pixels in a row, and rows.
const ACROSS: usize = SIDE / 2;

/// Tokens of a digit.
const PIXELS: usize = ACROSS * ACROSS;

/// The token before the first pixel.
const START: usize = GREYS;

/// Digits in a step.
const BATCH: usize = 8;

/// Number of validation digits by which the best step is chosen.
const LOOKED_AT: usize = 200;

/// Number of test digits for the card's figures.
const MEASURED: usize = 1_000;

const RATE: f32 = 2e-3;

const STEPS: u64 = 5_000;

fn sizes() -> Config {
    Config {
        vocabulary: GREYS + 1,
        width: 64,
        heads: 4,
        layers: 4,
        inner: 256,
        context: PIXELS,
        norm_eps: 1e-5,
    }
}

/// The model with the digits that it learns to write.
pub struct DigitGpt {
    train: Vec<Vec<usize>>,
    held_out: Vec<Vec<usize>>,
    test: Vec<Vec<usize>>,
}

impl DigitGpt {
    /// A model of these digits.
    ///
    /// # Errors
    /// When they have another size.
    pub fn new(digits: &Mnist) -> Result<Self> {
        Ok(Self {
            train: tokens(&digits.train, digits.train.len())?,
            held_out: tokens(&digits.held_out, LOOKED_AT)?,
            test: tokens(&digits.test, MEASURED)?,
        })
    }
}

/// The pixels of the first `count` digits, as tokens.
fn tokens(digits: &Digits, count: usize) -> Result<Vec<Vec<usize>>> {
    let greys = greys(GREYS);
    let one = |n: usize| {
        let small = halved(digits.picture(n).insert_axis(Axis(0)));
        Ok(clusters(small.view(), greys.view())?)
    };
    (0..count.min(digits.len())).map(one).collect()
}

/// The model's input for some digits, one after the other: the start token, then each pixel but the
/// last.
fn read(digits: &[&[usize]]) -> Vec<usize> {
    let one = |pixels: &&[usize]| {
        let before = pixels.iter().take(PIXELS - 1).copied();
        std::iter::once(START).chain(before).collect::<Vec<_>>()
    };
    digits.iter().flat_map(one).collect()
}

/// The mean information in each pixel, row by row, in bits, given all pixels before it.
fn bits(model: &ImageGpt, digits: &[Vec<usize>]) -> Result<Vec<f64>> {
    let mut totals = vec![0.0; PIXELS];
    for some in digits.chunks(BATCH) {
        let some: Vec<&[usize]> = some.iter().map(Vec::as_slice).collect();
        let (ids, lengths) = (read(&some), vec![PIXELS; some.len()]);
        let tokens = Tokens::fresh(&ids, &lengths, PIXELS, GREYS + 1)?;
        let mut plain = Plain::silent();
        let hidden = model.run(&mut plain, &tokens, &mut model.caches(some.len()))?;
        let logits = model.run_logits(&mut plain, &hidden)?;
        let pixels = some.iter().flat_map(|pixels| pixels.iter().copied());
        for (n, (row, pixel)) in logits.outer_iter().zip(pixels).enumerate() {
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let sum: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
            let nats = sum.ln() - f64::from(row[pixel] - largest);
            totals[n % PIXELS] += nats * std::f64::consts::LOG2_E;
        }
    }
    let count = digits.len().max(1) as f64;
    Ok(totals.into_iter().map(|total| total / count).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

impl Subject for DigitGpt {
    type Model = ImageGpt;

    fn name(&self) -> &'static str {
        "digit-gpt"
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<ImageGpt> {
        Ok(ImageGpt::load(sizes(), source)?)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        // As the model's own names have them: matrices [C_out, C_in].
        let turned = |(name, mut shape): (String, Vec<usize>)| {
            if name.contains(".attn.c_") || name.contains(".mlp.c_") {
                shape.reverse();
            }
            (name, shape)
        };
        shapes(&sizes()).into_iter().map(turned).collect()
    }

    fn config(&self) -> Value {
        let c = sizes();
        json!({
            "model_type": "imagegpt", "vocab_size": c.vocabulary, "n_embd": c.width, "n_head": c.heads, "n_layer": c.layers,
            "n_inner": c.inner, "n_positions": c.context, "layer_norm_epsilon": 1e-5, "greys": GREYS, "across": ACROSS,
        })
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            steps: STEPS,
            schedule: Schedule::Cosine {
                peak: RATE,
                last: RATE / 100.0,
                warmup: STEPS / 20,
                steps: STEPS,
            },
            beta_2: 0.99,
            decay: 0.05,
            clip: 1.0,
            dropout: 0.0,
            draw: Draw::Normal(0.05),
            evaluate_every: 200,
            patience: 10,
            score: "bits per pixel of those held out",
            choice: Choice::SmallestScore,
            keep: None,
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let order = rng.permutation(self.train.len());
        order.chunks_exact(BATCH).map(<[usize]>::to_vec).collect()
    }

    fn loss(
        &self,
        model: &ImageGpt,
        tape: &mut Tape,
        places: &[usize],
        _: &mut Rng,
    ) -> Result<Var> {
        let digits: Vec<&[usize]> = places.iter().map(|&n| self.train[n].as_slice()).collect();
        let (ids, lengths) = (read(&digits), vec![PIXELS; digits.len()]);
        let tokens = Tokens::fresh(&ids, &lengths, PIXELS, GREYS + 1)?;
        let hidden = model.run(tape, &tokens, &mut model.caches(digits.len()))?;
        let logits = model.run_logits(tape, &hidden)?;
        let next = digits.iter().flat_map(|pixels| pixels.iter());
        let next: Vec<Option<usize>> = next.map(|&pixel| Some(pixel)).collect();
        Ok(tape.cross_entropy(&logits, &next, 0.0)?)
    }

    fn evaluate(&self, model: &ImageGpt) -> Result<Evaluation> {
        let score = mean(&bits(model, &self.held_out)?);
        let loss = score * std::f64::consts::LN_2;
        Ok(Evaluation { loss, score })
    }

    fn measure(&self, model: &ImageGpt) -> Result<Vec<Figure>> {
        let bits = bits(model, &self.test)?;
        let figure = |name: String, pixels: &[f64]| Figure {
            name,
            value: mean(pixels),
            decimals: 4,
            tolerance: 2e-4,
            allowed: f64::NEG_INFINITY..=0.005 * mean(pixels),
        };
        let lower =
            format!("bits per pixel of the lower half of {MEASURED} test digits, given the upper");
        Ok(vec![
            figure(lower, &bits[PIXELS / 2..]),
            figure(format!("bits per pixel of {MEASURED} test digits"), &bits),
        ])
    }

    fn card(&self) -> Card {
        Card {
            about: "A small ImageGPT that writes a digit of 14 x 14 pixels in 4 greys, one pixel after the other \
                (`engine::model::image_gpt`); given the upper half it completes the digit."
                .to_owned(),
            ..card()
        }
    }
}
