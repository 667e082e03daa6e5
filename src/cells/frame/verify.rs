//! "Verify this page": recomputes the page's cells here and compares them with PyTorch's tensors.

use cells::format::Format;
use cells::golden::{self, Check, Golden, GoldenCell};
use leptos::prelude::*;

use crate::browser::{address, clock, dom, fetch};
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
        <p>"Each cell is computed again, here, on the inputs of the lesson, and compared with values that PyTorch computed beforehand."</p>
        {move || summary(&found.get())}
        <details class="verify-results">
            <summary>"Results of each cell"</summary>
            <div class="scroll" tabindex="0" role="region" aria-label="Results of each cell">
                <table class="values">
                    <thead><tr>
                        <th scope="col">"Cell"</th><th scope="col">"Checks"</th><th scope="col">"Values"</th>
                        <th scope="col">"Largest error"</th><th scope="col">"Allowed"</th><th scope="col">"Verdict"</th>
                    </tr></thead>
                    <tbody>{move || by_cell(&found.get().checks).iter().enumerate().map(|(i, cell)| row(i, cell)).collect_view()}</tbody>
                </table>
            </div>
            {move || source(&found.get())}
        </details>
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

/// The checks of one cell together.
#[derive(Debug, Clone, PartialEq)]
struct CellChecks {
    id: String,
    checks: usize,
    values: usize,
    largest_error: f64,
    /// Error that is allowed where the largest one is.
    tolerance: f64,
    /// Tensors that differ.
    failed: Vec<String>,
}

/// The checks, put together cell by cell in the order of the page.
fn by_cell(checks: &[Check]) -> Vec<CellChecks> {
    let mut cells: Vec<CellChecks> = Vec::new();
    for check in checks {
        let at = cells
            .iter()
            .position(|cell| cell.id == check.id)
            .unwrap_or_else(|| {
                cells.push(CellChecks {
                    id: check.id.clone(),
                    checks: 0,
                    values: 0,
                    largest_error: f64::NEG_INFINITY,
                    tolerance: 0.0,
                    failed: Vec::new(),
                });
                cells.len() - 1
            });
        let cell = &mut cells[at];
        cell.checks += 1;
        cell.values += check.values;
        if check.largest_error > cell.largest_error {
            cell.largest_error = check.largest_error;
            cell.tolerance = check.tolerance;
        }
        if !check.passed() {
            cell.failed.push(check.tensor.clone());
        }
    }
    cells
}

fn summary(found: &Found) -> AnyView {
    let problems = found
        .problems
        .iter()
        .map(|p| view! { <p class="cell-error">{p.clone()}</p> })
        .collect_view();
    let differing = found.checks.iter().filter(|c| !c.passed()).count();
    let failed = differing > 0 || !found.problems.is_empty();
    let number = |what: &str, value: usize| {
        let from = format!("verify:{what}");
        view! { <Num value=Signal::stored(Some(value as f64)) from=from format=Format::Count /> }
    };
    let all = number("checks", found.checks.len());
    let text = match (found.finished, failed) {
        (false, _) => view! { <p role="status" data-verify="running">"Computing\u{2026}"</p> }.into_any(),
        (true, false) => view! {
            <p role="status" data-verify="passed" class="verdict good">"All " {all} " tensors agree with PyTorch."</p>
        }
        .into_any(),
        (true, true) => view! {
            <p role="status" data-verify="failed" class="verdict bad">
                {number("differing", differing)} " of " {all} " tensors differ from PyTorch."
            </p>
        }
        .into_any(),
    };
    view! { {problems} {text} }.into_any()
}

/// Title of a cell of the page.
fn title(id: &str) -> String {
    let title = dom::by_id(id).and_then(|cell| dom::find(&cell, ".cell-title")?.text_content());
    title.unwrap_or_else(|| id.to_owned())
}

fn row(index: usize, cell: &CellChecks) -> AnyView {
    let number = |what: &str, value: f64, format: Format| {
        let from = format!("verify:{index}.{what}");
        view! { <Num value=Signal::stored(Some(value)) from=from format=format /> }
    };
    let passed = cell.failed.is_empty();
    let verdict = if passed {
        "agrees".to_owned()
    } else {
        format!("differs: {}", cell.failed.join(", "))
    };
    view! {
        <tr>
            <th scope="row"><a href=format!("#{}", cell.id)>{title(&cell.id)}</a></th>
            <td>{number("checks", cell.checks as f64, Format::Count)}</td>
            <td>{number("values", cell.values as f64, Format::Count)}</td>
            <td>{number("largest_error", cell.largest_error, Format::Power(1))}</td>
            <td>{number("tolerance", cell.tolerance, Format::Power(0))}</td>
            <td class="verdict" class:good=passed class:bad=!passed data-label="">{verdict}</td>
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_put_together_cell_by_cell() {
        let check = |id: &str, tensor: &str, largest_error: f64| Check {
            id: id.to_owned(),
            tensor: tensor.to_owned(),
            values: 4,
            largest_error,
            tolerance: 1e-5,
        };
        let cells = by_cell(&[
            check("mask", "scores", 1e-7),
            check("leak", "logits", 0.0),
            check("mask", "weights", 2e-3),
        ]);
        assert_eq!(cells.len(), 2);
        assert_eq!((cells[0].checks, cells[0].values), (2, 8));
        assert_eq!(cells[0].largest_error, 2e-3);
        assert_eq!(cells[0].failed, ["weights"]);
        assert!(cells[1].failed.is_empty());
    }
}
