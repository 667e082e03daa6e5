//! Files outside the repository.

use engine::format::gguf::Gguf;
use engine::token::gguf::GgufVocabulary;

/// A file under `data` of the shared folder; where it is absent the test is recorded as skipped.
pub(crate) fn shared(path: &str) -> Option<Vec<u8>> {
    skip::shared(&format!("data/{path}")).map(|path| std::fs::read(path).unwrap())
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

/// The vocabulary of a GGUF file.
pub(crate) fn gguf_vocabulary(path: &str) -> Option<GgufVocabulary> {
    let file = Gguf::parse(shared(path)?.into()).unwrap();
    Some(file.vocabulary().unwrap())
}
