//! The sizes of a model, from any list of numbers with names.
//!
//! The same size is called `layers` in our reference files, `num_hidden_layers` or `n_layer` in
//! Hugging Face's `config.json` and `block_count` in GGUF files; a model's `Config::from_keys`
//! knows all of them. In GGUF files the keys start with the architecture (`llama.block_count`),
//! which the lookup has to put before the name.

use crate::decimal::decimal;
use crate::error::{EngineError, Result};

/// Gives a number by its name, where there is one.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<f64>;

/// A size above which nothing is built: products of two sizes stay far from the end of `usize`, in
/// wasm too.
pub(super) const LARGEST: usize = 1 << 24;

/// The first number among `names`.
pub(super) fn number(lookup: Lookup<'_>, names: &[&'static str]) -> Option<f64> {
    names.iter().find_map(|name| lookup(name))
}

/// A whole number from 1 to [`LARGEST`] under the first of `names` that is known; `None` where none
/// is.
pub(super) fn optional(
    model: &'static str,
    lookup: Lookup<'_>,
    names: &[&'static str],
) -> Result<Option<usize>> {
    let Some(found) = number(lookup, names) else {
        return Ok(None);
    };
    let whole = found.fract() == 0.0 && (1.0..=LARGEST as f64).contains(&found);
    if whole {
        return Ok(Some(found as usize));
    }
    let name = names.first().copied().unwrap_or_default();
    let expected = format!("a whole number from 1 to {LARGEST}");
    Err(EngineError::value(model, name, expected, decimal(found)))
}

/// As [`optional`], and it must be there.
pub(super) fn size(
    model: &'static str,
    lookup: Lookup<'_>,
    names: &[&'static str],
) -> Result<usize> {
    let name = names.first().copied().unwrap_or_default();
    let missing = || {
        EngineError::value(
            model,
            name,
            format!("given as {}", names.join(" or ")),
            "none",
        )
    };
    optional(model, lookup, names)?.ok_or_else(missing)
}

/// An error unless `part` divides `whole`.
pub(super) fn divides(
    model: &'static str,
    name: &'static str,
    part: usize,
    whole: usize,
) -> Result<()> {
    if part > 0 && whole.is_multiple_of(part) {
        return Ok(());
    }
    Err(EngineError::value(
        model,
        name,
        format!("a divisor of {whole}"),
        part,
    ))
}
