//! Reference files of a small GPT-2: one that is right, and what is said of ones that are not.

use engine::formula::Formula;
use engine::model::decoder::DecoderExt;
use engine::model::gpt2::{Config, Gpt2};
use serde_json::{Map, Value, json};
use tools::reference;

const SEED: u64 = 11;
const IDS: [usize; 4] = [3, 22, 4, 9];

/// A file whose outputs are the engine's own.
fn right() -> Value {
    let config = Config {
        vocabulary: 23,
        width: 12,
        heads: 3,
        layers: 2,
        inner: 40,
        context: 9,
        norm_eps: 1e-5,
    };
    let shapes: Map<String, Value> = config
        .shapes()
        .into_iter()
        .map(|(name, shape)| (name, json!(shape)))
        .collect();
    let model = Gpt2::load(config.clone(), &mut Formula::new(SEED, config.shapes())).unwrap();
    let logits = model.forward(&IDS, None).unwrap();
    let summary = |row: usize| {
        let row: Vec<f64> = logits.row(row).iter().map(|&x| f64::from(x)).collect();
        let count = row.len() as f64;
        let mean = row.iter().sum::<f64>() / count;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let argmax = (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b]));
        let values: Vec<f64> = row.iter().copied().step_by(2).collect();
        json!({"shape": [23], "mean": mean, "std": variance.sqrt(), "argmax": argmax, "stride": 2, "values": values})
    };
    json!({
        "model": "gpt2", "seed": SEED, "ids": IDS, "parameters": shapes,
        "hyperparameters": {
            "layers": 2, "width": 12, "heads": 3, "inner": 40, "vocabulary": 23, "context": 9, "norm_eps": 1e-5,
            "activation": "gelu_tanh",
        },
        "logits_row_2": summary(2), "last_logits": summary(3),
        // A row before which nothing stands sees itself alone.
        "attention": [{"layer": 1, "head": 2, "row": 0, "weights": [1.0, 0.0, 0.0, 0.0]}],
    })
}

/// The right file after a change.
fn changed(change: impl Fn(&mut Value)) -> String {
    let mut file = right();
    change(&mut file);
    file.to_string()
}

fn without(key: &str) -> String {
    changed(|file| {
        file.as_object_mut().unwrap().remove(key).unwrap();
    })
}

