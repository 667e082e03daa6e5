//! digit-vit, from the strokes of a drawing to the ten digits: its parts as buttons in the order of the
//! computation, the opened tensor as a map, and one number of it as the sum that it is.

use cells::format::Format;
use cells::lessons::vit::whole_vit::VIT;
use leptos::prelude::*;

use crate::cells::frame::context::CellCx;
use crate::cells::parts::bars::share_row;
use crate::cells::parts::block_words::Shown;
use crate::cells::parts::model_note::trained;
use crate::cells::parts::model_parts::{Parted, drawing, opened};
use crate::cells::parts::pad::pad;
use crate::widgets::Concept;

/// The digits.
const CLASSES: usize = 10;

/// Columns up to which a map is about as wide as high: as many as there are tokens.
const NARROW: usize = 50;

/// Its parts before and after the blocks in words.
const OWN: [Shown; 9] = [
    Shown {
        name: "pixels",
        short: "picture",
        title: "The picture that the model receives [28 \u{d7} 28]",
        rule: "How bright the pixel is: 0 without ink, 1 on a stroke. The drawing has been scaled and centred.",
        concept: Concept::Plain,
    },
    Shown {
        name: "patches",
        short: "patches",
        title: "Patches $x_p$ [N \u{d7} 16], one in each row",
        rule: "Each patch of 4 by 4 pixels is written as a row of 16 numbers. None is changed.",
        concept: Concept::Plain,
    },
    Shown {
        name: "embedding",
        short: "\u{d7} $E$",
        title: "Embedded patches [N \u{d7} C]",
        rule: "The dot product of the patch and a column of $E$, plus a bias.",
        concept: Concept::Residual,
    },
    Shown {
        name: "with-class",
        short: "class token",
        title: "Class token and embedded patches [T \u{d7} C]",
        rule: "The class token, which was learned, comes before the patches. Nothing else is changed.",
        concept: Concept::Residual,
    },
    Shown {
        name: "position",
        short: "$E_pos$",
        title: "Positions $E_pos$ [T \u{d7} C]",
        rule: "The first row belongs to the class token, the next ones to the patches, whatever is drawn on them.",
        concept: Concept::Position,
    },
    Shown {
        name: "input",
        short: "sum",
        title: "Residual stream $z_0$ [T \u{d7} C] before the first block",
        rule: "Token and position, added number by number.",
        concept: Concept::Residual,
    },
    Shown {
        name: "class",
        short: "$y$",
        title: "The class token\u{2019}s row $y$ [1 \u{d7} C]",
        rule: "Only this row of the norm is kept. The patches are thrown away.",
        concept: Concept::Output,
    },
    Shown {
        name: "logits",
        short: "logits",
        title: "Logits of the ten digits",
        rule: "The dot product of $y$ and the digit\u{2019}s row of the class head, plus a bias.",
        concept: Concept::Output,
    },
    Shown {
        name: "probabilities",
        short: "softmax",
        title: "Probabilities of the ten digits",
        rule: "Softmax of the logits: exp of each less the largest, divided by their sum.",
        concept: Concept::Output,
    },
];

/// The view of the cell.
pub(crate) fn view(cx: CellCx) -> AnyView {
    let parted = Parted {
        cx,
        stages: &VIT,
        own: &OWN,
        rows: "rows",
        narrow: NARROW,
        is_causal: false,
        has_pictures: true,
    };
    view! {
        <div class="whole-vit">
            <div class="whole-vit-top">{pad(cx)} {answer(cx)}</div>
            {drawing(parted)}
            {opened(parted, |_| ().into_any())}
        </div>
        {trained(&["digit-vit"])}
    }
    .into_any()
}

/// The digit that is read, and the ten probabilities.
fn answer(cx: CellCx) -> AnyView {
    let row = move |class: usize| {
        let number = cx.num("probabilities", &[class], Format::Percent(1));
        share_row(
            cx,
            class.to_string(),
            ("probabilities", vec![class]),
            number,
        )
    };
    view! {
        <div class="whole-vit-answer c-output">
            <p class="panel-title">
                "It reads " {cx.num("answer", &[], Format::Count)} ", with "
                {cx.num("answer.probability", &[], Format::Percent(1))}
            </p>
            <ul class="shares whole-next">{(0..CLASSES).map(row).collect_view()}</ul>
        </div>
    }
    .into_any()
}
