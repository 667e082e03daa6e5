//! `tiny-bert`: an encoder that fills in masked words of simple English sentences.
//!
//! ```text
//! a text: [CLS] pieces [SEP]; words with 20 % of the pieces are to be predicted: 80 % of these read [MASK], 10 % other pieces, 10 % themselves
//! ```
//! All pieces of a word are hidden together. A story is read in parts of a few sentences, so that
//! a name and the pronouns for it are in one text.
//! Measured on one masked word of each held-out text ([`super::questions`]), against what its
//! neighbours alone say: bigrams from the left, from the right, and their product P(w | left)
//! P(w | right) / P(w), all smoothed (interpolated modified Kneser–Ney).
//!
//! Source: Devlin et al. 2019 (BERT), section 3.1 and appendix A.1; whole words as in the models
//! that its authors released later (github.com/google-research/bert, README).

use super::batches::batches;
use super::corpus::Corpus;
use super::ngram::Ngrams;
use super::own;
use super::parts::{parts, words};
use super::pieces::{self, Pieces};
use super::questions::{Asked, questions};
use crate::frame::{Card, Choice, Evaluation, Figure, Recipe, Subject};
use crate::{Result, TrainError};
use engine::format::safetensors::SafeTensors;
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::bert::{Bert, Config};
use engine::nn::compute::Compute;
use engine::nn::packed::Packed;
use engine::nn::plain::Plain;
use engine::parameters::Parameters;
use engine::rng::Rng;
use serde_json::{Value, json};
use std::path::Path;
use tools::safetensors::part;

/// The most pieces of a text, its ends counted.
const CONTEXT: usize = 64;
/// The fewest pieces of a text that teaches something.
const FEWEST: usize = 4;
/// Texts in a step.
const BATCH: usize = 64;
/// The share of the pieces that are to be predicted, in percent. BERT has 15; short texts and few
/// steps gain from more.
const HIDDEN: usize = 20;
/// The score, below the largest, of a word that the vocabulary cannot say.
const LEAST: f32 = -20.0;
const STEPS: u64 = 24_000;
const RATE: f32 = 2e-3;

/// The file of the first layer alone, beside that of the whole model: two cells need no more, and
/// wait for two thirds of the bytes.
pub const FIRST_LAYER: &str = "tiny-bert-first-layer.safetensors";

/// Those parts of a shipped `tiny-bert` that its first layer computes with, in a file of its own: a
/// model with one layer.
///
/// # Errors
/// When the file is no such model.
pub fn first_layer(path: &Path, whole: &[u8]) -> Result<Vec<u8>> {
    let file = SafeTensors::parse(whole.into()).map_err(TrainError::format(path))?;
    let config = file.metadata().iter().find(|(key, _)| key == "config");
    let config = config.and_then(|(_, text)| serde_json::from_str(text).ok());
    let mut config: Value =
        config.ok_or_else(|| TrainError::content(path, "the sizes of a model", "none"))?;
    config["num_hidden_layers"] = json!(1);
    let is_above = |name: &str| {
        let layer = name.split_once("encoder.layer.").map(|(_, rest)| rest);
        layer.is_some_and(|rest| !rest.starts_with("0."))
    };
    let config = config.to_string();
    part(whole, &[("config", &config)], |name| !is_above(name)).map_err(TrainError::format(path))
}

fn sizes(vocabulary: usize) -> Config {
    Config {
        vocabulary,
        width: 96,
        heads: 4,
        layers: 3,
        inner: 384,
        context: CONTEXT,
        types: 2,
        norm_eps: 1e-5,
    }
}

/// The model with the texts that it learns from.
#[derive(Debug)]
pub struct Masked {
    pieces: Pieces,
    texts: usize,
    training: Vec<Vec<usize>>,
    validation: Vec<Asked>,
    test: Vec<Asked>,
}

impl Masked {
    /// The texts in the folder of data, and a vocabulary of the words in those for training.
    ///
    /// # Errors
    /// When the data cannot be read or are not what they should be.
    pub fn read(data: &Path) -> Result<Self> {
        Self::new(&Corpus::read(data)?, &Corpus::first(data)?)
    }