fn failure(text: &str) -> String {
    reference::check("x", text)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

#[test]
fn each_line_has_the_seven_keys() {
    let lines = reference::check("dir/small.json", &right().to_string()).unwrap();
    let keys = [
        "field",
        "file",
        "max_abs",
        "max_rel",
        "model",
        "pass",
        "tolerance",
    ];
    for line in &lines {
        let line = line.json();
        let found: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(found, keys);
        assert_eq!(line["file"], "dir/small.json");
        assert_eq!(
            (&line["model"], &line["pass"]),
            (&json!("gpt2"), &json!(true))
        );
    }
    let tolerance = |field: &str| {
        let line = lines.iter().map(|line| line.json());
        line.into_iter()
            .find(|line| line["field"] == field)
            .unwrap()["tolerance"]
            .clone()
    };
    assert_eq!(lines.len(), 2 * 4 + 1);
    assert_eq!(tolerance("logits_row_2"), json!(1e-4));
    assert_eq!(tolerance("last_logits.mean"), json!(1e-5));
    assert_eq!(tolerance("last_logits.std"), json!(1e-5));
    assert_eq!(tolerance("last_logits.argmax"), json!(0.0));
    assert_eq!(tolerance("attention"), json!(1e-5));
}

#[test]
fn what_differs_is_seen_field_by_field() {
    for (field, change) in [
        (
            "last_logits",
            json!({"last_logits": {"values": {"3": 3e-4}}}),
        ),
        ("last_logits.mean", json!({"last_logits": {"mean": 3e-5}})),
        ("logits_row_2.std", json!({"logits_row_2": {"std": 3e-5}})),
        (
            "logits_row_2.argmax",
            json!({"logits_row_2": {"argmax": 1.0}}),
        ),
        (
            "attention",
            json!({"attention": {"0": {"weights": {"0": 3e-5}}}}),
        ),
    ] {
        let text = changed(|file| add(file, &change));
        let lines = reference::check("x", &text).unwrap();
        let failed = lines.iter().filter(|line| !line.pass);
        let fields: Vec<Value> = failed.map(|line| line.json()["field"].clone()).collect();
        assert_eq!(fields, [json!(field)]);
    }
    let other_seed = changed(|file| file["seed"] = json!(12));
    let lines = reference::check("x", &other_seed).unwrap();
    assert!(lines.iter().any(|line| !line.pass));
}

/// Adds the numbers of `change` to those at the same places of `file`; keys of lists are their
/// indices.
fn add(file: &mut Value, change: &Value) {
    let Some(change) = change.as_object() else {
        *file = json!(file.as_f64().unwrap() + change.as_f64().unwrap());
        return;
    };
    for (key, change) in change {
        match key.parse::<usize>() {
            Ok(n) => add(&mut file[n], change),
            Err(_) => add(&mut file[key], change),
        }
    }
}

#[test]
fn a_wrong_file_is_refused_with_what_is_wrong() {
    let wrong_shape = |name: &'static str, shape: Value| {
        changed(move |file| file["parameters"][name] = shape.clone())
    };
    for (text, expected) in [
        (
            String::new(),
            "EOF while parsing a value at line 1 column 0",
        ),
        ("[1]".to_owned(), "no string model"),
        (without("model"), "no string model"),
        (without("seed"), "no whole number seed"),
        (without("parameters"), "no object parameters"),
        (without("ids"), "no list of whole numbers ids"),
        (
            without("hyperparameters"),
            "gpt2: width must be given as width or n_embd or embedding_length, found none",
        ),
        (
            changed(|file| file["model"] = json!("gpt9")),
            "model must be one of gpt2, llama, bert, vit, vit384, dinov2, swinv2, transformer; found \"gpt9\"",
        ),
        (
            changed(|file| file["hyperparameters"]["heads"] = json!(5)),
            "gpt2: heads must be a divisor of 12, found 5",
        ),
        (
            changed(|file| file["hyperparameters"]["activation"] = json!("relu")),
            "activation: expected \"gelu_tanh\", found \"relu\"",
        ),
        (
            changed(|file| file["ids"] = json!([])),
            "no list of whole numbers ids",
        ),
        (
            changed(|file| file["ids"][1] = json!(23)),
            "decoder: id must be below the vocabulary size 23, found 23",
        ),
        (
            wrong_shape("transformer.ln_f.bias", json!([13])),
            "parameter transformer.ln_f.bias: expected [12], found [13]",
        ),
        (
            wrong_shape("transformer.ln_f.bias", json!("none")),
            "parameter transformer.ln_f.bias: no shape",
        ),
        (
            changed(|file| {
                let parameters = file["parameters"].as_object_mut().unwrap();
                parameters.remove("transformer.h.1.mlp.c_fc.weight");
            }),
            "parameter transformer.h.1.mlp.c_fc.weight: expected [12, 40], found none",
        ),
        (
            changed(|file| file["last_logits"]["shape"] = json!([7])),
            "last_logits: the file has the shape [7], the model gives [23]",
        ),
        (
            changed(|file| file["last_logits"]["stride"] = json!(0)),
            "last_logits: no stride",
        ),
        (
            changed(|file| file["last_logits"]["values"] = json!([1.0, "a"])),
            "last_logits: values are not numbers",
        ),
        (
            changed(|file| file["last_logits"]["values"] = json!(vec![0.0; 13])),
            "last_logits: 13 values do not fit shape and stride",
        ),
        (
            changed(|file| {
                file["last_logits"].as_object_mut().unwrap().remove("mean");
            }),
            "last_logits: no mean",
        ),
        (
            changed(|file| file["logits_row_4"] = file["last_logits"].clone()),
            "logits_row_4: the model gives 4 rows",
        ),
        (
            changed(|file| file["middle"] = file["last_logits"].clone()),
            "middle: the model does not give it",
        ),
        (
            changed(|file| file["attention"][0]["layer"] = json!(2)),
            "attention: the model has no layer 2, head 2, row 0",
        ),
        (
            changed(|file| file["attention"] = json!({})),
            "attention: no list",
        ),
        (
            changed(|file| {
                let file = file.as_object_mut().unwrap();
                file.retain(|key, _| {
                    !matches!(key.as_str(), "attention" | "last_logits" | "logits_row_2")
                });
            }),
            "no field to compare",
        ),
    ] {
        assert_eq!(failure(&text), expected);
    }
}

#[test]
fn the_exit_code_is_the_worst_of_all_files() {
    let folder = std::env::temp_dir().join(format!("engine-reference-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let good = write("good.json", right().to_string());
    let other = write("other.json", changed(|file| file["seed"] = json!(1)));
    let broken = write("broken.json", "{".to_owned());
    let absent = folder.join("absent.json").to_str().unwrap().to_owned();
    for (paths, code, lines, errors) in [
        (vec![&good], reference::PASSED, 9, 0),
        (vec![&good, &other], reference::DIFFERS, 18, 0),
        (vec![&broken, &other, &good], reference::UNUSABLE, 18, 1),
        (vec![&absent], reference::UNUSABLE, 0, 1),
        (vec![], reference::UNUSABLE, 0, 0),
    ] {
        let paths: Vec<String> = paths.into_iter().cloned().collect();
        let (mut out, mut said) = (Vec::new(), Vec::new());
        assert_eq!(reference::run(&paths, &mut out, &mut said), code);
        let count = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().lines().count();
        assert_eq!((count(out), count(said)), (lines, errors));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
