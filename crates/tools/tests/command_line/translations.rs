//! The shipped models of text, as a shell runs them.

use super::{output, run};

/// Where a shipped model is.
fn shipped(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public/models");
    format!("{folder}/{name}.safetensors")
}

#[test]
fn sentences_are_translated() {
    for name in ["seq2seq-gru", "seq2seq-attention", "translator"] {
        let model = shipped(name);
        let model = ["--model", model.as_str()];
        let sentence = "We see the sky.";
        let found = output("translate", &[&model[..], &[sentence]].concat());
        // What one fixed vector keeps of the sentence is its verb.
        let expected = if name == "seq2seq-gru" {
            "vediamo "
        } else {
            "vediamo il cielo\n"
        };
        assert!(found.contains(expected), "{name}: {found}");
        let beam = output(
            "translate",
            &[&model[..], &[sentence, "--beam", "3"]].concat(),
        );
        let lines: Vec<&str> = beam.lines().collect();
        assert_eq!(lines.len(), 3, "{name}: {beam}");
        let scores: Vec<f64> = lines
            .iter()
            .map(|line| line.split_whitespace().next().unwrap().parse().unwrap())
            .collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{beam}");
    }
}

#[test]
fn what_cannot_be_translated_with_is_named() {
    let (code, _, message) = run("translate", &["hello"]);
    assert_eq!(code, 2);
    assert!(message.starts_with("--model FILE is missing"), "{message}");
    let (code, _, message) = run("translate", &["--model", "/nowhere.safetensors", "hello"]);
    assert_eq!(code, 1);
    assert!(message.starts_with("/nowhere.safetensors: "), "{message}");
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let (code, _, message) = run("translate", &["--model", other, "hello"]);
    assert_eq!(code, 1);
    assert!(message.starts_with(other), "{message}");
    let help = output("translate", &["--help"]);
    assert!(help.contains("usage: notebook translate"), "{help}");
}

#[test]
fn simple_english_is_written() {
    let model = shipped("tiny-gpt");
    let arguments = [
        model.as_str(),
        "--prompt",
        "Tom is",
        "--new",
        "20",
        "--seed",
        "1",
    ];
    let found = output("generate", &arguments);
    assert!(found.starts_with("Tom is"), "{found}");
    assert!(found.split_whitespace().count() >= 3, "{found}");
    assert_eq!(output("generate", &arguments), found);
}

#[test]
fn gaps_are_filled_with_likely_words() {
    let model = shipped("tiny-bert");
    let fill = |text: &str| output("fill-mask", &[model.as_str(), text, "--top", "3"]);
    let found = fill("I don't [MASK] how to swim.");
    assert!(
        found.lines().any(|line| line.ends_with("  know")),
        "{found}"
    );
    let found = fill("Tom and [MASK] are friends.");
    assert!(
        found.lines().any(|line| line.ends_with("  mary")),
        "{found}"
    );
}
