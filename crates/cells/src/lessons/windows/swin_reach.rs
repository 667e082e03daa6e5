//! A Swin V2 with seeded parameters reads a picture before and after one patch changes: which patches
//! hear of it, block by block, with windows that stay and with windows that shift.

use std::sync::Arc;

use engine::model::swin::{Config, Swin};
use engine::trace::Recorder;
use explain::small_swin::Windows;
use ndarray::{Array2, Array3};

use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::jobs::{Entry, no_files};
use crate::lessons::patches::patch_cutter::scaled;
use crate::parts::measure::bits_changed;
use crate::parts::trained::told;
use crate::picture;
use crate::spec::{CellSpec, Job, Progress, Run, WorkerKind};

/// Side of the picture in pixels.
const SIZE: usize = 64;

/// Side of a patch in pixels.
pub const PATCH: usize = 4;

/// Patches along a side.
pub const ACROSS: usize = SIZE / PATCH;

/// Side of a window in patches.
pub const WINDOW: usize = 4;

/// Blocks of the model.
pub const BLOCKS: usize = 12;

/// Numbers of a token.
const WIDTH: usize = 16;

/// The cell `swin-reach`.
pub const SPEC: CellSpec = CellSpec {
    name: "swin-reach",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| Ok(Box::new(Reach::new(inputs))),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    let last = (ACROSS * ACROSS - 1) as f64;
    vec![
        picture::input("picture", "Picture"),
        InputSpec::number(
            "chosen",
            "Patch to change, counted from 0",
            (0.0, last, 1.0),
            119.0,
        ),
        InputSpec::number(
            "blocks",
            "Number of blocks",
            (0.0, BLOCKS as f64, 1.0),
            BLOCKS as f64,
        ),
        InputSpec::toggle("forget", "Forget the mask", false),
        InputSpec::seed(7),
    ]
}

fn config() -> Config {
    Config {
        width: WIDTH,
        depths: vec![BLOCKS],
        heads: vec![2],
        window: WINDOW,
        trained_windows: Vec::new(),
        patch: PATCH,
        image: SIZE,
        classes: 2,
        inner_ratio: 2,
        norm_eps: 1e-5,
    }
}

/// The work: the pictures and the model first, then one model and its two pictures in each slice.
struct Reach {
    inputs: Inputs,
    record: Record,
    ready: Option<Ready>,
    next: usize,
}

struct Ready {
    pictures: [Array3<f32>; 2],
    model: Arc<Swin>,
}

impl Reach {
    fn new(inputs: &Inputs) -> Self {
        Self {
            inputs: inputs.clone(),
            record: Record::new(),
            ready: None,
            next: 0,
        }
    }

    /// The picture as it is and with the patch inverted, and the model.
    fn prepare(&mut self) -> Result<Ready, CellError> {
        let (inputs, record) = (&self.inputs, &mut self.record);
        let image = scaled(record, inputs, SIZE)?;
        let (chosen, seed) = (inputs.count("chosen")?, inputs.seed()?);
        let changed = shown!(
            record,
            explain::small_swin::inverted,
            image.view(),
            PATCH,
            chosen
        )?;
        let config = config();
        let model = shown!(record, explain::small_swin::small_swin, &config, seed)?;
        record.tensor("picture", &image);
        record.number("chosen", chosen as f64);
        record.number("row", (chosen / ACROSS) as f64);
        record.number("column", (chosen % ACROSS) as f64);
        record.number("neighbour", neighbour(chosen) as f64);
        record.number("patches", (ACROSS * ACROSS) as f64);
        record.number("width", WIDTH as f64);
        record.number("blocks", inputs.count("blocks")? as f64);
        record.numbers("block", (0..=BLOCKS).map(|n| n as f64).collect());
        Ok(Ready {
            pictures: [image, changed],
            model: Arc::new(model),
        })
    }

    /// Both pictures through the model with these windows, and what differs after each block.
    fn compare(&mut self, ready: &Ready, name: &str, windows: Windows) -> Result<(), CellError> {
        let (inputs, record) = (&self.inputs, &mut self.record);
        let model = &*ready.model;
        let model = shown!(record, explain::small_swin::with_windows, model, windows);
        let [first, second] = &ready.pictures;
        let [first, second] = [read(record, &model, first)?, read(record, &model, second)?];
        let shown = inputs.count("blocks")?;
        let neighbour = neighbour(inputs.count("chosen")?);
        let mut counts = Vec::new();
        for (block, (first, second)) in first.iter().zip(&second).enumerate() {
            let changed = bits_changed(first.view(), second.view());
            counts.push(changed.iter().filter(|&&bits| bits > 0.0).count() as f64);
            if block == shown {
                let chosen = inputs.count("chosen")?;
                record.tensor(&format!("{name}.token"), &first.row(chosen));
                let grid = Array2::from_shape_fn((ACROSS, ACROSS), |(row, column)| {
                    (changed[row * ACROSS + column] / WIDTH as f64) as f32
                });
                record.tensor(&format!("{name}.changed"), &grid);
                record.number(&format!("{name}.neighbour"), changed[neighbour]);
                record.number(&format!("{name}.now"), counts[block]);
            }
        }
        record.numbers(&format!("{name}.count"), counts);
        Ok(())
    }
}

