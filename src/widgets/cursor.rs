//! Moves of a grid's cursor by keys.

use super::Place;

/// Rows that Page Up and Page Down move by.
const PAGE: usize = 5;

/// The place that `key` leads to from `at` in a row of `length`, `None` for any other key, and at
/// an end.
pub(crate) fn moved_along(key: &str, at: usize, length: usize) -> Option<usize> {
    match key {
        "ArrowLeft" => at.checked_sub(1),
        "ArrowRight" => Some(at + 1).filter(|&to| to < length),
        "Home" => Some(0),
        "End" => length.checked_sub(1),
        _ => None,
    }
}

/// The place that `key` leads to from `at` in a grid of `rows` x `cols`, `None` for any other key.
/// Home and End stay in the row; with `control` they go to the first and last cell of the grid.
pub(crate) fn moved(
    key: &str,
    control: bool,
    at: Place,
    rows: usize,
    cols: usize,
) -> Option<Place> {
    if rows == 0 || cols == 0 {
        return None;
    }
    let (last_row, last_col) = (rows - 1, cols - 1);
    let (row, col) = (at.0.min(last_row), at.1.min(last_col));
    Some(match key {
        "ArrowUp" => (row.saturating_sub(1), col),
        "ArrowDown" => ((row + 1).min(last_row), col),
        "ArrowLeft" => (row, col.saturating_sub(1)),
        "ArrowRight" => (row, (col + 1).min(last_col)),
        "PageUp" => (row.saturating_sub(PAGE), col),
        "PageDown" => ((row + PAGE).min(last_row), col),
        "Home" if control => (0, 0),
        "End" if control => (last_row, last_col),
        "Home" => (row, 0),
        "End" => (row, last_col),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::moved;

    #[test]
    fn keys_move_within_the_grid() {
        let step = |key, at| moved(key, false, at, 3, 4);
        assert_eq!(step("ArrowRight", (0, 0)), Some((0, 1)));
        assert_eq!(step("ArrowRight", (0, 3)), Some((0, 3)));
        assert_eq!(step("ArrowUp", (0, 3)), Some((0, 3)));
        assert_eq!(step("PageDown", (0, 3)), Some((2, 3)));
        assert_eq!(step("End", (1, 1)), Some((1, 3)));
        assert_eq!(moved("Home", true, (2, 2), 3, 4), Some((0, 0)));
        assert_eq!(step("a", (1, 1)), None);
        assert_eq!(
            step("ArrowDown", (9, 9)),
            Some((2, 3)),
            "a cursor outside comes back in"
        );
        assert_eq!(moved("ArrowDown", false, (0, 0), 0, 0), None);
    }
}
