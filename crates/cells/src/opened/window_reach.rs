//! A patch of the reader's picture is changed, and a Swin V2 that the reader has opened reads both
//! pictures: which tokens differ after each block, with its own windows and with windows that stay.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use engine::model::swin::Swin;
use engine::open::Labels;
use engine::trace::Observer;
use explain::class_lens::Streams;
use explain::small_swin::{Windows, inverted, with_windows};
use explain::window_attention::Means;
use ndarray::{Array2, Array3, ArrayViewD, Ix2};

use super::window_heads::weights_of;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::measure::bits_changed;
use crate::parts::opened_picture;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// The most blocks that can be asked for; no published model has more.
const MOST_BLOCKS: f64 = 48.0;

/// The most patches of a picture.
const MOST_PATCHES: f64 = 65_536.0;

/// The cell `swin-windows`, on a model that the reader has opened.
pub const OPENED: CellSpec = CellSpec {
    name: "swin-windows",
    inputs: || {
        vec![
            opened_picture::input(),
            chosen_input("Patch to change, counted from 0"),
            InputSpec::number("blocks", "Number of blocks", (0.0, MOST_BLOCKS, 1.0), 2.0),
        ]
    },
    run: Run::Sliced(WorkerKind::Models),
};

/// The chosen patch.
pub(super) fn chosen_input(label: &'static str) -> InputSpec {
    InputSpec::number("chosen", label, (0.0, MOST_PATCHES - 1.0, 1.0), 0.0)
}

/// A model that looks through windows, with the picture that it read last.
pub struct OpenedWindows {
    /// The model.
    pub model: Arc<Swin>,
    /// The picture as the model reads it, `[3, image, image]`.
    pub image: Array3<f32>,
    /// Names of the classes.
    labels: Option<Arc<Labels>>,
    /// What the last changed patch reached.
    reach: Mutex<Option<Arc<Reach>>>,
    /// The attention weights of the block that was looked into last, and its number.
    weights: Mutex<Option<(usize, Arc<Array3<f32>>)>>,
    /// The mean weights of every block.
    means: OnceLock<Means>,
    /// The tokens of the last stage.
    streams: OnceLock<Streams>,
}

impl OpenedWindows {
    /// A model and a prepared picture.
    pub fn new(model: Arc<Swin>, image: Array3<f32>, labels: Option<Arc<Labels>>) -> Self {
        Self {
            model,
            image,
            labels,
            reach: Mutex::new(None),
            weights: Mutex::new(None),
            means: OnceLock::new(),
            streams: OnceLock::new(),
        }
    }

    /// The heads of each block, stage after stage.
    pub(crate) fn heads(&self) -> Vec<usize> {
        let config = self.model.config();
        let stages = config.depths.iter().zip(&config.heads);
        let of_stage = |(&depth, &heads): (&usize, &usize)| vec![heads; depth];
        stages.flat_map(of_stage).collect()
    }

    /// The name of a class.
    pub(crate) fn class_name(&self, class: usize) -> String {
        match &self.labels {
            Some(labels) => labels.name(class),
            None => format!("class {class}"),
        }
    }

    fn known(&self, chosen: usize) -> Option<Arc<Reach>> {
        let known = self.reach.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone().filter(|reach| reach.chosen == chosen)
    }

    fn keep(&self, reach: Arc<Reach>) {
        *self.reach.lock().unwrap_or_else(PoisonError::into_inner) = Some(reach);
    }

    /// The attention weights of a block, `[N·H, M·M, M·M]`. The model runs where another block was looked
    /// into last.
    ///
    /// # Errors
    /// As [`weights_of`].
    pub(super) fn weights(&self, block: usize) -> Result<Arc<Array3<f32>>, CellError> {
        let mut kept = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = kept.as_ref().filter(|(known, _)| *known == block) {
            return Ok(Arc::clone(found));
        }
        let found = Arc::new(weights_of(&self.model, &self.image, block)?);
        *kept = Some((block, Arc::clone(&found)));
        Ok(found)
    }

    /// The attention weights of every block, averaged over its heads. The model runs for them once.
    ///
    /// # Errors
    /// What the pass of the model meets.
    pub(super) fn means(&self) -> Result<&Means, CellError> {
        once_computed(&self.means, || Means::of(&self.model, self.image.view()))
    }

    /// The tokens of the last stage, before its first block and after each one. The model runs for them
    /// once.
    ///
    /// # Errors
    /// What the pass of the model meets.
    pub(crate) fn streams(&self) -> Result<&Streams, CellError> {
        once_computed(&self.streams, || {
            Streams::of_last_stage(&self.model, self.image.view())
        })
    }

    /// Stages, and tokens along a side of the last one.
    pub(crate) fn last_stage(&self) -> (usize, usize) {
        let stages = self.model.config().depths.len();
        (stages, self.across() >> stages.saturating_sub(1))
    }

    /// Patches along a side of the picture.
    pub(crate) fn across(&self) -> usize {
        let config = self.model.config();
        config.image / config.patch
    }
}

/// The value of a cell, computed where it has none yet.
fn once_computed<T>(
    kept: &OnceLock<T>,
    compute: impl FnOnce() -> engine::error::Result<T>,
) -> Result<&T, CellError> {
    if let Some(found) = kept.get() {
        return Ok(found);
    }
    let found = compute()?;
    Ok(kept.get_or_init(|| found))
}

/// The tokens before the first block and after each one.
type Outputs = Vec<Array2<f32>>;

/// What a changed patch reaches.
struct Reach {
    chosen: usize,
    /// For windows that stay and for the model's own: before the first block and after each one,
    /// the share of each token's numbers that differ.
    shares: [Vec<Array2<f32>>; 2],
    /// For each block the side of its windows in tokens, and their shift.
    windows: Vec<(usize, usize)>,
}

