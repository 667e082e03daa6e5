//! Tokenizers: text to tokens and their ids, and back.

pub mod added;
pub mod bert_text;
pub mod byte_alphabet;
pub mod byte_bpe;
pub mod gguf;
pub mod json;
mod json_llama;
pub mod llama;
pub mod llama_files;
mod merge;
pub mod split;
pub mod stop;
pub mod stream;
pub mod tokenizer;
pub mod train;
mod trie;
pub mod unicode;
pub mod vocabulary;
pub mod word_piece;
pub mod words;
