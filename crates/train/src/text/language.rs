//! `tiny-gpt`: a decoder with a vocabulary of its own that writes simple English, one text a line.
//!
//! ```text
//! an example: ⟨end⟩ text ⟨end⟩, predicted from the second token on          a text of more than 256 tokens is cut into parts
//! a list: ⟨end⟩ a b c … a b c …, of random tokens, predicted in its second half
//! ```
//! Source of the model: Radford et al. 2019 (GPT-2).

use super::corpus::Corpus;
use super::measures;
use super::ngram::Ngrams;
use super::own;
use super::vocabulary::{joined_lines, learned};
use crate::Result;
use crate::frame::{Card, Choice, Evaluation, Figure, Recipe, Subject};
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::decoder::{Decoder, Tokens};
use engine::model::gpt2::{Config, Gpt2};
use engine::nn::plain::Plain;
use engine::nn::position::sinusoidal;
use engine::parameters::Parameters;
use engine::rng::Rng;
use engine::token::byte_bpe::ByteBpe;
use engine::token::tokenizer::Tokenizer;
use engine::trainable::Trainable;
use engine::translate::TOKENIZER;
use explain::induction::twice;
use serde_json::{Value, json};
use std::path::Path;
use tools::tokenizer_json::tokenizer_json;

/// V.
const VOCABULARY: usize = 2048;
/// The most tokens that the model reads.
pub const CONTEXT: usize = 256;
/// A step has so many texts that they hold at least this many tokens.
const BATCH_TOKENS: usize = 640;
/// Number of lists of random tokens in a step, besides the texts, that are said twice. In the second
/// half, only a model that looks up the previous token in the first half can predict the next one,
/// so heads for the previous token and for induction form (Olsson et al. 2022). `tiny-gpt-no-lists`
/// has none.
const TWICE: usize = 6;
/// Tokens of the shortest such list; no two lists of a step need be equally long, so that no fixed
/// distance helps.
const SHORTEST_TWICE: usize = 8;
/// Tokens of the longest such list.
const LONGEST_TWICE: usize = 32;
/// Texts that are looked at together when bits are counted.
const TOGETHER: usize = 64;
/// Texts for validation that are looked at.
const LOOKED_AT: usize = 500;
/// C.
const WIDTH: usize = 128;
/// Factor of the sinusoids that the table of positions starts from; the token embeddings have a
/// standard deviation of 1/√C.
const AMPLITUDE: f32 = 0.2;
const STEPS: u64 = 18_000;
const RATE: f32 = 2.5e-3;

fn sizes(vocabulary: usize) -> Config {
    Config {
        vocabulary,
        width: WIDTH,
        heads: 4,
        layers: 4,
        inner: 512,
        context: CONTEXT,
        norm_eps: 1e-5,
    }
}

/// The model with the texts that it learns from.
#[derive(Debug)]
pub struct Language {
    corpus: Corpus,
    tokenizer: ByteBpe,
    /// Lists in a step; an even number.
    lists: usize,
    end: usize,
    training: Vec<Vec<usize>>,
    validation: Vec<Vec<usize>>,
    test: Vec<Vec<usize>>,
}

impl Language {
    /// The texts in the folder of data, and a vocabulary learned from those for training.
    ///
    /// # Errors
    /// When the data cannot be read or are not what they should be.
    pub fn read(data: &Path) -> Result<Self> {
        Self::new(Corpus::read(data)?)
    }

    /// The same model and texts, without lists in its steps.
    #[must_use]
    pub fn without_lists(mut self) -> Self {
        self.lists = 0;
        self
    }

    /// A model of these texts.
    ///
    /// # Errors
    /// None that texts could cause; the type is that of the vocabulary.
    pub fn new(corpus: Corpus) -> Result<Self> {
        let tokenizer = learned(&joined_lines(&corpus.training), VOCABULARY)?;
        let end = tokenizer.special().end.unwrap_or_default();
        let pieces = |texts: &[String]| pieces(&tokenizer, texts, end);
        // Sentences come first and stories last: some of each.
        let every = (corpus.validation.len() / LOOKED_AT).max(1);
        let looked_at: Vec<String> = corpus.validation.iter().step_by(every).cloned().collect();
        Ok(Self {
            training: pieces(&corpus.training)?,
            validation: pieces(&looked_at)?,
            test: pieces(&corpus.test)?,
            lists: TWICE,
            end,
            tokenizer,
            corpus,
        })
    }

