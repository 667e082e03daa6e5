//! The panel of a model that writes: prompt, settings, the text as it comes, its tokens.

use leptos::html::Ol;
use leptos::prelude::*;
use worker::model::protocol::{ModelInfo, ModelRequest, WritingRequest};

use super::inside::inside;
use super::message::problem;
use super::session::{Lab, TextSignals};
use crate::widgets::{focus_place, moved_along, place_of, place_text};

/// The name of a setting in the form, its label, its first value.
const SETTINGS: [(&str, &str, &str); 6] = [
    ("temperature", "Temperature", "0.8"),
    ("top-k", "Top-k", "40"),
    ("top-p", "Top-p", "0.95"),
    ("penalty", "Repetition penalty", "1.1"),
    ("seed", "Seed", "7"),
    ("new", "New tokens", "128"),
];

/// The form's values, as texts.
#[derive(Clone, Copy)]
struct Form {
    prompt: RwSignal<String>,
    settings: [RwSignal<String>; 6],
    half_cache: RwSignal<bool>,
}

impl Form {
    /// The request, or the setting that has no meaning.
    fn asked(&self) -> Result<WritingRequest, String> {
        let given = self.settings.map(|setting| setting.get_untracked());
        let given = given.each_ref().map(|text| text.trim());
        Ok(WritingRequest {
            half_cache: self.half_cache.get_untracked(),
            ..asked(self.prompt.get_untracked(), given)?
        })
    }
}

/// Reads the settings; an empty top-k or top-p keeps every token.
fn asked(prompt: String, settings: [&str; 6]) -> Result<WritingRequest, String> {
    fn read<T: std::str::FromStr>(
        place: usize,
        text: &str,
        fits: impl Fn(&T) -> bool,
        expected: &str,
    ) -> Result<T, String> {
        let value = text.replace(',', ".").parse().ok().filter(fits);
        value.ok_or_else(|| format!("{} has to be {expected}, not {text:?}.", SETTINGS[place].1))
    }
    let [temperature, top_k, top_p, penalty, seed, new] = settings;
    let optional = |text: &str| !text.is_empty();
    Ok(WritingRequest {
        prompt,
        temperature: read(
            0,
            temperature,
            |t: &f32| (0.0..=100.0).contains(t),
            "a number from 0 to 100",
        )?,
        top_k: optional(top_k)
            .then(|| {
                read(
                    1,
                    top_k,
                    |&k: &usize| k > 0,
                    "a whole number from 1 on, or empty",
                )
            })
            .transpose()?,
        top_p: optional(top_p)
            .then(|| {
                read(
                    2,
                    top_p,
                    |&p: &f32| p > 0.0 && p <= 1.0,
                    "a number above 0 and at most 1, or empty",
                )
            })
            .transpose()?,
        repetition_penalty: read(
            3,
            penalty,
            |p: &f32| (0.1..=10.0).contains(p),
            "a number from 0.1 to 10",
        )?,
        seed: read(4, seed, |_: &u64| true, "a whole number from 0 on")?,
        new: read(
            5,
            new,
            |&n: &usize| n <= 100_000,
            "a whole number from 0 to 100000",
        )?,
        half_cache: false,
    })
}

/// The panel of a model that writes.
pub(super) fn text_panel(lab: Lab, loaded: &ModelInfo) -> AnyView {
    let (first, words) = match loaded.has_vocabulary {
        true => ("Once upon a time", "Prompt"),
        false => ("1 2 3", "Prompt, as token ids"),
    };
    let form = Form {
        prompt: RwSignal::new(first.to_owned()),
        settings: SETTINGS.map(|(.., first)| RwSignal::new(first.to_owned())),
        half_cache: RwSignal::new(false),
    };
    let text = lab.text;
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        if text.busy.get_untracked() {
            return;
        }
        text.clear();
        lab.answers.clear_attention();
        match form.asked() {
            Ok(asked) => {
                text.prompt.set(asked.prompt.clone());
                text.busy.set(true);
                lab.send(ModelRequest::Write(asked));
            }
            Err(why) => text.error.set(Some(why)),
        }
    };
    let note = (!loaded.has_vocabulary).then(|| {
        let words = "This model came without a vocabulary, so its text is shown as token ids. Open the weights together with \
                     their vocabulary to read words.";
        view! { <p class="cell-note">{words}</p> }
    });
    let settings = SETTINGS.iter().zip(form.settings).map(|(&(name, words, _), setting)| {
        view! {
            <label class="field"><span>{words}</span>
                <input type="text" inputmode="decimal" name=name
                    prop:value=move || setting.get() on:input=move |event| setting.set(event_target_value(&event)) />
            </label>
        }
    });
    view! {
        <div class="lab-text">
            {note}
            <form class="lab-text" on:submit=submit>
                <label class="field"><span>{words}</span>
                    <textarea name="prompt" rows="2"
                        prop:value=move || form.prompt.get() on:input=move |event| form.prompt.set(event_target_value(&event))></textarea>
                </label>
                <div class="lab-settings">{settings.collect_view()}{cache_choice(form.half_cache)}</div>
                <div class="bench-buttons">
                    <button type="submit" class="button primary" aria-disabled=move || text.busy.get().to_string()>"Write"</button>
                    <button type="button" class="button" disabled=move || !text.busy.get()
                        on:click=move |_| lab.stop_writing()>"Stop writing"</button>
                </div>
            </form>
            {problem(text.error)}
            {output(text)}
            {tokens(text)}
            {inside(lab, loaded.layers, loaded.heads)}
        </div>
    }
    .into_any()
}

