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
    /// Any number.
    pub const NONE: Self = Self {
        min: f64::MIN,
        max: f64::MAX,
        whole: false,
    };

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

/// The text without the commas that group its thousands, as this site prints them: `1,500`. A comma
/// behind a zero alone is a decimal comma: `0,500`.
fn without_groups(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut groups = whole.trim_start_matches(['-', '+']).split(',');
    let first = groups.next()?;
    let is_number = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
    let starts = (1..=3).contains(&first.len()) && is_number(first) && !first.starts_with('0');
    let mut count = 0;
    let all_three = groups.all(|group| {
        count += 1;
        group.len() == 3 && is_number(group)
    });
    (starts && all_three && count > 0).then(|| whole.replace(',', "") + fraction)
}

/// Reads a number as people type it: a comma or a point for decimals, commas between thousands, the
/// minus sign of a keyboard or of print, a power of ten.
///
/// # Errors
/// [`Wrong`], also for "NaN" and "inf".
pub fn parse_number(text: &str, limits: Limits) -> Result<f64, Wrong> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Wrong::Empty);
    }
    let mut plain = text.replace('\u{2212}', "-");
    if let Some(whole) = without_groups(&plain) {
        plain = whole;
    } else if !plain.contains('.') && plain.matches(',').count() == 1 {
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
fn forget_stale_draft(
    draft: RwSignal<Option<String>>,
    value: Signal<f64>,
    limits: Limits,
    before_typing: StoredValue<f64>,
) {
    Effect::new(move |before: Option<f64>| {
        let now = value.get();
        let typed = draft.with_untracked(|d| d.as_ref().map(|t| parse_number(t, limits)));
        let stale = match typed {
            Some(Ok(x)) => !same(x, now),
            // The text itself brought back the value from before it.
            Some(Err(_)) if same(now, before_typing.get_value()) => false,
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

/// A text box for one number. Text that is refused brings back the value from before the typing:
/// what it began with, such as the 9 of a 99999999, is not what the reader meant.
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
    let before_typing = StoredValue::new(value.get_untracked());
    forget_stale_draft(draft, value, limits, before_typing);
    let note = ids::fresh("entry");
    let described = note.clone();
    let text = move || {
        draft
            .get()
            .unwrap_or_else(|| number(value.get(), Format::Typed))
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
                    if draft.with_untracked(Option::is_none) {
                        before_typing.set_value(value.get_untracked());
                    }
                    draft.set(Some(typed));
                    on_commit.run(number.unwrap_or_else(|_| before_typing.get_value()));
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
            ("0,500", 0.5),
            ("12,34", 12.34),
            ("1,000", 1000.0),
            ("\u{2212}12,345.5", -12345.5),
            ("100,000", 100_000.0),
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
            "1,23.5",
            "1,000,00",
            "1234,000.5",
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
