//! The one place that maps the names of cells to what they compute and how they look.
//!
//! The cells of a lesson are a chunk of the wasm, fetched when a page first needs one of them: who reads one lesson
//! does not wait for the cells of all others.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;

use ::cells::CellSpec;
use leptos::prelude::*;

use super::context::CellCx;
use crate::chunk::{NotLoaded, chunk};

/// Draws the body of a cell.
pub(crate) type View = fn(CellCx) -> AnyView;

/// A cell: what it computes and how it looks.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) spec: &'static CellSpec,
    pub(crate) view: View,
}

type Entries = &'static [Entry];
type Loading = Pin<Box<dyn Future<Output = Result<Entries, NotLoaded>>>>;

/// The cells of one lesson.
struct Chunk {
    name: &'static str,
    cells: &'static [&'static str],
    load: fn() -> Loading,
}

macro_rules! lessons {
    ($($chunk:ident: $($name:literal $cell:ident),+;)+) => {
        $(chunk! {
            $chunk: fn $chunk() -> Entries =
                &[$(Entry { spec: &::cells::$cell::SPEC, view: super::$cell::view }),+];
        })+
        const CHUNKS: &[Chunk] = &[$(Chunk {
            name: stringify!($chunk),
            cells: &[$($name),+],
            load: || Box::pin($chunk()),
        }),+];
    };
}

// In the order of the course; `cells::registry::GROUPS` has the same groups, which a test holds to.
lessons! {
    bottleneck: "information-budget" information_budget, "forgetting" forgetting, "seq2seq-race" seq2seq_race,
        "race-measure" race_measure, "train-the-race" train_the_race, "path-length" path_length;
    alignment: "alignment-scores" alignment_scores, "alignment-lines" alignment_lines,
        "additive-and-dot" additive_and_dot, "alignment-gradient" alignment_gradient;
    self_attention: "attention-map" attention_map, "qkv-by-hand" qkv_by_hand, "permutation" permutation,
        "three-patches" three_patches, "similarity" similarity, "cross-attention" cross_attention;
    scaling: "why-scale" why_scale, "softmax-temperature" softmax_temperature;
    causal_mask: "mask-editor" mask_editor, "leak-test" leak_test, "minus-ten-thousand" minus_ten_thousand,
        "three-attentions" three_attentions;
    positions: "bag-of-words" bag_of_words, "sinusoid-map" sinusoid_map, "shift-is-linear" shift_is_linear,
        "distance" distance, "learned-table" learned_table, "relative-bias" relative_bias, "alibi" alibi,
        "rotary" rotary, "rotary-stretch" rotary_stretch;
    training: "train-tiny" train_tiny, "break-it" break_it, "gradient-check" gradient_check;
    patches: "patch-cutter" patch_cutter, "patch-embedding" patch_embedding, "pixels-as-tokens" pixels_as_tokens;
}

thread_local! {
    static LOADED: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// Fetches what holds the cells of these names, where it is not here yet. A name that no chunk has is passed over.
///
/// # Errors
/// When a chunk cannot be fetched; the next call tries again.
pub(crate) async fn load(names: &[String]) -> Result<(), NotLoaded> {
    for chunk in CHUNKS {
        let mut wanted = chunk
            .cells
            .iter()
            .filter(|cell| names.iter().any(|n| n == *cell));
        if wanted.any(|cell| find(cell).is_none()) {
            let entries = (chunk.load)().await?;
            LOADED.with_borrow_mut(|loaded| loaded.extend_from_slice(entries));
        }
    }
    Ok(())
}

/// A cell that has been loaded.
pub(crate) fn find(name: &str) -> Option<Entry> {
    LOADED.with_borrow(|loaded| loaded.iter().find(|e| e.spec.name == name).copied())
}

/// Names of the chunks and of the cells in each, for the check that none is missing.
pub fn chunks() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    CHUNKS.iter().map(|chunk| (chunk.name, chunk.cells))
}
