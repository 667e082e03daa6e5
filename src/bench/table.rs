//! The table of what was measured: one row a measurement, medians of its runs.

use leptos::prelude::*;

use super::measure::Measured;

const COLUMNS: [&str; 13] = [
    "Model",
    "Type",
    "Engine",
    "Threads",
    "Load, s",
    "Prompt, tokens/s",
    "New, tokens/s",
    "Picture, ms",
    "Sentences/s",
    "Weights, MB",
    "Memory, MB",
    "Activations, bits",
    "Runs",
];

/// The rows so far; nothing before the first.
pub(super) fn table(rows: RwSignal<Vec<Measured>>) -> AnyView {
    let body = move || rows.get().iter().map(row).collect_view();
    let whole = move || {
        let heads = COLUMNS
            .map(|head| view! { <th scope="col">{head}</th> })
            .collect_view();
        view! {
            <div class="table-scroll" tabindex="0" role="region" aria-label="Measurements">
                <table class="values bench-table">
                    <caption>"Medians of the runs on this device"</caption>
                    <thead><tr>{heads}</tr></thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
        }
    };
    view! { {move || (!rows.with(Vec::is_empty)).then(whole)} }.into_any()
}

fn row(measured: &Measured) -> AnyView {
    let report = &measured.report;
    let megabytes = |bytes: u64| Some(bytes as f64 / 1e6);
    let cells = [
        report.packing.to_owned(),
        report.build.to_owned(),
        report.threads.to_string(),
        figure(Some(report.load_ms / 1000.0)),
        figure(report.prefill_tokens_per_s),
        figure(report.decode_tokens_per_s),
        figure(report.picture_ms),
        figure(measured.sentences_per_s),
        figure(megabytes(report.weight_bytes)),
        figure(megabytes(report.peak_bytes)),
        report.activation_bits.to_string(),
        report.runs.to_string(),
    ];
    let cells = cells.map(|cell| view! { <td>{cell}</td> });
    view! { <tr><th scope="row">{report.model.clone()}</th>{cells.collect_view()}</tr> }.into_any()
}

/// Three digits or all before the point; a dash where a figure does not apply.
fn figure(value: Option<f64>) -> String {
    match value {
        None => "\u{2013}".to_owned(),
        Some(value) if value.abs() < 10.0 => format!("{value:.2}"),
        Some(value) if value.abs() < 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_have_three_digits() {
        for (value, text) in [
            (0.123, "0.12"),
            (9.87, "9.87"),
            (22.71, "22.7"),
            (1093.4, "1093"),
        ] {
            assert_eq!(figure(Some(value)), text);
        }
        assert_eq!(figure(None), "\u{2013}");
    }
}