/// The two kinds of windows, with the names of their tensors.
const KINDS: [(&str, Windows); 2] = [("fixed", Windows::Fixed), ("shifted", Windows::Shifted)];

/// Starts to compare what a model makes of the picture and of the changed one.
///
/// # Errors
/// An input that is no number.
pub fn start_opened(
    inputs: &Inputs,
    opened: Arc<OpenedWindows>,
) -> Result<Box<dyn Job>, CellError> {
    let last = (opened.across() * opened.across()).saturating_sub(1);
    Ok(Box::new(Comparing {
        chosen: inputs.count("chosen")?.min(last),
        blocks: inputs.count("blocks")?,
        opened,
        passes: Vec::new(),
        windows: Vec::new(),
    }))
}

/// The passes so far: both pictures with windows that stay, then both with the model's own.
struct Comparing {
    opened: Arc<OpenedWindows>,
    chosen: usize,
    blocks: usize,
    passes: Vec<Outputs>,
    windows: Vec<(usize, usize)>,
}

impl Job for Comparing {
    /// One pass.
    fn advance(&mut self) -> Result<Progress, CellError> {
        if let Some(reach) = self.opened.known(self.chosen) {
            return Ok(Progress::Done(Box::new(self.finish(&reach))));
        }
        let done = self.passes.len();
        if let Some((_, kind)) = KINDS.get(done / 2) {
            let (image, patch) = (self.opened.image.view(), self.opened.model.config().patch);
            let mut model = with_windows(&self.opened.model, *kind);
            let picture = match done % 2 {
                0 => image.to_owned(),
                _ => inverted(image, patch, self.chosen)?,
            };
            let mut seen = BlockOutputs::default();
            model.forward(picture.view(), Some(&mut seen))?;
            self.passes.push(seen.0);
            let of =
                |block: &mut engine::nn::window_block::WindowBlock| (block.window, block.shift);
            self.windows = model.blocks_mut().map(of).collect();
            return Ok(Progress::Working((done + 1) as f32 / 5.0));
        }
        let shares = [0, 1].map(|kind| {
            let pairs = self.passes[2 * kind].iter().zip(&self.passes[2 * kind + 1]);
            pairs.map(|(before, after)| share(before, after)).collect()
        });
        let reach = Arc::new(Reach {
            chosen: self.chosen,
            shares,
            windows: std::mem::take(&mut self.windows),
        });
        self.opened.keep(Arc::clone(&reach));
        Ok(Progress::Done(Box::new(self.finish(&reach))))
    }
}

impl Comparing {
    /// What is shown of it.
    fn finish(&self, reach: &Reach) -> crate::Computation {
        let mut record = Record::new();
        let across = self.opened.across();
        let count = reach.windows.len();
        let block = self.blocks.min(count);
        for ((name, _), shares) in KINDS.iter().zip(&reach.shares) {
            let touched =
                |map: &Array2<f32>| map.iter().filter(|&&share| share > 0.0).count() as f64;
            let counts: Vec<f64> = shares.iter().map(touched).collect();
            record.number(&format!("{name}.now"), counts[block]);
            record.tensor(&format!("{name}.changed"), &shares[block]);
            record.numbers(&format!("{name}.count"), counts);
        }
        let side = |block: usize| reach.shares[0][block].nrows();
        let all = (0..=count).map(|block| (side(block) * side(block)) as f64);
        let stage = |block: usize| (across / side(block).max(1)).ilog2();
        record.numbers("tokens.count", all.collect());
        record.numbers("block", (0..=count).map(|n| n as f64).collect());
        let stages = (0..=count).map(|block| f64::from(stage(block) + 1));
        record.numbers("stage", stages.collect());
        record.number("tokens", (side(block) * side(block)) as f64);
        record.number("stage.now", f64::from(stage(block) + 1));
        record.number("blocks", block as f64);
        record.number("count", count as f64);
        // A token of a later stage holds several patches.
        let token = across / side(block).max(1);
        record.number("token.patches", token as f64);
        record.number(
            "token.pixels",
            (token * self.opened.model.config().patch) as f64,
        );
        let (row, column) = (self.chosen / across, self.chosen % across);
        record.number("chosen", self.chosen as f64);
        record.number("row", row as f64);
        record.number("column", column as f64);
        record.number("own", (row / token * side(block) + column / token) as f64);
        record.number("across", across as f64);
        // Before the first block there are no windows.
        let (window, shift) = match block.checked_sub(1) {
            Some(last) => reach.windows[last],
            None => (0, 0),
        };
        record.number("window", window as f64);
        record.number("shift", shift as f64);
        record.finish()
    }
}

/// The share of each token's numbers that differ in any bit, as a map.
fn share(before: &Array2<f32>, after: &Array2<f32>) -> Array2<f32> {
    // [side · side, C] -> [side, side]
    let changed = bits_changed(before.view(), after.view());
    let side = changed.len().isqrt();
    let width = before.ncols().max(1) as f64;
    Array2::from_shape_fn((side, side), |(row, column)| {
        (changed[row * side + column] / width) as f32
    })
}

/// An observer that keeps the tokens before the first block and after each one, and nothing else.
#[derive(Default)]
struct BlockOutputs(Outputs);

impl Observer for BlockOutputs {
    fn observe(&mut self, name: &str, tensor: ArrayViewD<'_, f32>) {
        // `stages.S.blocks.N.output`; parts of a block have longer names.
        let is_block = name.split('.').count() == 5 && name.ends_with(".output");
        if (is_block || name == "input")
            && let Ok(tokens) = tensor.into_dimensionality::<Ix2>()
        {
            self.0.push(tokens.to_owned());
        }
    }
}
