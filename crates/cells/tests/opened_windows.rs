//! Cells on a Swin V2 that a reader has opened, with random parameters: which tokens a patch reaches, what a
//! token attends to, and what each head is worth.
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::sync::Arc;

use cells::lessons::vit::{class_heads, class_token_lens, patch_attention};
use cells::opened::window_reach::{self, OpenedWindows};
use cells::opened::{self, window_heads};
use cells::{CellError, CellSpec, Computation, InputValue, Inputs, Progress};
use engine::formula::image;
use engine::model::swin;
use engine::trace::Recorder;

fn defaults(spec: &CellSpec) -> Inputs {
    Inputs::defaults(&(spec.inputs)())
}

/// The result of a cell, and the number of slices that it took.
fn computed(
    spec: &CellSpec,
    inputs: &Inputs,
    opened: &Arc<OpenedWindows>,
) -> Result<(Computation, usize), CellError> {
    let mut job = opened::start(spec.name, inputs, Arc::clone(opened))?;
    for slices in 1.. {
        if let Progress::Done(computation) = job.advance()? {
            return Ok((*computation, slices));
        }
    }
    unreachable!("a job ends")
}

fn assert_near(found: f64, expected: f64, within: f64, what: &str) {
    let apart = (found - expected).abs();
    assert!(apart < within, "{what}: {found}, not {expected}");
}

/// Two stages of two blocks: 16 x 16 tokens with windows of 4 x 4, then 8 x 8 tokens.
fn small_windows() -> Arc<OpenedWindows> {
    let config = swin::Config {
        width: 8,
        depths: vec![2, 2],
        heads: vec![2, 2],
        window: 4,
        trained_windows: Vec::new(),
        patch: 2,
        image: 32,
        classes: 3,
        inner_ratio: 2,
        norm_eps: 1e-5,
    };
    let model = explain::small_swin::small_swin(&config, 7).unwrap();
    Arc::new(OpenedWindows::new(Arc::new(model), image(32, 0), None))
}

/// A head of a model with windows is off in all of them; blocks of two stages have different numbers of
/// heads, and a place without a head has no change.
#[test]
fn a_sweep_over_the_heads_of_windows_is_what_the_engine_gives_without_each() {
    let config = swin::Config {
        heads: vec![1, 2],
        ..small_windows().model.config().clone()
    };
    let model = explain::small_swin::small_swin(&config, 7).unwrap();
    let own = model.forward(image(32, 0).view(), None).unwrap();
    let opened = Arc::new(OpenedWindows::new(Arc::new(model), image(32, 0), None));
    let spec = &class_heads::OPENED;
    let (c, slices) = computed(spec, &defaults(spec), &opened).unwrap();
    assert_eq!((c.at("count", &[]), slices), (Some(6.0), 7));
    assert_eq!(c.tensor("changes").unwrap().shape(), [3, 4, 2]);
    let places = [(0, 0), (1, 0), (2, 0), (2, 1), (3, 0), (3, 1)];
    for (n, name) in c.words("classes").iter().enumerate() {
        let class: usize = name.trim_start_matches("class ").parse().unwrap();
        for (number, &(layer, head)) in places.iter().enumerate() {
            let picture = image(32, 0);
            let off = [number];
            let off = explain::switched_heads::swin_logits(&opened.model, picture.view(), &off);
            let expected = f64::from(off.unwrap()[class] - own[class]);
            assert_eq!(c.at("changes", &[n, layer, head]), Some(expected));
            assert!(expected != 0.0, "{number}");
        }
        assert_eq!(c.at("changes", &[n, 0, 1]), Some(f64::NEG_INFINITY));
        // Each head once, by its place.
        let order: Vec<f64> = (0..6)
            .map(|rank| c.at("order", &[n, rank]).unwrap())
            .collect();
        let mut sorted = order.clone();
        sorted.sort_by(f64::total_cmp);
        assert_eq!(sorted, [0.0, 2.0, 4.0, 5.0, 6.0, 7.0]);
    }
}

fn reached(opened: &Arc<OpenedWindows>, chosen: usize, blocks: usize) -> (Computation, usize) {
    let inputs = defaults(&window_reach::OPENED)
        .with("chosen", InputValue::Number(chosen as f64))
        .with("blocks", InputValue::Number(blocks as f64));
    computed(&window_reach::OPENED, &inputs, opened).unwrap()
}

