//! Tokenizers against the vectors of published vocabularies and against the packages that the field
//! uses.
//!
//! A test of a published vocabulary is skipped where its file is absent from the shared folder.
//! `tests/golden/engine/make_tokenizers.py` made `tokens.json`.

mod files;
mod packages;
mod random;

use engine::token::byte_bpe::{ByteBpe, ByteBpeFiles};
use engine::token::json;
use engine::token::llama::Llama;
use engine::token::llama_files::{from_model, from_tokenizer_bin, from_vocab};
use engine::token::stream::StreamDecoder;
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::{WordPiece, WordPieceFiles};
use files::{gguf_vocabulary, shared, shared_text, vectors};
use serde_json::Value;

fn check_vectors(name: &str, tokenizer: &dyn Tokenizer, vectors: &[(String, Vec<usize>)]) {
    for (text, ids) in vectors {
        assert_eq!(tokenizer.encode(text).unwrap(), *ids, "{name}: {text:?}");
    }
    println!("{name}: {} of 47 vectors", vectors.len());
}

const GPT2: &str = "gpt2-tokenizer/ggml-vocab-gpt-2.gguf";
const BERT: &str = "bert-tokenizer/ggml-vocab-bert-bge.gguf";

#[test]
fn gpt2_vectors() {
    let Some(vectors) = vectors(GPT2) else { return };
    let gguf = gguf_vocabulary(GPT2).unwrap().tokenizer().unwrap();
    let vocab = shared_text("gpt2-tokenizer/encoder.json").unwrap();
    let merges = shared_text("gpt2-tokenizer/vocab.bpe").unwrap();
    let json = json::byte_bpe(&vocab, &merges).unwrap();
    let lines = ByteBpe::new(ByteBpeFiles::from_merges_txt(&merges)).unwrap();
    let all: [(&str, &dyn Tokenizer); 3] = [
        ("GPT-2, GGUF", &*gguf),
        ("GPT-2, JSON", &json),
        ("GPT-2, merges", &lines),
    ];
    for (name, tokenizer) in all {
        check_vectors(name, tokenizer, &vectors);
        assert_eq!(tokenizer.size(), 50_257);
        assert_eq!(tokenizer.special().end, Some(50_256));
        for (text, ids) in &vectors {
            assert_eq!(tokenizer.decode(ids).unwrap(), *text);
        }
        assert_eq!(
            tokenizer.encode_marked("a<|endoftext|>").unwrap(),
            [64, 50_256]
        );
        assert_eq!(tokenizer.encode("<|endoftext|>").unwrap().len(), 7);
    }
}

#[test]
fn bert_vectors() {
    let Some(vectors) = vectors(BERT) else { return };
    let gguf = gguf_vocabulary(BERT).unwrap().tokenizer().unwrap();
    let file = shared_text("all-minilm-l6-v2/vocab.txt").unwrap();
    let lines = WordPiece::new(WordPieceFiles::from_vocab_txt(&file)).unwrap();
    let file = shared_text("all-minilm-l6-v2/tokenizer.json").unwrap();
    let json = json::tokenizer(&file).unwrap();
    let all: [(&str, &dyn Tokenizer); 3] = [
        ("BERT, GGUF", &*gguf),
        ("BERT, vocab.txt", &lines),
        ("BERT, tokenizer.json", &*json),
    ];
    for (name, tokenizer) in all {
        check_vectors(name, tokenizer, &vectors);
        assert_eq!(tokenizer.size(), 30_522);
        let ids = tokenizer.encode_marked("The [MASK] sat.").unwrap();
        assert_eq!(
            tokenizer.with_ends(&ids),
            [101, 1996, 103, 2938, 1012, 102],
            "{name}"
        );
        assert_eq!(tokenizer.decode(&ids).unwrap(), "the [MASK] sat .");
        let special = tokenizer.special();
        assert_eq!(
            (special.padding, special.mask, special.unknown),
            (Some(0), Some(103), Some(100))
        );
        assert_eq!(tokenizer.id("##ing"), Some(2075));
    }
}

fn ids(value: &Value) -> Vec<usize> {
    let list = value.as_array().unwrap();
    list.iter()
        .map(|id| id.as_u64().unwrap() as usize)
        .collect()
}

