//! A picture cut into square patches, and the vector of the one that the reader chose.

use ndarray::{Array3, Axis, Slice};

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::picture;
use crate::spec::{CellSpec, Run};

/// The cell `patch-cutter`.
pub const SPEC: CellSpec = CellSpec {
    name: "patch-cutter",
    inputs,
    run: Run::Now(compute),
};

/// A picture, how large it is made, and how it is cut.
pub(crate) fn cut_inputs() -> Vec<InputSpec> {
    vec![
        picture::input("picture", "Picture"),
        InputSpec::number(
            "size",
            "Side of the picture in pixels",
            (8.0, 224.0, 8.0),
            224.0,
        ),
        InputSpec::number(
            "patch",
            "Side P of a patch in pixels",
            (2.0, 64.0, 1.0),
            32.0,
        ),
    ]
}

fn inputs() -> Vec<InputSpec> {
    let chosen = "Chosen patch, counted from 0";
    let mut all = cut_inputs();
    all.push(InputSpec::toggle("grey", "Grey instead of colour", false));
    all.push(InputSpec::toggle(
        "shuffle",
        "The same patches, shuffled",
        false,
    ));
    all.push(InputSpec::number(
        "chosen",
        chosen,
        (0.0, 12_543.0, 1.0),
        16.0,
    ));
    all
}

/// The reader's picture as the model sees it: square, scaled, in colour or grey, `[C, S, S]`.
///
/// # Errors
/// [`CellError::Input`] while the picture is missing.
pub(crate) fn prepared(
    record: &mut Record,
    inputs: &Inputs,
    grey: bool,
) -> Result<Array3<f32>, CellError> {
    let image = scaled(record, inputs, inputs.count("size")?)?;
    if grey {
        return Ok(shown!(record, engine::picture::grey, image.view()));
    }
    Ok(image)
}

/// The reader's picture, square and of this size, in colour, `[3, S, S]`.
///
/// # Errors
/// [`CellError::Input`] while the picture is missing.
pub(crate) fn scaled(
    record: &mut Record,
    inputs: &Inputs,
    size: usize,
) -> Result<Array3<f32>, CellError> {
    let pixels = inputs.pixels("picture")?;
    let (width, height) = (pixels.width, pixels.height);
    let image = shown!(
        record,
        engine::picture::from_rgb8,
        &pixels.rgb[..],
        width,
        height
    )?;
    let image = shown!(record, engine::picture::centre_square, image.view());
    Ok(shown!(
        record,
        engine::picture::resize,
        image.view(),
        size,
        size
    )?)
}

/// The side of a patch, which must fit into the picture.
///
/// # Errors
/// [`CellError::Input`] where it does not.
pub(crate) fn patch_side(inputs: &Inputs) -> Result<usize, CellError> {
    let (size, patch) = (inputs.count("size")?, inputs.count("patch")?);
    if patch > size {
        let message = format!(
            "a patch of {patch} pixels does not fit into a picture of {size}; choose a smaller patch or a larger picture"
        );
        return Err(CellError::input(
            "patch",
            "Side P of a patch in pixels",
            message,
        ));
    }
    Ok(patch)
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let side = patch_side(inputs)?;
    let mut record = Record::new();
    let mut image = prepared(&mut record, inputs, inputs.toggle("grey")?)?;
    let (channels, height, width) = image.dim();
    let tokens = shown!(record, engine::nn::patch::count, height, width, side);
    let mut order: Vec<usize> = (0..tokens).collect();
    if inputs.toggle("shuffle")? {
        order = explain::jigsaw::shuffled(&order);
        let whole = |length: usize| length - length % side;
        let rows = image.slice_axis(Axis(1), Slice::from(..whole(height)));
        let whole = rows.slice_axis(Axis(2), Slice::from(..whole(width)));
        image = shown!(
            record,
            explain::jigsaw::rearranged,
            whole.view(),
            side,
            &order[..]
        )?;
    }
    let patches = shown!(record, engine::nn::patch::cut, image.view(), side)?;
    let chosen = inputs.count("chosen")?.min(tokens - 1);
    let across = width / side;
    let vector = patches.row(chosen);
    record.number("tokens", tokens as f64);
    record.number("width", patches.ncols() as f64);
    record.number("channels", channels as f64);
    record.number("across", across as f64);
    record.number("left_out", (width - across * side) as f64);
    record.number("chosen", chosen as f64);
    record.number("row", (chosen / across) as f64);
    record.number("column", (chosen % across) as f64);
    record.number("from", order[chosen] as f64);
    record.tensor("vector", &vector);
    // The chosen patch as a picture again, one plane a channel, to look at.
    let planes = vector
        .to_shape((channels, side, side))
        .map_err(|e| CellError::Mismatch(e.to_string()))?;
    for (plane, name) in planes.axis_iter(Axis(0)).zip(plane_names(channels)) {
        record.tensor(name, &plane);
    }
    record.tensor("picture", &image);
    Ok(record.finish())
}

