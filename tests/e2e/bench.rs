//! The bench page: models are measured, each build of the worker says its name, mistakes are told
//! in words, and the worker ends when it is stopped or left. Nothing depends on how long anything
//! takes.

use std::path::{Path, PathBuf};

use engine::format::gguf_value::Value as Meta;
use engine::formula::fill;
use engine::quant::{Type, quantize};
use fantoccini::Locator;
use serde_json::{Value, json};
use tools::TensorBytes;
use tools::gguf::write;

use super::browser::{Browser, Look, with_browser};
use super::reader::click;
use super::site;
use browser_harness::{Habits, Server};

/// The keys of `window.benchResult`.
const KEYS: [&str; 14] = [
    "activation_bits",
    "build",
    "decode_tokens_per_s",
    "load_ms",
    "model",
    "new",
    "peak_bytes",
    "picture_ms",
    "prefill_tokens_per_s",
    "prompt",
    "runs",
    "threads",
    "type",
    "weight_bytes",
];

/// The builds that the page lists for measuring; a file's name ends in its hash.
const BUILDS: &str =
    "document.documentElement.dataset.workers.split(' ').filter(file => file.startsWith('engine-'))
    .map(file => file.slice('engine-'.length, file.lastIndexOf('-')))";

/// Counts the page's workers that have not been ended, those for cells aside.
pub(crate) const COUNT_WORKERS: &str = "window.running = new Set();
    const Plain = Worker;
    window.Worker = class extends Plain {
        constructor(...given) { super(...given); if (!String(given[0]).includes('file=cells-')) running.add(this); }
        terminate() { super.terminate(); running.delete(this); }
    };";

/// A Llama of one block.
fn small_model() -> Vec<u8> {
    let (width, inner, vocabulary) = (64, 128, 96);
    let number = |key: &str, value: u32| (format!("llama.{key}"), Meta::U32(value));
    let metadata = [
        (
            "general.architecture".to_owned(),
            Meta::Text("llama".to_owned()),
        ),
        number("embedding_length", 64),
        number("attention.head_count", 4),
        number("block_count", 1),
        number("feed_forward_length", 128),
        number("context_length", 64),
    ];
    let mut tensors = vec![
        ("token_embd.weight".to_owned(), vec![vocabulary, width]),
        ("output_norm.weight".to_owned(), vec![width]),
    ];
    for (name, shape) in [
        ("attn_norm", vec![width]),
        ("attn_q", vec![width, width]),
        ("attn_k", vec![width, width]),
        ("attn_v", vec![width, width]),
        ("attn_output", vec![width, width]),
        ("ffn_norm", vec![width]),
        ("ffn_gate", vec![inner, width]),
        ("ffn_up", vec![inner, width]),
        ("ffn_down", vec![width, inner]),
    ] {
        tensors.push((format!("blk.0.{name}.weight"), shape));
    }
    let bytes: Vec<Vec<u8>> = tensors
        .iter()
        .map(|(name, shape)| fill(name, shape.len(), shape.iter().product(), 0))
        .map(|numbers| quantize(Type::F32, &numbers).expect("plain numbers"))
        .collect();
    let tensors: Vec<_> = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, shape), bytes)| TensorBytes {
            name,
            shape,
            kind: Type::F32,
            bytes,
        })
        .collect();
    write(&metadata, &tensors).expect("a file")
}

/// A copy of the site with a model in it.
fn site_with_model(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // What an earlier run has left there.
    let _ = std::fs::remove_dir_all(&folder);
    copy(&site::dist(), &folder);
    std::fs::write(folder.join("small.gguf"), small_model()).expect("the model can be written");
    folder
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the site can be read") {
        let path = entry.expect("its entries can be read").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, &to).expect("a file can be copied");
        }
    }
}

/// Opens the bench with a query and waits for its result.
async fn result_of(browser: &Browser, server: &Server, query: &str) -> Value {
    browser.open(&server.url(&format!("bench/?{query}"))).await;
    result(browser, query).await
}

async fn result(browser: &Browser, what: &str) -> Value {
    browser
        .wait_for(
            &format!("the result of {what}"),
            "return window.benchResult !== undefined",
        )
        .await;
    browser.script("return window.benchResult", &[]).await
}

fn assert_measured(result: &Value, build: &str, threads: u64) {
    let keys: Vec<&String> = result.as_object().expect("an object").keys().collect();
    assert_eq!(keys, KEYS, "{result}");
    assert_eq!(
        (result["build"].as_str(), result["threads"].as_u64()),
        (Some(build), Some(threads)),
        "{result}"
    );
    for key in [
        "load_ms",
        "prefill_tokens_per_s",
        "decode_tokens_per_s",
        "weight_bytes",
        "peak_bytes",
        "activation_bits",
    ] {
        assert!(
            result[key].as_f64().is_some_and(|value| value > 0.0),
            "{key}: {result}"
        );
    }
    assert!(
        result["peak_bytes"].as_u64() > result["weight_bytes"].as_u64(),
        "{result}"
    );
}

