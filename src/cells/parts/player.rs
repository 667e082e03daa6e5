//! Controls of a training run: start and pause, one step, back to the beginning. The number of
//! steps is an input like any other; the player only asks for more of them whenever those asked for
//! are there.

use cells::format::Format;
use cells::{InputKind, InputValue};
use leptos::prelude::*;

use crate::cells::frame::context::{CellCx, STEPS};
use crate::widgets::Num;

/// Time that the steps asked for at once should take: short enough that a pause is felt at once.
const AT_ONCE_MS: f64 = 120.0;

/// Most steps that are asked for at once, however quick they are.
const MOST_AT_ONCE: f64 = 20.0;

/// Number of steps to ask for next, where `made` steps took `elapsed_ms`.
fn pace(made: f64, elapsed_ms: f64) -> f64 {
    if made <= 0.0 || elapsed_ms <= 0.0 {
        return 1.0;
    }
    // Twice as many as before at most: the first step of a training takes longer than the others.
    let fitting = AT_ONCE_MS * made / elapsed_ms;
    fitting.floor().clamp(1.0, (2.0 * made).min(MOST_AT_ONCE))
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

/// The buttons of a training run.
pub(crate) fn player(cx: CellCx) -> AnyView {
    let words = Words {
        label: "Training",
        start: "Start",
        pause: "Pause",
        step: "One step",
        rewind: "Rewind",
    };
    player_saying(cx, words)
}

/// The buttons, with other names.
pub(crate) fn player_saying(cx: CellCx, words: Words) -> AnyView {
    let most = match cx.input_spec(STEPS).map(|spec| spec.kind) {
        Some(InputKind::Number { max, .. }) => max,
        _ => 0.0,
    };
    let steps = cx.number(STEPS);
    let ended = Memo::new(move |_| steps.get() >= most);
    let go = move |to: f64| cx.set(STEPS, InputValue::Number(to.clamp(0.0, most)));
    let playing = RwSignal::new(false);
    keep_going(cx, playing, most);
    view! {
        <div class="row" role="group" aria-label=words.label>
            <button
                type="button"
                class="button"
                data-train="start"
                aria-disabled=move || ended.get().then_some("true")
                on:click=move |_| playing.update(|on| *on = !*on && !ended.get_untracked())
            >
                {move || if playing.get() { words.pause } else { words.start }}
            </button>
            <button
                type="button"
                class="button"
                data-train="step"
                aria-disabled=move || (ended.get() || playing.get()).then_some("true")
                on:click=move |_| {
                    if !playing.get_untracked() {
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
                    playing.set(false);
                    go(0.0);
                }
            >
                {words.rewind}
            </button>
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
            "begins with random weights, seed " <Num value from="input:seed" format=Format::Count />
            "; nothing here was trained before"
        </p>
    }
    .into_any()
}

/// While it plays: asks for more steps when those asked for are there.
fn keep_going(cx: CellCx, playing: RwSignal<bool>, most: f64) {
    // How many were asked for last; nothing is known of the pace at the start.
    let asked = StoredValue::new(0.0);
    let steps = cx.number(STEPS);
    Effect::new(move |_| {
        if !playing.get() {
            asked.set_value(0.0);
            return;
        }
        let wanted = steps.get_untracked();
        let there = cx.outcome.with(|outcome| {
            let found = outcome.computation.as_ref()?.at(STEPS, &[])?;
            (outcome.busy.is_none() && found == wanted).then_some(outcome.elapsed_ms)
        });
        let failed = cx.outcome.with(|outcome| outcome.error.is_some());
        if failed || wanted >= most {
            playing.set(false);
        } else if let Some(elapsed_ms) = there {
            let more = pace(asked.get_value(), elapsed_ms);
            asked.set_value(more);
            cx.set(STEPS, InputValue::Number((wanted + more).min(most)));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::pace;

    #[test]
    fn as_many_steps_as_fit_are_asked_for() {
        assert_eq!(pace(0.0, 0.0), 1.0, "nothing is known yet");
        assert_eq!(pace(1.0, 500.0), 1.0, "a slow machine makes one");
        assert_eq!(pace(1.0, 10.0), 2.0, "twice as many at most");
        assert_eq!(pace(4.0, 96.0), 5.0);
        assert_eq!(pace(20.0, 1.0), 20.0);
    }
}