impl Job for Reach {
    fn advance(&mut self) -> Result<Progress, CellError> {
        let Some(ready) = self.ready.take() else {
            self.ready = Some(self.prepare()?);
            return Ok(Progress::Working(0.1));
        };
        if self.next == 0 {
            self.compare(&ready, "fixed", Windows::Fixed)?;
            (self.next, self.ready) = (1, Some(ready));
            return Ok(Progress::Working(0.5));
        }
        let windows = match self.inputs.toggle("forget")? {
            true => Windows::Unmasked,
            false => Windows::Shifted,
        };
        self.compare(&ready, "shifted", windows)?;
        let record = std::mem::take(&mut self.record);
        Ok(Progress::Done(Box::new(record.finish())))
    }
}

/// The patch to the right; at the right edge the one to the left.
fn neighbour(chosen: usize) -> usize {
    if chosen % ACROSS == ACROSS - 1 {
        chosen - 1
    } else {
        chosen + 1
    }
}

/// The tokens before the first block and after each one.
fn read(
    record: &mut Record,
    model: &Swin,
    image: &Array3<f32>,
) -> Result<Vec<Array2<f32>>, CellError> {
    let (mut seen, picture) = (Recorder::default(), image.view());
    shown!(
        record,
        engine::model::swin::Swin::forward,
        model,
        picture,
        Some(&mut seen)
    )?;
    let blocks = (0..BLOCKS).map(|n| format!("stages.0.blocks.{n}.output"));
    let names = std::iter::once("input".to_owned()).chain(blocks);
    names.map(|name| told(&seen, &name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::computation::Computation;
    use crate::parts::test_models::{computed, number};

    fn at(chosen: usize, blocks: usize, forget: bool) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("chosen", number(chosen as f64))
            .with("blocks", number(blocks as f64))
            .with("forget", crate::input::InputValue::Toggle(forget));
        computed(&SPEC, &picture::with_drawn_samples(given)).unwrap()
    }

    fn counts(c: &Computation, name: &str) -> Vec<f64> {
        let tensor = c.tensor(&format!("{name}.count")).unwrap();
        tensor.values.iter().copied().collect()
    }

    /// What the lesson opens with: the patch and its right neighbour touch, and belong to two windows.
    #[test]
    fn after_twelve_blocks_the_neighbour_has_heard_nothing() {
        let c = at(119, BLOCKS, false);
        assert_eq!(
            (c.at("row", &[]), c.at("column", &[])),
            (Some(7.0), Some(7.0))
        );
        assert_eq!(c.at("neighbour", &[]), Some(120.0));
        assert_eq!(c.at("fixed.neighbour", &[]), Some(0.0));
        assert_eq!(c.at("shifted.neighbour", &[]), Some(16.0));
        let mut fixed = vec![16.0; BLOCKS + 1];
        fixed[0] = 1.0;
        assert_eq!(counts(&c, "fixed"), fixed);
        let shifted = counts(&c, "shifted");
        assert_eq!(shifted[..6], [1.0, 16.0, 64.0, 144.0, 196.0, 256.0]);
        assert!(shifted[5..].iter().all(|&n| n == 256.0));
    }

    /// The leak test for every patch: outside its window not one bit changes, and inside all tokens do.
    #[test]
    fn no_bit_crosses_a_border_without_a_shift() {
        for chosen in (0..ACROSS * ACROSS).step_by(5) {
            let c = at(chosen, BLOCKS, false);
            let window = |row: usize, column: usize| (row / WINDOW, column / WINDOW);
            let here = window(chosen / ACROSS, chosen % ACROSS);
            for row in 0..ACROSS {
                for column in 0..ACROSS {
                    let changed = c.at("fixed.changed", &[row, column]).unwrap();
                    let inside = window(row, column) == here;
                    assert_eq!(changed > 0.0, inside, "{chosen}: {row}, {column}");
                }
            }
        }
    }

    /// What the lesson says of the corner: with the mask it reaches 36 patches in two blocks, without it
    /// also the opposite edges of the picture.
    #[test]
    fn a_forgotten_mask_joins_opposite_edges() {
        let (masked, forgotten) = (at(0, 2, false), at(0, 2, true));
        assert_eq!(counts(&masked, "shifted")[..3], [1.0, 16.0, 36.0]);
        assert_eq!(counts(&forgotten, "shifted")[..3], [1.0, 16.0, 64.0]);
        assert_eq!(masked.at("shifted.changed", &[15, 15]), Some(0.0));
        assert!(forgotten.at("shifted.changed", &[15, 15]).unwrap() > 0.0);
    }

    /// Before the first block only the patch itself differs.
    #[test]
    fn before_the_first_block_only_the_patch_differs() {
        for chosen in [0, 119, 255] {
            let c = at(chosen, 0, false);
            for name in ["fixed", "shifted"] {
                assert_eq!(c.at(&format!("{name}.now"), &[]), Some(1.0));
                let place = [chosen / ACROSS, chosen % ACROSS];
                let own = c.at(&format!("{name}.changed"), &place).unwrap();
                assert!(own > 0.0, "{chosen}: {own}");
            }
        }
        assert_eq!((neighbour(15), neighbour(16)), (14, 17));
    }
}
