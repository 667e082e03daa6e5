//! "Show the Rust": the source of each engine function that the cell called, with the values of
//! this run.

use std::collections::BTreeMap;

use cells::format::Format;
use cells::{Call, Described};
use leptos::prelude::*;
use serde::Deserialize;

use crate::browser::{address, fetch};
use crate::cells::frame::context::CellCx;
use crate::widgets::Num;

/// Values of one tensor that the panel prints.
const PRINTED: usize = 16;

/// One function as the build found it in the source tree.
#[derive(Debug, Clone, Deserialize)]
struct Source {
    path: String,
    file: String,
    /// First line of the code.
    line: usize,
    /// Paragraphs of the documentation, with code between backticks.
    about: Vec<String>,
    /// The code in pieces, each with the name of its kind, which the style sheet colours.
    code: Vec<(String, String)>,
}

/// The calls of the latest run with their sources, which are fetched when the panel opens.
pub(crate) fn body(cx: CellCx) -> AnyView {
    let calls = cx.outcome.with_untracked(|o| {
        o.computation
            .as_ref()
            .map(|c| c.calls.clone())
            .unwrap_or_default()
    });
    let name = cx.spec.name;
    let sources = LocalResource::new(move || async move {
        let url = address::resolve("code.json", &page_folder())
            .map(|u| u.href())
            .unwrap_or_default();
        let text = fetch::text(&url).await?;
        let mut all: BTreeMap<String, Vec<Source>> = serde_json::from_str(&text)
            .map_err(|_| "The list of sources could not be read.".to_owned())?;
        Ok::<_, String>(all.remove(name).unwrap_or_default())
    });
    view! {
        <p>"These engine functions computed what the cell shows, with the " <strong>{engine::kernel::chosen()}</strong> " kernels."</p>
        {move || match sources.get() {
            None => view! { <p role="status">"Fetching the source\u{2026}"</p> }.into_any(),
            Some(Err(message)) => view! { <p class="cell-error">{message}</p> }.into_any(),
            Some(Ok(sources)) => panels(&calls, &sources),
        }}
    }
    .into_any()
}

/// The address of the page as a folder, so that relative files are found with and without a final
/// slash.
pub(crate) fn page_folder() -> String {
    let here = address::href();
    let path = here
        .split(['#', '?'])
        .next()
        .unwrap_or_default()
        .trim_end_matches("index.html");
    format!("{}/", path.trim_end_matches('/'))
}

/// A panel for each function, layers and formulas before the models that call them: the sheet opens
/// on the computation and not on what hands it on.
fn panels(calls: &[Call], sources: &[Source]) -> AnyView {
    let mut seen: Vec<(usize, &str)> = Vec::new();
    for (i, call) in calls.iter().enumerate() {
        if !seen.iter().any(|&(_, path)| path == call.path) {
            seen.push((i, &call.path));
        }
    }
    seen.sort_by_key(|(_, path)| path.starts_with("engine::model::"));
    seen.into_iter()
        .map(|(i, path)| {
            let times = calls.iter().filter(|c| c.path == path).count();
            let source = sources.iter().find(|s| s.path == *path).cloned();
            panel(i, &calls[i], times, source)
        })
        .collect_view()
        .into_any()
}

fn panel(index: usize, call: &Call, times: usize, source: Option<Source>) -> AnyView {
    let short = call
        .path
        .split_once("::")
        .map_or(&*call.path, |(_, below)| below)
        .to_owned();
    let repeated = (times > 1)
        .then(|| format!("Called {times} times; these are the values of the first call."));
    view! {
        <section class="rust-call">
            <h3><code>{short}</code></h3>
            {source.map(|s| view! {
                {s.about.iter().map(|text| view! { <p>{with_code(text)}</p> }).collect_view()}
                <pre class="code" tabindex="0" role="region" aria-label=format!("Source of {}", s.path)><code>{pieces(s.code)}</code></pre>
                <p class="source-place"><code>{format!("{}:{}", s.file, s.line)}</code></p>
            })}
            {repeated.map(|text| view! { <p>{text}</p> })}
            <h4>"In"</h4>
            {values(index, "in", &call.inputs)}
            <h4>"Out"</h4>
            {values(index, "out", &call.outputs)}
        </section>
    }
    .into_any()
}

/// Text whose code stands between backticks.
fn with_code(text: &str) -> Vec<AnyView> {
    text.split('`')
        .enumerate()
        .map(|(i, part)| {
            let part = part.to_owned();
            if i % 2 == 1 {
                view! { <code>{part}</code> }.into_any()
            } else {
                part.into_any()
            }
        })
        .collect()
}

fn pieces(code: Vec<(String, String)>) -> Vec<AnyView> {
    code.into_iter()
        .map(|(kind, text)| view! { <span data-kind=kind>{text}</span> }.into_any())
        .collect()
}

fn values(index: usize, side: &str, all: &[Described]) -> AnyView {
    let rows = all.iter().map(|d| {
        let shape = d
            .shape
            .iter()
            .map(usize::to_string)
            .collect::<Vec<_>>()
            .join(" \u{d7} ");
        let from = format!("call:{index}.{side}.{}", d.name);
        let numbers = d.values.iter().take(PRINTED).enumerate().map(|(i, &x)| {
            let from = format!("{from}[{i}]");
            let starts_row =
                i > 0 && d.shape.len() > 1 && d.shape.last().is_some_and(|n| i.is_multiple_of(*n));
            view! {
                {starts_row.then(|| view! { <br /> })}
                <Num value=Signal::stored(Some(x)) from=from format=Format::Fixed(4) /> " "
            }
        });
        let more = d.shape.iter().product::<usize>() > PRINTED;
        view! {
            <tr>
                <th scope="row"><code>{d.name.clone()}</code></th>
                <td data-label="shape">{shape}</td>
                <td>{d.text.clone()}{numbers.collect_view()}{more.then_some("\u{2026}")}</td>
            </tr>
        }
    });
    view! {
        <div class="scroll" tabindex="0" role="region" aria-label=format!("Values {side}, call {}", index + 1)>
            <table class="values">
                <thead><tr><th scope="col">"Name"</th><th scope="col">"Shape"</th><th scope="col">"Values"</th></tr></thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}