    /// A model of these texts, measured on what was held out of those of the first version.
    ///
    /// # Errors
    /// None that texts could cause; the type is that of the vocabulary.
    pub fn new(corpus: &Corpus, first: &Corpus) -> Result<Self> {
        let pieces = Pieces::new(&corpus.training)?;
        let (validation, test) = questions(first)?;
        let asked = |questions: Vec<super::questions::Question>| {
            let asked = questions.iter().map(|question| question.asked(&pieces));
            asked.collect::<Result<Vec<_>>>()
        };
        let mut training = Vec::new();
        for text in &corpus.training {
            training.extend(parts(&pieces, text, FEWEST..=CONTEXT)?);
        }
        Ok(Self {
            texts: corpus.training.len(),
            training,
            validation: asked(validation)?,
            test: asked(test)?,
            pieces,
        })
    }

    /// The scores `[N, V]` of the hidden words.
    fn scores(&self, model: &Bert, questions: &[Asked]) -> Result<engine::ndarray::Array2<f32>> {
        let (mut ids, mut lengths, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for question in questions {
            places.push(ids.len() + question.place);
            ids.extend_from_slice(&question.ids);
            lengths.push(question.ids.len());
        }
        let mut plain = Plain::silent();
        let hidden = model.run(&mut plain, &Packed::many(ids, lengths)?, None)?;
        let hidden = plain.gather(&hidden, &places)?;
        Ok(model.run_logits(&mut plain, &hidden)?)
    }

    /// The mean loss in nats, and the share of words that the model finds most likely.
    fn right(&self, model: &Bert, questions: &[Asked]) -> Result<(f64, f64)> {
        let (mut loss, mut right) = (0.0, 0usize);
        for part in questions.chunks(BATCH) {
            let scores = self.scores(model, part)?;
            for (row, question) in scores.outer_iter().zip(part) {
                let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
                // A word that is not one piece counts as one that the model finds impossible.
                let answer = question.answer.map_or(LEAST, |id| row[id] - largest);
                loss += sum.ln() - f64::from(answer);
                right += usize::from(answer == 0.0);
            }
        }
        let count = questions.len().max(1) as f64;
        Ok((loss / count, right as f64 / count))
    }

    /// The share of words that are the most likely ones given the neighbour on the left, on the
    /// right, and both.
    fn neighbours(&self) -> [f64; 3] {
        let vocabulary = self.pieces.size();
        let turned: Vec<Vec<usize>> = (self.training.iter())
            .map(|ids| ids.iter().rev().copied().collect())
            .collect();
        let left = Ngrams::new(self.training.iter().map(Vec::as_slice), 2, vocabulary);
        let right = Ngrams::new(turned.iter().map(Vec::as_slice), 2, vocabulary);
        let alone = Ngrams::new(self.training.iter().map(Vec::as_slice), 1, vocabulary);
        let mut correct = [0usize; 3];
        for Asked { ids, place, answer } in &self.test {
            let (before, after) = (&ids[place - 1..*place], &ids[place + 1..=place + 1]);
            let mut best = [(f64::NEG_INFINITY, 0); 3];
            for id in 0..vocabulary {
                let [l, r, p] = [
                    left.probability(before, id),
                    right.probability(after, id),
                    alone.probability(&[], id),
                ];
                for (best, score) in best.iter_mut().zip([l, r, l * r / p]) {
                    if score > best.0 {
                        *best = (score, id);
                    }
                }
            }
            for (correct, (_, id)) in correct.iter_mut().zip(best) {
                *correct += usize::from(Some(id) == *answer);
            }
        }
        correct.map(|count| count as f64 / self.test.len().max(1) as f64)
    }

    /// The text as it is read in training, and what is to be predicted at each place.
    fn hidden(&self, ids: &[usize], rng: &mut Rng) -> (Vec<usize>, Vec<Option<usize>>) {
        let (mut read, mut answers) = (ids.to_vec(), vec![None; ids.len()]);
        let words = words(&self.pieces, ids);
        // At least one, or a short text would mostly teach nothing.
        let count = ((ids.len() - 2) * HIDDEN).div_ceil(100);
        let mut hidden = 0;
        for word in rng.permutation(words.len()) {
            if hidden >= count {
                break;
            }
            let way = rng.below(10);
            for place in words[word].clone() {
                hidden += 1;
                answers[place] = Some(ids[place]);
                read[place] = match way {
                    0 => ids[place],
                    1 => pieces::FIRST_WORD + rng.below(self.pieces.size() - pieces::FIRST_WORD),
                    _ => pieces::MASK,
                };
            }
        }
        (read, answers)
    }
}

impl Subject for Masked {
    type Model = Bert;

