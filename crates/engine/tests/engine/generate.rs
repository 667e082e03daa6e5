//! Generation over decoders whose every answer is known.

use engine::generate::{Ending, Generation, IncrementalDecoder, Options};
use engine::ndarray::Array1;
use engine::sample::Sampling;
use engine::token::llama::{Llama, LlamaFiles};
use engine::token::split::Split;
use engine::token::train::train;
use engine::{EngineError, Result};

/// Gives the ids of a script, one after the other, whatever it reads.
struct Script {
    ids: Vec<usize>,
    context: usize,
    fed: Vec<usize>,
    calls: usize,
}

impl Script {
    fn new(ids: &[usize], context: usize) -> Self {
        Self {
            ids: ids.to_vec(),
            context,
            fed: Vec::new(),
            calls: 0,
        }
    }
}

impl IncrementalDecoder for Script {
    fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
        self.fed.extend_from_slice(ids);
        let next = self.ids.get(self.calls).copied();
        self.calls += 1;
        let next =
            next.ok_or_else(|| EngineError::value("Script", "calls", "fewer", self.calls))?;
        Ok(Array1::from_shape_fn(256, |id| {
            if id == next { 1.0 } else { 0.0 }
        }))
    }

    fn context(&self) -> usize {
        self.context
    }

    fn position(&self) -> usize {
        self.fed.len()
    }
}

/// A vocabulary of ten digits, each with its value as id.
fn digits() -> Llama {
    let digits = ('0'..='9').map(String::from).collect();
    Llama::new(LlamaFiles::named(digits, vec![0.0; 10])).unwrap()
}

fn options(max_tokens: usize, stop: &[&str]) -> Options {
    Options {
        sampling: Sampling::greedy(),
        max_tokens,
        stop: stop.iter().map(|&text| text.to_owned()).collect(),
        end_tokens: vec![0],
        ..Options::default()
    }
}

/// The texts and the ending of a run over single bytes.
fn run(script: &mut Script, options: Options) -> (Vec<String>, Option<Ending>) {
    let bytes = train("", 0, Split::Gpt2).unwrap().tokenizer;
    let mut generation = Generation::new(script, &bytes, &[65, 66], options).unwrap();
    let texts = generation
        .by_ref()
        .map(|piece| piece.unwrap().text)
        .collect();
    assert!(generation.next().is_none());
    (texts, generation.ending().cloned())
}

fn script(bytes: &[u8], context: usize) -> Script {
    Script::new(
        &bytes
            .iter()
            .map(|&byte| usize::from(byte))
            .collect::<Vec<_>>(),
        context,
    )
}

#[test]
fn the_end_token_ends_the_text_and_is_no_text() {
    let mut script = script(b"hi\0x", 99);
    let (texts, ending) = run(&mut script, options(9, &[]));
    assert_eq!(
        (texts, ending),
        (
            vec!["h".to_owned(), "i".to_owned(), String::new()],
            Some(Ending::EndOfText)
        )
    );
    // The prompt at once, then one token at a time, each once; the last one is not read.
    assert_eq!((script.fed, script.calls), (vec![65, 66, 104, 105], 3));
}

#[test]
fn the_length_ends_it_and_gives_what_was_held_back() {
    let (texts, ending) = run(&mut script(b"a\n\nU", 99), options(3, &["\n\nUser"]));
    assert_eq!(
        (texts.concat().as_str(), ending),
        ("a\n\n", Some(Ending::Length))
    );
    let (texts, _) = run(&mut script(b"a\n\xC3\xA9", 99), options(3, &["\n\n"]));
    assert_eq!(texts, ["a", "", "\n\u{FFFD}"]);
    assert_eq!(
        run(&mut script(b"a", 99), options(0, &[])),
        (vec![], Some(Ending::Length))
    );
}

