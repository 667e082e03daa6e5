//! Cells of the lessons, computed with the open model by its worker.

use std::collections::BTreeMap;
use std::rc::Rc;

use cells::lessons::decoder_only::{logit_lens, perplexity, sampling, whole_model};
use cells::lessons::heads::{ablation_sweep, induction, pattern_atlas, rollout};
use cells::lessons::multi_head::head_gallery;
use cells::lessons::positions_2d::position_similarity;
use cells::lessons::vit::{class_heads, class_token_lens, patch_attention};
use cells::opened::{patch_filters, window_heads, window_reach};
use cells::{CellError, CellSpec, InputValue, Inputs};
use leptos::html::Section;
use leptos::prelude::*;
use ndarray::Array2;
use worker::cell_protocol::{CellReply, CellRequest};
use worker::model::protocol::{ModelEvent, ModelInfo, ModelRequest};
use worker::protocol::{pack, unpack};

use super::message::message;
use super::patch_filters as patch_filters_view;
use super::session::{Lab, OpenModel};
use super::window_heads as window_heads_view;
use super::windows;
use crate::cells::frame::context::CellCx;
use crate::cells::frame::{layout, run};
use crate::cells::lessons as views;
use crate::cells::parts::model_note::Opened;
use crate::cells::parts::opened_picture::OpenedPicture;
use crate::cells::registry::View;
use crate::client::{Computes, Listener};
use crate::state::PageState;
use crate::widgets::More;

/// A cell on this page.
struct LabCell {
    title: &'static str,
    /// What it shows, and what it costs.
    about: &'static str,
    spec: &'static CellSpec,
    view: View,
    takes: Takes,
}

/// The models that a cell takes.
#[derive(Clone, Copy)]
enum Takes {
    /// A GPT-2.
    Gpt2,
    /// Models that continue a text.
    Decoders,
    /// Decoders and encoders.
    Readers,
    /// Encoders that fill in hidden words.
    MaskFillers,
    /// Models of pictures whose heads look at all of the picture.
    Pictures,
    /// Models of pictures with classes, whatever their heads look at.
    Classifiers,
    /// Models of pictures that attend within windows.
    Windows,
}

impl Takes {
    fn fits(self, model: &ModelInfo) -> bool {
        match self {
            Self::Gpt2 => model.is_gpt2,
            Self::Decoders => model.writes,
            Self::Readers => model.reads,
            Self::MaskFillers => model.fills,
            Self::Pictures => !model.reads && model.layers > 0,
            Self::Classifiers => !model.reads && model.classes > 0,
            // Their heads have no map over all of the picture.
            Self::Windows => !model.reads && model.layers == 0,
        }
    }
}

