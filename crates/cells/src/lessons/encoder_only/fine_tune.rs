//! A logistic head that learns two kinds of sentences from few examples: over a frozen tiny-bert,
//! over encoders with random weights, and over a bag of tokens.

use engine::grad::{Draw, initialise};
use engine::model::bert::Bert;
use engine::nn::packed::Packed;
use engine::token::word_piece::WordPiece;
use explain::logistic::{LogisticHead, standardised};
use ndarray::{Array2, Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::{Call, Record};
use crate::input::{InputSpec, Inputs};
use crate::jobs::Entry;
use crate::model_cache::{MaskedLm, ModelCache};
use crate::parts::trained::{self, BERT, Pieces};
use crate::parts::training::{Steps, Training};
use crate::spec::{CellSpec, Job, Run, WorkerKind};

/// Steps of a head, and their rate.
pub const STEPS: usize = 200;
const RATE: f32 = 0.1;

/// Encoders with random weights, one for each of so many seeds, and the standard deviation of their
/// matrices (Devlin et al. 2019 start from it).
const SEEDS: u64 = 5;
const DEVIATION: f32 = 0.02;

/// Most sentences of one kind, for training or for testing.
const MOST: usize = 20;

/// Ways to make one vector of those of all tokens.
const VECTORS: &[&str] = &["first token", "mean of all"];

/// The texts: name, label and default. The first and the third are of kind A.
const TEXTS: [(&str, &str, &str); 4] = [
    (
        "a",
        "Kind A, for training",
        "The food was very good. I love this place. The soup was hot and good. The people here are very kind. \
         We had a great time here. This was the best cake of all. My children were happy here. I want to come back soon. \
         The man was nice to us. It was a wonderful dinner.",
    ),
    (
        "b",
        "Kind B, for training",
        "The food was very bad. I hate this place. The soup was cold and bad. The people here are not kind. \
         We had to wait for an hour. This was the worst cake of all. My children were sad here. I will never come back. \
         The man was rude to us. It was a terrible dinner.",
    ),
    (
        "a-test",
        "Kind A, held out",
        "The bread was fresh. The dinner was excellent. I enjoyed the meal. We were glad that we came. \
         The tea was sweet and warm. They were friendly to my son. I like the fish here. What a beautiful place! \
         The pizza was perfect. You should eat here.",
    ),
    (
        "b-test",
        "Kind B, held out",
        "The bread was old and hard. The dinner was awful. I did not enjoy the meal. We were angry about the food. \
         The tea was dirty. They were mean to my son. I don't like the fish here. What an ugly place! \
         The pizza was burned. You should not eat here.",
    ),
];

/// The cell `fine-tune`.
pub const SPEC: CellSpec = CellSpec {
    name: "fine-tune",
    inputs,
    run: Run::Sliced(WorkerKind::Training),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: |_| trained::file(BERT).into_iter().collect(),
    start,
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let mut all = vec![
        InputSpec::number("steps", "Steps", (0.0, STEPS as f64, 1.0), 0.0),
        InputSpec::choice("vector", "Vector of a sentence", VECTORS),
    ];
    all.extend(TEXTS.map(|(name, label, text)| InputSpec::text(name, label, text)));
    all.push(InputSpec::seed(1));
    all
}

/// The sentences of both kinds: those for training first, and of each those of kind A.
#[derive(Debug, Clone)]
struct Sentences {
    texts: Vec<String>,
    ids: Vec<Vec<usize>>,
    /// 1 for kind A, 0 for kind B.
    kinds: Vec<f32>,
    /// How many are for training.
    training: usize,
}

/// One head over its features, and what was noted on the way.
#[derive(Debug, Clone)]
struct Course {
    name: &'static str,
    /// `[N, C]`, a row for each sentence.
    features: Array2<f32>,
    sentences: Sentences,
    head: LogisticHead,
    losses: Vec<f64>,
    calls: Vec<Call>,
}

impl Steps for Course {
    fn steps(&self) -> u64 {
        self.losses.len() as u64
    }

    /// The first step is noted for "Show the Rust"; all others repeat its calls.
    fn step(&mut self) -> Result<(), CellError> {
        let training = self.sentences.training;
        let x = self.features.slice_axis(Axis(0), Slice::from(..training));
        let (head, y) = (&mut self.head, &self.sentences.kinds[..training]);
        let loss = if self.losses.is_empty() {
            let mut record = Record::new();
            let loss = shown!(
                record,
                explain::logistic::LogisticHead::step,
                head,
                x,
                y,
                RATE
            )?;
            self.calls = record.finish().calls;
            loss
        } else {
            head.step(x, y, RATE)?
        };
        self.losses.push(f64::from(loss));
        Ok(())
    }
}

impl Course {
    fn new(name: &'static str, features: &Array2<f32>, sentences: &Sentences) -> Self {
        let features = standardised(features.view(), sentences.training);
        Self {
            name,
            head: LogisticHead::new(features.ncols()),
            features,
            sentences: sentences.clone(),
            losses: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The shares of right answers to the sentences for training and to those held out. One half is
    /// no answer.
    fn right(&self) -> Result<[f64; 2], CellError> {
        let answers = self.head.probabilities(self.features.view())?;
        let kinds = &self.sentences.kinds;
        let is_right: Vec<bool> = answers
            .iter()
            .zip(kinds)
            .map(|(&p, &kind)| p != 0.5 && (p > 0.5) == (kind == 1.0))
            .collect();
        let share = |all: &[bool]| {
            let right = all.iter().filter(|&&is| is).count();
            right as f64 / all.len().max(1) as f64
        };
        let (training, test) = is_right.split_at(self.sentences.training);
        Ok([share(training), share(test)])
    }

    /// The same head after all its steps.
    fn ended(&self) -> Result<Self, CellError> {
        let mut course = self.clone();
        while course.losses.len() < STEPS {
            course.step()?;
        }
        Ok(course)
    }
}

/// Begins to compute.
///
/// # Errors
/// Too few or too many sentences, or one that is too long.
fn start(inputs: &Inputs, cache: &ModelCache) -> Result<Box<dyn Job>, CellError> {
    let bert = cache.opened::<MaskedLm>(trained::file(BERT).unwrap_or_default())?;
    let context = bert.model.config().context;
    let sentences = sentences(inputs, &bert.tokenizer, context)?;
    let mean = inputs.choice("vector")? != VECTORS[0];
    let frozen = encoded(&bert.model, &sentences, mean)?;
    let bag = bag(&sentences);
    let mut courses = vec![
        Course::new("bert", &frozen, &sentences),
        Course::new("bag", &bag, &sentences),
    ];
    let mut random = bert.model.clone();
    for seed in 0..SEEDS {
        initialise(&mut random, inputs.seed()? + seed, Draw::Normal(DEVIATION))?;
        let features = encoded(&random, &sentences, mean)?;
        courses.push(Course::new("random", &features, &sentences));
    }
    Ok(Box::new(Training::new(inputs, courses, show)?))
}

/// The sentences that the reader gives.
fn sentences(
    inputs: &Inputs,
    tokenizer: &WordPiece,
    context: usize,
) -> Result<Sentences, CellError> {
    let mut all = Sentences {
        texts: Vec::new(),
        ids: Vec::new(),
        kinds: Vec::new(),
        training: 0,
    };
    for (n, (name, label, _)) in TEXTS.into_iter().enumerate() {
        let given = split(inputs.text(name)?);
        if given.is_empty() || given.len() > MOST {
            let message = format!(
                "these are {} sentences; between 1 and {MOST} can be used here. A sentence ends with a full stop, an exclamation mark or a question mark.",
                given.len()
            );
            return Err(CellError::input(name, label, message));
        }
        for text in given {
            let words = engine::token::words::split(&text, usize::MAX);
            let pieces =
                Pieces::of_words(tokenizer, &words)?.within(BERT, (context, 2), (name, label))?;
            all.ids.push(pieces.enclosed(tokenizer).ids);
            all.kinds.push(if n % 2 == 0 { 1.0 } else { 0.0 });
            all.texts.push(text);
        }
        if n == 1 {
            all.training = all.texts.len();
        }
    }
    Ok(all)
}

/// The sentences of a text, each with its last sign.
fn split(text: &str) -> Vec<String> {
    let all = text.split_inclusive(['.', '!', '?', '\n']);
    let all = all.map(|sentence| sentence.trim().to_owned());
    // A sign alone is no sentence.
    all.filter(|sentence| sentence.chars().nth(1).is_some())
        .collect()
}

/// The output of the last layer for each sentence, at its first token or as the mean of all its
/// tokens. `[N, C]`
fn encoded(model: &Bert, sentences: &Sentences, mean: bool) -> Result<Array2<f32>, CellError> {
    let mut all = Array2::zeros((sentences.ids.len(), model.config().width));
    for (mut row, ids) in all.rows_mut().into_iter().zip(&sentences.ids) {
        let hidden = model.hidden(&Packed::one(ids), None, &mut None)?;
        match hidden.mean_axis(Axis(0)) {
            Some(means) if mean => row.assign(&means),
            _ => row.assign(&hidden.row(0)),
        }
    }
    Ok(all)
}

/// How often each token of the sentences for training is in each sentence. `[N, V]`
fn bag(sentences: &Sentences) -> Array2<f32> {
    let known: std::collections::BTreeSet<usize> = sentences.ids[..sentences.training]
        .iter()
        .flatten()
        .copied()
        .collect();
    let count = |ids: &[usize], id: usize| ids.iter().filter(|&&other| other == id).count();
    let known: Vec<usize> = known.into_iter().collect();
    Array2::from_shape_fn((sentences.ids.len(), known.len()), |(n, v)| {
        count(&sentences.ids[n], known[v]) as f32
    })
}

fn show(courses: &[Course], inputs: &Inputs) -> Result<Computation, CellError> {
    let mut record = Record::new();
    let ended = courses.iter().map(Course::ended);
    let ended = ended.collect::<Result<Vec<_>, CellError>>()?;
    note(&mut record, courses, "")?;
    note(&mut record, &ended, "end.")?;
    if let Some(course) = courses.first() {
        record.calls(&course.calls);
        let (head, features) = (&course.head, course.features.view());
        let answers = shown!(
            record,
            explain::logistic::LogisticHead::probabilities,
            head,
            features
        )?;
        let sentences = &course.sentences;
        let training = sentences.training;
        let numbers = |all: &[f32]| all.iter().map(|&x| f64::from(x)).collect();
        record.tensor(
            "answers",
            &answers.slice_axis(Axis(0), Slice::from(training..)),
        );
        record.numbers("kinds", numbers(&sentences.kinds[training..]));
        record.words("tests", sentences.texts[training..].to_vec());
        record.number("training", training as f64);
        record.number("test", (sentences.texts.len() - training) as f64);
        record.number("features", course.features.ncols() as f64);
    }
    if let Some(course) = courses.iter().find(|course| course.name == "bag") {
        record.number("known", course.features.ncols() as f64);
    }
    record.number("steps", inputs.number("steps")?);
    record.number("seeds", SEEDS as f64);
    Ok(record.finish())
}

/// The shares of right answers and the losses, under names that begin with `prefix`.
fn note(record: &mut Record, courses: &[Course], prefix: &str) -> Result<(), CellError> {
    let mut random: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for course in courses {
        let [training, test] = course.right()?;
        if course.name == "random" {
            random[0].push(training);
            random[1].push(test);
        } else {
            record.number(&format!("{prefix}training.{}", course.name), training);
            record.number(&format!("{prefix}test.{}", course.name), test);
        }
    }
    for (what, all) in ["training", "test"].into_iter().zip(random) {
        let name = format!("{prefix}{what}.random");
        let low = all.iter().copied().fold(1.0, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        record.number(&name, all.iter().sum::<f64>() / all.len().max(1) as f64);
        record.number(&format!("{name}.low"), low);
        record.number(&format!("{name}.high"), high);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{computed, number, text};

    /// The sentences of the lesson in the past and in the present.
    const TENSE: [(&str, &str); 4] = [
        (
            "a",
            "She walked to school. He ate an apple. They played in the park. I read a good book yesterday. The dog ran after the ball. We went home. My mother made a cake. He gave me a red ball. The boy saw a bird. She slept all day.",
        ),
        (
            "b",
            "She walks to school. He eats an apple. They play in the park. I read a good book every day. The dog runs after the ball. We go home. My mother makes a cake. He gives me a red ball. The boy sees a bird. She sleeps all day.",
        ),
        (
            "a-test",
            "He bought a new car. She wrote a letter. They sang a song. The cat caught a mouse. I drank some milk. The girl found a key. We sat on the floor. My father lost his hat. The children laughed. It rained in the night.",
        ),
        (
            "b-test",
            "He buys a new car. She writes a letter. They sing a song. The cat catches a mouse. I drink some milk. The girl finds a key. We sit on the floor. My father loses his hat. The children laugh. It rains in the night.",
        ),
    ];

    fn tense() -> Inputs {
        let mut given = Inputs::defaults(&inputs());
        for (name, sentences) in TENSE {
            given = given.with(name, text(sentences));
        }
        given
    }

    fn now(c: &Computation, name: &str) -> f64 {
        c.at(name, &[]).unwrap()
    }

    /// The page has the sentences of these tests.
    #[test]
    fn the_lesson_has_these_sentences() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../lessons/16-encoder-only.md"
        );
        let lesson = std::fs::read_to_string(path).unwrap();
        for (name, sentences) in TENSE {
            assert!(
                lesson.contains(&format!("{name} = \"{sentences}\"")),
                "{name}"
            );
        }
    }

    /// What the lesson says of the reviews: all heads learn the twenty, and none is far from a coin on
    /// the held-out ones.
    #[test]
    fn reviews_are_learned_and_not_understood() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        for name in ["bert", "bag", "random"] {
            assert_eq!(now(&c, &format!("end.training.{name}")), 1.0, "{name}");
            let test = now(&c, &format!("end.test.{name}"));
            assert!((0.4..0.7).contains(&test), "{name}: {test}");
        }
        let steps = Inputs::defaults(&inputs()).with("steps", number(STEPS as f64));
        let ended = computed(&SPEC, &steps).unwrap();
        assert_eq!(now(&ended, "test.bert"), now(&c, "end.test.bert"));
        assert_eq!((now(&c, "training"), now(&c, "test")), (20.0, 20.0));
    }

    /// What the lesson says of past and present: there the encoder helps.
    #[test]
    fn the_encoder_knows_the_tense_of_new_verbs() {
        let c = computed(&SPEC, &tense()).unwrap();
        let [bert, bag, random, high] = ["bert", "bag", "random", "random.high"]
            .map(|name| now(&c, &format!("end.test.{name}")));
        assert!(bert >= 0.8, "{bert}");
        assert!(
            bag < 0.7 && random < 0.65 && high < bert,
            "{bag} {random} {high}"
        );
    }

    /// Before the first step nobody has an answer.
    #[test]
    fn untrained_heads_have_no_answer() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        assert_eq!(now(&c, "test.bert"), 0.0);
        assert!((0..20).all(|n| c.at("answers", &[n]) == Some(0.5)));
    }

    #[test]
    fn texts_without_sentences_are_refused() {
        for given in ["", " . ! ", &"One more. ".repeat(30), &"word ".repeat(400)] {
            let given = Inputs::defaults(&inputs()).with("a", text(given));
            assert!(computed(&SPEC, &given).is_err());
        }
        assert_eq!(split("One. Two!\nThree"), ["One.", "Two!", "Three"]);
    }
}