#[test]
fn a_full_context_ends_it() {
    let mut script = script(b"abcdef", 4);
    let (texts, ending) = run(&mut script, options(9, &[]));
    // Two tokens of prompt, two that are read, and one more that can be chosen but not read.
    assert_eq!(
        (texts.concat().as_str(), ending),
        ("abc", Some(Ending::ContextFull))
    );
    assert_eq!(script.position(), 4);
    assert!(Ending::ContextFull.to_string().contains("context is full"));
}

#[test]
fn a_stop_string_ends_it_and_is_not_given() {
    let (texts, ending) = run(
        &mut script("é. Yoyo You: x".as_bytes(), 99),
        options(99, &["You:", "Me:"]),
    );
    assert_eq!(
        (texts.concat().as_str(), ending),
        ("é. Yoyo ", Some(Ending::Stop("You:".to_owned())))
    );
    assert_eq!(texts[4..9], ["", "", "Yoy", "o", " "]);
}

#[test]
fn an_error_of_the_model_is_given_once() {
    let digits = digits();
    let mut script = Script::new(&[3], 99);
    let mut generation = Generation::new(&mut script, &digits, &[1], options(9, &[])).unwrap();
    assert_eq!(generation.next().unwrap().unwrap().text, "3");
    assert!(generation.next().unwrap().is_err());
    assert!(generation.next().is_none() && generation.ending().is_none());
    assert_eq!(generation.ids(), [1, 3]);
}

#[test]
fn a_prompt_that_does_not_fit_is_refused() {
    let digits = digits();
    let start = |prompt: &[usize], options| {
        Generation::new(&mut Script::new(&[3], 2), &digits, prompt, options).map(|_| ())
    };
    let error = start(&[1, 2, 3], options(9, &[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "generate: prompt must be between 1 and 2 tokens, the room in the context, found 3"
    );
    assert!(start(&[], options(9, &[])).is_err());
    assert!(start(&[10], options(9, &[])).is_err());
    assert!(start(&[1], options(9, &[""])).is_err());
    assert!(start(&[1], options(9, &[])).is_ok());
}

#[test]
fn an_id_without_a_token_is_never_chosen() {
    let digits = digits();
    /// Scores of six more ids than there are digits, the highest for the last of them.
    struct Padded(usize);
    impl IncrementalDecoder for Padded {
        fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
            self.0 += ids.len();
            Ok(Array1::from_shape_fn(16, |id| id as f32))
        }
        fn context(&self) -> usize {
            999
        }
        fn position(&self) -> usize {
            self.0
        }
    }
    for sampling in [Sampling::greedy(), Sampling::default()] {
        let is_greedy = sampling == Sampling::greedy();
        let options = Options {
            sampling,
            max_tokens: 30,
            ..Options::default()
        };
        let mut model = Padded(0);
        let mut generation = Generation::new(&mut model, &digits, &[1], options).unwrap();
        let ids: Vec<usize> = generation.by_ref().map(|piece| piece.unwrap().id).collect();
        assert_eq!(ids.len(), 30);
        assert!(
            ids.iter()
                .all(|&id| if is_greedy { id == 9 } else { id < 10 })
        );
        assert_eq!(generation.chosen_from().unwrap().len(), 10);
    }
}

#[test]
fn the_seed_decides() {
    let digits = digits();
    struct Even(usize);
    impl IncrementalDecoder for Even {
        fn feed(&mut self, ids: &[usize]) -> Result<Array1<f32>> {
            self.0 += ids.len();
            Ok(Array1::zeros(10))
        }
        fn context(&self) -> usize {
            999
        }
        fn position(&self) -> usize {
            self.0
        }
    }
    let text = |seed| -> String {
        let options = Options {
            seed,
            max_tokens: 30,
            ..Options::default()
        };
        let mut model = Even(0);
        let generation = Generation::new(&mut model, &digits, &[1], options).unwrap();
        generation.map(|piece| piece.unwrap().text).collect()
    };
    assert_eq!(text(1), text(1));
    assert_ne!(text(1), text(2));
    assert_eq!(text(3).len(), 30);
}
