//! A mixture of experts that learns a text: it reads a word and the one before it, and says which
//! word comes next; with a loss that balances the load of its experts, or without.
//!
//! ```text
//! x = A[word] + B[word before] + c                      [T] -> [T, C]
//! p = softmax(norm(x) · W_rᵀ)                           the router, over E experts -> [T, E]
//! y = x + p_e expert_e(norm(x))                         e: the most probable expert of each word
//! logits = norm(y) · Wᵀ                                 [T, C] -> [T, V]
//! loss = the mean of −ln p(next word) + α · E Σ_e f_e P_e
//! f_e: share of the words that go through expert e      P_e: mean of p_e over the text
//! ```
//! The second part of the loss is smallest, α, where all experts have the same load. The vectors share
//! a part c, which is twice as long as a word's vector at first: those of trained Transformers share
//! a large part too (Ethayarajh 2019), and it is what sends most words to the same few experts.
//!
//! ```
//! use explain::expert_words::{ExpertRun, TEXT, Words};
//! let mut run = ExpertRun::new(&Words::of(TEXT), true, 1)?;
//! let first = run.step()?;
//! for _ in 0..20 {
//!     run.step()?;
//! }
//! assert!(run.step()? < first);
//! # Ok::<(), engine::EngineError>(())
//! ```
//!
//! Source: Fedus, Zoph and Shazeer 2021, "Switch Transformers", equations 1 and 2 (one expert) and 4 to
//! 6 (the balance loss); Shazeer et al. 2017, "Outrageously large neural networks", section 4;
//! Ethayarajh 2019, "How contextual are contextualized word representations?", section 4.1.

use engine::error::{EngineError, Result};
use engine::grad::{AdamW, Draw, Settings, Tape, Var, gradients, initialise};
use engine::nn::compute::Compute;
use engine::nn::norm::{LayerNorm, Norm};
use engine::nn::plain::Plain;
use engine::nn::pre_norm::Mlp;
use engine::nn::projection::Projection;
use engine::nn::swiglu::SwiGlu;
use engine::parameters::Weight;
use engine::trace::{Observer, Recorder};
use engine::trainable::{self, Kind, Trainable, Visit};
use ndarray::{Array1, Array2, ArrayView2, Axis, Ix2};

/// C: the width of the vectors.
pub const WIDTH: usize = 16;
/// F: the inner width of an expert.
pub const INNER: usize = 16;
/// E: the number of experts.
pub const EXPERTS: usize = 8;
/// Length of the common part of all vectors at first, in those of a word's vector.
const COMMON: f32 = 2.0;
/// Steps of a run.
pub const STEPS: u64 = 300;
/// α: the weight of the balance loss.
pub const ALPHA: f32 = 0.05;
/// The learning rate of Adam.
pub const RATE: f32 = 0.005;

/// The text that is learned at first.
pub const TEXT: &str = "The cat sat on the mat. The mat lay by the fire, and the fire was warm. When the dog came in from the rain, \
    the cat did not move. The dog lay down on the cold stone, and looked at the fire, and looked at the mat. Then the cat got up, \
    went to the door, and looked at the rain. When it came back, the dog lay on the mat, warm and dry, and did not move. So the cat \
    lay down on the dog, and the dog was warm, and the rain went on all night.";

/// A text as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The different words and marks, in the order in which they first come.
    pub vocabulary: Vec<String>,
    /// The text, as places in the vocabulary.
    pub ids: Vec<usize>,
}

impl Words {
    /// Cuts a text into words and single marks, all in lower case.
    pub fn of(text: &str) -> Self {
        let mut pieces: Vec<String> = Vec::new();
        for part in text.split_whitespace() {
            let mut is_open = false;
            for letter in part.chars() {
                let is_letter = letter.is_alphanumeric() || letter == '\'';
                match pieces.last_mut() {
                    Some(last) if is_letter && is_open => last.extend(letter.to_lowercase()),
                    _ => pieces.push(letter.to_lowercase().collect()),
                }
                is_open = is_letter;
            }
        }
        let mut vocabulary: Vec<String> = Vec::new();
        let ids = pieces.into_iter().map(|piece| {
            let known = vocabulary.iter().position(|word| *word == piece);
            known.unwrap_or_else(|| {
                vocabulary.push(piece);
                vocabulary.len() - 1
            })
        });
        let ids = ids.collect();
        Self { vocabulary, ids }
    }
}

