//! A race of guesses: the hidden words of a story, the reader's bits against those of tiny-gpt and of
//! a 4-gram.

use engine::token::tokenizer::Tokenizer;
use explain::hidden_story::{CHOICES, MOST_GAPS, Story, bits, guess_bits, shares};
use ndarray::{Array2, ArrayView1};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::CausalLm;
use crate::parts::trained::{self, GPT, Pieces};
use crate::spec::{CellSpec, Run, WorkerKind, once};

/// The bits of the 4-gram, which is too large to be shipped.
const LOG: &str = "story-race.tsv";

/// The stories.
const STORIES: &[&str] = &["boat", "ship"];

/// The inputs that hold the reader's guesses: 0 for none yet, else the place of the word, from 1.
pub const GUESSES: [(&str, &str); MOST_GAPS] = [
    ("word-1", "Word 1"),
    ("word-2", "Word 2"),
    ("word-3", "Word 3"),
    ("word-4", "Word 4"),
    ("word-5", "Word 5"),
    ("word-6", "Word 6"),
    ("word-7", "Word 7"),
    ("word-8", "Word 8"),
    ("word-9", "Word 9"),
];

/// The cell `race-the-model`.
pub const SPEC: CellSpec = CellSpec {
    name: "race-the-model",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(GPT).into_iter().chain([LOG]).collect(),
    start: |inputs, cache| {
        let file = trained::file(GPT).unwrap_or_default();
        let gpt = cache.opened::<CausalLm>(file)?;
        let log = cache.opened::<String>(LOG)?;
        let inputs = inputs.clone();
        Ok(once(move || compute(&inputs, &gpt, &log)))
    },
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut all = vec![
        InputSpec::choice("story", "Story", STORIES),
        InputSpec::number(
            "sure",
            "Your confidence in percent",
            (26.0, 99.0, 1.0),
            80.0,
        ),
    ];
    let most = CHOICES as f64;
    let guess = |(name, label)| InputSpec::number(name, label, (0.0, most, 1.0), 0.0);
    all.extend(GUESSES.map(guess));
    all
}

fn compute(inputs: &Inputs, gpt: &CausalLm, log: &str) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let chosen = inputs.choice("story")?;
    let number = STORIES.iter().position(|name| *name == chosen);
    let number = number.unwrap_or_default();
    let story = explain::hidden_story::story(number);
    let gpt_bits = model_bits(&mut record, gpt, &story)?;
    let name = number.to_string();
    let gram_bits = explain::run_log::rows(log, "gap", &name)?;
    if gram_bits.dim() != gpt_bits.dim() {
        return Err(CellError::Mismatch(format!("{LOG} is of other stories")));
    }
    let by = |all: &Array2<f32>| -> Vec<Vec<f64>> {
        let row = |row: ArrayView1<'_, f32>| row.iter().copied().map(f64::from).collect();
        all.rows()
            .into_iter()
            .map(row)
            .map(|row: Vec<f64>| shares(&row))
            .collect()
    };
    let models = [("gpt", by(&gpt_bits)), ("grams", by(&gram_bits))];
    apart(&mut record, &story, &models);
    let mut guesses = Vec::new();
    for (name, _) in GUESSES.iter().take(story.gaps.len()) {
        guesses.push(inputs.count(name)?.checked_sub(1));
    }
    scores(
        &mut record,
        &story,
        &guesses,
        (inputs.number("sure")? / 100.0, &models),
    );
    whole_text(&mut record, gpt, &story, log, &name)?;
    let command = explain::run_log::setting(log, "command")?;
    record.words("command", vec![command.to_owned()]);
    for name in ["grams", "texts"] {
        let found = explain::run_log::setting(log, name)?;
        let wrong = |_| CellError::Mismatch(format!("{LOG}: {name} is {found:?}"));
        record.number(
            &format!("log.{name}"),
            found.parse::<u32>().map_err(wrong)?.into(),
        );
    }
    Ok(record.finish())
}