/// Asserts that the table of inner steps has a row for each type and no empty cell, and that the
/// build with relaxed SIMD, and no other, uses it for one token.
async fn assert_inner_steps(browser: &Browser, build: &str) {
    let rows = browser
        .script(
            "return [...document.querySelectorAll('.bench-steps tbody tr')]
                 .map(row => [...row.children].map(cell => cell.textContent.trim()))",
            &[],
        )
        .await;
    let rows: Vec<Vec<String>> = serde_json::from_value(rows).expect("rows of texts");
    let types: Vec<&String> = rows.iter().filter_map(|row| row.first()).collect();
    assert_eq!(types, ["Q8_0", "Q4_0", "Q4_1", "Q5_1", "Q6"], "{build}");
    for row in &rows {
        println!("{build}: {row:?}");
        assert!(
            row.len() == 3 && row.iter().all(|cell| !cell.is_empty()),
            "{build}: {row:?}"
        );
        assert_eq!(
            row[1].contains("relaxed"),
            build.starts_with("relaxed"),
            "{build}: {row:?}"
        );
    }
    let caption = browser
        .script(
            "return document.querySelector('.bench-steps caption').textContent",
            &[],
        )
        .await;
    let words = format!("the engine {build} ");
    assert!(
        caption.as_str().is_some_and(|text| text.contains(&words)),
        "{caption}"
    );
}

#[test]
fn every_build_measures_a_file_and_says_its_name() {
    let server =
        Server::start(&site_with_model("bench-builds"), Habits::ROOT).expect("a free port");
    with_browser(async |browser| {
        browser.look(Look::PHONE_DARK).await;
        browser
            .open_ready(&server.url("bench/"))
            .await
            .expect("the form appears");
        let builds = browser.script(&format!("return {BUILDS}"), &[]).await;
        let builds = builds.as_array().expect("a list").clone();
        assert!(
            builds.contains(&json!("relaxed")) && builds.contains(&json!("simd128")),
            "{builds:?}"
        );
        for build in builds.iter().filter_map(Value::as_str) {
            for kind in ["q8_0", "q4_0", "f32"] {
                let query = format!(
                    "model=../small.gguf&type={kind}&build={build}&threads=2&prompt=9&new=5&runs=3"
                );
                let result = result_of(browser, &server, &query).await;
                assert_measured(
                    &result,
                    build,
                    if build == "relaxed-threads" { 2 } else { 1 },
                );
                assert_eq!(
                    (&result["type"], &result["prompt"], &result["new"]),
                    (&json!(kind), &json!(9), &json!(5))
                );
                assert_eq!(
                    (&result["runs"], &result["picture_ms"]),
                    (&json!(3), &Value::Null)
                );
                let runs = browser.script("return window.benchRuns.length", &[]).await;
                assert_eq!(runs, json!(3));
            }
            assert_inner_steps(browser, build).await;
        }
        let best = result_of(
            browser,
            &server,
            "model=../small.gguf&threads=2&prompt=4&new=1&runs=1",
        )
        .await;
        let quickest = ["relaxed-threads", "relaxed"].map(Value::from);
        assert_eq!(
            Some(&best["build"]),
            quickest.iter().find(|build| builds.contains(build)),
            "the quickest build of those that are there: {builds:?}"
        );
        let row = browser
            .script(
                "return document.querySelector('.bench-table tbody').textContent",
                &[],
            )
            .await;
        assert!(
            row.as_str().is_some_and(|row| row.contains("small.gguf")),
            "{row}"
        );
        let sideways = browser
            .script("const root = document.scrollingElement; return root.scrollWidth - root.clientWidth", &[])
            .await;
        assert_eq!(
            sideways,
            json!(0),
            "the table makes the page scroll sideways"
        );
        browser.picture("bench").await;
        let complaints = browser.complaints(&server.origin()).await;
        assert!(complaints.is_empty(), "{complaints:?}");
    });
}

#[test]
fn a_sentence_encoder_has_sentences_and_no_tokens() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        let result = result_of(browser, &server, "model=minilm&type=q8_0&prompt=8&runs=2").await;
        assert_eq!(result["model"], json!("minilm"), "{result}");
        for key in [
            "prefill_tokens_per_s",
            "decode_tokens_per_s",
            "picture_ms",
            "new",
        ] {
            assert_eq!(result[key], Value::Null, "{key}: {result}");
        }
        let runs = browser
            .script(
                "return window.benchRuns.map(run => run.sentences_per_s > 0)",
                &[],
            )
            .await;
        assert_eq!(runs, json!([true, true]));
        browser.picture("bench-sentences").await;
    });
}

/// Bytes beyond the weights that GPT-2 may take with its context full.
const MOST_BESIDES: u64 = 150_000_000;

#[test]
fn a_full_context_takes_little_memory_beyond_the_weights() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        // GPT-2 has places for 1,024 tokens.
        let result = result_of(
            browser,
            &server,
            "model=gpt2&type=q8_0&prompt=1016&new=8&runs=1",
        )
        .await;
        let bytes = |key: &str| result[key].as_u64().unwrap_or_else(|| panic!("{result}"));
        let besides = bytes("peak_bytes") - bytes("weight_bytes");
        println!("{besides} bytes beyond the weights");
        assert!(besides <= MOST_BESIDES, "{result}");
    });
}

