//! Writes small valid files of each format into `corpus/`, for the fuzzer to start from.

#[allow(dead_code, reason = "the tests of models use more of it")]
#[path = "../../tests/gguf_models/convert.rs"]
mod convert;
#[path = "../../tests/formats/make.rs"]
mod make;

use convert::{CONVERTED, bert_file, gpt2_file, llama_config, llama_file};
use engine::nn::position::rope::Pairing;

const TOKENIZER_JSON: &str = r###"{"added_tokens":[{"id":0,"content":"<e>","special":true},{"id":4,"content":"cd","lstrip":true}],
"pre_tokenizer":{"type":"ByteLevel"},"post_processor":{"type":"RobertaProcessing","sep":["<e>",0],"cls":["<e>",0]},
"model":{"type":"BPE","unk_token":"<e>","vocab":{"<e>":0,"a":1,"b":2,"ab":3},"merges":["a b"]}}"###;
const VOCAB: &str = "<unk>\t0\n<s>\t0\n</s>\t0\nab\t-0\n\u{2581}\t-1\na\t-2\nb\t-3\n";

/// The longest token in four bytes; for each token its score, its length and its bytes.
fn tokenizer_bin() -> Vec<u8> {
    let mut file = 5u32.to_le_bytes().to_vec();
    for (n, token) in ["<unk>", "\n<s>\n", "\n</s>\n", "a", "b", "ab"]
        .iter()
        .enumerate()
    {
        file.extend((n as f32).to_le_bytes());
        file.extend((token.len() as u32).to_le_bytes());
        file.extend(token.as_bytes());
    }
    file
}

fn main() -> std::io::Result<()> {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut experts = llama_config(Pairing::Halves);
    experts.experts = Some((2, 1));
    for (target, name, bytes) in [
        ("gguf", "every-type", make::gguf()),
        ("gguf", "gpt2", gpt2_file(CONVERTED)),
        ("gguf", "bert", bert_file(CONVERTED)),
        (
            "gguf",
            "experts",
            llama_file("llama", &experts, false, CONVERTED),
        ),
        ("safetensors", "every-type", make::safetensors()),
        ("llama2c", "small", make::llama2c()),
        ("tokenizers", "json", TOKENIZER_JSON.into()),
        ("tokenizers", "vocab", VOCAB.into()),
        ("tokenizers", "bin", tokenizer_bin()),
    ] {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(name), bytes)?;
    }
    Ok(())
}
