//! The runs that the reader has let train to their end, as points over the spread of our logged runs of the
//! same setting. They are kept as long as the page is open.

use std::sync::Arc;

use cells::Computation;
use cells::format::{Format, number};
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::figures::command_named;
use crate::widgets::{Concept, Num, on_reset};

/// Where the ends of a track may be: at whole twentieths.
const TWENTIETHS: f64 = 20.0;

/// How the shares are printed.
const SHARE: Format = Format::Percent(1);

/// A network whose runs are kept: its name, the tensor of its result, and its colour.
#[derive(Clone, Copy)]
pub(crate) struct Trained {
    pub(crate) name: &'static str,
    pub(crate) result: &'static str,
    pub(crate) concept: Concept,
}

/// A run that was trained to its end.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    setting: Vec<String>,
    seed: f64,
    /// A result for each network.
    results: Vec<f64>,
}

/// The run that a result shows, where it has made all its steps.
fn finished(computation: &Computation, networks: &[Trained]) -> Option<Run> {
    let number = |name: &str| computation.at(name, &[]);
    if number("steps")? < number("most")? {
        return None;
    }
    let results = networks.iter().map(|network| number(network.result));
    Some(Run {
        setting: computation.words("setting").to_vec(),
        seed: number("seed.now")?,
        results: results.collect::<Option<_>>()?,
    })
}

/// The ends of a track that shows all these shares.
fn ends(shares: impl Iterator<Item = f64>) -> (f64, f64) {
    let fold = |(low, high): (f64, f64), share: f64| (low.min(share), high.max(share));
    let (low, high) = shares.fold((1.0, 0.0), fold);
    if low > high {
        return (0.0, 1.0);
    }
    // Products of shares with four digits are whole but for rounding.
    let low = (low * TWENTIETHS + 1e-9).floor();
    let high = (high * TWENTIETHS - 1e-9).ceil();
    let low = if low < high { low } else { high - 1.0 };
    (low / TWENTIETHS, high / TWENTIETHS)
}

/// The kept runs of a cell.
#[derive(Clone, Copy)]
pub(crate) struct KeptRuns {
    cx: CellCx,
    networks: &'static [Trained],
    runs: RwSignal<Vec<Run>>,
}

impl KeptRuns {
    /// Keeps each run of the cell that ends, until the cell is reset. The computation gives what
    /// `drawn_runs::note` of the crate `cells` notes.
    pub(crate) fn new(cx: CellCx, networks: &'static [Trained]) -> Self {
        let runs = RwSignal::new(Vec::new());
        let computed = cx.computed();
        Effect::new(move |_| {
            let found = computed.with(|c| finished(c.as_ref()?, networks));
            if let Some(run) = found
                && !runs.with_untracked(|runs: &Vec<Run>| runs.contains(&run))
            {
                runs.update(|runs| runs.push(run));
            }
        });
        on_reset(move || runs.set(Vec::new()));
        Self { cx, networks, runs }
    }

    /// The runs of the present setting, in the order in which they ended.
    fn present(self) -> Signal<Vec<Run>> {
        let setting = self.cx.words("setting");
        let runs = self.runs;
        Memo::new(move |_| {
            let is_present = |run: &&Run| setting.with(|setting| run.setting == *setting);
            runs.with(|runs| runs.iter().filter(is_present).cloned().collect())
        })
        .into()
    }

    /// A track for each network, with the spread of the logged runs and the reader's runs as points.
    pub(crate) fn tracks(self, label: &'static str) -> AnyView {
        let (cx, networks, runs) = (self.cx, self.networks, self.present());
        let computed = cx.computed();
        let range = Memo::new(move |_| {
            let logged = computed.with(|c| c.as_deref().map(logged_ends).unwrap_or_default());
            let own = runs.with(|runs| runs.iter().flat_map(|run| run.results.clone()).collect());
            ends([logged, own].concat().into_iter())
        });
        let track =
            |(n, network): (usize, &Trained)| track(cx, (n, *network), own(runs, n), range.into());
        let tracks = networks.iter().enumerate().map(track).collect_view();
        view! {
            <div class="stack tight" role="group" aria-label=label>
                <ul class="kept">
                    {tracks}
                    <li class="kept-ends" aria-hidden="true">
                        <span data-label="">{move || number(range.get().0, Format::Percent(0))}</span>
                        <span data-label="">{move || number(range.get().1, Format::Percent(0))}</span>
                    </li>
                </ul>
                {self.legend(runs)}
            </div>
        }
        .into_any()
    }

