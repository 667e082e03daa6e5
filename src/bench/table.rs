//! The table of what was measured: one row a measurement, medians of its runs.

use engine::kernel::{BlockType, InnerStep};
use leptos::prelude::*;
use worker::build::Build;
use worker::model::protocol::InnerStepNumbers;

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

/// The inner steps of the products with quantized weights in the engine that runs, one row a type;
/// nothing before an engine has started.
pub(super) fn steps_table(found: RwSignal<Option<(Build, InnerStepNumbers)>>) -> AnyView {
    let whole = move |(build, steps): (Build, InnerStepNumbers)| {
        let rows = BlockType::ALL.into_iter().zip(steps).map(|(kind, steps)| {
            let cells = steps.map(|step| view! { <td>{step_words(step)}</td> });
            view! { <tr><th scope="row">{kind.name()}</th>{cells.collect_view()}</tr> }
        });
        view! {
            <div class="table-scroll" tabindex="0" role="region" aria-label="Inner steps">
                <table class="values bench-steps">
                    <caption>
                        {format!("How the engine {} multiplies quantized weights on this processor", build.name())}
                    </caption>
                    <thead>
                        <tr><th scope="col">"Type"</th><th scope="col">"One token"</th><th scope="col">"Many tokens"</th></tr>
                    </thead>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        }
    };
    view! { {move || found.get().map(whole)} }.into_any()
}

/// The words of a step by its number; none for a number that no step has.
fn step_words(number: u8) -> &'static str {
    let step = InnerStep::ALL.get(usize::from(number));
    step.map_or("", |step| step.words())
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
    use engine::kernel::InnerStep;

    use super::{figure, step_words};

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

    #[test]
    fn steps_are_found_by_their_numbers() {
        for step in InnerStep::ALL {
            assert_eq!(step_words(step.number()), step.words());
            assert!(!step.words().is_empty());
        }
        assert_eq!(step_words(InnerStep::ALL.len() as u8), "");
    }
}
