//! One attention: the source of all crates is searched for functions that compute a softmax and a
//! product with its result. Each of them is named here with its reason; attention over queries,
//! keys and values is written three times and not once more.

use engine::formula::Formula;
use engine::model::bert::{Bert, Config};
use engine::trace::Recorder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Attention over queries, keys and values: for reading, fast, and with its gradient.
const ATTENTION: [(&str, &str); 3] = [
    ("nn/attention.rs", "attend"),
    ("nn/blockwise.rs", "rows"),
    ("grad/attention.rs", "attend"),
];

/// Functions that compute a softmax and a product and are not that attention.
const OTHERS: [(&str, &str); 8] = [
    // Additive attention (Bahdanau et al. 2015): its scores come from a small network, and it has
    // no queries of a width.
    ("nn/bahdanau.rs", "additive_attention"),
    ("grad/recurrent.rs", "additive_attention"),
    // A loss: the product weighs the scores by the probabilities that they should have.
    ("grad/loss.rs", "soft_cross_entropy"),
    // The lesson on gradients: one word whose scores are themselves parameters.
    ("grad/one_word.rs", "evaluate"),
    // Two lessons that go through the steps of attention with scores that a reader types.
    ("additive_and_dot.rs", "compute"),
    ("alignment_scores.rs", "compute"),
    // The whole rows that the online softmax is compared with: scores without queries and keys.
    ("online_softmax.rs", "compute"),
    ("online_softmax.rs", "long"),
];

/// Names of functions that compute a softmax.
fn is_softmax(name: &str) -> bool {
    let softmax = |part: &str| part.contains("softmax");
    name.split("::").any(softmax)
}

/// Names of functions that multiply matrices.
fn is_product(name: &str) -> bool {
    let last = name.rsplit("::").next().unwrap_or(name);
    [
        "mix",
        "mix_values",
        "matmul",
        "matmul_nt",
        "matmul_tn",
        "dot",
        "product",
        "new_product",
    ]
    .contains(&last)
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All source files of all crates but the kernels, which know no attention.
fn sources() -> Vec<PathBuf> {
    let mut folders = vec![root().join("src")];
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("kernel") {
            folders.push(path.join("src"));
        }
    }
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The source without comments and without its tests.
fn product_code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The functions of a source text with their bodies; a function inside another is in both.
fn functions(code: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if !code[..at].ends_with(|c: char| c.is_whitespace() || c == '(') && at > 0 {
            continue;
        }
        let rest = &code[at + 3..];
        let name: String = rest
            .chars()
            .take_while(|&c| c.is_alphanumeric() || c == '_')
            .collect();
        let Some(open) = rest.find('{') else { continue };
        let mut depth = 0;
        let end = rest[open..].char_indices().find(|&(_, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        if let (false, Some((length, _))) = (name.is_empty(), end) {
            found.push((name, &rest[open..open + length]));
        }
    }
    found
}

/// The paths that are called in a body, or named as the function of a `shown!` or `traced!`: a path
/// before `(` or `,`.
fn calls(body: &str) -> Vec<&str> {
    let in_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut all = Vec::new();
    for (at, c) in body.char_indices() {
        if c != '(' && c != ',' {
            continue;
        }
        let before = body[..at].char_indices().rev();
        let path = before.take_while(|&(_, c)| in_path(c)).last();
        let start = path.map_or(at, |(start, _)| start);
        let path = &body[start..at];
        if !path.is_empty() && (c == '(' || path.contains("::")) {
            all.push(path);
        }
    }
    all
}

#[test]
fn attention_is_written_three_times() {
    let mut found = BTreeSet::new();
    for path in sources() {
        let code = product_code(&path);
        for (name, body) in functions(&code) {
            let calls = calls(body);
            if calls.iter().any(|call| is_softmax(call))
                && calls.iter().any(|call| is_product(call))
            {
                found.insert((path.clone(), name));
            }
        }
    }
    let mut missing: BTreeSet<_> = ATTENTION.into_iter().chain(OTHERS).collect();
    for (path, name) in &found {
        let known = missing
            .iter()
            .find(|(file, function)| path.ends_with(file) && name == function)
            .copied();
        let known = known.unwrap_or_else(|| {
            panic!(
                "{}: the function {name} computes a softmax and a product. Attention is `engine::nn::attention::attend`, its fast path \
                 `nn/blockwise.rs`, its gradient `grad/attention.rs`: call one of them",
                path.display()
            )
        });
        missing.remove(&known);
    }
    assert!(
        missing.is_empty(),
        "named here and not there any more: {missing:?}"
    );
}

/// The search finds what it is for, and a softmax without a product or in a comment is not an
/// attention.
#[test]
fn the_search_sees_an_attention() {
    let text = "fn scores() { softmax(x); }\nfn reads<T>(x: T) -> f32 {\n let w = kernel::softmax(row);\n if x { y } \n kernel::mix(&w, v) }\n";
    let found = functions(text);
    assert_eq!(found.len(), 2);
    let both = |body: &str| {
        let calls = calls(body);
        calls.iter().any(|c| is_softmax(c)) && calls.iter().any(|c| is_product(c))
    };
    assert!(!both(found[0].1));
    assert_eq!((found[1].0.as_str(), both(found[1].1)), ("reads", true));
    assert!(both(
        "{ shown!(record, engine::nn::softmax::softmax_rows, x); a.dot(b) }"
    ));
}

/// A watched model runs the function that lessons show, in every block.
#[test]
fn a_watched_bert_calls_attend() {
    let config = Config {
        vocabulary: 11,
        width: 8,
        heads: 2,
        layers: 2,
        inner: 16,
        context: 6,
        types: 2,
        norm_eps: 1e-12,
    };
    let model = Bert::load(config.clone(), &mut Formula::new(0, config.shapes())).unwrap();
    let mut seen = Recorder::default();
    model.forward(&[1, 4, 2], Some(&mut seen)).unwrap();
    for block in ["blocks.0.attention", "blocks.1.attention"] {
        let function = seen.function(block);
        assert_eq!(function, Some("engine::nn::attention::attend"));
    }
    assert_eq!(seen.function("blocks.2.attention"), None);
}