fn plane_names(channels: usize) -> &'static [&'static str] {
    if channels == 1 {
        &["grey"]
    } else {
        &["red", "green", "blue"]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn at(size: f64, patch: f64, grey: bool) -> Result<Computation, CellError> {
        let given = Inputs::defaults(&inputs())
            .with("size", InputValue::Number(size))
            .with("patch", InputValue::Number(patch))
            .with("grey", InputValue::Toggle(grey));
        SPEC.compute(&picture::with_drawn_samples(given))
    }

    /// The curriculum's checks: 224 pixels give 49, 196 and 256 tokens; 768 values at P = 16; an 8
    /// x 8 grey picture gives 4 tokens of 16.
    #[test]
    fn the_counts_of_the_curriculum() {
        for (patch, tokens) in [(32.0, 49.0), (16.0, 196.0), (14.0, 256.0)] {
            assert_eq!(
                at(224.0, patch, false).unwrap().at("tokens", &[]),
                Some(tokens)
            );
        }
        assert_eq!(
            at(224.0, 16.0, false)
                .unwrap()
                .tensor("vector")
                .unwrap()
                .shape(),
            [768]
        );
        let small = at(8.0, 4.0, true).unwrap();
        assert_eq!(small.at("tokens", &[]), Some(4.0));
        assert_eq!(small.tensor("vector").unwrap().shape(), [16]);
    }

    #[test]
    fn the_chosen_patch_is_cut_from_its_place() {
        let c = at(224.0, 32.0, false).unwrap();
        assert_eq!(
            (c.at("row", &[]), c.at("column", &[])),
            (Some(2.0), Some(2.0))
        );
        let picture = &c.tensor("picture").unwrap().values;
        for (channel, name) in ["red", "green", "blue"].into_iter().enumerate() {
            assert_eq!(c.at(name, &[3, 5]), Some(picture[[channel, 67, 69]]));
            assert_eq!(
                c.at("vector", &[channel * 1024 + 3 * 32 + 5]),
                Some(picture[[channel, 67, 69]])
            );
        }
    }

    /// Shuffled patches are the same rows in another order, also where P leaves a remainder.
    #[test]
    fn a_shuffle_moves_rows_and_changes_none() {
        let row = |chosen: usize, shuffle: bool| {
            let given = Inputs::defaults(&inputs())
                .with("size", InputValue::Number(32.0))
                .with("patch", InputValue::Number(10.0))
                .with("chosen", InputValue::Number(chosen as f64))
                .with("shuffle", InputValue::Toggle(shuffle));
            let computed = SPEC.compute(&picture::with_drawn_samples(given)).unwrap();
            let from = computed.at("from", &[]).unwrap() as usize;
            (from, computed.tensor("vector").unwrap().values.clone())
        };
        let mut seen = Vec::new();
        for chosen in 0..9 {
            let (from, vector) = row(chosen, true);
            assert_eq!(vector, row(from, false).1);
            assert_eq!(row(chosen, false).0, chosen);
            seen.push(from);
        }
        assert!(!seen.is_sorted());
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_remainder_is_counted_and_too_large_a_patch_refused() {
        assert_eq!(
            at(224.0, 15.0, false).unwrap().at("left_out", &[]),
            Some(14.0)
        );
        assert!(matches!(at(8.0, 9.0, false), Err(CellError::Input { .. })));
    }

    #[test]
    fn a_picture_that_has_not_arrived_gets_a_message() {
        assert!(matches!(
            SPEC.compute(&Inputs::defaults(&inputs())),
            Err(CellError::Input { .. })
        ));
    }
}
