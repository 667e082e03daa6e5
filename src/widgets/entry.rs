//! A box for one exact number. What is typed stays, also when it is no number; then the box says
//! what is wrong and which value is still in use.

use cells::decimal;
use cells::format::{Format, number};
use leptos::prelude::*;

use super::events::typed;
use super::markup::in_markup;
use super::{Num, ids};

/// Largest magnitude that any box takes.
const LARGEST: f64 = cells::input::LARGEST_ENTRY as f64;

/// Limits of a number box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Smallest value taken.
    pub min: f64,
    /// Largest value taken.
    pub max: f64,
    /// Only whole numbers.
    pub whole: bool,
}

impl Limits {
    /// Any number of a matrix: up to a million either way.
    pub const ENTRY: Self = Self {
        min: -LARGEST,
        max: LARGEST,
        whole: false,
    };
}

/// Reason that typed text was refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wrong {
    /// Nothing was typed.
    Empty,
    /// It does not read as a number.
    NotANumber,
    /// It lies outside the limits.
    Outside(Limits),
    /// It has a fraction where only whole numbers fit.
    NotWhole,
}

impl Wrong {
    /// The problem, as words that follow the quoted text.
    pub fn words(self) -> String {
        match self {
            Self::Empty => "type a number".to_owned(),
            Self::NotANumber => "is not a number".to_owned(),
            Self::NotWhole => "is not a whole number".to_owned(),
            Self::Outside(Limits { min, max, .. }) => {
                format!("is outside {} to {}", plain(min), plain(max))
            }
        }
    }
}

/// A limit as text: grouped where it is whole.
fn plain(x: f64) -> String {
    number(
        x,
        if x.fract() == 0.0 {
            Format::Count
        } else {
            Format::Typed
        },
    )
}

/// Reads a number as people type it: a comma or a point for decimals, the minus sign of a keyboard
/// or of print, a power of ten.
///
/// # Errors
/// [`Wrong`], also for "NaN" and "inf".
pub fn parse_number(text: &str, limits: Limits) -> Result<f64, Wrong> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Wrong::Empty);
    }
    let mut plain = text.replace('\u{2212}', "-");
    if !plain.contains('.') && plain.matches(',').count() == 1 {
        plain = plain.replace(',', ".");
    }
    let value = decimal::parse(&plain).ok_or(Wrong::NotANumber)?;
    if value < limits.min || value > limits.max {
        return Err(Wrong::Outside(limits));
    }
    if limits.whole && value.fract() != 0.0 {
        return Err(Wrong::NotWhole);
    }
    Ok(value)
}

/// Typed text that was not taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The text.
    pub typed: String,
    /// Its problem, if any.
    pub wrong: Wrong,
}

/// Counts resets: where a cell provides this in its context, number boxes drop what was typed and
/// not taken whenever it changes.
#[derive(Debug, Clone, Copy)]
pub struct ClearDrafts(pub Signal<u64>);

/// Calls `clear` each time that the cell around is reset.
pub(crate) fn on_reset(clear: impl Fn() + 'static) {
    if let Some(ClearDrafts(count)) = use_context::<ClearDrafts>() {
        Effect::new(move |before: Option<u64>| {
            let now = count.get();
            if before.is_some_and(|b| b != now) {
                clear();
            }
            now
        });
    }
}

/// Same number to the precision that inputs keep.
pub(crate) fn same(a: f64, b: f64) -> bool {
    a == b || (a as f32) == (b as f32)
}

/// Says in place what is wrong with typed text and which value is still in use.
#[component]
pub fn ProblemNote(
    /// The text and what is wrong with it.
    #[prop(into)]
    problem: Signal<Option<Problem>>,
    /// The value still in use.
    #[prop(into)]
    value: Signal<Option<f64>>,
    /// Origin of that value (`input:NAME`).
    #[prop(into)]
    from: Signal<String>,
    /// Id that the box names in `aria-describedby`.
    id: String,
    /// Format of the value.
    #[prop(default = Format::Typed)]
    format: Format,
) -> impl IntoView {
    view! {
        <p class="entry-problem" id=id aria-live="polite">
            {move || {
                problem
                    .get()
                    .map(|p| {
                        view! {
                            <span data-label="">
                                {(!p.typed.trim().is_empty())
                                    .then(|| view! { <q>{p.typed.clone()}</q> " " })} {p.wrong.words()}
                            </span>
                            "; still using "
                            <Num value from format />
                        }
                    })
            }}
        </p>
    }
}

