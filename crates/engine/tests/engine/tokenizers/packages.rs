//! Against the packages `regex`, `tokenizers` and `sentencepiece`:
//! `tests/golden/engine/tokens.json`.

use engine::token::bert_text::BertText;
use engine::token::json;
use engine::token::llama::Llama;
use engine::token::llama_files::from_model;
use engine::token::split::Split;
use engine::token::tokenizer::Tokenizer;
use serde_json::Value;

fn golden(part: &str) -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/engine/tokens.json"
    );
    let mut file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    file[part].take()
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().unwrap().iter().map(read).collect()
}

fn texts(value: &Value) -> Vec<String> {
    list(value, |text| text.as_str().unwrap().to_owned())
}

#[test]
fn words_are_those_of_the_regular_expressions() {
    let cases = golden("splits");
    for case in cases.as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        for (name, split) in [
            ("gpt2", Split::Gpt2),
            ("llama3", Split::Llama3),
            ("qwen2", Split::Qwen2),
        ] {
            let words: Vec<&str> = split.words(text).collect();
            assert_eq!(words, texts(&case[name]), "{name} {text:?}");
        }
    }
    assert!(cases.as_array().unwrap().len() > 200);
}

#[test]
fn words_of_bert_are_those_of_tokenizers() {
    let cases = golden("bert");
    for case in cases.as_array().unwrap() {
        let text = case["text"].as_str().unwrap();
        for (name, uncased) in [("uncased", true), ("cased", false)] {
            assert_eq!(
                BertText::new(uncased).words(text),
                texts(&case[name]),
                "{name} {text:?}"
            );
        }
    }
    assert!(cases.as_array().unwrap().len() > 100);
}

fn check(tokenizer: &dyn Tokenizer, examples: &Value, marked: bool) {
    for example in examples.as_array().unwrap() {
        let text = example["text"].as_str().unwrap();
        let expected = list(&example["ids"], |id| id.as_u64().unwrap() as usize);
        let found = if marked {
            tokenizer.encode_marked(text)
        } else {
            tokenizer.encode(text)
        };
        assert_eq!(found.unwrap(), expected, "{text:?}");
    }
}

#[test]
fn a_llama_vocabulary_encodes_as_sentencepiece_does() {
    let case = golden("sentence_piece");
    let file = list(&case["model"], |byte| byte.as_u64().unwrap() as u8);
    let tokenizer = Llama::new(from_model(&file).unwrap()).unwrap();
    check(&tokenizer, &case["examples"], false);
    // The same vocabulary as Llama's tokenizer.json has it.
    let json = json::tokenizer(case["tokenizer_json"].as_str().unwrap()).unwrap();
    check(&*json, &case["examples"], false);
    assert_eq!(json.with_ends(&[5]), [1, 5]);
    assert_eq!(json.special().unknown, Some(0));
}

#[test]
fn a_byte_level_vocabulary_encodes_as_tokenizers_does() {
    let case = golden("byte_bpe");
    let tokenizer = json::tokenizer(case["tokenizer_json"].as_str().unwrap()).unwrap();
    check(&*tokenizer, &case["examples"], true);
    assert_eq!(Some(tokenizer.size() as u64), case["size"].as_u64());
}
