//! No input makes a tokenizer panic, and bytes come back as they went in.

use engine::token::byte_bpe::{ByteBpe, ByteBpeFiles};
use engine::token::gguf::GgufVocabulary;
use engine::token::json;
use engine::token::llama::{Llama, LlamaFiles, TokenKind};
use engine::token::llama_files::{from_model, from_tokenizer_bin, from_vocab};
use engine::token::split::Split;
use engine::token::stream::StreamDecoder;
use engine::token::tokenizer::Tokenizer;
use engine::token::train::train;
use engine::token::word_piece::{WordPiece, WordPieceFiles};
use proptest::prelude::*;

/// Texts in which the rules of splitting meet often.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \n\t'a-dA-D0-9.!é我🦙\u{301}\u{200D}▁\\[\\]<>#]{0,60}",
        "('(s|T|re|VE|m|ll)|  |\r\n|[a-c]+|[0-9]+|▁|<s>|\\[MASK\\]){0,20}",
    ]
}

fn pieces() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(
        "(##|▁|Ġ)?[a-d]{0,3}|<s>|<unk>|\\[UNK\\]|<0x[0-9A-G]{2}>|.",
        0..40,
    )
}

/// Everything that can be asked of a tokenizer.
fn use_all(tokenizer: &dyn Tokenizer, text: &str) {
    for ids in [tokenizer.encode(text), tokenizer.encode_marked(text)]
        .into_iter()
        .flatten()
    {
        assert!(ids.iter().all(|&id| id < tokenizer.size()));
        let whole = tokenizer.decode(&tokenizer.with_ends(&ids)).unwrap();
        let mut stream = StreamDecoder::new(tokenizer);
        let given: String = tokenizer
            .with_ends(&ids)
            .iter()
            .map(|&id| stream.push(id).unwrap())
            .collect();
        assert_eq!(given + &stream.finish(), whole);
    }
    let size = tokenizer.size();
    assert!(tokenizer.decode(&[size]).is_err() && tokenizer.token(size).is_none());
    assert!(tokenizer.decode(&(0..size).collect::<Vec<_>>()).is_ok());
}

/// Valid files of each kind in small, to be changed.
const TOKENIZER_JSON: [&str; 3] = [
    r###"{"added_tokens":[{"id":0,"content":"[UNK]","special":true}],"normalizer":{"type":"BertNormalizer","lowercase":true},
"pre_tokenizer":{"type":"BertPreTokenizer"},"post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[UNK]"}},
{"Sequence":{"id":"A"}}]},"model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","vocab":{"[UNK]":0,"a":1,"##b":2}}}"###,
    r###"{"added_tokens":[{"id":0,"content":"<e>","special":true},{"id":4,"content":"cd","lstrip":true}],"pre_tokenizer":{"type":"ByteLevel"},
"post_processor":{"type":"RobertaProcessing","sep":["<e>",0],"cls":["<e>",0]},"model":{"type":"BPE","unk_token":"<e>",
"vocab":{"<e>":0,"a":1,"b":2,"ab":3},"merges":["a b"]}}"###,
    r###"{"added_tokens":[{"id":0,"content":"<unk>","special":true},{"id":5,"content":"cd"}],"normalizer":{"type":"Replace","pattern":
{"String":" "},"content":"▁"},"model":{"type":"BPE","byte_fallback":true,"unk_token":"<unk>",
"vocab":{"<unk>":0,"a":1,"b":2,"ab":3,"<0x20>":4},"merges":[["a","b"]]}}"###,
];