/// A value that changed from outside (undo, reset, the slider beside) takes the place of what was
/// typed.
fn forget_stale_draft(draft: RwSignal<Option<String>>, value: Signal<f64>, limits: Limits) {
    Effect::new(move |before: Option<f64>| {
        let now = value.get();
        let typed = draft.with_untracked(|d| d.as_ref().map(|t| parse_number(t, limits)));
        let stale = match typed {
            Some(Ok(x)) => !same(x, now),
            Some(Err(_)) => before.is_some_and(|b| !same(b, now)),
            None => false,
        };
        if stale {
            draft.set(None);
        }
        now
    });
    on_reset(move || draft.set(None));
}

/// A text box for one number.
#[component]
pub fn NumberEntry(
    /// The value in use.
    #[prop(into)]
    value: Signal<f64>,
    /// Gets each number that is typed and within the limits.
    on_commit: Callback<f64>,
    /// Limits of the values that are accepted.
    limits: Limits,
    /// Name of the box for assistive technology.
    #[prop(into)]
    name: String,
    /// Origin of the value (`input:NAME`).
    #[prop(into)]
    source: String,
) -> impl IntoView {
    let draft = RwSignal::new(None::<String>);
    let problem = Signal::derive(move || {
        let typed = draft.get()?;
        let wrong = parse_number(&typed, limits).err()?;
        Some(Problem { typed, wrong })
    });
    forget_stale_draft(draft, value, limits);
    let note = ids::fresh("entry");
    let described = note.clone();
    let text = move || {
        draft
            .get()
            .unwrap_or_else(|| (value.get() as f32).to_string())
    };
    view! {
        <span class="entry">
            <input
                type="text"
                class="number"
                inputmode="decimal"
                autocomplete="off"
                spellcheck="false"
                aria-label=name
                aria-describedby=described
                aria-invalid=move || problem.get().is_some().then_some("true")
                value=in_markup(text)
                prop:value=text
                on:input=move |event| {
                    let typed = typed(&event);
                    let number = parse_number(&typed, limits);
                    draft.set(Some(typed));
                    if let Ok(x) = number {
                        on_commit.run(x);
                    }
                }
                on:blur=move |_| {
                    if problem.get_untracked().is_none() {
                        draft.set(None);
                    }
                }
            />
            <ProblemNote
                problem
                value=Signal::derive(move || Some(value.get()))
                from=source
                id=note
            />
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_as_people_type_them() {
        let read = |text| parse_number(text, Limits::ENTRY);
        for (text, value) in [
            ("0.5", 0.5),
            (" 1,5 ", 1.5),
            ("\u{2212}2", -2.0),
            (".5", 0.5),
            ("1e-3", 0.001),
            ("-0", 0.0),
        ] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
        for text in [
            "abc",
            "1,2,3",
            "1.2.3",
            "NaN",
            "inf",
            "-infinity",
            "--1",
            "1 2",
            "1,234.5",
        ] {
            assert_eq!(read(text), Err(Wrong::NotANumber), "{text}");
        }
        assert_eq!(read(""), Err(Wrong::Empty));
        assert_eq!(read("1e9"), Err(Wrong::Outside(Limits::ENTRY)));
        assert_eq!(
            read("1e999"),
            Err(Wrong::Outside(Limits::ENTRY)),
            "a number, only too large"
        );
        let seed = Limits {
            min: 0.0,
            max: 9999.0,
            whole: true,
        };
        assert_eq!(parse_number("7.5", seed), Err(Wrong::NotWhole));
        assert_eq!(Wrong::Outside(seed).words(), "is outside 0 to 9,999");
    }
}