/// The tokens of the text before a gap.
fn read(gpt: &CausalLm, text: &str) -> Result<Vec<usize>, CellError> {
    let start = gpt.tokenizer.special().end;
    let start =
        start.ok_or_else(|| CellError::Missing("the token that begins a text".to_owned()))?;
    let mut ids = vec![start];
    ids.extend(gpt.tokenizer.encode(text)?);
    Ok(ids)
}

/// The bits that tiny-gpt gives each word of each gap, `[gaps, 4]`.
fn model_bits(
    record: &mut Record,
    gpt: &CausalLm,
    story: &Story,
) -> Result<Array2<f32>, CellError> {
    let mut all = Vec::new();
    for (n, gap) in story.gaps.iter().enumerate() {
        let before = &read(gpt, &gap.before)?[..];
        let word = |word: &String| gpt.tokenizer.encode(&format!(" {word}"));
        let words = gap
            .words
            .iter()
            .map(word)
            .collect::<engine::Result<Vec<_>>>()?;
        let (model, words) = (&gpt.model, &words[..]);
        // The others repeat the call of the first.
        let found = match n {
            0 => shown!(
                record,
                explain::surprise::continuation_bits,
                model,
                before,
                words
            )?,
            _ => explain::surprise::continuation_bits(model, before, words)?,
        };
        all.extend(found.into_iter().map(|bits| bits as f32));
    }
    let shape = (story.gaps.len(), CHOICES);
    Array2::from_shape_vec(shape, all).map_err(|error| CellError::Mismatch(error.to_string()))
}