#[test]
fn the_files_that_are_changed_are_valid() {
    let texts = ["[UNK]ab x", "aab cd", "aab cd"];
    let expected: [&[usize]; 3] = [&[0, 1, 2, 0], &[1, 3, 4], &[1, 3, 0, 5]];
    for ((file, text), ids) in TOKENIZER_JSON.iter().zip(texts).zip(expected) {
        let tokenizer = json::tokenizer(file).unwrap();
        assert_eq!(tokenizer.encode_marked(text).unwrap(), ids);
        use_all(&*tokenizer, text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn words_together_are_the_text(text in text()) {
        for split in [Split::Gpt2, Split::Llama3, Split::Qwen2] {
            prop_assert_eq!(split.words(&text).collect::<String>(), text.as_str());
            prop_assert!(split.words(&text).all(|word| !word.is_empty()));
        }
    }

    #[test]
    fn byte_level_gives_back_every_byte(learned in text(), text in text(), merges in 0usize..60) {
        let tokenizer = train(&learned.repeat(2), merges, Split::Gpt2).unwrap().tokenizer;
        let ids = tokenizer.encode(&text).unwrap();
        prop_assert_eq!(tokenizer.decode_bytes(&ids).unwrap(), text.as_bytes());
        use_all(&tokenizer, &text);
    }

    #[test]
    fn any_ids_stream_to_what_they_decode_to(learned in text(), ids in prop::collection::vec(0usize..256, 0..40)) {
        let tokenizer = train(&learned, 20, Split::Gpt2).unwrap().tokenizer;
        let mut stream = StreamDecoder::new(&tokenizer);
        let given: String = ids.iter().map(|&id| stream.push(id).unwrap()).collect();
        let bytes: Vec<u8> = ids.iter().map(|&id| id as u8).collect();
        prop_assert_eq!(given + &stream.finish(), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn llama_with_all_bytes_gives_back_the_text(tokens in pieces(), text in text(), seed in any::<u64>()) {
        let bytes = (0..=255u8).map(|byte| format!("<0x{byte:02X}>"));
        let tokens: Vec<String> = bytes.chain(tokens).collect();
        let mut rng = engine::rng::Rng::new(seed);
        let scores = tokens.iter().map(|_| rng.below(5) as f32).collect();
        let tokenizer = Llama::new(LlamaFiles::named(tokens, scores)).unwrap();
        let ids = tokenizer.encode(&text).unwrap();
        // A space and the sign that it is written with are the same to a vocabulary of this kind.
        let plain = |text: String| text.replace('▁', " ").trim_start_matches(' ').to_owned();
        if ids.iter().all(|&id| tokenizer.token(id) != Some("<unk>")) {
            prop_assert_eq!(plain(tokenizer.decode(&ids).unwrap()), plain(text));
        }
    }

    #[test]
    fn any_vocabulary_and_any_text(
        tokens in pieces(),
        merges in prop::collection::vec("[a-d]{1,2} [a-d]{1,2}|.{0,4}", 0..6),
        scores in prop::collection::vec(any::<f32>(), 40),
        kinds in prop::collection::vec(0i32..8, 40),
        ids in prop::array::uniform4(prop::option::of(0usize..40)),
        text in text(),
    ) {
        let scores = scores[..tokens.len()].to_vec();
        let kinds = kinds[..tokens.len()].to_vec();
        let files = LlamaFiles {
            kinds: kinds.iter().map(|&kind| TokenKind::from_number(kind)).collect(),
            ..LlamaFiles::named(tokens.clone(), scores.clone())
        };
        if let Ok(tokenizer) = Llama::new(files) {
            use_all(&tokenizer, &text);
        }
        if let Ok(tokenizer) = WordPiece::new(WordPieceFiles::named(tokens.clone())) {
            use_all(&tokenizer, &text);
        }
        let files = ByteBpeFiles { tokens: tokens.clone(), merges: merges.clone(), ..ByteBpeFiles::default() };
        if let Ok(tokenizer) = ByteBpe::new(files) {
            use_all(&tokenizer, &text);
        }
        for model in ["gpt2", "llama", "bert", "other"] {
            let vocabulary = GgufVocabulary {
                model: model.to_owned(),
                tokens: tokens.clone(),
                merges: Some(Vec::new()),
                scores: Some(scores.clone()),
                token_types: Some(kinds.clone()),
                begin: ids[0],
                end: ids[1],
                unknown: ids[2],
                separator: ids[3],
                ..GgufVocabulary::default()
            };
            if let Ok(tokenizer) = vocabulary.tokenizer() {
                use_all(&*tokenizer, &text);
            }
        }
    }

    #[test]
    fn any_file(bytes in prop::collection::vec(any::<u8>(), 0..80), text in any::<String>()) {
        let text_of_bytes = String::from_utf8_lossy(&bytes);
        let files = [from_tokenizer_bin(&bytes), from_model(&bytes), from_vocab(&text), from_vocab(&text_of_bytes)];
        for tokenizer in files.into_iter().flatten().filter_map(|files| Llama::new(files).ok()) {
            use_all(&tokenizer, &text);
        }
        if let Ok(tokenizer) = WordPiece::new(WordPieceFiles::from_vocab_txt(&text)) {
            use_all(&tokenizer, &text);
        }
        prop_assert!(json::tokenizer(&text).is_err());
        let _ = json::byte_bpe(r#"{"a":0,"b":1}"#, &text);
        let _ = json::byte_bpe(&text, "");
    }

    #[test]
    fn changed_json(file in 0usize..3, at in any::<prop::sample::Index>(), new in "[a-z0-9\"\\{\\}:,\\[\\]-]{0,3}", length in 0usize..4, text in text()) {
        let file = TOKENIZER_JSON[file].as_bytes();
        let at = at.index(file.len() - 4);
        let changed = [&file[..at], new.as_bytes(), &file[at + length..]].concat();
        if let Ok(tokenizer) = json::tokenizer(&String::from_utf8_lossy(&changed)) {
            use_all(&*tokenizer, &text);
        }
    }
}