/// The model.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpertWords {
    words: Weight,
    before: Weight,
    common: Array2<f32>,
    norm: LayerNorm,
    router: Projection,
    experts: Vec<SwiGlu>,
    last: LayerNorm,
    output: Projection,
}

/// A matrix of zeros without a bias, to be drawn.
fn layer(inputs: usize, outputs: usize) -> Projection {
    Projection {
        weight: Weight::Dense(Array2::zeros((outputs, inputs))),
        bias: None,
    }
}

/// Parameters of one expert.
pub fn expert_parameters() -> usize {
    3 * WIDTH * INNER
}

impl ExpertWords {
    /// The model with random parameters.
    ///
    /// # Errors
    /// None for the shapes here; those of the engine's initialisation.
    pub fn new(vocabulary: usize, seed: u64) -> Result<Self> {
        let expert = |_| SwiGlu {
            gate: layer(WIDTH, INNER),
            up: layer(WIDTH, INNER),
            down: layer(INNER, WIDTH),
        };
        let table = || Weight::Dense(Array2::zeros((vocabulary, WIDTH)));
        let mut model = Self {
            words: table(),
            before: table(),
            common: Array2::zeros((1, WIDTH)),
            norm: LayerNorm::new(WIDTH),
            router: layer(WIDTH, EXPERTS),
            experts: (0..EXPERTS).map(expert).collect(),
            last: LayerNorm::new(WIDTH),
            output: layer(WIDTH, vocabulary),
        };
        initialise(&mut model, seed, Draw::Xavier)?;
        model.common *= COMMON;
        Ok(model)
    }

    /// The input of the layer of experts, before and after its norm.
    fn read<C: Compute>(&self, compute: &mut C, ids: &[usize]) -> Result<[C::Matrix; 2]> {
        // ids [T], the first word as context only -> [T - 1, C]
        let x = compute.embed(&self.words, ids.get(1..).unwrap_or_default())?;
        let count = ids.len().saturating_sub(1);
        let before = compute.embed(&self.before, &ids[..count])?;
        let x = compute.add(x, &before)?;
        let common = compute.lookup(&self.common, &vec![0; count])?;
        let x = compute.add(x, &common)?;
        let normed = self.norm.run(compute, &x)?;
        Ok([x, normed])
    }

    /// The layer of experts: each row goes through the one that the router finds most probable, and
    /// its answer is multiplied by this probability, so the router has a gradient.
    fn switch<C: Compute>(&self, compute: &mut C, x: &C::Matrix) -> Result<C::Matrix> {
        // x [T, C] -> [T, C]
        let (rows, width) = compute.dim(x);
        let logits = self.router.run(compute, x)?;
        let all = compute.top_k_softmax(&logits, EXPERTS)?;
        // Ones at the most probable experts, zeros elsewhere.
        let first = compute.top_k_softmax(&logits, 1)?;
        let mut gates = compute.multiply(all, &first)?;
        compute.trace("gates", &mut gates);
        let mut output = compute.scatter(rows, width, &[])?;
        for (n, expert) in self.experts.iter().enumerate() {
            let chosen = compute.nonzero_rows(&gates, n)?;
            if chosen.is_empty() {
                continue;
            }
            let own = compute.gather(x, &chosen)?;
            let answers = expert.run(compute, &own)?;
            let shares = compute.columns(&gates, n..n + 1)?;
            let shares = compute.gather(&shares, &chosen)?;
            let answers = compute.scale_rows(answers, &shares)?;
            let part = compute.scatter(rows, width, &[(answers, chosen)])?;
            output = compute.add(output, &part)?;
        }
        Ok(output)
    }