    /// The smoothed 4-gram of the training texts.
    pub fn ngrams(&self) -> Ngrams {
        measures::ngrams(&self.training, self.end, self.tokenizer.size())
    }

    /// Number of training texts.
    pub fn training_texts(&self) -> usize {
        self.corpus.training.len()
    }

    /// The vocabulary, and the token that begins and ends a text.
    pub fn vocabulary(&self) -> (&ByteBpe, usize) {
        (&self.tokenizer, self.end)
    }

    /// The places of a step: lists before and after the texts, so that each half of a step has as
    /// many. A list has no text's place.
    fn with_lists(&self, texts: Vec<usize>) -> Vec<usize> {
        let lists = vec![self.training.len(); self.lists / 2];
        [&lists[..], &texts, &lists].concat()
    }

    /// Bits in some texts, by the model.
    fn bits(&self, model: &Gpt2, texts: &[Vec<usize>]) -> Result<f64> {
        let mut bits = 0.0;
        for batch in texts.chunks(TOGETHER) {
            let (ids, lengths, answers) = taught(batch.iter(), self.end);
            let tokens = Tokens::fresh(&ids, &lengths, CONTEXT, self.tokenizer.size())?;
            let mut plain = Plain::silent();
            let hidden = model.run(&mut plain, &tokens, &mut model.caches(lengths.len()))?;
            let logits = model.run_logits(&mut plain, &hidden)?;
            for (row, answer) in logits.outer_iter().zip(answers) {
                let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let sum: f64 = row.iter().map(|&x| f64::from(x - largest).exp()).sum();
                let chosen = answer.map_or(0.0, |id| f64::from(row[id] - largest));
                bits += sum.log2() - chosen * std::f64::consts::LOG2_E;
            }
        }
        Ok(bits)
    }

    /// The bytes of some texts; the end of a text counts as one, as a line's end would.
    fn bytes(&self, texts: &[Vec<usize>]) -> Result<usize> {
        let bytes = |ids: &Vec<usize>| match ids.split_last() {
            Some((&last, text)) if last == self.end => {
                Ok(self.tokenizer.decode_bytes(text)?.len() + 1)
            }
            _ => Ok(self.tokenizer.decode_bytes(ids)?.len()),
        };
        texts.iter().map(bytes).sum()
    }
}

/// The targets of each text: its tokens and the end token, those of a long text in parts that fit
/// into the context.
fn pieces(tokenizer: &ByteBpe, texts: &[String], end: usize) -> Result<Vec<Vec<usize>>> {
    let mut pieces = Vec::with_capacity(texts.len());
    for text in texts {
        let mut ids = tokenizer.encode(text)?;
        ids.push(end);
        pieces.extend(ids.chunks(CONTEXT).map(<[usize]>::to_vec));
    }
    Ok(pieces)
}

/// The places of texts in the given order, as many together as hold `BATCH_TOKENS`; the last ones,
/// which hold fewer, are left out.
fn gathered(texts: &[Vec<usize>], order: &[usize]) -> Vec<Vec<usize>> {
    let (mut batches, mut batch, mut tokens) = (Vec::new(), Vec::new(), 0);
    for &place in order {
        batch.push(place);
        tokens += texts[place].len();
        if tokens >= BATCH_TOKENS {
            batches.push(std::mem::take(&mut batch));
            tokens = 0;
        }
    }
    if batches.is_empty() {
        batches.push(batch);
    }
    batches
}

/// The model's input for some texts, from the end token on, the length of each, and the next token
/// of each position.
fn taught<'a>(
    texts: impl Iterator<Item = &'a Vec<usize>>,
    end: usize,
) -> (Vec<usize>, Vec<usize>, Vec<Option<usize>>) {
    let (mut ids, mut lengths, mut answers) = (Vec::new(), Vec::new(), Vec::new());
    for text in texts {
        ids.push(end);
        ids.extend_from_slice(&text[..text.len() - 1]);
        lengths.push(text.len());
        answers.extend(text.iter().copied().map(Some));
    }
    (ids, lengths, answers)
}

