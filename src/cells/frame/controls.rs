//! Controls wired to a cell's inputs by name: label and limits come from the cell's schema.

use std::sync::Arc;

use cells::format::Format;
use cells::input::Pixels;
use cells::{InputKind, InputValue, Picture};
use leptos::prelude::*;

use crate::browser::picture;
use crate::cells::frame::context::CellCx;
use crate::widgets::{Choice, Concept, MatrixEdit, PictureBox, SeedBox, Slider, TextBox, Toggle};

impl CellCx {
    fn label(self, name: &str) -> String {
        self.input_spec(name)
            .map(|s| s.label.to_owned())
            .unwrap_or_default()
    }

    /// A slider with an entry box for a number input.
    pub(crate) fn slider(self, name: &'static str, format: Format) -> AnyView {
        self.slider_of(name, format, false)
    }

    /// The same with equal ratios along the slider, for a range over several powers of ten.
    pub(crate) fn log_slider(self, name: &'static str, format: Format) -> AnyView {
        self.slider_of(name, format, true)
    }

    fn slider_of(self, name: &'static str, format: Format, log: bool) -> AnyView {
        let Some(InputKind::Number { min, max, step }) = self.input_spec(name).map(|s| s.kind)
        else {
            return ().into_any();
        };
        let change = Callback::new(move |x: f64| self.set(name, InputValue::Number(x)));
        view! {
            <Slider label=self.label(name) value=self.number(name) min=min max=max step=step on_change=change
                source=format!("input:{name}") format=format log=log />
        }
        .into_any()
    }

    /// An editable matrix; labels of rows and columns may be empty.
    pub(crate) fn matrix_edit(
        self,
        name: &'static str,
        concept: Concept,
        rows: &[&str],
        cols: &[&str],
    ) -> AnyView {
        let owned = |labels: &[&str]| labels.iter().map(|&l| l.to_owned()).collect::<Vec<_>>();
        let change = Callback::new(move |m| self.set(name, InputValue::Matrix(m)));
        view! {
            <MatrixEdit matrix=self.matrix(name) on_change=change label=self.label(name)
                source=format!("input:{name}") row_labels=owned(rows) col_labels=owned(cols) concept=concept />
        }
        .into_any()
    }

    /// A text box.
    pub(crate) fn text_box(self, name: &'static str) -> AnyView {
        let change = Callback::new(move |text| self.set(name, InputValue::Text(text)));
        view! { <TextBox label=self.label(name) value=self.text(name) on_change=change /> }
            .into_any()
    }

    /// The seed, with a button for another one.
    pub(crate) fn seed_box(self) -> AnyView {
        let change = Callback::new(move |x: f64| self.set("seed", InputValue::Number(x)));
        view! { <SeedBox label=self.label("seed") value=self.number("seed") on_change=change /> }
            .into_any()
    }

    /// A check box.
    pub(crate) fn toggle_box(self, name: &'static str) -> AnyView {
        let change = Callback::new(move |on| self.set(name, InputValue::Toggle(on)));
        view! { <Toggle label=self.label(name) value=self.toggle(name) on_change=change /> }
            .into_any()
    }

    /// A choice among the names of the schema.
    pub(crate) fn choice_box(self, name: &'static str) -> AnyView {
        self.choice_of(name, false)
    }

    /// A choice among names that are shown as they are: those of models, numbers.
    pub(crate) fn verbatim_choice_box(self, name: &'static str) -> AnyView {
        self.choice_of(name, true)
    }

    fn choice_of(self, name: &'static str, verbatim: bool) -> AnyView {
        let Some(InputKind::Choice(options)) = self.input_spec(name).map(|s| s.kind) else {
            return ().into_any();
        };
        let options = options.iter().map(|&o| o.to_owned()).collect::<Vec<_>>();
        let change = Callback::new(move |option| self.set(name, InputValue::Choice(option)));
        view! { <Choice label=self.label(name) options=options value=self.choice(name) on_change=change verbatim /> }.into_any()
    }

    /// Samples, file, drop, paste and camera for a picture input.
    pub(crate) fn picture_box(self, name: &'static str) -> AnyView {
        let Some(InputKind::Picture(samples)) = self.input_spec(name).map(|s| s.kind) else {
            return ().into_any();
        };
        let message = RwSignal::new(None::<String>);
        let note = RwSignal::new(None::<String>);
        // What is still being decoded when another picture is chosen is of no interest any more.
        let newest = StoredValue::new(0_u32);
        let next = move || {
            message.set(None);
            newest.update_value(|count| *count += 1);
            newest.get_value()
        };
        let samples = samples.iter().map(|&s| s.to_owned()).collect::<Vec<_>>();
        let chosen = self.picture(name);
        let chosen = Signal::derive(move || chosen.get().map(|p| p.name).unwrap_or_default());
        let shown = Signal::derive(move || {
            let is_yours = chosen.with(|name| name == Picture::YOURS);
            note.get().filter(|_| is_yours)
        });
        let choose = move |sample: String, pixels: Option<Arc<Pixels>>| {
            let picture = Picture {
                name: sample,
                pixels,
            };
            self.set(name, InputValue::Picture(picture));
        };
        let on_sample = Callback::new(move |sample: String| {
            next();
            note.set(None);
            choose(sample, None);
        });
        let on_file = move |file: web_sys::File| {
            let own = next();
            leptos::task::spawn_local(async move {
                let read = picture::from_file(&file, picture::LONGEST_SIDE).await;
                if newest.try_get_value() != Some(own) {
                    return;
                }
                match read {
                    Ok(read) => {
                        note.set(read.note);
                        choose(Picture::YOURS.to_owned(), Some(Arc::new(read.pixels)));
                    }
                    Err(text) => message.set(Some(text)),
                }
            });
        };
        view! {
            <PictureBox label=self.label(name) samples=samples chosen=chosen on_sample=on_sample
                on_file=UnsyncCallback::new(on_file) message=message note=shown />
        }
        .into_any()
    }
}