/// A window of the second stage covers four of the first, so even windows that stay pass something on;
/// within a stage not one bit leaves them.
#[test]
fn a_patch_reaches_its_window_and_through_the_shift_its_neighbours() {
    let opened = small_windows();
    // Row 3, column 3: the last patch of the first window.
    let (c, slices) = reached(&opened, 51, 2);
    assert_eq!(slices, 5, "four passes, then the result");
    let counts = |name: &str| -> Vec<f64> {
        let tensor = c.tensor(&format!("{name}.count")).unwrap();
        tensor.values.iter().copied().collect()
    };
    assert_eq!(counts("tokens"), [256.0, 256.0, 256.0, 64.0, 64.0]);
    assert_eq!(counts("fixed"), [1.0, 16.0, 16.0, 16.0, 16.0]);
    // Rows and columns 0 to 5; merged, 0 to 2, all in the first window of the second stage, whose
    // shift reaches row and column 5.
    assert_eq!(counts("shifted"), [1.0, 16.0, 36.0, 16.0, 36.0]);
    assert_eq!(
        (c.at("stage.now", &[]), c.at("token.pixels", &[])),
        (Some(1.0), Some(2.0))
    );
    assert_eq!(
        (c.at("window", &[]), c.at("shift", &[])),
        (Some(4.0), Some(2.0))
    );
    for row in 0..16 {
        for column in 0..16 {
            let at = |name: &str| c.at(&format!("{name}.changed"), &[row, column]).unwrap() > 0.0;
            assert_eq!(at("fixed"), row < 4 && column < 4, "{row}, {column}");
            assert_eq!(at("shifted"), row < 6 && column < 6, "{row}, {column}");
        }
    }
    // The same patch after another block: nothing is run again.
    let (c, slices) = reached(&opened, 51, 3);
    assert_eq!(slices, 1);
    assert_eq!(c.tensor("shifted.changed").unwrap().shape(), [8, 8]);
    assert_eq!(
        (
            c.at("stage.now", &[]),
            c.at("token.pixels", &[]),
            c.at("own", &[])
        ),
        (Some(2.0), Some(4.0), Some(9.0))
    );
    // Beyond the last block, and beyond the last patch.
    let (c, slices) = reached(&opened, 60_000, 40);
    assert_eq!(slices, 5);
    assert_eq!(
        (c.at("blocks", &[]), c.at("chosen", &[])),
        (Some(4.0), Some(255.0))
    );
}

