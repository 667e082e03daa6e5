//! "Verify this page": recomputes the page's cells here and compares them with PyTorch's tensors.

use cells::format::Format;
use cells::golden::{self, Check, Golden, GoldenCell};
use leptos::prelude::*;

use crate::browser::{address, clock, fetch};
use crate::cells::frame::rust_panel::page_folder;
use crate::cells::registry;
use crate::client;
use crate::widgets::Num;

/// Results so far.
#[derive(Debug, Clone, Default)]
struct Found {
    header: Vec<(String, String)>,
    checks: Vec<Check>,
    problems: Vec<String>,
    finished: bool,
}

/// Runs at once when the dialog opens.
pub(crate) fn body() -> AnyView {
    let found = RwSignal::new(Found::default());
    leptos::task::spawn_local(run(found));
    view! {
        <p>"Each cell is computed anew, here, on the inputs of the lesson and compared with values that PyTorch computed beforehand."</p>
        {move || summary(&found.get())}
        <div class="scroll" tabindex="0" role="region" aria-label="Results">
            <table class="values">
                <thead><tr>
                    <th scope="col">"Cell"</th><th scope="col">"Tensor"</th><th scope="col">"Values"</th>
                    <th scope="col">"Largest error"</th><th scope="col">"Allowed"</th><th scope="col">"Verdict"</th>
                </tr></thead>
                <tbody>{move || found.get().checks.iter().enumerate().map(|(i, c)| row(i, c)).collect_view()}</tbody>
            </table>
        </div>
        {move || source(&found.get())}
    }
    .into_any()
}

async fn run(found: RwSignal<Found>) {
    let url = address::resolve("golden.json", &page_folder())
        .map(|u| u.href())
        .unwrap_or_default();
    let golden = match fetch::text(&url).await {
        Ok(text) => serde_json::from_str::<Golden>(&text)
            .map_err(|_| "The reference values could not be read.".to_owned()),
        Err(message) => Err(message),
    };
    match golden {
        Ok(golden) => {
            found.update(|f| f.header = golden.header.into_iter().collect());
            for cell in &golden.cells {
                clock::give_way().await;
                let outcome = checked(cell).await;
                // The dialog may have been closed meanwhile.
                let open = found.try_update(|f| match outcome {
                    Ok(checks) => f.checks.extend(checks),
                    Err(message) => f.problems.push(message),
                });
                if open.is_none() {
                    return;
                }
            }
        }
        Err(message) => {
            found.try_update(|f| f.problems.push(message));
        }
    }
    found.try_update(|f| f.finished = true);
}

async fn checked(cell: &GoldenCell) -> Result<Vec<Check>, String> {
    let spec = registry::find(&cell.cell)
        .ok_or_else(|| format!("{}: the page has no such cell", cell.id))?
        .spec;
    let computed = client::computed(spec, cell.inputs(spec)?).await;
    golden::check(
        cell,
        &computed.map_err(|error| format!("{}: {error}", cell.id))?,
    )
}

fn summary(found: &Found) -> AnyView {
    let problems = found
        .problems
        .iter()
        .map(|p| view! { <p class="cell-error">{p.clone()}</p> })
        .collect_view();
    let failed = found.checks.iter().any(|c| !c.passed()) || !found.problems.is_empty();
    let text = match (found.finished, failed) {
        (false, _) => view! { <p role="status" data-verify="running">"Computing\u{2026}"</p> }.into_any(),
        (true, false) => view! { <p role="status" data-verify="passed" class="verdict good">"Every tensor agrees with PyTorch."</p> }.into_any(),
        (true, true) => view! { <p role="status" data-verify="failed" class="verdict bad">"Not every tensor agrees."</p> }.into_any(),
    };
    view! { {problems} {text} }.into_any()
}

fn row(index: usize, check: &Check) -> AnyView {
    let number = |what: &str, value: f64, format: Format| {
        let from = format!("verify:{index}.{what}");
        view! { <Num value=Signal::stored(Some(value)) from=from format=format /> }
    };
    let passed = check.passed();
    view! {
        <tr>
            <th scope="row"><a href=format!("#{}", check.id)>{check.id.clone()}</a></th>
            <td><code>{check.tensor.clone()}</code></td>
            <td>{number("values", check.values as f64, Format::Count)}</td>
            <td>{number("largest_error", check.largest_error, Format::Power(1))}</td>
            <td>{number("tolerance", check.tolerance, Format::Power(0))}</td>
            <td class=if passed { "verdict good" } else { "verdict bad" }>{if passed { "agrees" } else { "differs" }}</td>
        </tr>
    }
    .into_any()
}

fn source(found: &Found) -> AnyView {
    let entries = found
        .header
        .iter()
        .map(|(key, value)| view! { <dt>{key.clone()}</dt><dd>{value.clone()}</dd> });
    view! { <h3>"Where the reference comes from"</h3><dl class="readout pairs">{entries.collect_view()}</dl> }.into_any()
}
