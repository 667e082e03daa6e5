//! Weight matrices of numbers with 16 bits, which products widen to `f32` as they read them: half
//! of the memory of [`crate::PackedF32`], the same results to the bit.

use super::half_precision::widened;
use super::packed::PANEL_ROWS;

/// The form of a number with 16 bits. `f32` holds every number of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HalfType {
    /// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
    F16,
    /// bfloat16: the upper half of an `f32`.
    Bf16,
}

impl HalfType {
    /// Every form.
    pub const ALL: [Self; 2] = [Self::F16, Self::Bf16];

    /// The name in GGUF files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => "F16",
            Self::Bf16 => "BF16",
        }
    }

    /// The value of a number.
    fn value(self, bits: u16) -> f32 {
        match self {
            Self::F16 => widened(bits),
            Self::Bf16 => f32::from_bits(u32::from(bits) << 16),
        }
    }
}

/// The numbers of eight rows in one column, at an address that is a multiple of 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(16))]
struct Column([u16; PANEL_ROWS]);

/// The power of 2 with which numbers in F16 are stored where all of them allow it: the smallest
/// number, 2⁻²⁴, then is a normal one, so no multiplication meets a number below those. Many
/// processors multiply such numbers so slowly that one weight in four hundred of them makes a whole
/// product several times as slow.
const SHIFT: u16 = 10;

/// The bits of 2⁶ in F16, below which a number times 2¹⁰ has a place.
const SHIFTED_BELOW: u16 = (6 + 15) << 10;

/// The bits of infinity in F16; those of a NaN are more.
const INFINITE: u16 = 0x7c00;

/// A finite number in F16, below 2⁶, times 2¹⁰: exact, for it grows.
fn shifted(bits: u16) -> u16 {
    let wide = (widened(bits & 0x7fff) * f32::from(1_u16 << SHIFT)).to_bits();
    // The exponent has another bias in `f32`. Zero has none.
    bits & 0x8000 | (wide >> 13).saturating_sub(112 << 10) as u16
}

/// A matrix `[M, K]` of numbers with 16 bits, packed for [`crate::matmul_half`]: in panels of eight
/// rows, column by column, as [`crate::PackedF32`].
///
/// Those in F16 are stored times 2¹⁰ where all are below 2⁶, as weights are.
#[derive(Clone, PartialEq)]
pub struct PackedHalf {
    kind: HalfType,
    rows: usize,
    cols: usize,
    /// [M / 8, K]
    columns: Vec<Column>,
    /// A weight is a stored number times this.
    scale: f32,
    /// False where an infinity or a NaN was packed in F16: the fast widening takes finite numbers.
    is_finite: bool,
}

impl std::fmt::Debug for PackedHalf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, rows, cols) = (self.kind, self.rows, self.cols);
        write!(f, "PackedHalf({kind:?} [{rows}, {cols}])")
    }
}

impl PackedHalf {
    /// A matrix of zeros.
    ///
    /// # Panics
    /// When the size does not fit an address.
    #[track_caller]
    pub fn zeros(kind: HalfType, rows: usize, cols: usize) -> Self {
        let count = rows.div_ceil(PANEL_ROWS).checked_mul(cols);
        assert!(count.is_some(), "[{rows}, {cols}] is too large");
        Self {
            kind,
            rows,
            cols,
            columns: vec![Column([0; PANEL_ROWS]); count.unwrap_or(0)],
            scale: 1.0,
            is_finite: true,
        }
    }

    /// Packs a whole matrix: `bytes` are its numbers, little-endian, row by row.
    ///
    /// # Panics
    /// When `bytes` are not `rows` of `cols` numbers.
    #[track_caller]
    pub fn new(kind: HalfType, bytes: &[u8], rows: usize, cols: usize) -> Self {
        // bytes [M, K] numbers
        let mut packed = Self::zeros(kind, rows, cols);
        let row_bytes = size_of::<u16>() * cols;
        assert!(
            Some(bytes.len()) == rows.checked_mul(row_bytes),
            "{} bytes are not [{rows}, {cols}] in {kind:?}",
            bytes.len()
        );
        let (numbers, _) = bytes.as_chunks();
        let numbers = numbers.iter().map(|bytes| u16::from_le_bytes(*bytes));
        let mut is_shifted = false;
        if kind == HalfType::F16 {
            let largest = numbers.clone().map(|bits| bits & 0x7fff).max();
            packed.is_finite = largest < Some(INFINITE);
            is_shifted = largest < Some(SHIFTED_BELOW);
            if is_shifted {
                packed.scale = 1.0 / f32::from(1_u16 << SHIFT);
            }
        }
        let places = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        for ((row, col), bits) in places.zip(numbers) {
            let bits = if is_shifted { shifted(bits) } else { bits };
            packed.columns[row / PANEL_ROWS * cols + col].0[row % PANEL_ROWS] = bits;
        }
        packed
    }

    /// The number in row `row` and column `col`.
    pub(crate) fn number(&self, row: usize, col: usize) -> f32 {
        let column = &self.columns[row / PANEL_ROWS * self.cols + col];
        self.kind.value(column.0[row % PANEL_ROWS]) * self.scale
    }

    /// The number of rows, M.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns, K.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The form of the numbers.
    pub fn kind(&self) -> HalfType {
        self.kind
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.columns.as_slice())
    }

    /// Writes the values of row `row` to `out`.
    ///
    /// # Panics
    /// When there is no such row or `out` does not have the length K.
    #[track_caller]
    pub fn unpack_row(&self, row: usize, out: &mut [f32]) {
        // out [K]
        assert!(
            row < self.rows && out.len() == self.cols,
            "row {row} into {} places of {self:?}",
            out.len()
        );
        for (col, out) in out.iter_mut().enumerate() {
            *out = self.number(row, col);
        }
    }
}

/// What the fast products read.
#[cfg(any(
    target_arch = "x86_64",
    all(target_family = "wasm", target_feature = "simd128")
))]
impl PackedHalf {
    /// The stored numbers: `[M / 8, K, 8]`, at an address that is a multiple of 16.
    pub(crate) fn bits(&self) -> *const u16 {
        self.columns.as_ptr().cast()
    }

    /// A weight is a stored number times this power of 2.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// False where an infinity or a NaN was packed in F16.
    pub(crate) fn is_finite(&self) -> bool {
        self.is_finite
    }
}
