//! The view of `window-heads`: the picture with the window of one token, coloured by the weights of the
//! chosen head, all heads of the block beside it, and attention rollout from the token back to the patches.

use std::sync::Arc;

use cells::format::Format;
use cells::input::Pixels;
use cells::{Computation, InputValue};
use leptos::prelude::*;

use super::windows::{choose_token, number};
use crate::cells::frame::context::CellCx;
use crate::cells::parts::blocks_box::blocks_box;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::opened_picture::OpenedPicture;
use crate::widgets::{Concept, Domain, More, Palette, PatchGrid, Selected, legend};

/// The view of the cell.
pub(super) fn view(cx: CellCx) -> AnyView {
    let Some(picture) = use_context::<OpenedPicture>() else {
        return ().into_any();
    };
    let chosen = cx.selected_entry::<1>("head");
    let heads = number(cx, "heads");
    let head = Memo::new(move |_| {
        let last = heads.get().saturating_sub(1);
        chosen.get().map_or(0, |[head]| head.min(last))
    });
    let index = Signal::derive(move || vec![head.get()]);
    let (window, shift) = (number(cx, "window"), number(cx, "shift"));
    let token = number(cx, "token.patches");
    let patch = Signal::derive(move || picture.patch.get() * token.get().max(1));
    let largest = cx.value("largest", Vec::new());
    // One scale for all heads of the block.
    let scale = Signal::derive(move || Domain::Fixed(0.0, largest.get().unwrap_or(1.0)));
    let grid = cx.grid_with("weights", index, "", "");
    view! {
        <div class="controls">{blocks_box(cx, "Block ", 1)}</div>
        <div class="cols-2">
            <section class=format!("stack tight {}", Concept::Weight.class())>
                <p class="panel-title" data-label="" aria-live="polite">{move || format!("Head {}", head.get() + 1)}</p>
                <PatchGrid pixels=picture.pixels patch selected=choose_token(cx)
                    label="Your picture, the window of the chosen token coloured by its weights"
                    overlay=grid overlay_domain=scale is_ruled=false
                    windows=Signal::derive(move || (window.get(), shift.get())) counts_from=0 />
                <figure class="heat ramp">{legend(grid, Palette::Sequential, scale, Format::Percent(1))}</figure>
                <dl class="readout">
                    <div><dt>"largest weight"</dt><dd>{cx.num_at("most", index, Format::Percent(1))}</dd></div>
                    <div><dt>"on itself"</dt><dd>{cx.num_at("itself", index, Format::Percent(1))}</dd></div>
                    <div><dt>"if all were equal"</dt><dd>{cx.num("even", &[], Format::Percent(1))}</dd></div>
                    <div><dt>"mean attention distance"</dt><dd>{cx.num_at("distance", index, Format::Fixed(0))} " px"</dd></div>
                </dl>
            </section>
            {gallery(cx, chosen, head)}
        </div>
        {rollout(cx, picture)}
        {trained(&[])}
    }
    .into_any()
}

/// What the token has read of all patches, by the weights of its block and of those before.
fn rollout(cx: CellCx, picture: OpenedPicture) -> AnyView {
    let most = cx.value("rollout.most", Vec::new());
    let scale = Signal::derive(move || Domain::Fixed(0.0, most.get().unwrap_or(1.0)));
    let grid = cx.grid("rollout");
    let chosen = number(cx, "chosen");
    let selected = Selected::new(
        Signal::derive(move || Some(chosen.get())),
        move |patch: Option<usize>| {
            if let Some(patch) = patch {
                cx.set("chosen", InputValue::Number(patch as f64));
            }
        },
    );
    view! {
        <More summary="Attention rollout: what the token has read of the whole picture">
            <section class=format!("stack tight {}", Concept::Weight.class())>
                <PatchGrid pixels=picture.pixels patch=picture.patch selected is_quiet=true is_ruled=false counts_from=0
                    label="Your picture, each patch coloured by its share in the token"
                    overlay=grid overlay_domain=scale />
                <figure class="heat ramp">{legend(grid, Palette::Sequential, scale, Format::Percent(1))}</figure>
                <p class="verdict">
                    "By the weights up to block " {cx.num("blocks", &[], Format::Count)} " the token has read "
                    <strong>{cx.num("rollout.reached", &[], Format::Count)}</strong> " of "
                    {cx.num("patches", &[], Format::Count)} " patches. Its own place has "
                    {cx.num("rollout.itself", &[], Format::Percent(1))} " of the whole."
                </p>
                <p class="hint">
                    "The scale ends at the largest share of another place. Each block counts as half its residual stream and half the \
                    mean of its heads; where four tokens are merged, each counts the same. Values and MLPs do not enter."
                </p>
            </section>
        </More>
    }
    .into_any()
}

/// All heads of the block in one picture: what each gives the window.
fn gallery(cx: CellCx, chosen: Selected<[usize; 1]>, head: Memo<usize>) -> AnyView {
    let computed = cx.computed();
    let picture = Memo::new(move |_| computed.with(|c| all_heads(c.as_ref()?)));
    let heads = number(cx, "heads");
    let selected = Selected::new(
        Signal::derive(move || Some(head.get())),
        move |place: Option<usize>| {
            if let Some(head) = place.filter(|&head| head < heads.get_untracked()) {
                chosen.choose(Some([head]));
            }
        },
    );
    view! {
        <figure class="stack tight head-gallery">
            <figcaption class="heat-title">"Every head of this block: what the token takes from its window"</figcaption>
            <PatchGrid pixels=picture patch=number(cx, "window") label="A map of the window for each head"
                selected=selected is_quiet=true />
            <p class="hint">
                "Black: no weight. White: the largest weight of all heads. Where the windows are shifted, one at an edge of the picture \
                holds tokens of the other edge, which get no weight. Click a head to see it large."
            </p>
        </figure>
    }
    .into_any()
}

/// The windows of all heads side by side, as nearly as many in a row as there are rows.
fn all_heads(c: &Computation) -> Option<Arc<Pixels>> {
    let (weights, top) = (&c.tensor("window.weights")?.values, c.at("largest", &[])?);
    let &[heads, side, _] = weights.shape() else {
        return None;
    };
    let across = (1..=heads).find(|n| n * n >= heads)?;
    let (width, height) = (across * side, heads.div_ceil(across) * side);
    let grey = |y: usize, x: usize| {
        let weight = weights.get([y / side * across + x / side, y % side, x % side]);
        let share = weight.map_or(0.0, |weight| weight / top.max(f64::MIN_POSITIVE));
        [(share * 255.0).round() as u8; 3]
    };
    let rgb = (0..height).flat_map(|y| (0..width).flat_map(move |x| grey(y, x)));
    Some(Arc::new(Pixels {
        width,
        height,
        rgb: rgb.collect(),
    }))
}
