//! A vocabulary has to fit the model's embedding: one that is too large is refused, also one that
//! has tokens for less than half of the rows, and rows without a token are never drawn.

use super::{gguf, safetensors};
use engine::format::gguf_value::{Array, Value};
use engine::formula::Formula;
use engine::generate::{Generation, Options};
use engine::model::decoder::Session;
use engine::model::{bert, gpt2};
use engine::open::{Files, open};
use engine::parameters::{MatrixForm, Memory, Parameters};
use engine::quant::Type;
use serde_json::json;
use tools::safetensors::write_parameters;

/// Rows of the embedding of each model here.
const ROWS: usize = 40;

/// So many tokens, a character each.
fn tokens(count: usize) -> Vec<String> {
    ('!'..).take(count).map(String::from).collect()
}

/// A byte-level vocabulary of so many ids; the last of them is an added token.
fn tokenizer_json(count: usize) -> Vec<u8> {
    let mut vocabulary = serde_json::Map::new();
    for (id, token) in tokens(count - 1).into_iter().enumerate() {
        vocabulary.insert(token, json!(id));
    }
    let file = json!({
        "model": { "type": "BPE", "vocab": vocabulary, "merges": [] },
        "added_tokens": [{ "id": count - 1, "content": "<end>", "special": true }],
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false },
    });
    file.to_string().into_bytes()
}

/// A model of these parameters as safetensors, with two files beside it.
fn written(
    shapes: Vec<(String, Vec<usize>)>,
    config: &serde_json::Value,
    (name, vocabulary): (&str, Vec<u8>),
) -> Files {
    let mut source = Formula::new(5, shapes);
    let mut memory = Memory::default();
    for name in source.names() {
        let tensor = source.read(&name).unwrap();
        memory.insert(name, tensor);
    }
    let weights = write_parameters(&[], &memory, Type::F32).unwrap();
    let mut files = Files::new("model.safetensors", weights);
    files.beside = vec![
        ("config.json".to_owned(), config.to_string().into_bytes()),
        (name.to_owned(), vocabulary),
    ];
    files
}

fn small_gpt2(count: usize) -> Files {
    let sizes = gpt2::Config {
        vocabulary: ROWS,
        width: 16,
        heads: 2,
        layers: 1,
        inner: 64,
        context: 32,
        norm_eps: 1e-5,
    };
    let config = json!({
        "model_type": "gpt2", "vocab_size": ROWS, "n_embd": 16, "n_head": 2, "n_layer": 1,
        "n_positions": 32,
    });
    let vocabulary = ("tokenizer.json", tokenizer_json(count));
    written(sizes.shapes(), &config, vocabulary)
}

fn small_bert(count: usize) -> Files {
    let sizes = bert::Config {
        vocabulary: ROWS,
        width: 8,
        heads: 2,
        layers: 1,
        inner: 16,
        context: 12,
        types: 2,
        norm_eps: 1e-12,
    };
    let config = json!({
        "model_type": "bert", "vocab_size": ROWS, "hidden_size": 8, "num_attention_heads": 2,
        "num_hidden_layers": 1, "intermediate_size": 16, "max_position_embeddings": 12,
        "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    });
    let named = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"].map(str::to_owned);
    let words = [named.to_vec(), tokens(count - named.len())].concat();
    let vocabulary = ("vocab.txt", words.join("\n").into_bytes());
    written(sizes.shapes(), &config, vocabulary)
}

fn small_llama(count: usize) -> Files {
    let mut files = safetensors(json!({}), &[]);
    let vocabulary = ("tokenizer.json".to_owned(), tokenizer_json(count));
    files.beside.push(vocabulary);
    files
}

fn small_gguf(count: usize) -> Files {
    let texts = |texts| Value::Array(Array::Text(texts));
    let metadata = [
        ("tokenizer.ggml.model", Value::Text("gpt2".to_owned())),
        ("tokenizer.ggml.tokens", texts(tokens(count))),
        ("tokenizer.ggml.merges", texts(Vec::new())),
    ];
    gguf(&[Type::F32], &metadata, &[])
}

/// A model of each family and each format with a vocabulary of so many tokens.
fn models(count: usize) -> [Files; 4] {
    [
        small_gpt2(count),
        small_llama(count),
        small_gguf(count),
        small_bert(count),
    ]
}

#[test]
fn a_vocabulary_of_another_model_is_refused() {
    for count in [ROWS + 1, ROWS / 2 - 1] {
        for files in models(count) {
            let error = open(&files, MatrixForm::default()).unwrap_err();
            let expected = format!(
                "{}: the vocabulary has {count} tokens, and the model's embedding 40 rows: they \
                 are of two models",
                files.name
            );
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn a_vocabulary_that_fits_is_opened_and_a_row_without_a_token_is_never_drawn() {
    for count in [ROWS, ROWS - 16, ROWS / 2] {
        for files in models(count) {
            let opened = open(&files, MatrixForm::default()).unwrap();
            let tokenizer = opened.tokenizer.as_deref().unwrap();
            assert_eq!(tokenizer.size(), count);
            let Some(decoder) = opened.model.decoder() else {
                continue;
            };
            for seed in 0..20 {
                let options = Options {
                    seed,
                    max_tokens: 12,
                    ..Options::default()
                };
                let mut session = Session::new(decoder);
                let mut generation =
                    Generation::new(&mut session, tokenizer, &[0], options).unwrap();
                let ids: Vec<usize> = generation.by_ref().map(|token| token.unwrap().id).collect();
                assert_eq!(ids.len(), 12);
                assert!(ids.iter().all(|&id| id < count), "{}: {ids:?}", files.name);
                assert_eq!(generation.chosen_from().unwrap().len(), count);
            }
        }
    }
}
