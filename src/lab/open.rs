//! The form that opens a model: from the reader's disk, an address or a shape.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{File, FileList, HtmlInputElement};
use worker::build::Build;
use worker::model::packing::Packing;
use worker::model::protocol::Origin;
use worker::model::shape::SHAPES;

use super::session::{Lab, OpenRequest};
use super::stored_files::stored_list;
use crate::browser::{abilities, address};
use crate::model_build::USUAL_THREADS;

/// What to type where no address was given.
const NO_ADDRESS: &str =
    "Type the address of a file: it starts with https://, or with / for a file of this site.";

/// The fields of the form besides files.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) lab: Lab,
    pub(super) url: RwSignal<String>,
    shape: RwSignal<String>,
    seed: RwSignal<String>,
    packing: RwSignal<String>,
    threads: RwSignal<String>,
    /// The build that the page's address asks for.
    build: Option<Build>,
    /// What is wrong with the address, and with the seed.
    wrong: [RwSignal<Option<String>>; 2],
}

/// The ways to open a model.
pub(super) fn open_form(lab: Lab) -> AnyView {
    // A link names a model; it is the reader who opens it, since it may be large.
    let named = address::query("model").unwrap_or_default();
    let (url, shape) = match SHAPES.iter().find(|shape| shape.name == named) {
        Some(shape) => (String::new(), shape.name),
        None => (named, SHAPES[0].name),
    };
    let form = Form {
        lab,
        url: RwSignal::new(url),
        shape: RwSignal::new(shape.to_owned()),
        seed: RwSignal::new(address::query("seed").unwrap_or_else(|| "0".to_owned())),
        packing: RwSignal::new(address::query("type").unwrap_or_default()),
        threads: RwSignal::new(String::new()),
        build: address::query("build").and_then(|name| Build::from_name(&name)),
        wrong: [RwSignal::new(None), RwSignal::new(None)],
    };
    let over = RwSignal::new(false);
    view! {
        <div
            class="lab-open"
            class:is-over=move || over.get()
            role="group"
            aria-label="Open a model"
            on:dragover=move |event| {
                event.prevent_default();
                over.set(true);
            }
            on:dragleave=move |_| over.set(false)
            on:drop=move |event| {
                event.prevent_default();
                over.set(false);
                take(form, event.data_transfer().and_then(|data| data.files()));
            }
        >
            {ready_row(form)}
            <div class="lab-row">
                {files_button(form)}
                <span class="hint">"or drop them here: the weights and the files that belong to them. They stay on this device."</span>
            </div>
            {address_row(form)}
            {shape_row(form)}
            <div class="lab-row">{packing_choice(form)}{threads_choice(form)}</div>
            {stored_list(form)}
        </div>
    }
    .into_any()
}

fn files_button(form: Form) -> AnyView {
    let changed = move |event: leptos::ev::Event| {
        let target = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        let Some(input) = target else { return };
        take(form, input.files());
        // The same files may be chosen again.
        input.set_value("");
    };
    view! {
        <label class="button file-button">
            <input type="file" name="files" multiple class="vh" on:change=changed />
            "Files from this device"
        </label>
    }
    .into_any()
}

fn take(form: Form, list: Option<FileList>) {
    let Some(list) = list else { return };
    let files: Vec<File> = (0..list.length()).filter_map(|n| list.get(n)).collect();
    let largest = |a: &&File, b: &&File| a.size().total_cmp(&b.size());
    let Some(name) = files.iter().max_by(largest).map(File::name) else {
        return;
    };
    form.open(name, Origin::Disk, files);
}

impl Form {
    fn open(self, name: String, origin: Origin, files: Vec<File>) {
        self.note(&origin);
        for wrong in self.wrong {
            wrong.set(None);
        }
        self.lab.open(OpenRequest {
            name,
            origin,
            files,
            packing: Packing::from_name(&self.packing.get_untracked()),
            threads: self.threads.get_untracked().parse().ok(),
            build: self.build,
        });
    }

    /// Writes what is opened into the page's address, so that a link leads to it. Files of the
    /// reader's cannot be in a link.
    fn note(self, origin: &Origin) {
        let mut query = Vec::new();
        match origin {
            Origin::Url(url) => query.push(("model", url.clone())),
            Origin::Shape { name, seed } => {
                query.push(("model", name.clone()));
                query.push(("seed", seed.to_string()));
            }
            Origin::Disk => {}
        }
        let packing = self.packing.get_untracked();
        if !query.is_empty() && !packing.is_empty() {
            query.push(("type", packing));
        }
        address::set_query(&query);
    }

    /// Opens the address in the form.
    pub(super) fn open_url(self) {
        let given = self.url.get_untracked();
        let given = given.trim();
        let url = address::of_file(given);
        match url {
            Some(url) => {
                let path = url.pathname();
                let name = path.rsplit('/').next().unwrap_or(given).to_owned();
                self.open(name, Origin::Url(url.href()), Vec::new());
            }
            None => self.wrong[0].set(Some(NO_ADDRESS.to_owned())),
        }
    }