#[test]
fn reference_sentences_of_minilm() {
    let Some(file) = shared("all-minilm-l6-v2/reference.json") else {
        return;
    };
    let reference: Value = serde_json::from_slice(&file).unwrap();
    let file = shared_text("all-minilm-l6-v2/tokenizer.json").unwrap();
    let tokenizer = json::tokenizer(&file).unwrap();
    let sentences = reference["sentences"].as_array().unwrap();
    for (sentence, expected) in sentences
        .iter()
        .zip(reference["token_ids"].as_array().unwrap())
    {
        let found = tokenizer.encode(sentence.as_str().unwrap()).unwrap();
        assert_eq!(tokenizer.with_ends(&found), ids(expected));
    }
    assert_eq!(sentences.len(), 4);
}

#[test]
fn reference_prompts_of_gpt2() {
    let Some(file) = shared("gpt2-reference/examples.json") else {
        return;
    };
    let examples: Value = serde_json::from_slice(&file).unwrap();
    let tokenizer = gguf_vocabulary(GPT2).unwrap().tokenizer().unwrap();
    for example in examples.as_object().unwrap().values() {
        let Some(prompt) = example["prompt"].as_str() else {
            continue;
        };
        let found = tokenizer.encode(prompt).unwrap();
        assert_eq!(found, ids(&example["token_ids"]));
        let texts: Vec<String> = found
            .iter()
            .map(|&id| tokenizer.decode(&[id]).unwrap())
            .collect();
        let expected = example["tokens"].as_array().unwrap();
        assert!(
            expected
                .iter()
                .zip(&texts)
                .all(|(expected, text)| expected == text)
        );
    }
}

/// The ids and the text that a stored run of a model gave.
fn expected_run(path: &str) -> (Vec<usize>, String) {
    let run: Value = serde_json::from_slice(&shared(path).unwrap()).unwrap();
    (
        ids(&run["greedy_ids"]),
        run["text"].as_str().unwrap().to_owned(),
    )
}

fn check_run(tokenizer: &dyn Tokenizer, ids: &[usize], text: &str) {
    assert_eq!(tokenizer.decode(ids).unwrap(), text);
    let mut stream = StreamDecoder::new(tokenizer);
    let given: String = ids.iter().map(|&id| stream.push(id).unwrap()).collect();
    assert_eq!(given + &stream.finish(), text);
    let again = tokenizer.encode(text).unwrap();
    assert_eq!(tokenizer.decode(&again).unwrap(), text);
}

#[test]
fn stories260k_text() {
    let Some(file) = shared("stories260K/tok512.bin") else {
        return;
    };
    let (ids, text) = expected_run("stories260K/expected_greedy.json");
    assert_eq!(text.chars().count(), 464);
    let bin = Llama::new(from_tokenizer_bin(&file).unwrap()).unwrap();
    let gguf = gguf_vocabulary("stories260K/stories260K-f32.gguf")
        .unwrap()
        .tokenizer()
        .unwrap();
    for tokenizer in [&bin as &dyn Tokenizer, &*gguf] {
        assert_eq!(tokenizer.size(), 512);
        check_run(tokenizer, &ids, &text);
        // The model writes as its tokenizer does: encoding its text gives the very ids that it
        // drew.
        assert_eq!(tokenizer.with_ends(&tokenizer.encode(&text).unwrap()), ids);
        let space = tokenizer.id("▁").unwrap();
        let bytes = "日\n".bytes().map(|byte| 3 + usize::from(byte));
        let ids: Vec<usize> = std::iter::once(space).chain(bytes).collect();
        assert_eq!(tokenizer.encode("日\n").unwrap(), ids);
    }
}

#[test]
fn babyllama_characters() {
    let Some(file) = shared_text("babyllama-char105/tok105.vocab") else {
        return;
    };
    let (ids, text) = expected_run("babyllama-char105/expected_greedy.json");
    let vocab = Llama::new(from_vocab(&file).unwrap()).unwrap();
    let file = shared("babyllama-char105/tok105.model").unwrap();
    let model = Llama::new(from_model(&file).unwrap()).unwrap();
    for tokenizer in [&vocab, &model] {
        assert_eq!(tokenizer.size(), 105);
        check_run(tokenizer, &ids, &text);
        assert_eq!(tokenizer.with_ends(&tokenizer.encode(&text).unwrap()), ids);
        // No bytes to fall back on: what is none of the characters is unknown.
        assert_eq!(tokenizer.encode("a我").unwrap(), [3, 5, 0]);
    }
}