/// The cells.
const CELLS: [LabCell; 16] = [
    LabCell {
        title: "The whole model",
        about: "From your text to the next token: every tensor of every block, and each of its numbers as the sum that it is. The model \
                runs once for each text; its parts then open at once.",
        spec: &whole_model::OPENED,
        view: views::decoder_only::whole_model::view,
        takes: Takes::Gpt2,
    },
    LabCell {
        title: "Head gallery",
        about: "The attention weights of every head over a sentence, layer by layer.",
        spec: &head_gallery::OPENED,
        view: views::multi_head::head_gallery::view,
        takes: Takes::Readers,
    },
    LabCell {
        title: "What each head looks at",
        about: "Every head named after its scores: the token before, the same token, what came after the same token.",
        spec: &pattern_atlas::OPENED,
        view: views::heads::pattern_atlas::view,
        takes: Takes::Readers,
    },
    LabCell {
        title: "Induction test",
        about: "The model reads random tokens and then the same tokens again. A model with induction heads knows them the \
                second time: their loss falls. Switch heads off to find those that it needs.",
        spec: &induction::OPENED,
        view: views::heads::induction::opened_view,
        takes: Takes::Decoders,
    },
    LabCell {
        title: "Logit lens",
        about: "The most likely next tokens, read off the residual stream after each block. The model runs once for each block.",
        spec: &logit_lens::SPEC,
        view: views::decoder_only::logit_lens::view,
        takes: Takes::Decoders,
    },
    LabCell {
        title: "Every head switched off in turn",
        about: "What each head is worth: the loss that its absence adds. The model runs once for each head: with a \
                hundred heads and more that takes long, and can be stopped.",
        spec: &ablation_sweep::SPEC,
        view: views::heads::ablation_sweep::view,
        takes: Takes::Decoders,
    },
    LabCell {
        title: "Sampling",
        about: "From the scores of the most likely next tokens to the one that is drawn: temperature, top-k and top-p.",
        spec: &sampling::OPENED,
        view: views::decoder_only::sampling::opened_view,
        takes: Takes::Decoders,
    },
    LabCell {
        title: "Perplexity",
        about: "The bits of each token of a sentence, and of the same words in another order.",
        spec: &perplexity::SPEC,
        view: views::decoder_only::perplexity::view,
        takes: Takes::Decoders,
    },
    LabCell {
        title: "What counts for a hidden word",
        about: "Each other word of a sentence is hidden as well: how much that changes the answer, beside the weights of the last \
                layer and attention rollout. The model runs once for each word.",
        spec: &rollout::SPEC,
        view: views::heads::rollout::view,
        takes: Takes::MaskFillers,
    },
    LabCell {
        title: "What a patch attends to",
        about: "The attention weights of the class token, or of a patch that you click, in every head of every layer, all on one \
                scale; attention rollout; and how far each head looks.",
        spec: &patch_attention::OPENED,
        view: views::vit::patch_attention::opened_view,
        takes: Takes::Pictures,
    },
    LabCell {
        title: "Which block knows the class",
        about: "The most likely classes after each block, read off what the classifier reads (the class token or the mean over the \
                patches) or off any patch, and a map of what every patch says. The classifier was trained on the first only: what it \
                says of a patch is a reading of its vector, and no answer that the model was trained to give. A model in stages is read in \
                its last one.",
        spec: &class_token_lens::OPENED,
        view: views::vit::class_token_lens::opened_view,
        takes: Takes::Classifiers,
    },
    LabCell {
        title: "The class without each head",
        about: "What each head adds to the score of a class: every head is switched off in turn. The model runs once for each \
                head: with a hundred heads and more that takes long, and can be stopped.",
        spec: &class_heads::OPENED,
        view: views::vit::class_heads::opened_view,
        takes: Takes::Classifiers,
    },
    LabCell {
        title: "Which positions are alike",
        about: "The similarity of the learned position vectors: a map for each patch, where the patch is. They are compared as the model \
                adds them to your picture: for another number of patches than in its training, it stretches its table.",
        spec: &position_similarity::OPENED,
        view: views::positions_2d::position_similarity::opened_view,
        takes: Takes::Pictures,
    },
    LabCell {
        title: "Filters of the patch embedding",
        about: "The filters that turn a patch into a token, as small pictures, and what each gives for the patches of your picture.",
        spec: &patch_filters::OPENED,
        view: patch_filters_view::view,
        takes: Takes::Pictures,
    },
    LabCell {
        title: "What a patch attends to in its window",
        about: "The attention weights of a patch that you click within its window, in every head of a block, all on one scale; how far \
                each head looks; and attention rollout back to all patches. The model runs once for rollout, and once for each block \
                that you choose.",
        spec: &window_heads::OPENED,
        view: window_heads_view::view,
        takes: Takes::Windows,
    },
    LabCell {
        title: "Whom a patch reaches",
        about: "One patch of your picture is changed: the tokens that differ after each block, with windows that shift as the model's \
                do, and with the same windows in every block. Click a patch to change it. The model runs four times.",
        spec: &window_reach::OPENED,
        view: windows::view,
        takes: Takes::Windows,
    },
];

/// What listens to the answers to requests for cells, by their ids.
#[derive(Clone, Copy)]
pub(super) struct Listeners(StoredValue<BTreeMap<u64, Listener>, LocalStorage>);

impl Listeners {
    pub(super) fn new() -> Self {
        Self(StoredValue::new_local(BTreeMap::new()))
    }

    /// Forgets all: nobody waits any more.
    pub(super) fn clear(self) {
        self.0.try_update_value(BTreeMap::clear);
    }

    /// Passes an answer to its listener; `None` where the request is no cell's, or was dropped.
    pub(super) fn receive(self, id: u64, event: &ModelEvent) -> Option<()> {
        // It may itself ask for more: it is taken out meanwhile.
        let mut listener = self.0.try_update_value(|all| all.remove(&id))??;
        let reply = reply_of(event);
        let is_last = matches!(reply, CellReply::Finished { .. });
        listener(reply);
        if !is_last {
            self.0.try_update_value(|all| all.insert(id, listener));
        }
        Some(())
    }
}

/// The answer to a cell that an event holds.
fn reply_of(event: &ModelEvent) -> CellReply {
    let why = match event {
        ModelEvent::Computed(bytes) => match unpack(bytes) {
            Ok(reply) => return reply,
            Err(error) => error.to_string(),
        },
        ModelEvent::Failed(why) => message(why),
        _ => "It was stopped.".to_owned(),
    };
    failed(why)
}

/// The answer to a cell that was not computed.
fn failed(why: String) -> CellReply {
    CellReply::Finished {
        result: Err(CellError::Worker(why)),
        elapsed_ms: 0.0,
    }
}

impl Computes for Lab {
    fn compute(&self, cell: &str, inputs: Inputs, mut listener: Listener) -> u64 {
        let cell = cell.to_owned();
        let request = pack(&CellRequest::Compute { cell, inputs });
        let sent = request
            .map_err(|error| error.to_string())
            .and_then(|bytes| {
                let id = self.send_by_id(ModelRequest::Compute(bytes));
                id.ok_or_else(|| "No model is open.".to_owned())
            });
        match sent {
            Ok(id) => {
                self.cells.0.update_value(|all| {
                    all.insert(id, listener);
                });
                id
            }
            Err(why) => {
                listener(failed(why));
                0
            }
        }
    }