#[test]
fn mistakes_are_told_in_words() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_DARK).await;
        for (query, word) in [
            ("model=gpt3", "gpt3"),
            ("model=gpt2&type=q3_k", "q3_k"),
            ("model=gpt2&threads=none", "threads"),
            ("model=gpt2&build=fastest", "fastest"),
            ("model=http://localhost:1/a.gguf", "another host"),
            ("model=../nothing.gguf", "404"),
            ("model=../credits.txt", "no model"),
            ("model=minilm&prompt=513", "at most 512"),
        ] {
            let result = result_of(browser, &server, query).await;
            let keys: Vec<&String> = result.as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["error"], "{query}: {result}");
            let shown = browser
                .script(
                    "return document.querySelector('[role=alert]').textContent",
                    &[],
                )
                .await;
            assert_eq!(shown, result["error"], "{query}");
            assert!(
                shown.as_str().is_some_and(|text| text.contains(word)),
                "{query}: {shown}"
            );
        }
    });
}

#[test]
fn a_stopped_run_and_a_page_that_is_left_end_the_worker() {
    let server = site::serve(Habits::ROOT);
    with_browser(async |browser| {
        browser.look(Look::DESK_LIGHT).await;
        browser
            .devtools(
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": COUNT_WORKERS }),
            )
            .await;
        let endless = "model=minilm&prompt=16&runs=1000";
        let running = "return running.size === 1 && document.querySelector('.bench [role=status]').textContent.startsWith('Run ')";
        let none = "return running.size === 0";
        browser
            .open(&server.url(&format!("bench/?{endless}")))
            .await;
        browser.wait_for("the runs to begin", running).await;
        let undefined = browser
            .script("return window.benchResult === undefined", &[])
            .await;
        assert_eq!(undefined, json!(true));
        click(browser, Locator::XPath("//button[.='Stop']")).await;
        let stopped = result(browser, "a stopped run").await;
        assert_eq!(stopped, json!({ "error": "Stopped." }));
        browser.wait_for("the stopped worker to end", none).await;

        browser
            .open(&server.url(&format!("bench/?{endless}")))
            .await;
        browser.wait_for("the runs to begin", running).await;
        click(browser, Locator::Css(".site-name")).await;
        browser
            .wait_for(
                "the home page",
                "return !!document.querySelector('main[data-page=home]')",
            )
            .await;
        browser.ready().await.expect("the cells of the home page");
        // The home page may have a worker of its own; the bench's is none of it.
        browser.wait_for("the bench's worker to end", none).await;
    });
}

#[test]
fn the_form_measures_and_writes_the_address() {
    let server =
        Server::start(&site_with_model("bench-form"), Habits::SUB_FOLDER).expect("a free port");
    with_browser(async |browser| {
        browser.look(Look::PHONE_LIGHT).await;
        browser
            .open_ready(&server.url("bench"))
            .await
            .expect("the form appears");
        let set = "const [values] = arguments;
            for (const [name, value] of Object.entries(values)) {
                const field = document.querySelector(`.bench-form [name=${name}]`);
                field.value = value;
                field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));
            }";
        let values = json!({ "shape": "other", "model": "../small.gguf", "type": "q4_0", "prompt": "5", "new": "2", "runs": "1", "threads": "3" });
        browser.script(set, &[values]).await;
        click(browser, Locator::XPath("//button[.='Measure']")).await;
        let first = result(browser, "the form").await;
        // This host does not isolate its pages.
        assert_measured(&first, "relaxed", 1);
        let query = browser.script("return location.search", &[]).await;
        let query = query.as_str().unwrap_or_default().to_owned();
        assert!(
            query.contains("type=q4_0") && query.contains("threads=3"),
            "{query}"
        );
        let says = browser
            .script(
                "return document.querySelector('.bench-here').textContent",
                &[],
            )
            .await;
        assert!(
            says.as_str()
                .is_some_and(|text| text.contains("one thread")),
            "{says}"
        );
        click(browser, Locator::XPath("//button[.='Measure']")).await;
        browser
            .wait_for(
                "a second row",
                "return document.querySelectorAll('.bench-table tbody tr').length === 2",
            )
            .await;

        // The copy for reading offline adds the headers that the host does not send.
        browser
            .wait_for(
                "the service worker to take over",
                "return !!navigator.serviceWorker.controller",
            )
            .await;
        let query = "model=../small.gguf&threads=2&prompt=4&new=1&runs=1";
        let isolated = result_of(browser, &server, query).await;
        let best = browser
            .script(
                &format!("const builds = {BUILDS}; return ['relaxed-threads', 'relaxed'].find(name => builds.includes(name))"),
                &[],
            )
            .await;
        assert_eq!(isolated["build"], best, "{isolated}");
    });
}