    /// The logits of the word after each word but the first, which only precedes.
    fn run<C: Compute>(&self, compute: &mut C, [x, normed]: [C::Matrix; 2]) -> Result<C::Matrix> {
        let branch = self.switch(compute, &normed)?;
        let y = compute.add(branch, &x)?;
        let y = self.last.run(compute, &y)?;
        self.output.run(compute, &y)
    }

    /// The probability of the chosen expert for every word of a text but its first; 0 for the others.
    ///
    /// # Errors
    /// When there are not at least two words.
    pub fn gates(&self, ids: &[usize]) -> Result<Array2<f32>> {
        // ids [T] -> [T - 1, E]
        let mut seen = Recorder::default();
        let mut trace: Option<&mut dyn Observer> = Some(&mut seen);
        let mut plain = Plain::new(&mut trace);
        let read = self.read(&mut plain, ids)?;
        self.run(&mut plain, read)?;
        let found = seen.get("gates");
        let found = found.and_then(|all| all.clone().into_dimensionality::<Ix2>().ok());
        found.ok_or_else(|| EngineError::shape("expert_words", "gates", "none"))
    }
}

/// The share of the rows that go through each expert: those whose gate is not 0.
pub fn load(gates: ArrayView2<'_, f32>) -> Array1<f32> {
    // gates [T, E] -> [E], adds up to 1
    let chosen = gates.mapv(|gate| f32::from(u8::from(gate > 0.0)));
    chosen.sum_axis(Axis(0)) / (gates.nrows().max(1) as f32)
}

impl Trainable for ExpertWords {
    fn parameters(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        trainable::weight(&mut self.words, "words", Kind::Table, visit)?;
        trainable::weight(&mut self.before, "before", Kind::Table, visit)?;
        trainable::array(&mut self.common, "common", Kind::Table, visit)?;
        self.norm.parameters("norm", visit)?;
        self.router.parameters("router", visit)?;
        for (n, expert) in self.experts.iter_mut().enumerate() {
            expert
                .gate
                .parameters(&format!("experts.{n}.gate"), visit)?;
            expert.up.parameters(&format!("experts.{n}.up"), visit)?;
            expert
                .down
                .parameters(&format!("experts.{n}.down"), visit)?;
        }
        self.last.parameters("last", visit)?;
        self.output.parameters("output", visit)
    }
}

/// A training run on a text, all of it in every step.
#[derive(Debug, Clone)]
pub struct ExpertRun {
    /// The model as it is now.
    pub model: ExpertWords,
    adam: AdamW,
    ids: Vec<usize>,
    is_balanced: bool,
}

impl ExpertRun {
    /// A run before its first step, with the balance loss or without: both start from the same
    /// parameters.
    ///
    /// # Errors
    /// When the text has fewer than three words.
    pub fn new(text: &Words, is_balanced: bool, seed: u64) -> Result<Self> {
        if text.ids.len() < 3 {
            let found = text.ids.len();
            return Err(EngineError::value(
                "expert_words",
                "words",
                "at least 3",
                found,
            ));
        }
        Ok(Self {
            model: ExpertWords::new(text.vocabulary.len(), seed)?,
            adam: AdamW::default(),
            ids: text.ids.clone(),
            is_balanced,
        })
    }

    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.adam.steps
    }

    /// One step of Adam; returns the mean of −ln p(next word) before it, in nats.
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn step(&mut self) -> Result<f32> {
        // -> scalar
        let (ids, is_balanced) = (&self.ids, self.is_balanced);
        let read = &ids[..ids.len() - 1];
        let targets: Vec<Option<usize>> = ids.iter().skip(2).copied().map(Some).collect();
        let mut words = 0.0;
        let settings = Settings::same_bits();
        let (_, found) = gradients(&mut self.model, &settings, |model, tape: &mut Tape| {
            let [x, normed] = model.read(tape, read)?;
            let logits: Var = model.run(tape, [x, normed])?;
            let loss = tape.cross_entropy(&logits, &targets, 0.0)?;
            words = tape.value(&loss)?[[0, 0]];
            if !is_balanced {
                return Ok(loss);
            }
            let balance = model.balance(tape, &normed)?;
            tape.add(loss, &balance)
        })?;
        self.adam.step(&mut self.model, &found, RATE)?;
        Ok(words)
    }

    /// The gates of each word of the text but the first ([`ExpertWords::gates`]).
    ///
    /// # Errors
    /// None here; those of the engine.
    pub fn gates(&self) -> Result<Array2<f32>> {
        self.model.gates(&self.ids)
    }
}

