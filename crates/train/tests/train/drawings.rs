//! Drawings are prepared as the training digits are.

use engine::drawing::{SIDE, centred};
use engine::ndarray::{Array2, Axis, Slice};
use skip::shared;
use training::digits::data::Mnist;

/// Each digit is put somewhere in a larger picture, and comes back as it was: to the bit where its
/// box has the usual size, which a few in ten thousand have not.
#[test]
fn digits_come_back_from_anywhere() {
    let Some(folder) = shared("data/mnist") else {
        return;
    };
    let digits = Mnist::read(&folder).unwrap().train;
    let mut changed = 0;
    for (n, digit) in digits.pictures.outer_iter().enumerate() {
        let (top, left) = (n % 23, n % 31);
        let mut page = Array2::zeros((60, 70));
        let mut place = page.slice_axis_mut(Axis(0), Slice::from(top..top + SIDE));
        place.slice_axis_inplace(Axis(1), Slice::from(left..left + SIDE));
        place.assign(&digit);
        let found = centred(page.view()).unwrap();
        changed += usize::from(found.index_axis(Axis(0), 0) != digit);
    }
    assert!(
        changed * 1000 <= digits.len(),
        "{changed} of {}",
        digits.len()
    );
}