    fn cancel(&self, id: u64) {
        self.cells.0.try_update_value(|all| all.remove(&id));
        self.cancel_by_id(id);
    }
}

/// The cells that take the model, folded away: none computes before it is opened.
pub(super) fn cells_panel(lab: Lab, model: &OpenModel) -> AnyView {
    let loaded = &model.loaded;
    if loaded.reads && !loaded.has_vocabulary {
        let words = "Cells of the lessons compute with a model that has its vocabulary: open the weights together with it.";
        return view! { <p class="hint">{words}</p> }.into_any();
    }
    if !CELLS.iter().any(|cell| cell.takes.fits(loaded)) {
        return ().into_any();
    }
    provide_context(Opened {
        name: model.name.clone(),
        is_decoder: loaded.writes,
    });
    if loaded.reads {
        return panel(lab, loaded);
    }
    let seen = lab.answers.seen;
    provide_context(OpenedPicture {
        pixels: lab.answers.pixels(),
        patch: Signal::derive(move || seen.with(|seen| seen.as_ref().map_or(1, |seen| seen.patch))),
        before: Signal::derive(move || {
            seen.with(|seen| seen.as_ref().map_or(0, |seen| seen.before))
        }),
    });
    // They look at the picture that the model has read.
    let has_seen = Memo::new(move |_| seen.with(Option::is_some));
    let loaded = loaded.clone();
    view! { {move || has_seen.get().then(|| panel(lab, &loaded))} }.into_any()
}

/// The cells that take a model.
fn panel(lab: Lab, loaded: &ModelInfo) -> AnyView {
    let page = PageState::apart();
    let fitting = CELLS.into_iter().filter(|cell| cell.takes.fits(loaded));
    let all = fitting.map(|cell| {
        let cx = declared(lab, page, &cell, loaded);
        let (view, about) = (cell.view, cell.about);
        view! {
            <More summary=cell.title>
                <p class="hint">{about}</p>
                {section(cx, view)}
            </More>
        }
    });
    view! {
        <section class="lab-cells" aria-labelledby="lab-cells">
            <h3 id="lab-cells">"Look inside with the lessons\u{2019} cells"</h3>
            {all.collect_view()}
        </section>
    }
    .into_any()
}

/// The input that says which picture a cell is about.
const PICTURE: &str = "picture";

/// A cell whose inputs are known to the page, computed by the model's worker.
fn declared(lab: Lab, page: PageState, cell: &LabCell, loaded: &ModelInfo) -> CellCx {
    let id = format!("lab-{}", cell.spec.name);
    let mut keys = BTreeMap::new();
    for input in (cell.spec.inputs)() {
        let key = format!("{id}.{}", input.name);
        let initial = match input.name {
            induction::ON => {
                InputValue::Matrix(Array2::ones((loaded.layers.max(1), loaded.heads.max(1))))
            }
            PICTURE => InputValue::Number(f64::from(lab.answers.pictures.get_untracked())),
            _ => input.default.clone(),
        };
        page.declare(&key, &input, initial);
        keys.insert(input.name.to_owned(), key);
    }
    let cx = CellCx::new(id, cell.title.to_owned(), cell.spec, page, keys);
    if cx.input_spec(PICTURE).is_some() {
        Effect::new(move |_| {
            let picture = f64::from(lab.answers.pictures.get());
            cx.set_unasked(PICTURE, InputValue::Number(picture));
        });
    }
    cx.computed_by(Rc::new(lab))
}

/// The section of a cell, which computes from when it is drawn.
fn section(cx: CellCx, view: View) -> AnyView {
    let section = NodeRef::<Section>::new();
    Effect::new(move |_| {
        if let Some(section) = section.get() {
            run::keep_computed(cx, section.into());
        }
    });
    view! {
        <section class="lab-cell" id=cx.id.get_value() aria-label=cx.title.get_value() node_ref=section>
            <div class="cell-body">{layout::body(cx, view)}</div>
        </section>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use leptos::reactive::owner::Owner;
    use std::cell::RefCell;

    #[test]
    fn answers_reach_their_cell_until_the_last() {
        let owner = Owner::new();
        owner.with(|| {
            let listeners = Listeners::new();
            let heard = Rc::new(RefCell::new(Vec::new()));
            let hears = Rc::clone(&heard);
            let listener: Listener = Box::new(move |reply| hears.borrow_mut().push(reply));
            listeners.0.update_value(|all| {
                all.insert(4, listener);
            });
            let working = CellReply::Working(0.5);
            let event = ModelEvent::Computed(pack(&working).unwrap());
            assert_eq!(listeners.receive(5, &event), None);
            assert_eq!(listeners.receive(4, &event), Some(()));
            let why = ModelEvent::Failed("no such cell".to_owned());
            assert_eq!(listeners.receive(4, &why), Some(()));
            // That was the last answer.
            assert_eq!(listeners.receive(4, &event), None);
            let last = failed("no such cell".to_owned());
            assert_eq!(*heard.borrow(), [working, last]);
        });
    }
}