/// The weights of a token are those of its row in its window, at the places that the shift gives them.
#[test]
fn a_token_attends_within_its_window() {
    let opened = small_windows();
    let mut seen = Recorder::default();
    let picture = opened.image.view();
    opened.model.forward(picture, Some(&mut seen)).unwrap();
    let spec = &window_heads::OPENED;
    let at = |chosen: usize, block: usize| {
        let inputs = defaults(spec)
            .with("chosen", InputValue::Number(chosen as f64))
            .with("blocks", InputValue::Number(block as f64));
        computed(spec, &inputs, &opened).unwrap().0
    };
    // Row 5, column 2 of 16 x 16: window 4 of the first block, whose rows 4 to 7 it holds, at row 1 there.
    let c = at(5 * 16 + 2, 1);
    let weights = seen.get("stages.0.blocks.0.attention.weights").unwrap();
    assert_eq!(c.tensor("weights").unwrap().shape(), [2, 16, 16]);
    for head in 0..2 {
        let mut sum = 0.0;
        for row in 0..16 {
            for column in 0..16 {
                let found = c.at("weights", &[head, row, column]).unwrap();
                if !(4..8).contains(&row) || column >= 4 {
                    assert_eq!(found, f64::NEG_INFINITY);
                    continue;
                }
                let key = (row - 4) * 4 + column;
                assert_eq!(found, f64::from(weights[[4 * 2 + head, 4 + 2, key]]));
                assert_eq!(
                    c.at("window.weights", &[head, row - 4, column]),
                    Some(found)
                );
                sum += found;
            }
        }
        assert_near(sum, 1.0, 1e-5, "weights");
        assert_eq!(c.at("itself", &[head]), c.at("weights", &[head, 5, 2]));
        // Within a window of four tokens of two pixels no mean distance is above its diagonal.
        let distance = c.at("distance", &[head]).unwrap();
        assert!(
            distance > 0.0 && distance < 2.0 * 18.0_f64.sqrt(),
            "{distance}"
        );
    }
    let rollout = |c: &Computation| {
        let shares = &c.tensor("rollout").unwrap().values;
        assert_eq!(shares.shape(), [16, 16]);
        assert_near(shares.sum(), 1.0, 1e-4, "shares");
        // In the first stage a token covers one patch: half of it stays itself in each block.
        let own = c.at("own", &[]).unwrap() as usize;
        let itself = c.at("rollout", &[own / 16, own % 16]);
        assert_eq!(c.at("rollout.itself", &[]), itself);
        let others = shares
            .indexed_iter()
            .filter(|(at, _)| [at[0], at[1]] != [own / 16, own % 16]);
        let most = others.fold(0.0, |most: f64, (_, &share)| most.max(share));
        assert_eq!(c.at("rollout.most", &[]), Some(most));
        assert!(most > 0.0 && Some(most) < itself);
        c.at("rollout.reached", &[]).unwrap()
    };
    assert_eq!((rollout(&c), c.at("patches", &[])), (16.0, Some(256.0)));
    // Shifted by 2: rows and columns 2 to 5.
    let c = at(5 * 16 + 2, 2);
    assert_eq!(c.at("shift", &[]), Some(2.0));
    // Rows and columns 2 to 5 lie in four windows of the block before.
    assert_eq!(rollout(&c), 64.0);
    for row in 0..16 {
        for column in 0..16 {
            let is_seen = (2..6).contains(&row) && (2..6).contains(&column);
            let found = c.at("weights", &[1, row, column]).unwrap();
            assert_eq!(found.is_finite(), is_seen, "{row}, {column}");
        }
    }
    // The corner: its window holds all four corners, and only its own gets weight.
    let c = at(0, 2);
    for (row, column) in [(15, 0), (0, 15), (15, 15)] {
        assert_eq!(c.at("weights", &[0, row, column]), Some(0.0));
    }
    // The second stage has a quarter of the tokens; beyond the last block is the last.
    let c = at(5 * 16 + 2, 40);
    assert_eq!(
        (c.at("blocks", &[]), c.at("own", &[])),
        (Some(4.0), Some(17.0))
    );
    assert_eq!(c.tensor("weights").unwrap().shape(), [2, 8, 8]);
}

/// The lens on windows reads the last stage: its last row is the model's answer, and every token of the
/// stage has a class.
#[test]
fn the_last_stage_is_read_by_the_lens() {
    let opened = small_windows();
    let own = opened.model.forward(opened.image.view(), None).unwrap();
    let best = (0..3).max_by(|&a, &b| own[a].total_cmp(&own[b])).unwrap();
    let spec = &class_token_lens::OPENED;
    let at = |token: usize, blocks: usize| {
        let inputs = defaults(spec)
            .with("token", InputValue::Number(token as f64))
            .with("blocks", InputValue::Number(blocks as f64));
        computed(spec, &inputs, &opened).unwrap().0
    };
    let c = at(0, 48);
    assert_eq!(c.words("depths"), ["the merge", "block 1", "block 2"]);
    assert_eq!(c.words("prediction"), [format!("class {best}")]);
    assert_eq!(
        (c.at("stage", &[]), c.at("count", &[]), c.at("blocks", &[])),
        (Some(2.0), Some(2.0), Some(2.0))
    );
    assert_eq!(c.at("token.patches", &[]), Some(2.0));
    assert_eq!(c.tensor("patches.class").unwrap().shape(), [8, 8]);
    assert_eq!(c.tensor("probabilities").unwrap().shape(), [3, 3]);
    // A token, counted from 1, is read by itself, and the map says the same of it.
    let c = at(10, 1);
    assert_eq!(c.at("best", &[1]), c.at("patches.class", &[1, 1]));
}

/// A cell whose heads see all of a picture takes no model with windows.
#[test]
fn windows_are_refused_by_maps_of_the_whole_picture() {
    let spec = &patch_attention::OPENED;
    let found = computed(spec, &defaults(spec), &small_windows());
    let why = found.err().unwrap().to_string();
    assert!(why.contains("attends within windows"), "{why}");
}
