//! Controls of a training run: start and pause, one step, back to the beginning. The number of
//! steps is an input like any other; the player only asks for more of them whenever those asked for
//! are there. A run that nobody has touched starts when the reader sees it, plays while it is seen,
//! and stops after as many steps as show something.

use cells::format::Format;
use cells::{InputKind, InputValue};
use leptos::prelude::*;

use crate::browser::abilities;
use crate::cells::frame::context::{CellCx, STEPS};
use crate::widgets::Num;

/// How many steps are asked for at once; the cell is drawn once for all of them.
struct Pace {
    /// Time that they should take.
    ms: f64,
    /// Most of them, however quick they are.
    most: f64,
}

/// Of a run that the reader has started: a pause is felt at once.
const ASKED: Pace = Pace {
    ms: 120.0,
    most: 20.0,
};

/// Of a run that began by itself: it is drawn a few times a second, and leaves the rest of a slow
/// machine to whoever reads.
const UNASKED: Pace = Pace {
    ms: 300.0,
    most: 50.0,
};

impl Pace {
    /// Number of steps to ask for next, where `made` steps took `elapsed_ms`.
    fn next(&self, made: f64, elapsed_ms: f64) -> f64 {
        if made <= 0.0 || elapsed_ms <= 0.0 {
            return 1.0;
        }
        // Twice as many as before at most: the first step of a training takes longer than the
        // others.
        let fitting = self.ms * made / elapsed_ms;
        fitting.floor().clamp(1.0, (2.0 * made).min(self.most))
    }
}

/// What the curves of a training run say before there is anything to draw.
pub(crate) const UNTIL: &str = "Press Start: the curve grows as the model learns.";

/// Why a run plays.
#[derive(Clone, Copy)]
enum Play {
    /// The reader has started it.
    Asked,
    /// It began when the reader saw it, and ends after this many steps.
    Unasked { until: f64 },
}

/// Names of the buttons.
#[derive(Clone, Copy)]
pub(crate) struct Words {
    /// The group of buttons.
    pub(crate) label: &'static str,
    /// Continues to the end.
    pub(crate) start: &'static str,
    /// Stops; the work so far stays.
    pub(crate) pause: &'static str,
    /// Continues by one step.
    pub(crate) step: &'static str,
    /// Returns to the start.
    pub(crate) rewind: &'static str,
}

/// Their names for a training run.
const TRAINING: Words = Words {
    label: "Training",
    start: "Start",
    pause: "Pause",
    step: "One step",
    rewind: "Rewind",
};

/// The buttons of a training run, which makes its first `unasked` steps by itself.
pub(crate) fn player(cx: CellCx, unasked: f64) -> AnyView {
    player_saying(cx, TRAINING, unasked)
}

/// The same with a button that trains the next seed.
pub(crate) fn seeds_player(cx: CellCx, unasked: f64) -> AnyView {
    buttons(cx, TRAINING, unasked, true)
}

/// The buttons, with other names.
pub(crate) fn player_saying(cx: CellCx, words: Words, unasked: f64) -> AnyView {
    buttons(cx, words, unasked, false)
}

/// The button that trains the next seed from its first step to its last.
fn next_seed(cx: CellCx, playing: RwSignal<Option<Play>>) -> AnyView {
    let most = match cx.input_spec("seed").map(|spec| spec.kind) {
        Some(InputKind::Number { max, .. }) => max,
        _ => 0.0,
    };
    let seed = cx.number("seed");
    let train = move || {
        let now = seed.get_untracked();
        let next = if now < most { now + 1.0 } else { 0.0 };
        playing.set(None);
        // Another seed is another run: the steps begin again.
        cx.set("seed", InputValue::Number(next));
        playing.set(Some(Play::Asked));
    };
    view! {
        <button type="button" class="button" data-train="next" on:click=move |_| train()>
            "Train next seed"
        </button>
    }
    .into_any()
}