/// The bits of a number among the keys and values.
fn cache_choice(half: RwSignal<bool>) -> AnyView {
    view! {
        <label class="field"><span>"Keys and values"</span>
            <select name="cache" on:change=move |event| half.set(event_target_value(&event) == "16")>
                <option value="32">"32 bits"</option>
                <option value="16">"16 bits"</option>
            </select>
        </label>
    }
    .into_any()
}

/// Memory in words: small models have kilobytes of keys and values.
fn memory(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

fn output(text: TextSignals) -> AnyView {
    let per_second = |(count, ms): (usize, f64)| count as f64 * 1000.0 / ms.max(0.001);
    let speed = move || {
        let (read, wrote) = (text.read.get(), text.wrote.get());
        if read.0 == 0 {
            return String::new();
        }
        let prompt = format!(
            "Prompt: {} tokens, {:.0} a second.",
            read.0,
            per_second(read)
        );
        if wrote.0 == 0 {
            return prompt;
        }
        format!(
            "{prompt} New: {} tokens, {:.1} a second. Their keys and values take {}.",
            wrote.0,
            per_second(wrote),
            memory(text.cache_bytes.get())
        )
    };
    view! {
        <p class="lab-output" tabindex="0" role="region" aria-label="Text">
            <span class="prompt">{move || text.prompt.get()}</span>
            <span class="written">{move || text.written.get()}</span>
        </p>
        <div class="bench-progress">
            <span class="lab-speed">{speed}</span>
            <span role="status">{move || if text.busy.get() { "Writing.".to_owned() } else { text.ending.get() }}</span>
        </div>
    }
    .into_any()
}

/// The tokens, to choose one. Each is drawn once, when it comes.
fn tokens(text: TextSignals) -> AnyView {
    let count = Memo::new(move |_| text.tokens.with(Vec::len));
    // One stop for the Tab key: hundreds of tokens would stand between the text and what is below.
    // Arrow keys walk.
    let list = NodeRef::<Ol>::new();
    let cursor = RwSignal::new(0_usize);
    let stop = Memo::new(move |_| cursor.get().min(count.get().saturating_sub(1)));
    let walk = move |event: leptos::ev::KeyboardEvent| {
        let Some((_, at)) = place_of(&event) else {
            return;
        };
        let next = moved_along(&event.key(), at, count.get_untracked());
        if let (Some(next), Some(list)) = (next, list.get_untracked()) {
            event.prevent_default();
            cursor.set(next);
            focus_place(&list, (0, next));
        }
    };
    let token = move |n: usize| {
        let token = text.tokens.with_untracked(|tokens| tokens.get(n).cloned());
        let (words, is_new) =
            token.map_or_else(Default::default, |token| (token.text, token.is_new));
        view! {
            <li class:is-new=is_new>
                <button
                    type="button"
                    class="token"
                    data-at=place_text((0, n))
                    tabindex=move || if stop.get() == n { "0" } else { "-1" }
                    aria-pressed=move || (text.selected.get() == Some(n)).to_string()
                    on:click=move |_| {
                        cursor.set(n);
                        text.selected.update(|at| *at = (*at != Some(n)).then_some(n));
                    }
                >
                    {visible(&words)}
                </button>
            </li>
        }
    };
    let strip = move || {
        view! {
            <p class="hint">"Its tokens. Choose one to see what it was chosen from, and what it attends to; arrow keys move."</p>
            <div class="lab-tokens" role="group" aria-label="Tokens of the text">
                <ol class="tokens" node_ref=list on:keydown=walk>
                    <For each=move || 0..count.get() key=|n| *n children=token />
                </ol>
            </div>
        }
    };
    let any = Memo::new(move |_| count.get() > 0);
    view! { {move || any.get().then(strip)} }.into_any()
}

/// The most characters of a text from a file that are shown: a file may hold any.
const LONGEST: usize = 120;

/// A token's text with signs for its line breaks and lone spaces.
pub(super) fn visible(token: &str) -> String {
    let token = bounded(token);
    match token.chars().all(|c| c == ' ') {
        true => "\u{2423}".repeat(token.len()),
        false => token.replace('\n', "\u{21b5}"),
    }
}

/// The beginning of a text from a file, with three dots where that is not all of it.
pub(super) fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}\u{2026}", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_what_is_wrong_with_them_is_named() {
        let usual = ["0,8", "", "0.95", "1", "7", "12"];
        let found = asked("a".to_owned(), usual).unwrap();
        assert_eq!(
            (found.temperature, found.top_k, found.top_p),
            (0.8, None, Some(0.95))
        );
        assert_eq!((found.seed, found.new), (7, 12));
        for (place, text) in [
            (0, "-1"),
            (1, "0"),
            (2, "1.5"),
            (3, "none"),
            (4, "-1"),
            (5, "1.5"),
        ] {
            let mut settings = usual;
            settings[place] = text;
            let why = asked(String::new(), settings).unwrap_err();
            assert!(
                why.contains(SETTINGS[place].1) && why.contains(text),
                "{why}"
            );
        }
    }

    #[test]
    fn what_cannot_be_seen_gets_a_sign() {
        assert_eq!(visible(" a\n"), " a\u{21b5}");
        assert_eq!(visible("  "), "\u{2423}\u{2423}");
        let long = visible(&"\u{e4}".repeat(20_000));
        assert!(long.chars().count() == LONGEST + 1 && long.ends_with('\u{2026}'));
        assert_eq!(bounded("tench"), "tench");
    }
}