/// Two models by name, with the shares of each gap's words.
type Models = [(&'static str, Vec<Vec<f64>>); 2];

/// Notes the words, and the bits of all three over the gaps that have been guessed.
fn scores(
    record: &mut Record,
    story: &Story,
    guesses: &[Option<usize>],
    (sure, models): (f64, &Models),
) {
    let gaps = story.gaps.len();
    let is_right = |n: usize| guesses[n].map(|guess| guess == story.gaps[n].right);
    let answered = |n: &usize| guesses[*n].is_some();
    let yours = |n: usize| is_right(n).map_or(0.0, |is_right| guess_bits(sure, is_right));
    record.number("gaps", gaps as f64);
    record.number("answered", (0..gaps).filter(answered).count() as f64);
    let hits = (0..gaps).filter(|&n| is_right(n) == Some(true)).count();
    record.number("hits", hits as f64);
    record.numbers("you.bits", (0..gaps).map(yours).collect());
    let mut totals = vec![(0..gaps).map(yours).sum::<f64>()];
    for (name, shares) in models {
        let on_right = |n: usize| bits(shares[n][story.gaps[n].right]);
        record.numbers(&format!("{name}.bits"), (0..gaps).map(on_right).collect());
        record.number(&format!("{name}.all"), (0..gaps).map(on_right).sum());
        totals.push((0..gaps).filter(answered).map(on_right).sum());
        let flat = ndarray::Array1::from_iter(shares.iter().flatten().map(|&x| x as f32));
        if let Ok(flat) = flat.into_shape_with_order((gaps, CHOICES)) {
            record.tensor(&format!("{name}.shares"), &flat);
        }
    }
    let even = 2.0 * (0..gaps).filter(answered).count() as f64;
    totals.push(even);
    let most = totals.iter().copied().fold(1.0, f64::max);
    record.numbers(
        "totals.share",
        totals.iter().map(|bits| bits / most).collect(),
    );
    record.numbers("totals", totals);
    let own = Array2::from_shape_fn((gaps, CHOICES), |(n, w)| match guesses[n] {
        Some(guess) if guess == w => sure as f32,
        Some(_) => ((1.0 - sure) / (CHOICES - 1) as f64) as f32,
        None => 0.0,
    });
    record.tensor("you.shares", &own);
    let place = |n: usize| story.gaps[n].right as f64;
    record.numbers("right", (0..gaps).map(place).collect());
    let words = story.gaps.iter().flat_map(|gap| gap.words.clone());
    record.words("words", words.collect());
    record.words("segments", segments(story));
}

/// Notes the gap where the bits of the two models differ most, and their bits there and elsewhere.
fn apart(record: &mut Record, story: &Story, models: &Models) {
    let paid = |model: usize, n: usize| bits(models[model].1[n][story.gaps[n].right]);
    let gaps = 0..story.gaps.len();
    let differ = |&n: &usize| (paid(0, n) - paid(1, n)).abs();
    let most = |a: &usize, b: &usize| differ(a).total_cmp(&differ(b));
    let Some(at) = gaps.clone().max_by(most) else {
        return;
    };
    for (model, (name, _)) in models.iter().enumerate() {
        record.number(&format!("apart.{name}"), paid(model, at));
        let others = gaps.clone().filter(|&n| n != at);
        record.number(
            &format!("rest.{name}"),
            others.map(|n| paid(model, n)).sum(),
        );
    }
    record.number("apart", (at + 1) as f64);
}

/// The story around its gaps: the text before the first, between two, and after the last.
fn segments(story: &Story) -> Vec<String> {
    let mut from = 0;
    let mut all = Vec::new();
    for gap in &story.gaps {
        all.push(story.text[from..gap.before.len()].to_owned());
        from = gap.before.len() + 1 + gap.words[gap.right].len();
    }
    all.push(story.text[from..].to_owned());
    all
}

/// Notes the bits of every token of the story.
fn whole_text(
    record: &mut Record,
    gpt: &CausalLm,
    story: &Story,
    log: &str,
    name: &str,
) -> Result<(), CellError> {
    use engine::model::decoder::DecoderExt;
    let ids = read(gpt, &story.text)?;
    let (before, answers) = (&ids[..ids.len() - 1], &ids[1..]);
    let logits = gpt.model.forward(before, None)?;
    let logits = logits.view();
    let own = shown!(record, explain::surprise::next_token_bits, logits, answers)?;
    let grams = explain::run_log::rows(log, "token", name)?;
    let grams = grams.row(0);
    if grams.len() != own.len() {
        return Err(CellError::Mismatch(format!("{LOG} is of other tokens")));
    }
    record.tensor("token.gpt", &own);
    record.tensor("token.grams", &grams);
    record.tensor("token.gain", &(&grams - &own));
    record.number("mean.gpt", f64::from(own.mean().unwrap_or_default()));
    record.number("mean.grams", f64::from(grams.mean().unwrap_or_default()));
    let lead = (&grams - &own).mean().unwrap_or_default();
    record.number("mean.lead", f64::from(lead));
    record.number("tokens", answers.len() as f64);
    let pieces = Pieces::of_ids(&gpt.tokenizer, answers.to_vec())?;
    record.words("token.texts", pieces.texts);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};
    use explain::hidden_story::story;

    fn with(name: &str, sure: f64, guess: impl Fn(usize) -> usize) -> Computation {
        let place = STORIES.iter().position(|n| *n == name).unwrap();
        let mut given = Inputs::defaults(&inputs())
            .with("story", choice(name))
            .with("sure", number(sure));
        for (n, _) in story(place).gaps.iter().enumerate() {
            given = given.with(GUESSES[n].0, number(guess(n) as f64));
        }
        computed(&SPEC, &given).unwrap()
    }

    fn right(name: &str) -> Vec<usize> {
        let place = STORIES.iter().position(|n| *n == name).unwrap();
        story(place).gaps.iter().map(|gap| gap.right + 1).collect()
    }

    fn at(c: &Computation, name: &str, index: &[usize]) -> f64 {
        c.at(name, index).unwrap()
    }

    /// Before the first guess nobody has paid anything.
    #[test]
    fn a_race_starts_at_zero_and_counts_what_is_guessed() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        assert!(
            c.tensor("totals")
                .unwrap()
                .values
                .iter()
                .all(|&bits| bits == 0.0)
        );
        assert_eq!((at(&c, "gaps", &[]), at(&c, "answered", &[])), (8.0, 0.0));
        let first = with("boat", 80.0, |n| if n == 0 { right("boat")[0] } else { 0 });
        assert!((at(&first, "totals", &[0]) - 0.3219).abs() < 1e-4);
        assert_eq!(at(&first, "totals", &[1]), at(&first, "gpt.bits", &[0]));
        assert_eq!(at(&first, "totals", &[3]), 2.0);
    }

    /// What the lesson says: a reader who finds all words is far ahead, tiny-gpt is next, the 4-gram
    /// last, in both stories.
    #[test]
    fn a_good_reader_is_first_and_the_four_gram_last() {
        for name in STORIES {
            let c = with(name, 90.0, |n| right(name)[n]);
            let [you, gpt, grams, even] = [0, 1, 2, 3].map(|n| at(&c, "totals", &[n]));
            assert!(you < 2.0 && 4.0 * you < gpt, "{name}: {you} {gpt}");
            assert!(gpt < 0.65 * even, "{name}: {gpt} {even}");
            assert!(gpt + 3.0 < grams, "{name}: {gpt} {grams}");
            assert_eq!(
                (gpt, grams),
                (at(&c, "gpt.all", &[]), at(&c, "grams.all", &[]))
            );
            assert!(at(&c, "mean.gpt", &[]) + 0.5 < at(&c, "mean.grams", &[]));
        }
    }

    /// The first story: its name makes the difference, and on the other words the counts do better.
    #[test]
    fn one_name_makes_the_difference() {
        let c = with("boat", 80.0, |_| 0);
        assert_eq!(at(&c, "apart", &[]), 7.0);
        assert!(at(&c, "apart.grams", &[]) > 20.0 && at(&c, "apart.gpt", &[]) < 3.0);
        assert!(at(&c, "rest.grams", &[]) < 2.0 && at(&c, "rest.gpt", &[]) > 6.0);
        assert!(at(&c, "mean.lead", &[]) > 0.5);
        // More counts than tiny-gpt has parameters.
        assert!(at(&c, "log.grams", &[]) > 1_088_256.0);
    }

    /// Confidence without hits is dear, and the cheapest confidence is the share of hits.
    #[test]
    fn confidence_pays_only_for_those_who_are_right() {
        let wrong = |sure: f64| {
            at(
                &with("boat", sure, |n| right("boat")[n] % 4 + 1),
                "totals",
                &[0],
            )
        };
        assert!(wrong(99.0) > 60.0 && wrong(40.0) < 20.0);
        let six = |sure: f64| {
            let guess = |n: usize| match n {
                0 | 1 => right("boat")[n] % 4 + 1,
                n => right("boat")[n],
            };
            at(&with("boat", sure, guess), "totals", &[0])
        };
        assert!(six(75.0) < six(60.0) && six(75.0) < six(90.0));
    }

    /// The name in the last sentence: the 4-gram cannot know it, tiny-gpt reads it off the first.
    #[test]
    fn a_name_is_remembered() {
        let c = with("boat", 80.0, |_| 0);
        let texts = c.words("token.texts").to_vec();
        // The first mention has no space before it.
        let again: Vec<usize> = (0..texts.len())
            .filter(|&t| texts[t] == "\u{2423}N")
            .collect();
        assert_eq!(again.len(), 2);
        // The rest of the name in the last sentence, once it has begun.
        let last = again[1];
        let rest = |name: &str| at(&c, name, &[last + 1]) + at(&c, name, &[last + 2]);
        // Where the name is said again, tiny-gpt gains more than a third of its whole lead.
        let name = again.iter().flat_map(|&t| [t, t + 1, t + 2]);
        let gained: f64 = name.map(|t| at(&c, "token.gain", &[t])).sum();
        let lead = at(&c, "mean.lead", &[]) * texts.len() as f64;
        assert!(3.0 * gained > lead, "{gained} of {lead}");
        assert!(
            rest("token.gpt") < 0.5 && rest("token.grams") > 4.0,
            "{} {}",
            rest("token.gpt"),
            rest("token.grams")
        );
    }
}
