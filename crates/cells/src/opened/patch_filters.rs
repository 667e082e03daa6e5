//! The filters of the patch embedding E of a Vision Transformer that the reader has opened, and what the
//! chosen one gives for each patch of the reader's picture.

use std::sync::Arc;

use engine::math;
use engine::nn::patch::uncut;
use engine::trace::Recorder;
use ndarray::{Array1, Array2, Axis, Ix2};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::parts::opened_picture;
use crate::picture_model::OpenedPicture;
use crate::spec::{CellSpec, Job, Run, WorkerKind, once};

/// Filters along a side of the picture of filters.
const ACROSS: usize = 8;

/// The cell `patch-filters`.
pub const OPENED: CellSpec = CellSpec {
    name: "patch-filters",
    inputs: || {
        let last = (ACROSS * ACROSS - 1) as f64;
        vec![
            opened_picture::input(),
            InputSpec::number(
                "chosen",
                "Chosen filter, counted from 0, the largest first",
                (0.0, last, 1.0),
                0.0,
            ),
        ]
    },
    run: Run::Sliced(WorkerKind::Models),
};

/// Starts the cell on a model and the picture that it read last.
///
/// # Errors
/// None: the computation has its own.
pub fn start_opened(
    inputs: &Inputs,
    opened: Arc<OpenedPicture>,
) -> Result<Box<dyn Job>, CellError> {
    let inputs = inputs.clone();
    Ok(once(move || compute(&inputs, &opened)))
}

fn compute(inputs: &Inputs, opened: &OpenedPicture) -> Result<Computation, CellError> {
    let tokens = opened.model.tokens();
    let (weight, side) = (&tokens.patches.weight, tokens.patch);
    let all: Vec<usize> = (0..weight.dim().0).collect();
    // [C, C_0·P·P], a filter in each row.
    let filters = weight.rows(&all)?;
    let norms: Array1<f32> = (filters.outer_iter())
        .map(|row| math::sqrt(row.iter().map(|x| x * x).sum()))
        .collect();
    let mut order = all;
    order.sort_by(|&a, &b| norms[b].total_cmp(&norms[a]));
    order.truncate(ACROSS * ACROSS);
    let last = order.len().saturating_sub(1);
    let chosen = inputs.count("chosen")?.min(last);
    let dimension = order.get(chosen).copied().unwrap_or_default();
    let mut record = Record::new();
    // Each filter with a scale of its own: grey is zero. Where the model has fewer, the rest is grey.
    let mut gallery = Array2::from_elem((ACROSS * ACROSS, filters.ncols()), 0.5);
    for (mut row, &filter) in gallery.outer_iter_mut().zip(&order) {
        let filter = filters.row(filter);
        let largest = filter
            .iter()
            .fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        row.assign(&filter.mapv(|x| 0.5 + 0.5 * x / largest));
    }
    let pixels = ACROSS * side;
    let channels = tokens.channels();
    let gallery = uncut(gallery.view(), channels, pixels, pixels, side)?;
    record.tensor("gallery", &gallery);
    let mut seen = Recorder::default();
    tokens.forward(opened.image.view(), &mut Some(&mut seen))?;
    let embedding = seen
        .get("embedding")
        .map(|found| found.view().into_dimensionality::<Ix2>());
    let Some(Ok(embedding)) = embedding else {
        return Err(CellError::Missing("embedding".to_owned()));
    };
    let (rows, columns) = opened.grid();
    let values = embedding.index_axis(Axis(1), dimension);
    let response = Array2::from_shape_fn((rows, columns), |(row, column)| {
        values[row * columns + column]
    });
    record.tensor("response", &response);
    record.number("chosen", chosen as f64);
    record.number("dimension", (dimension + 1) as f64);
    record.number("norm", f64::from(norms[dimension]));
    record.number("count", filters.nrows() as f64);
    record.number("listed", order.len() as f64);
    record.number("patch", side as f64);
    record.number("numbers", filters.ncols() as f64);
    Ok(record.finish())
}
