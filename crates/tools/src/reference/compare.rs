//! Differences between a reference file and what a model computed.

use super::file::{Failure, Found, Reference, indices};
use serde_json::{Value, json};

/// Logits and hidden states, f32.
const VALUES_TOLERANCE: f64 = 1e-4;
/// The same of Llama, in whose files PyTorch's own rounding is larger.
const LLAMA_TOLERANCE: f64 = 2e-4;
/// Attention weights after softmax.
const WEIGHTS_TOLERANCE: f64 = 1e-5;
/// Mean and standard deviation of a whole tensor.
const MOMENTS_TOLERANCE: f64 = 1e-5;

/// The comparison of one field.
pub struct Line {
    file: String,
    model: String,
    field: String,
    max_abs: f64,
    max_rel: f64,
    tolerance: f64,
    /// Whether the largest difference is within the tolerance.
    pub pass: bool,
}

impl Line {
    /// As it is printed; a difference that is not a number is null.
    pub fn json(&self) -> Value {
        json!({
            "file": self.file, "model": self.model, "field": self.field, "max_abs": self.max_abs, "max_rel": self.max_rel,
            "tolerance": self.tolerance, "pass": self.pass,
        })
    }
}

/// One line for each compared field: the tensors' values, mean, standard deviation and argmax, and
/// the attention weights.
pub(crate) fn compare(
    path: &str,
    reference: &Reference,
    found: &Found,
) -> Result<Vec<Line>, Failure> {
    let line = |field: &str, pairs: &[(f64, f64)], tolerance: f64| {
        let max_abs = largest(
            pairs
                .iter()
                .map(|(found, expected)| (found - expected).abs()),
        );
        let max_rel = largest(pairs.iter().map(|(found, expected)| {
            let difference = (found - expected).abs();
            if difference == 0.0 {
                0.0
            } else {
                difference / expected.abs()
            }
        }));
        Line {
            file: path.to_owned(),
            model: reference.model.clone(),
            field: field.to_owned(),
            max_abs,
            max_rel,
            tolerance,
            pass: max_abs <= tolerance,
        }
    };
    let tolerance = if reference.model == "llama" {
        LLAMA_TOLERANCE
    } else {
        VALUES_TOLERANCE
    };
    let mut lines = Vec::new();
    for (field, summary) in reference.summaries()? {
        let tensor = found.tensors.get(field);
        let tensor = tensor.ok_or_else(|| format!("{field}: the model does not give it"))?;
        let (shape, stride) = (indices(&summary["shape"]), summary["stride"].as_u64());
        if shape.as_deref() != Some(tensor.shape()) {
            let (expected, found) = (&summary["shape"], tensor.shape());
            return Err(format!(
                "{field}: the file has the shape {expected}, the model gives {found:?}"
            )
            .into());
        }
        let stride = stride
            .filter(|&n| n > 0)
            .ok_or_else(|| format!("{field}: no stride"))?;
        let all: Vec<f64> = tensor.iter().map(|&x| f64::from(x)).collect();
        let expected = numbers(&summary["values"])
            .ok_or_else(|| format!("{field}: values are not numbers"))?;
        let every = all.iter().copied().step_by(usize::try_from(stride)?);
        let values: Vec<(f64, f64)> = every.zip(expected.iter().copied()).collect();
        if values.len() != expected.len() || values.is_empty() {
            return Err(format!(
                "{field}: {} values do not fit shape and stride",
                expected.len()
            )
            .into());
        }
        lines.push(line(field, &values, tolerance));
        let (mean, std) = moments(&all);
        for (name, found, tolerance) in [
            ("mean", mean, MOMENTS_TOLERANCE),
            ("std", std, MOMENTS_TOLERANCE),
            ("argmax", argmax(&all) as f64, 0.0),
        ] {
            let expected = summary[name]
                .as_f64()
                .ok_or_else(|| format!("{field}: no {name}"))?;
            lines.push(line(
                &format!("{field}.{name}"),
                &[(found, expected)],
                tolerance,
            ));
        }
    }
    if let Some(rows) = reference.content.get("attention") {
        let pairs = attention_pairs(rows, found)?;
        lines.push(line("attention", &pairs, WEIGHTS_TOLERANCE));
    }
    if lines.is_empty() {
        return Err("no field to compare".into());
    }
    Ok(lines)
}

/// Found and expected weights of all rows in the file, one after the other.
fn attention_pairs(rows: &Value, found: &Found) -> Result<Vec<(f64, f64)>, Failure> {
    let mut pairs = Vec::new();
    for entry in rows.as_array().ok_or("attention: no list")? {
        let index = |key: &str| {
            let n = entry[key].as_u64().and_then(|n| usize::try_from(n).ok());
            n.ok_or_else(|| format!("attention: no {key}"))
        };
        let (layer, head, row) = (index("layer")?, index("head")?, index("row")?);
        let weights = found.attention.row(layer, head, row);
        let weights = weights.ok_or_else(|| {
            format!("attention: the model has no layer {layer}, head {head}, row {row}")
        })?;
        let expected = numbers(&entry["weights"]).ok_or("attention: weights are not numbers")?;
        if expected.is_empty() || expected.len() > weights.len() {
            let (stored, found) = (expected.len(), weights.len());
            return Err(format!("attention: {stored} stored weights, rows have {found}").into());
        }
        pairs.extend(weights.iter().map(|&w| f64::from(w)).zip(expected));
    }
    Ok(pairs)
}

/// The largest; NaN if one is NaN.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |a, b| if a.is_nan() || a > b { a } else { b })
}

fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}

/// Mean and population standard deviation.
fn moments(x: &[f64]) -> (f64, f64) {
    let count = x.len() as f64;
    let mean = x.iter().sum::<f64>() / count;
    let variance = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// The first place of the largest value.
fn argmax(x: &[f64]) -> usize {
    let better = |best: usize, n: usize| if x[n] > x[best] { n } else { best };
    (1..x.len()).fold(0, better)
}