fn buttons(cx: CellCx, words: Words, unasked: f64, has_seeds: bool) -> AnyView {
    let most = match cx.input_spec(STEPS).map(|spec| spec.kind) {
        Some(InputKind::Number { max, .. }) => max,
        _ => 0.0,
    };
    let steps = cx.number(STEPS);
    let ended = Memo::new(move |_| steps.get() >= most);
    let go = move |to: f64| cx.set(STEPS, InputValue::Number(to.clamp(0.0, most)));
    let playing = RwSignal::new(None);
    keep_going(cx, playing, most);
    begin_unasked(cx, playing, unasked.min(most));
    let toggle = move || match playing.get_untracked() {
        Some(_) => {
            playing.set(None);
            // Where the reader stops is the reader's choice, so it is in links.
            go(steps.get_untracked());
        }
        None => playing.set((!ended.get_untracked()).then_some(Play::Asked)),
    };
    view! {
        <div class="row" role="group" aria-label=words.label>
            <button
                type="button"
                class="button"
                data-train="start"
                aria-disabled=move || ended.get().then_some("true")
                on:click=move |_| toggle()
            >
                {move || if playing.get().is_some() { words.pause } else { words.start }}
            </button>
            <button
                type="button"
                class="button"
                data-train="step"
                aria-disabled=move || (ended.get() || playing.get().is_some()).then_some("true")
                on:click=move |_| {
                    if playing.get_untracked().is_none() {
                        go(steps.get_untracked() + 1.0);
                    }
                }
            >
                {words.step}
            </button>
            <button
                type="button"
                class="button"
                data-train="rewind"
                aria-disabled=move || (steps.get() == 0.0).then_some("true")
                on:click=move |_| {
                    playing.set(None);
                    go(0.0);
                }
            >
                {words.rewind}
            </button>
            {has_seeds.then(|| next_seed(cx, playing))}
        </div>
    }
    .into_any()
}

/// The note under a training run: its first state.
pub(crate) fn beginning(cx: CellCx) -> AnyView {
    let seed = cx.number("seed");
    let value = Signal::derive(move || Some(seed.get()));
    view! {
        <p class="cell-note">
            "starts from random parameters, seed " <Num value from="input:seed" format=Format::Count />
        </p>
    }
    .into_any()
}

/// Starts a run that nobody has touched when the reader first sees it.
fn begin_unasked(cx: CellCx, playing: RwSignal<Option<Play>>, until: f64) {
    if !abilities::may_play() {
        return;
    }
    Effect::new(move |begun: Option<bool>| {
        let seen = begun != Some(true) && cx.in_window.get();
        if seen && playing.get_untracked().is_none() && !untrack(|| cx.is_computed_otherwise()) {
            playing.set(Some(Play::Unasked { until }));
        }
        seen || begun == Some(true)
    });
}

/// While it plays: asks for more steps when those asked for are there.
fn keep_going(cx: CellCx, playing: RwSignal<Option<Play>>, most: f64) {
    // How many were asked for last; nothing is known of the pace at the start.
    let asked = StoredValue::new(0.0);
    let steps = cx.number(STEPS);
    Effect::new(move |_| {
        let Some(play) = playing.get() else {
            cx.plays_unasked.set(false);
            asked.set_value(0.0);
            return;
        };
        // What the reader has edited is the reader's run.
        let unasked = match play {
            Play::Unasked { until } if !untrack(|| cx.is_computed_otherwise()) => Some(until),
            _ => None,
        };
        cx.plays_unasked.set(unasked.is_some());
        if unasked.is_some() && !cx.in_window.get() {
            return;
        }
        let wanted = steps.get_untracked();
        let there = cx.outcome.with(|outcome| {
            let found = outcome.computation.as_ref()?.at(STEPS, &[])?;
            // A run need not wait for the models that are still to come.
            let is_there = outcome.busy.is_none() || outcome.is_part;
            (is_there && found == wanted).then_some(outcome.elapsed_ms)
        });
        let failed = cx.outcome.with(|outcome| outcome.error.is_some());
        let last = unasked.unwrap_or(most);
        if failed || wanted >= last {
            playing.set(None);
        } else if let Some(elapsed_ms) = there {
            let pace = if unasked.is_some() { UNASKED } else { ASKED };
            let more = pace.next(asked.get_value(), elapsed_ms);
            asked.set_value(more);
            let next = InputValue::Number((wanted + more).min(last));
            match unasked {
                Some(_) => cx.set_unasked(STEPS, next),
                None => cx.set(STEPS, next),
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{ASKED, UNASKED};

    #[test]
    fn as_many_steps_as_fit_are_asked_for() {
        assert_eq!(ASKED.next(0.0, 0.0), 1.0, "nothing is known yet");
        assert_eq!(ASKED.next(1.0, 500.0), 1.0, "a slow machine makes one");
        assert_eq!(ASKED.next(1.0, 10.0), 2.0, "twice as many at most");
        assert_eq!(ASKED.next(4.0, 96.0), 5.0);
        assert_eq!(ASKED.next(20.0, 1.0), 20.0);
        assert_eq!(UNASKED.next(4.0, 96.0), 8.0);
        assert_eq!(UNASKED.next(20.0, 100.0), 40.0, "drawn less often");
    }
}