    fn open_shape(self) {
        let given = self.seed.get_untracked();
        let Ok(seed) = given.trim().parse() else {
            let why = format!("A seed is a whole number from 0 on, not {given}.");
            self.wrong[1].set(Some(why));
            return;
        };
        let name = self.shape.get_untracked();
        let origin = Origin::Shape {
            name: name.clone(),
            seed,
        };
        self.open(name, origin, Vec::new());
    }
}

/// Models of this site that can be opened at once, with what each does.
const READY: [(&str, &str); 4] = [
    ("tiny-gpt", "writes simple English"),
    ("tiny-gpt-no-lists", "the same, never taught to look back"),
    ("tiny-bert", "fills gaps in sentences"),
    ("digit-vit", "reads a digit"),
];

fn ready_row(form: Form) -> AnyView {
    let buttons = READY.map(|(name, what)| {
        let open = move |_| {
            form.url
                .set(address::site_url(&format!("models/{name}.safetensors")));
            form.open_url();
        };
        view! {
            <button type="button" class="button" on:click=open>
                {name} " " <span class="way-note">{what}</span>
            </button>
        }
    });
    view! {
        <div class="lab-ready" role="group" aria-label="Models of this site">
            <span class="lab-row-title">"Start with a small model of this site"</span>
            <div class="lab-row">{buttons.collect_view()}</div>
        </div>
    }
    .into_any()
}

/// The message below a field, which the field names as its description.
fn wrong_note(id: &'static str, wrong: RwSignal<Option<String>>) -> AnyView {
    view! { <p class="field-error" id=id role="alert">{move || wrong.get()}</p> }.into_any()
}

fn address_row(form: Form) -> AnyView {
    let wrong = form.wrong[0];
    view! {
        <form class="lab-row" on:submit=move |event| {
            event.prevent_default();
            form.open_url();
        }>
            <label class="field"><span>"Address of a file"</span>
                <input type="text" inputmode="url" name="url" spellcheck="false" autocomplete="off" placeholder="https://…/model.gguf"
                    aria-invalid=move || wrong.with(Option::is_some).then_some("true") aria-describedby="lab-url-wrong"
                    prop:value=move || form.url.get()
                    on:input=move |event| {
                        wrong.set(None);
                        form.url.set(event_target_value(&event));
                    } />
            </label>
            <button type="submit" class="button">"Fetch and open"</button>
            {wrong_note("lab-url-wrong", wrong)}
        </form>
    }
    .into_any()
}

fn shape_row(form: Form) -> AnyView {
    let wrong = form.wrong[1];
    let options = SHAPES.iter().map(|shape| {
        view! { <option value=shape.name selected=move || form.shape.get() == shape.name>{shape.title}</option> }
    });
    view! {
        <form class="lab-row" on:submit=move |event| {
            event.prevent_default();
            form.open_shape();
        }>
            <label class="field"><span>"A known model\u{2019}s sizes, with random weights"</span>
                <select name="shape" on:change=move |event| form.shape.set(event_target_value(&event))>{options.collect_view()}</select>
            </label>
            <label class="field short"><span>"Seed"</span>
                <input type="text" inputmode="numeric" name="shape-seed"
                    aria-invalid=move || wrong.with(Option::is_some).then_some("true") aria-describedby="lab-seed-wrong"
                    prop:value=move || form.seed.get()
                    on:input=move |event| {
                        wrong.set(None);
                        form.seed.set(event_target_value(&event));
                    } />
            </label>
            <button type="submit" class="button">"Draw random weights"</button>
            {wrong_note("lab-seed-wrong", wrong)}
        </form>
    }
    .into_any()
}

fn packing_choice(form: Form) -> AnyView {
    let options = [
        ("", "as in the file (fastest)"),
        ("stored", "exactly as in the file"),
        ("q8_0", "8 bits (q8_0): smaller and faster"),
        ("q4_0", "4 bits (q4_0): smallest, less exact"),
        ("f32", "32 bits (f32): largest, most exact"),
    ];
    let options = options.map(|(value, words)| {
        view! { <option value=value selected=move || form.packing.get() == value>{words}</option> }
    });
    view! {
        <label class="field"><span>"Weight format"</span>
            <select name="packing" on:change=move |event| form.packing.set(event_target_value(&event))>{options.collect_view()}</select>
        </label>
    }
    .into_any()
}

/// The number of threads, where the page may have several.
fn threads_choice(form: Form) -> Option<AnyView> {
    let most = abilities::threads();
    if most == 1 || !abilities::of_engine().shared_memory {
        return None;
    }
    let usual = match most.min(USUAL_THREADS) {
        count if count == most => format!("all {most} of this device"),
        count => format!("{count} of the {most} of this device"),
    };
    let options = (1..=most).map(|count| {
        let count = count.to_string();
        let value = count.clone();
        view! { <option value=value>{count}</option> }
    });
    let choice = view! {
        <label class="field short"><span>"Threads"</span>
            <select name="threads" on:change=move |event| form.threads.set(event_target_value(&event))>
                <option value="">{usual}</option>
                {options.collect_view()}
            </select>
        </label>
    };
    Some(choice.into_any())
}