impl Subject for Language {
    type Model = Gpt2;

    fn name(&self) -> &'static str {
        if self.lists == 0 {
            "tiny-gpt-no-lists"
        } else {
            "tiny-gpt"
        }
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<Gpt2> {
        Ok(Gpt2::load(sizes(self.tokenizer.size()), source)?)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        // As the model's own names have them: matrices [C_out, C_in].
        let turned = |(name, mut shape): (String, Vec<usize>)| {
            if name.contains(".attn.c_") || name.contains(".mlp.c_") {
                shape.reverse();
            }
            (name, shape)
        };
        let shapes = sizes(self.tokenizer.size()).shapes();
        shapes.into_iter().map(turned).collect()
    }

    /// The table of positions begins as sinusoids, larger than the tokens' vectors: the token
    /// before is then a rotation away wherever a token stands (Vaswani et al. 2017, section 3.5),
    /// so that heads find it early. From there the table learns as all else does.
    fn begin(&self, model: &mut Gpt2) -> Result<()> {
        let table = sinusoidal::table(CONTEXT, WIDTH);
        Ok(model.parameters(&mut |parameter| {
            if parameter.name == "transformer.wpe.weight" {
                let places = parameter.values.iter_mut().zip(&table);
                places.for_each(|(value, sinusoid)| *value = AMPLITUDE * sinusoid);
            }
            Ok(())
        })?)
    }

    fn config(&self) -> Value {
        let c = sizes(self.tokenizer.size());
        json!({
            "model_type": "gpt2", "vocab_size": c.vocabulary, "n_embd": c.width, "n_head": c.heads, "n_layer": c.layers,
            "n_inner": c.inner, "n_positions": c.context, "layer_norm_epsilon": 1e-5,
        })
    }

    fn beside(&self) -> Result<Option<(String, String)>> {
        Ok(Some((
            TOKENIZER.to_owned(),
            tokenizer_json(&self.tokenizer)?,
        )))
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
            beta_2: 0.99,
            decay: 0.05,
            clip: 1.0,
            dropout: 0.0,
            draw: Draw::Xavier,
            evaluate_every: STEPS / 10,
            patience: 4,
            score: "bits per byte",
            choice: Choice::SmallestScore,
            keep: None,
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let order = rng.permutation(self.training.len());
        let batches = gathered(&self.training, &order).into_iter();
        batches.map(|texts| self.with_lists(texts)).collect()
    }

    fn loss(&self, model: &Gpt2, tape: &mut Tape, batch: &[usize], rng: &mut Rng) -> Result<Var> {
        let texts = batch.iter().filter_map(|&place| self.training.get(place));
        let lists = batch.len() - texts.clone().count();
        let (mut ids, mut lengths, mut answers) = taught(texts, self.end);
        for _ in 0..lists {
            let count = SHORTEST_TWICE + rng.below(LONGEST_TWICE - SHORTEST_TWICE);
            let said = twice(self.end, count, rng);
            ids.extend_from_slice(&said[..2 * count]);
            lengths.push(2 * count);
            // What is said the first time nobody could know, nor with what the second time begins.
            let known = |(place, &id): (usize, &usize)| (place > count).then_some(id);
            answers.extend(said[1..].iter().enumerate().map(known));
        }
        let tokens = Tokens::fresh(&ids, &lengths, CONTEXT, self.tokenizer.size())?;
        let hidden = model.run(tape, &tokens, &mut model.caches(lengths.len()))?;
        let logits = model.run_logits(tape, &hidden)?;
        Ok(tape.cross_entropy(&logits, &answers, 0.0)?)
    }

    fn evaluate(&self, model: &Gpt2) -> Result<Evaluation> {
        let bits = self.bits(model, &self.validation)?;
        let tokens: usize = self.validation.iter().map(Vec::len).sum();
        Ok(Evaluation {
            loss: bits * std::f64::consts::LN_2 / tokens.max(1) as f64,
            score: bits / self.bytes(&self.validation)? as f64,
        })
    }

