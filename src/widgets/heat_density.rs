//! How much room each cell of a heat table gets, so that the whole table fits into the page.

/// Width of a printed digit at most, and of the letters of a heading on average, in pixels.
const DIGIT: f64 = 8.0;
const LETTER: f64 = 7.0;

/// Width of a cell with a number where there is room, and of one without.
const ROOMY: f64 = 58.0;
const SQUARE: f64 = 24.0;

/// The most columns for whose numbers even a wide page has room. A table of more is not laid out with
/// them first, which takes long.
const MOST_ROOMY: usize = 12;

/// Characters of a name that is narrower than a square.
const UPRIGHT: usize = 2;

/// Width below which a square could not be pointed at.
const SMALLEST: f64 = 5.0;

/// Space on both sides of a number where there is little room, and between cells.
const PADDING: f64 = 4.0;
const GAP: f64 = 1.0;

/// Which tables print their numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    /// None: the readout says them.
    Never,
    /// One that has room for them.
    WhereTheyFit,
    /// One whose reader asked for them; where there is no room, it scrolls.
    Always,
}

/// The way in which cells are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Density {
    /// Numbers with space around them.
    Roomy,
    /// Numbers side by side, in cells of this width in pixels.
    Compact(f64),
    /// Squares of this width in pixels. Their numbers are left to the readout, and the names of
    /// their columns are turned.
    Squares(f64),
    /// Squares whose columns have names short enough to be written upright.
    Upright(f64),
}

/// Measures of a table, in pixels and characters.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Measures {
    /// Width that the table may take.
    pub(super) room: f64,
    /// Width of the names of the rows.
    pub(super) row_names: f64,
    /// Number of columns.
    pub(super) cols: usize,
    /// Characters of the longest number.
    pub(super) digits: usize,
    /// Characters of the longest name of a column.
    pub(super) letters: usize,
}

impl Density {
    /// The roomiest form that fits: squares shrink and numbers are left out before anything is cut.
    pub(super) fn of(measures: Measures, numbers: Numbers) -> Self {
        let cols = measures.cols.max(1) as f64;
        let room = (measures.room - measures.row_names - 2.0 * PADDING) / cols - GAP;
        if measures.room <= 0.0 {
            let is_wide = numbers == Numbers::WhereTheyFit && measures.cols > MOST_ROOMY;
            return if numbers == Numbers::Never || is_wide {
                Self::Squares(SQUARE)
            } else {
                Self::Roomy
            };
        }
        let name = measures.letters as f64 * LETTER + PADDING;
        let number = measures.digits as f64 * DIGIT + PADDING;
        match room {
            _ if numbers == Numbers::Never => {}
            room if room >= name.max(number).max(ROOMY) => return Self::Roomy,
            room if room >= name.max(number) => return Self::Compact(room.floor()),
            _ if numbers == Numbers::Always => return Self::Compact(name.max(number)),
            _ => {}
        }
        let side = room.floor().clamp(SMALLEST, SQUARE);
        if measures.letters <= UPRIGHT {
            Self::Upright(side)
        } else {
            Self::Squares(side)
        }
    }

    /// Classes and style of the table.
    pub(super) fn markup(self) -> (&'static str, String) {
        let side = |side: f64| format!("--side: {side}px");
        match self {
            Self::Roomy => ("heat-table with-numbers", String::new()),
            Self::Compact(width) => ("heat-table with-numbers is-compact", side(width)),
            Self::Squares(width) => ("heat-table is-turned", side(width)),
            Self::Upright(width) => ("heat-table", side(width)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ten_tokens(room: f64) -> Measures {
        Measures {
            room,
            row_names: 45.0,
            cols: 10,
            digits: 4,
            letters: 5,
        }
    }

    #[test]
    fn cells_shrink_before_numbers_go_and_squares_shrink_before_anything_is_cut() {
        let of = |room, numbers| Density::of(ten_tokens(room), numbers);
        let fit = Numbers::WhereTheyFit;
        assert_eq!(of(0.0, fit), Density::Roomy, "not laid out yet");
        let wide = Measures {
            cols: 24,
            ..ten_tokens(0.0)
        };
        assert_eq!(Density::of(wide, fit), Density::Squares(24.0));
        assert_eq!(Density::of(wide, Numbers::Always), Density::Roomy);
        assert_eq!(of(650.0, fit), Density::Roomy);
        assert_eq!(of(520.0, fit), Density::Compact(45.0));
        assert_eq!(of(420.0, fit), Density::Squares(24.0));
        assert_eq!(of(250.0, fit), Density::Squares(18.0));
        assert_eq!(of(60.0, fit), Density::Squares(SMALLEST));
        assert_eq!(of(650.0, Numbers::Never), Density::Squares(24.0));
        assert_eq!(of(250.0, Numbers::Always), Density::Compact(39.0));
        let letters = Measures {
            letters: 1,
            ..ten_tokens(650.0)
        };
        assert_eq!(Density::of(letters, Numbers::Never), Density::Upright(24.0));
    }

    #[test]
    fn every_form_but_the_smallest_fits() {
        for room in 110..700 {
            let measures = ten_tokens(f64::from(room));
            let cell = match Density::of(measures, Numbers::WhereTheyFit) {
                Density::Roomy => ROOMY,
                Density::Compact(width) => width,
                Density::Squares(side) | Density::Upright(side) => side,
            };
            let width = measures.row_names + 10.0 * (cell + GAP);
            assert!(width <= measures.room, "{width} in {room}");
        }
    }
}
