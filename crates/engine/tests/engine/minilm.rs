//! all-MiniLM-L6-v2, a trained sentence encoder, against stored embeddings (a float64 forward in
//! numpy).

use engine::model::bert::{Bert, Config};
use engine::ndarray::{Array2, ArrayView1, ArrayView2, Ix2};
use serde_json::Value;
use std::time::Instant;

use crate::support::safetensors;

/// The tolerance that the project promises for these embeddings.
const EMBEDDING_TOLERANCE: f32 = 1e-5;

fn largest(found: ArrayView1<'_, f32>, expected: ArrayView1<'_, f32>) -> f32 {
    let differences = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |a, b| if a.is_nan() || a > b { a } else { b })
}

/// Rows of different lengths, and where they have ids.
fn padded(rows: &[Vec<usize>], left: bool) -> (Array2<usize>, Array2<bool>) {
    let longest = rows.iter().map(Vec::len).max().unwrap();
    let at = |b: usize, t: usize| {
        let shift = if left { longest - rows[b].len() } else { 0 };
        t.checked_sub(shift).and_then(|t| rows[b].get(t).copied())
    };
    let shape = (rows.len(), longest);
    let ids = Array2::from_shape_fn(shape, |(b, t)| at(b, t).unwrap_or(0));
    (
        ids,
        Array2::from_shape_fn(shape, |(b, t)| at(b, t).is_some()),
    )
}

#[test]
fn embeddings_are_the_stored_ones() {
    let Some(folder) = skip::shared("data/all-minilm-l6-v2") else {
        return;
    };
    let json = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    };
    let (numbers, reference) = (json("config.json"), json("reference.json"));
    let config = Config::from_keys(&|key| numbers[key].as_f64()).unwrap();
    let mut source = safetensors::parameters(&folder.join("model.safetensors"));
    let model = Bert::load(config, &mut source).unwrap();

    let stored = safetensors::tensors(&folder.join("reference-embeddings.safetensors"));
    let expected: ArrayView2<'_, f32> = stored[0].1.view().into_dimensionality::<Ix2>().unwrap();
    let rows: Vec<Vec<usize>> = serde_json::from_value(reference["token_ids"].clone()).unwrap();
    let start = Instant::now();
    let mut worst = 0.0f32;
    for (ids, expected) in rows.iter().zip(expected.outer_iter()) {
        let found = model.sentence(ids, None).unwrap();
        worst = worst.max(largest(found.view(), expected));
    }
    println!(
        "{} sentences in {:?}, largest difference {worst:e}",
        rows.len(),
        start.elapsed()
    );
    assert!(worst < EMBEDDING_TOLERANCE);

    // The same in one batch with padding.
    let (ids, mask) = padded(&rows, false);
    let batch = model.sentences(ids.view(), mask.view()).unwrap();
    for (found, expected) in batch.outer_iter().zip(expected.outer_iter()) {
        assert!(largest(found, expected) < EMBEDDING_TOLERANCE);
    }

    // The trained file has no masked-LM head.
    let error = model.forward(&[101, 102], None).unwrap_err().to_string();
    assert!(error.starts_with("parameter cls.predictions.transform.dense.weight"));
}
