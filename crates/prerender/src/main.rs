//! Computes the default results of cells at build time and draws them with the cells' own views.
//!
//! `prerender MODELS` reads a JSON list of cells from its input: name, id, title, props and the
//! shared inputs of the page of each. It writes a list with a figure for each of them, in the same
//! order: its markup, and the fingerprint of what was computed. The kernels are those whose results
//! a browser repeats to the last bit.

use std::error::Error;

use cells::model_cache::ModelCache;
use site::prerender::{Figure, Wanted, figure};

fn main() -> Result<(), Box<dyn Error>> {
    let models = std::env::args_os()
        .nth(1)
        .ok_or("name the folder of the models")?;
    if !kernel::use_same_bits() {
        return Err("a kernel ran before the kernels were chosen".into());
    }
    let wanted: Vec<Wanted> = serde_json::from_reader(std::io::stdin().lock())?;
    let cache = ModelCache::of_folder(models);
    let figures: Vec<Figure> = wanted
        .iter()
        .map(|cell| figure(cell, &cache).map_err(|e| format!("{}: {e}", cell.name())))
        .collect::<Result<_, _>>()?;
    serde_json::to_writer(std::io::stdout().lock(), &figures)?;
    Ok(())
}