    fn name(&self) -> &'static str {
        "tiny-bert"
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<Bert> {
        Ok(Bert::load(sizes(self.pieces.size()), source)?)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        sizes(self.pieces.size()).shapes()
    }

    fn config(&self) -> Value {
        let c = sizes(self.pieces.size());
        json!({
            "model_type": "bert", "vocab_size": c.vocabulary, "hidden_size": c.width, "num_attention_heads": c.heads,
            "num_hidden_layers": c.layers, "intermediate_size": c.inner, "max_position_embeddings": c.context,
            "type_vocab_size": c.types, "layer_norm_eps": 1e-5,
        })
    }

    fn beside(&self) -> Result<Option<(String, String)>> {
        Ok(Some(("vocab.txt".to_owned(), self.pieces.vocab_txt())))
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            steps: STEPS,
            schedule: Schedule::Cosine {
                peak: RATE,
                last: RATE / 50.0,
                warmup: STEPS / 20,
                steps: STEPS,
            },
            beta_2: 0.98,
            decay: 0.01,
            clip: 1.0,
            dropout: 0.0,
            draw: Draw::Normal(0.02),
            evaluate_every: STEPS / 10,
            patience: 4,
            score: "right, %",
            choice: Choice::SmallestLoss,
            keep: None,
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let lengths: Vec<usize> = self.training.iter().map(Vec::len).collect();
        batches(&lengths, BATCH, rng)
    }

    fn loss(&self, model: &Bert, tape: &mut Tape, batch: &[usize], rng: &mut Rng) -> Result<Var> {
        let (mut ids, mut lengths, mut answers) = (Vec::new(), Vec::new(), Vec::new());
        for &place in batch {
            let (read, asked) = self.hidden(&self.training[place], rng);
            lengths.push(read.len());
            ids.extend(read);
            answers.extend(asked);
        }
        let hidden = model.run(tape, &Packed::many(ids, lengths)?, None)?;
        // Only places that are asked for go through the large product with the vocabulary.
        let places: Vec<usize> = (0..answers.len())
            .filter(|&n| answers[n].is_some())
            .collect();
        let hidden = tape.gather(&hidden, &places)?;
        let logits = model.run_logits(tape, &hidden)?;
        answers.retain(Option::is_some);
        Ok(tape.cross_entropy(&logits, &answers, 0.0)?)
    }

    fn evaluate(&self, model: &Bert) -> Result<Evaluation> {
        let (loss, right) = self.right(model, &self.validation)?;
        Ok(Evaluation {
            loss,
            score: 100.0 * right,
        })
    }

    fn bits(&self) -> u8 {
        // The first cell of the home page waits for this file.
        6
    }

    fn measure(&self, model: &Bert) -> Result<Vec<Figure>> {
        let (_, own) = self.right(model, &self.test)?;
        let neighbours = self.neighbours();
        let best = neighbours.iter().copied().fold(0.0, f64::max);
        let figure = |name: &str, value: f64| Figure {
            name: name.to_owned(),
            value: 100.0 * value,
            decimals: 1,
            tolerance: 0.3,
            // Six bits cost almost a point, and half precision more than twice the bytes.
            allowed: -1.0..=f64::INFINITY,
        };
        let count = self.test.len();
        let [left, right, both] = neighbours;
        Ok(vec![
            figure(
                &format!("masked words right, %, of {count} held-out texts"),
                own,
            ),
            figure("by the left neighbour, %", left),
            figure("by the right neighbour, %", right),
            figure("by both neighbours, %", both),
            figure("points above the best of these", own - best),
        ])
    }

    fn card(&self) -> Card {
        Card {
            about: format!("Fills in masked words of simple English: BERT in small, three blocks 96 wide, WordPiece with {} pieces learned from the training text, lower case. It is measured on the held-out texts and hidden words of its first version.", self.pieces.size()),
            data: format!("{} texts: the English side of eng-ita-tatoeba, the stories of tinystories-more, and {}; held out by normalised text, and stories with a text that the first version held out", self.texts, own::ABOUT),
            licence: "CC BY 2.0 FR, Tatoeba (tatoeba.org); CDLA-Sharing-1.0, TinyStories (Eldan and Li 2023)".to_owned(),
            source: format!("github.com/nikodallanoce/NeuralMachineTranslation, dataset/formatted.zip, commit b9ae3fab, from manythings.org/anki (ita-eng); {}", super::stories::SOURCE),
        }
    }
}
