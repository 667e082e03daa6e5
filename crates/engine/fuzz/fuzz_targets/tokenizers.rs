//! Every file that holds a vocabulary alone; what can be read is used.
#![no_main]

use engine::token::json;
use engine::token::llama::Llama;
use engine::token::llama_files::{from_model, from_tokenizer_bin, from_vocab};
use engine::token::tokenizer::Tokenizer;
use engine::token::word_piece::{WordPiece, WordPieceFiles};

fn use_all(tokenizer: &dyn Tokenizer, text: &str) {
    for ids in [tokenizer.encode(text), tokenizer.encode_marked(text)]
        .into_iter()
        .flatten()
    {
        assert!(ids.iter().all(|&id| id < tokenizer.size()));
        assert!(tokenizer.decode(&tokenizer.with_ends(&ids)).is_ok());
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let end = text.floor_char_boundary(text.len().saturating_sub(64));
    let sample = &text[end..];
    let files = [
        from_tokenizer_bin(bytes),
        from_vocab(&text),
        from_model(bytes),
    ];
    for tokenizer in files
        .into_iter()
        .flatten()
        .filter_map(|files| Llama::new(files).ok())
    {
        use_all(&tokenizer, sample);
    }
    if let Ok(tokenizer) = WordPiece::new(WordPieceFiles::from_vocab_txt(&text)) {
        use_all(&tokenizer, sample);
    }
    if let Ok(tokenizer) = json::tokenizer(&text) {
        use_all(&*tokenizer, sample);
    }
    if let Ok(tokenizer) = json::byte_bpe(r#"{"a":0,"b":1,"ab":2}"#, &text) {
        use_all(&tokenizer, sample);
    }
    if let Ok(tokenizer) = json::byte_bpe(&text, "") {
        use_all(&tokenizer, sample);
    }
});