impl ExpertWords {
    /// α E Σ_e f_e P_e: the shares f are counted and have no gradient, the means P have one.
    fn balance(&self, tape: &mut Tape, normed: &Var) -> Result<Var> {
        let logits = self.router.run(tape, normed)?;
        let first = tape.top_k_softmax(&logits, 1)?;
        let load = load(tape.value(&first)?.view());
        let all = tape.softmax(&logits);
        let (rows, experts) = tape.dim(&all);
        let factor = ALPHA * experts as f32 / rows as f32;
        let weights = Array2::from_shape_fn((rows, experts), |(_, e)| factor * load[e]);
        tape.weighted_sum(&all, &weights.into_raw_vec_and_offset().0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_into_words_and_marks() {
        let words = Words::of("The cat's mat, the  MAT.");
        assert_eq!(words.vocabulary, ["the", "cat's", "mat", ",", "."]);
        assert_eq!(words.ids, [0, 1, 2, 3, 0, 2, 4]);
        assert!(Words::of(" ").ids.is_empty());
        assert!(ExpertRun::new(&Words::of("a b"), true, 1).is_err());
    }

    /// Every word goes through one expert, which is at least as probable as an even choice.
    #[test]
    fn each_word_has_one_expert() {
        let text = Words::of(TEXT);
        let run = ExpertRun::new(&text, true, 4).unwrap();
        let gates = run.gates().unwrap();
        assert_eq!(gates.dim(), (text.ids.len() - 1, EXPERTS));
        for row in gates.rows() {
            assert_eq!(row.iter().filter(|&&gate| gate > 0.0).count(), 1);
            assert!(row.sum() >= 1.0 / EXPERTS as f32 && row.sum() <= 1.0);
        }
        assert!((load(gates.view()).sum() - 1.0).abs() < 1e-5);
    }

    /// The balance loss is α where all experts have the same load and the same probability, and more
    /// where one has all.
    #[test]
    fn the_balance_loss_is_smallest_for_equal_loads() {
        let run = |row: [f32; EXPERTS]| {
            let mut model = ExpertWords::new(5, 1).unwrap();
            let router =
                Array2::from_shape_fn((EXPERTS, WIDTH), |(e, c)| if c == 0 { row[e] } else { 0.0 });
            model.router.weight = Weight::Dense(router);
            let mut tape = Tape::new();
            let x = tape.constant(Array2::ones((4, WIDTH)).view());
            let loss = model.balance(&mut tape, &x).unwrap();
            tape.value(&loss).unwrap()[[0, 0]]
        };
        let mut one = [0.0; EXPERTS];
        one[0] = 20.0;
        assert!((run(one) - ALPHA * EXPERTS as f32).abs() < 1e-3);
        assert!((run([0.0; EXPERTS]) - ALPHA).abs() < 1e-6);
    }

    /// Both runs start from the same parameters, and the balance loss changes the second loss only.
    #[test]
    fn the_balance_loss_is_the_only_difference() {
        let text = Words::of(TEXT);
        let [mut with, mut without] = [true, false].map(|on| ExpertRun::new(&text, on, 2).unwrap());
        assert_eq!(with.model, without.model);
        assert_eq!(with.step().unwrap(), without.step().unwrap());
        assert_ne!(with.step().unwrap(), without.step().unwrap());
    }
}