    /// What bars, points and lines are.
    fn legend(self, runs: Signal<Vec<Run>>) -> AnyView {
        let cx = self.cx;
        let computed = cx.computed();
        let is_logged = Memo::new(move |_| {
            computed.with(|c| c.as_ref().is_some_and(|c| c.tensor("logged.low").is_some()))
        });
        let logged = move || {
            match is_logged.get() {
            true => view! {
                <span>
                    "Bar: lowest to highest of "
                    {cx.num("logged.seeds", &[], Format::Count)} " logged runs of this setting (seeds from "
                    {cx.num("logged.first", &[], Format::Count)} " on)."
                </span>
            }
            .into_any(),
            false => view! { <span>"No run of this setting was logged."</span> }.into_any(),
        }
        };
        let yours = move || match runs.with(Vec::is_empty) {
            true => view! { <span>"No run of yours has ended yet."</span> }.into_any(),
            false => view! { <span>"Points: your runs. Line: their lowest to highest."</span> }
                .into_any(),
        };
        view! { <p class="hint">{logged} " " {yours}</p> }.into_any()
    }

    /// All runs of the present setting, and the command of the logged ones.
    pub(crate) fn table(self) -> AnyView {
        let (networks, runs) = (self.networks, self.present());
        let row = move |run: &Run| {
            let cell = |(result, network): (&f64, &Trained)| {
                let (seed, result) = (run.seed, *result);
                view! { <td>{kept(seed, network.result, result)}</td> }
            };
            view! {
                <tr>
                    <td>{kept(run.seed, "seed", run.seed)}</td>
                    {run.results.iter().zip(networks).map(cell).collect_view()}
                </tr>
            }
        };
        let rows = move || runs.with(|runs| runs.iter().map(row).collect_view());
        let heads = networks
            .iter()
            .map(|network| view! { <th scope="col">{network.name}</th> });
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Your runs that have ended">
                <table>
                    <caption>
                        "Your runs of this setting that have ended. They are kept until you leave the page or reset the cell."
                    </caption>
                    <thead>
                        <tr>
                            <th scope="col">"seed"</th>
                            {heads.collect_view()}
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
            {command_named(self.cx, "logged.command")}
        }
        .into_any()
    }
}

/// The lowest and highest shares of all logged runs of a result.
fn logged_ends(computation: &Computation) -> Vec<f64> {
    let both = ["logged.low", "logged.high"];
    let tensors = both.iter().filter_map(|name| computation.tensor(name));
    tensors.flat_map(|tensor| tensor.values.clone()).collect()
}

/// The results of a network with their seeds.
fn own(runs: Signal<Vec<Run>>, n: usize) -> Signal<Arc<Vec<(f64, f64)>>> {
    Memo::new(move |_| {
        let of = |run: &Run| Some((run.seed, *run.results.get(n)?));
        Arc::new(runs.with(|runs| runs.iter().filter_map(of).collect()))
    })
    .into()
}

/// A number of a kept run; `data-from` tells its seed, because the cell may show another run by now.
fn kept(seed: f64, name: &str, value: f64) -> AnyView {
    let from = format!("kept:{seed}:{name}");
    let format = if name == "seed" { Format::Count } else { SHARE };
    view! { <Num value=Signal::stored(Some(value)) from format /> }.into_any()
}

