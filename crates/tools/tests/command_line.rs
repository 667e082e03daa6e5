//! The commands of `notebook` as their users run them.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

#[path = "command_line/drawings.rs"]
mod drawings;
#[path = "command_line/translations.rs"]
mod translations;

use engine::formula::Formula;
use engine::model::bert::Config;
use engine::parameters::Parameters;
use serde_json::{Value, json};
use skip::shared;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs a command; gives its exit code, output and messages.
fn run(command: &str, arguments: &[&str]) -> (i32, String, String) {
    let program = Command::new(env!("CARGO_BIN_EXE_notebook"))
        .arg(command)
        .args(arguments)
        .output();
    let Output {
        status,
        stdout,
        stderr,
    } = program.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// The output of a command that succeeds.
fn output(command: &str, arguments: &[&str]) -> String {
    let (code, out, messages) = run(command, arguments);
    assert_eq!(code, 0, "{command} {arguments:?}: {messages}");
    out
}

/// A folder for one test, empty.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("engine-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A BERT with its head, as Hugging Face's files have it, filled by the formula.
fn small_bert(folder: &Path) {
    let words = [
        "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "##s", "dog", ".",
    ];
    let config = Config {
        vocabulary: words.len(),
        width: 32,
        heads: 2,
        layers: 2,
        inner: 64,
        context: 16,
        types: 2,
        norm_eps: 1e-12,
    };
    let mut source = Formula::new(4, config.shapes());
    let (mut header, mut data) = (serde_json::Map::new(), Vec::new());
    for name in source.names() {
        let tensor = source.read(&name).unwrap();
        let start = data.len();
        data.extend(tensor.iter().flat_map(|x| x.to_le_bytes()));
        header.insert(
            name,
            json!({"dtype": "F32", "shape": tensor.shape(), "data_offsets": [start, data.len()]}),
        );
    }
    let header = Value::Object(header).to_string();
    let length = (header.len() as u64).to_le_bytes();
    let file = [&length[..], header.as_bytes(), &data].concat();
    std::fs::write(folder.join("model.safetensors"), file).unwrap();
    std::fs::write(folder.join("vocab.txt"), words.join("\n")).unwrap();
    let config = json!({
        "model_type": "bert", "vocab_size": words.len(), "hidden_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2,
        "intermediate_size": 64, "max_position_embeddings": 16, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

#[test]
fn each_command_explains_itself() {
    let list = output("--help", &[]);
    for command in [
        "generate",
        "classify",
        "embed",
        "fill-mask",
        "inspect",
        "learn",
        "quantize",
        "reference",
        "translate",
    ] {
        assert!(
            list.contains(&format!("\n  {command} ")),
            "{command}: {list}"
        );
        let help = output(command, &["--help"]);
        assert!(
            help.contains(&format!("usage: notebook {command} ")),
            "{command}: {help}"
        );
        let (code, _, messages) = run(command, &[]);
        assert_eq!(code, 2, "{command}: {messages}");
        let (code, _, messages) = run(command, &["--no-such-option", "x"]);
        assert_eq!(code, 2, "{command}: {messages}");
    }
    let (code, _, messages) = run("juggle", &[]);
    assert_eq!(code, 2);
    assert!(
        messages.starts_with("there is no command juggle\n"),
        "{messages}"
    );
    let nothing = Command::new(env!("CARGO_BIN_EXE_notebook"))
        .output()
        .unwrap();
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn a_file_that_cannot_be_used_is_named() {
    let folder = folder("wrong");
    let (notes, cut) = (folder.join("notes.gguf"), folder.join("cut.safetensors"));
    std::fs::write(&notes, "Dear diary, today").unwrap();
    std::fs::write(&cut, [&9u64.to_le_bytes()[..], b"{\"a\": "].concat()).unwrap();
    let missing = folder.join("none.gguf");
    let cases = [
        ("generate", vec![text(&missing)], "none.gguf: "),
        (
            "generate",
            vec![text(&notes)],
            "notes.gguf: expected GGUF, safetensors or llama2.c, found a file that begins with \"Dear dia\"",
        ),
        (
            "inspect",
            vec![text(&cut)],
            "safetensors: the header needs 9 bytes, 6 are left",
        ),
        (
            "classify",
            vec![text(&folder), "cat.png"],
            "holds 2 files of weights: name one of them",
        ),
        ("embed", vec![text(&cut), "a"], "the header needs 9 bytes"),
        ("quantize", vec![text(&missing), "out.gguf"], "none.gguf: "),
    ];
    for (program, arguments, message) in cases {
        let (code, out, messages) = run(program, &arguments);
        assert_eq!((code, out.as_str()), (1, ""), "{program}: {messages}");
        assert!(messages.contains(message), "{program}: {messages}");
        assert_eq!(messages.lines().count(), 1, "{program}: {messages}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn gaps_are_filled_and_vectors_made_by_a_small_bert() {
    let folder = folder("bert");
    small_bert(&folder);
    let filled = output(
        "fill-mask",
        &[text(&folder), "The [MASK] sat [MASK]", "--top", "3"],
    );
    let lines: Vec<&str> = filled.lines().collect();
    assert_eq!(
        (lines[0], lines[4], lines.len()),
        ("[MASK] 1:", "[MASK] 2:", 8)
    );
    let probability = |line: &str| {
        line.split_whitespace()
            .next()
            .unwrap()
            .parse::<f32>()
            .unwrap()
    };
    assert!(probability(lines[1]) >= probability(lines[2]) && probability(lines[3]) > 0.0);
    let (code, _, messages) = run("fill-mask", &[text(&folder), "The cat"]);
    assert_eq!(
        (code, messages.lines().next()),
        (2, Some("TEXT has no [MASK]"))
    );
    let (code, _, messages) = run("generate", &[text(&folder), "--prompt", "the cat"]);
    assert!(
        code == 1
            && messages
                .trim()
                .ends_with("model.safetensors: this is a BERT; use embed or fill-mask"),
        "{messages}"
    );
    let (code, _, messages) = run("fill-mask", &[text(&folder), "A [MASK]", "--type", "q9"]);
    assert!(
        code == 2 && messages.starts_with("--type: unsupported type q9; known are f32, f16"),
        "{messages}"
    );

    // As GGUF: the same sentence vector, but no head that fills gaps.
    let gguf = folder.join("small.gguf");
    output("quantize", &[text(&folder), text(&gguf), "--type", "f32"]);
    let line = |model: &Path| -> Value {
        serde_json::from_str(&output("embed", &[text(model), "the cats sat."])).unwrap()
    };
    let model = folder.join("model.safetensors");
    assert_eq!(line(&gguf), line(&model));
    assert_eq!(line(&gguf)["embedding"].as_array().unwrap().len(), 32);
    let (code, _, messages) = run("fill-mask", &[text(&gguf), "A [MASK]"]);
    assert!(
        code == 1 && messages.contains("has no masked-LM head, which fills gaps; use embed"),
        "{messages}"
    );
    let listed: Value =
        serde_json::from_str(&output("inspect", &[text(&gguf), "--json", "--finite"])).unwrap();
    assert_eq!(
        (
            &listed["format"],
            &listed["metadata"]["general.architecture"]
        ),
        (&json!("GGUF"), &json!("\"bert\""))
    );
    let names: Vec<&str> = listed["tensors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"blk.1.ffn_down.weight")
            && !names.iter().any(|name| name.starts_with("cls"))
    );
    // The input is never overwritten, and nothing half written stays.
    let (code, _, messages) = run("quantize", &[text(&gguf), text(&gguf)]);
    assert!(
        code == 2 && messages.starts_with("IN and OUT.gguf are the same file"),
        "{messages}"
    );
    let (code, ..) = run(
        "quantize",
        &[text(&model), text(&folder.join("no/such/out.gguf"))],
    );
    assert_eq!(code, 1);
    std::fs::remove_file(folder.join("vocab.txt")).unwrap();
    let (code, _, messages) = run("quantize", &[text(&model), text(&folder.join("new.gguf"))]);
    assert!(
        code == 1
            && messages
                .trim()
                .ends_with("model.safetensors: needs a vocabulary beside it"),
        "{messages}"
    );
    assert!(!folder.join("new.gguf").exists() && !folder.join("new.gguf.part").exists());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn stories_are_told_from_every_kind_of_file() {
    let Some(data) = shared("data/stories260K") else {
        return;
    };
    let expected: Value =
        serde_json::from_slice(&std::fs::read(data.join("expected_greedy.json")).unwrap()).unwrap();
    let story = expected["published_expected_text"].as_str().unwrap();
    let count = (expected["greedy_ids"].as_array().unwrap().len() - 1).to_string();
    let greedy = ["--temperature", "0", "--new"];
    for file in [
        "stories260K.bin",
        "stories260K-f32.gguf",
        "stories260K-f16.gguf",
    ] {
        let path = data.join(file);
        let told = output(
            "generate",
            &[&[text(&path)], &greedy[..], &[&count]].concat(),
        );
        assert_eq!(told.trim(), story.trim(), "{file}");
    }
    let folder = folder("stories");
    for kind in ["f32", "q8_0"] {
        let gguf = folder.join(format!("{kind}.gguf"));
        output(
            "quantize",
            &[
                text(&data.join("stories260K.bin")),
                text(&gguf),
                "--type",
                kind,
            ],
        );
        let told = output(
            "generate",
            &[&[text(&gguf)], &greedy[..], &["100"]].concat(),
        );
        assert!(story.starts_with(told.trim()), "{kind}: {told}");
    }
    let path = data.join("stories260K-q8_0.gguf");
    let told = output(
        "generate",
        &[&[text(&path)], &greedy[..], &["200", "--stop", " ball"]].concat(),
    );
    assert!(
        told.trim().ends_with("red") && story.starts_with(told.trim()),
        "{told}"
    );
    let half = output(
        "generate",
        &[&[text(&path)], &greedy[..], &["40", "--half-cache"]].concat(),
    );
    assert!(story.starts_with(half.trim()), "{half}");
    let (_, _, messages) = run(
        "generate",
        &[&[text(&path)], &greedy[..], &["600"]].concat(),
    );
    assert!(messages.starts_with("the context is full"), "{messages}");
    let beams = output(
        "generate",
        &[
            text(&path),
            "--beams",
            "2",
            "--new",
            "12",
            "--prompt",
            "Once upon",
        ],
    );
    assert_eq!(
        beams
            .lines()
            .filter(|line| line.starts_with("Once upon a time"))
            .count(),
        2,
        "{beams}"
    );
    let (code, _, messages) = run("generate", &[text(&path), "--temperature", "-1"]);
    assert!(
        code == 2 && messages.contains("temperature must be 0 or above"),
        "{messages}"
    );
    let (_, _, messages) = run("generate", &[text(&path), "--beams", "1", "--new", "9999"]);
    assert!(messages.contains("the context is full"), "{messages}");
    let seeded = |seed: &str| output("generate", &[text(&path), "--new", "20", "--seed", seed]);
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// As behind `| head`, and on a full disk.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_no_panic() {
    let folder = folder("full");
    small_bert(&folder);
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let found = Command::new(env!("CARGO_BIN_EXE_notebook"))
        .arg("inspect")
        .arg(folder.join("model.safetensors"))
        .stdout(full)
        .output()
        .unwrap();
    let message = String::from_utf8(found.stderr).unwrap();
    assert!(
        found.status.code() == Some(1) && message.contains("No space left"),
        "{message}"
    );
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let found = Command::new(env!("CARGO_BIN_EXE_notebook"))
        .arg("inspect")
        .arg(folder.join("model.safetensors"))
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(
        (found.status.code(), found.stderr.as_slice()),
        (Some(0), &b""[..])
    );
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn pictures_are_classified() {
    let (Some(model), Some(photos), Some(labels)) = (
        shared("data/vit-tiny-patch16-224"),
        shared("data/photos"),
        shared("data/imagenet-labels/imagenet-simple-labels.json"),
    ) else {
        return;
    };
    let (coffee, china) = (photos.join("coffee.png"), photos.join("china.jpg"));
    let arguments = [
        text(&model),
        text(&coffee),
        text(&china),
        "--labels",
        text(&labels),
        "--top",
        "1",
    ];
    let found = output("classify", &arguments);
    let names: Vec<&str> = found
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names.len(), 2, "{found}");
    assert_eq!(names[0], "espresso");
    let (code, _, messages) = run("classify", &[text(&model), text(&labels)]);
    assert!(
        code == 1 && messages.contains("expected a PNG or a JPEG"),
        "{messages}"
    );
}

#[test]
fn a_task_is_learned() {
    let sizes = ["--symbols", "2", "--length", "8", "--steps", "100"];
    let found = output("learn", &[&["copy"], &sizes[..]].concat());
    let losses = found.lines().filter_map(|line| line.split("loss ").nth(1));
    let losses: Vec<f32> = losses
        .map(|rest| rest.split_whitespace().next().unwrap().parse().unwrap())
        .collect();
    assert!(
        losses.last() < losses.first() || losses.len() == 1,
        "{found}"
    );
    assert!(found.ends_with("held-out sequences\n"), "{found}");
    let (code, _, messages) = run("learn", &["copy", "--length", "2"]);
    assert_eq!(code, 2, "{messages}");
    assert!(
        messages.contains("at least 256 different sequences"),
        "{messages}"
    );
}

#[test]
fn sentences_are_compared() {
    let Some(model) = shared("data/all-minilm-l6-v2") else {
        return;
    };
    let sentences = [
        "A cat sits on the mat.",
        "A kitten rests on a rug.",
        "Stocks fell.",
    ];
    let lines = output(
        "embed",
        &[&[text(&model)], &sentences[..], &["--similarity"]].concat(),
    );
    let found: Vec<f64> = lines
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["similarity"]
                .as_f64()
                .unwrap()
        })
        .collect();
    assert_eq!(found.len(), 3);
    assert!(
        found[0] > 0.6 && found[1] < 0.2 && found[2] < 0.2,
        "{found:?}"
    );
    let (code, _, messages) = run("fill-mask", &[text(&model), "A [MASK]."]);
    assert!(
        code == 1 && messages.contains("has no masked-LM head"),
        "{messages}"
    );
}
