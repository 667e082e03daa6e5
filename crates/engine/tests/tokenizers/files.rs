//! Where the files outside the repository are, and just enough of GGUF to read a vocabulary.

use std::path::PathBuf;

use engine::token::gguf::GgufVocabulary;

/// A file under `shared/data`, or none, with a printed line, where it is absent.
pub(crate) fn shared(path: &str) -> Option<Vec<u8>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let root =
        std::env::var_os("NOTEBOOK_SHARED").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let file = root.join("data").join(path);
    let read = std::fs::read(&file).ok();
    if read.is_none() {
        println!("skipped: {} is absent", file.display());
    }
    read
}

pub(crate) fn shared_text(path: &str) -> Option<String> {
    shared(path).map(|bytes| String::from_utf8(bytes).unwrap())
}

/// The texts and ids of a file of vectors: `.inp` and `.out`.
pub(crate) fn vectors(path: &str) -> Option<Vec<(String, Vec<usize>)>> {
    let texts = shared_text(&format!("{path}.inp"))?;
    let lines = shared_text(&format!("{path}.out"))?;
    let ids = lines.split('\n').map(|line| {
        line.split_whitespace()
            .map(|id| id.parse().unwrap())
            .collect()
    });
    let vectors: Vec<_> = texts
        .split("\n__ggml_vocab_test__\n")
        .map(str::to_owned)
        .zip(ids)
        .collect();
    assert_eq!(vectors.len(), 47);
    Some(vectors)
}

/// A value of the metadata; other types are passed over.
enum Value {
    Text(String),
    Texts(Vec<String>),
    Floats(Vec<f32>),
    Numbers(Vec<i32>),
    Number(usize),
    Truth(bool),
    Other,
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_at(N);
        self.0 = rest;
        taken.try_into().unwrap()
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }

    fn u64(&mut self) -> usize {
        u64::from_le_bytes(self.bytes()) as usize
    }

    fn text(&mut self) -> String {
        let length = self.u64();
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }

    fn value(&mut self) -> Value {
        match self.u32() {
            0 | 1 => drop(self.bytes::<1>()),
            2 | 3 => drop(self.bytes::<2>()),
            4 => return Value::Number(self.u32() as usize),
            5 | 6 => drop(self.bytes::<4>()),
            7 => return Value::Truth(self.bytes::<1>()[0] != 0),
            8 => return Value::Text(self.text()),
            9 => return self.list(),
            10..=12 => drop(self.bytes::<8>()),
            other => panic!("type {other}"),
        }
        Value::Other
    }

    fn list(&mut self) -> Value {
        let kind = self.u32();
        let length = self.u64();
        match kind {
            5 => Value::Numbers((0..length).map(|_| self.u32() as i32).collect()),
            6 => Value::Floats((0..length).map(|_| f32::from_bits(self.u32())).collect()),
            8 => Value::Texts((0..length).map(|_| self.text()).collect()),
            other => panic!("list of type {other}"),
        }
    }
}

/// The vocabulary of a GGUF file.
pub(crate) fn gguf_vocabulary(path: &str) -> Option<GgufVocabulary> {
    let file = shared(path)?;
    let mut reader = Reader(&file);
    assert_eq!(&reader.bytes::<4>(), b"GGUF");
    let (_version, _tensors, entries) = (reader.u32(), reader.u64(), reader.u64());
    let mut found = GgufVocabulary::default();
    for _ in 0..entries {
        let name = reader.text();
        let value = reader.value();
        let Some(name) = name.strip_prefix("tokenizer.ggml.") else {
            continue;
        };
        match (name, value) {
            ("model", Value::Text(text)) => found.model = text,
            ("pre", Value::Text(text)) => found.pre = Some(text),
            ("tokens", Value::Texts(tokens)) => found.tokens = tokens,
            ("merges", Value::Texts(merges)) => found.merges = Some(merges),
            ("scores", Value::Floats(scores)) => found.scores = Some(scores),
            ("token_type", Value::Numbers(types)) => found.token_types = Some(types),
            ("bos_token_id", Value::Number(id)) => found.begin = Some(id),
            ("eos_token_id", Value::Number(id)) => found.end = Some(id),
            ("cls_token_id", Value::Number(id)) => found.class = Some(id),
            ("seperator_token_id", Value::Number(id)) => found.separator = Some(id),
            ("unknown_token_id", Value::Number(id)) => found.unknown = Some(id),
            ("padding_token_id", Value::Number(id)) => found.padding = Some(id),
            ("mask_token_id", Value::Number(id)) => found.mask = Some(id),
            ("add_bos_token", Value::Truth(add)) => found.add_begin = Some(add),
            _ => {}
        }
    }
    Some(found)
}