/// The track of a network, with its numbers.
fn track(
    cx: CellCx,
    (n, network): (usize, Trained),
    own: Signal<Arc<Vec<(f64, f64)>>>,
    range: Signal<(f64, f64)>,
) -> AnyView {
    let [low, high] = ["logged.low", "logged.high"].map(|name| cx.value(name, vec![n]));
    let at = move |share: f64| {
        let (start, end) = range.get();
        ((share - start) / (end - start)).clamp(0.0, 1.0)
    };
    let span = move |low: f64, high: f64| {
        let (low, high) = (at(low), at(high));
        format!("--at: {low:.4}; --wide: {:.4}", high - low)
    };
    let logged = move || {
        let (low, high) = (low.get()?, high.get()?);
        Some(view! { <span class="kept-logged" style=span(low, high)></span> })
    };
    let yours = move || {
        let (low, high) = extremes(&own.get())?;
        Some(view! { <span class="kept-own" style=span(low.1, high.1)></span> })
    };
    let point = move |&(_, share): &(f64, f64)| {
        view! { <span class="kept-run" style=format!("--at: {:.4}", at(share))></span> }
    };
    let points = move || own.get().iter().map(point).collect_view();
    let numbers = move || match extremes(&own.get()) {
        None => "none yet".into_any(),
        Some((low, high)) => {
            let lowest = kept(low.0, network.result, low.1);
            let highest = kept(high.0, network.result, high.1);
            match low == high {
                true => lowest,
                false => view! { {lowest} " to " {highest} }.into_any(),
            }
        }
    };
    let shares = move || match (low.get(), high.get()) {
        (Some(_), Some(_)) => view! {
            {cx.num("logged.low", &[n], SHARE)} " to " {cx.num("logged.high", &[n], SHARE)}
        }
        .into_any(),
        _ => "none".into_any(),
    };
    view! {
        <li class=network.concept.class()>
            <span data-label="">{network.name}</span>
            <span class="kept-line" aria-hidden="true">{logged} {yours} {points}</span>
            <span class="kept-numbers">
                "logged: " {shares} "; yours: " <span data-kept=network.result>{numbers}</span>
            </span>
        </li>
    }
    .into_any()
}

/// The run with the lowest and the run with the highest share.
fn extremes(own: &[(f64, f64)]) -> Option<((f64, f64), (f64, f64))> {
    let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
    Some((*own.iter().min_by(by)?, *own.iter().max_by(by)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_track_ends_at_twentieths_and_has_a_length() {
        let of = |shares: &[f64]| ends(shares.iter().copied());
        assert_eq!(of(&[]), (0.0, 1.0));
        assert_eq!(of(&[0.87, 0.93]), (0.85, 0.95));
        assert_eq!(of(&[0.85, 0.95]), (0.85, 0.95));
        assert_eq!(of(&[1.0]), (0.95, 1.0));
        assert_eq!(of(&[0.9]), (0.85, 0.9));
    }

    #[test]
    fn extremes_are_runs_with_their_seeds() {
        assert_eq!(extremes(&[]), None);
        let runs = [(1.0, 0.9), (2.0, 0.8), (3.0, 0.95)];
        assert_eq!(extremes(&runs), Some(((2.0, 0.8), (3.0, 0.95))));
    }

    /// Only a run that has made all its steps is kept, with the seed and setting that its result tells.
    #[test]
    fn only_a_whole_run_is_kept() {
        let networks = [Trained {
            name: "CNN",
            result: "cnn.right.now",
            concept: Concept::Score,
        }];
        let at = |steps: f64| {
            let mut c = Computation::default();
            let numbers = [("steps", steps), ("most", 300.0), ("seed.now", 4.0)];
            for (name, value) in numbers.into_iter().chain([("cnn.right.now", 0.75)]) {
                let values = ndarray::arr0(value).into_dyn();
                c.tensors
                    .insert(name.to_owned(), cells::computation::Tensor { values });
            }
            c.texts.insert("setting".to_owned(), vec!["100".to_owned()]);
            c
        };
        assert_eq!(finished(&at(299.0), &networks), None);
        let run = finished(&at(300.0), &networks).unwrap();
        assert_eq!((run.seed, run.results), (4.0, vec![0.75]));
        assert_eq!(run.setting, ["100"]);
    }
}