    fn measure(&self, model: &Gpt2) -> Result<Vec<Figure>> {
        let bytes = self.bytes(&self.test)? as f64;
        let own = self.bits(model, &self.test)? / bytes;
        let grams = measures::bits(&self.ngrams(), &self.test, self.end) / bytes;
        let samples = measures::samples(model, &self.tokenizer, self.end)?;
        let written = measures::written(&samples, &self.corpus.training);
        // Texts lie in the order of the files, short ones first.
        let some = (self.test.iter()).step_by((self.test.len() / LOOKED_AT).max(1));
        let some: Vec<Vec<usize>> = some.cloned().collect();
        let heads = measures::heads(model, &some, self.end)?;
        // What is drawn, and the most regular of some heads, may be others than before.
        let half_a_hundredth = 0.005 * own;
        let allowed = |name: &str, tolerance: f64| match name {
            "bits per byte better than the 4-gram" => -half_a_hundredth..=f64::INFINITY,
            _ if name.starts_with("stories") => -tolerance..=f64::INFINITY,
            _ if name.starts_with("bits") => f64::NEG_INFINITY..=half_a_hundredth,
            _ => -tolerance..=tolerance,
        };
        let figure = |name: &str, value: f64, decimals, tolerance| Figure {
            name: name.to_owned(),
            value,
            decimals,
            tolerance,
            allowed: allowed(name, tolerance),
        };
        let count = self.corpus.test.len();
        Ok(vec![
            figure(
                &format!("bits per byte, {count} held-out texts"),
                own,
                3,
                0.005,
            ),
            figure("bits per byte of the smoothed 4-gram", grams, 3, 0.002),
            figure(
                "bits per byte better than the 4-gram",
                grams - own,
                3,
                0.007,
            ),
            figure(
                "words of 100 samples that are in the training text, %",
                100.0 * written.known,
                1,
                1.0,
            ),
            figure(
                "longest run of words copied from it, words",
                written.longest as f64,
                0,
                2.0,
            ),
            figure(
                "mean weight of the best previous-token head",
                heads.previous,
                3,
                0.01,
            ),
            figure("induction score of the best head", heads.induction, 3, 0.02),
            figure(
                "stories of 100 tokens that keep their hero's name, %",
                100.0 * measures::names_kept(model, &self.tokenizer, self.end)?,
                0,
                6.0,
            ),
        ])
    }

    fn card(&self) -> Card {
        let lists = if self.lists == 0 {
            "no training step held lists of random tokens said twice, to which `tiny-gpt` owes heads that look back; nothing else differs"
        } else {
            "a part of each training step was lists of random tokens said twice, so that it learned to look back"
        };
        Card {
            about: format!("Writes simple English, a text a line: GPT-2 in small, four blocks 128 wide, with 2048 tokens of its own (byte-pair encoding) and a context of 256 tokens, which holds a short story. Its table of positions began as sinusoids, and {lists}. The 4-gram that it is compared with has interpolated modified Kneser–Ney smoothing over the same tokens and the same training text (Chen and Goodman 1999)."),
            data: format!("{} texts: the English side of eng-ita-tatoeba, the stories of tinystories-more, and {}; held out by normalised text", self.corpus.training.len(), own::ABOUT),
            licence: "CC BY 2.0 FR, Tatoeba (tatoeba.org); CDLA-Sharing-1.0, TinyStories (Eldan and Li 2023)".to_owned(),
            source: format!("github.com/nikodallanoce/NeuralMachineTranslation, dataset/formatted.zip, commit b9ae3fab, from manythings.org/anki (ita-eng); {}", super::stories::SOURCE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_whole_texts_of_about_as_many_tokens() {
        let lengths = [BATCH_TOKENS - 24, 24, 30, BATCH_TOKENS, 1];
        let texts: Vec<Vec<usize>> = lengths.iter().map(|&n| vec![1; n]).collect();
        assert_eq!(gathered(&texts, &[0, 1, 2, 3, 4]), [vec![0, 1], vec![2, 3]]);
        assert_eq!(gathered(&texts, &[4]), [vec![4]]);
    }

    #[test]
    fn each_token_and_the_end_are_predicted_from_those_before() {
        let texts = [vec![3, 4, 9], vec![5, 9]];
        let (ids, lengths, answers) = taught(texts.iter(), 9);
        assert_eq!((ids, lengths), (vec![9, 3, 4, 9, 5], vec![3, 2]));
        assert_eq!(answers, [3, 4, 9, 5, 9].map(Some));
    }
}
