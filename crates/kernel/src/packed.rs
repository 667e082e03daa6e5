//! Weight matrices in the order in which the products read them, packed once when a model is
//! loaded.
//!
//! Eight rows make a panel; the last panel is filled up with rows of zeros. Within a panel the
//! numbers are in the order of the columns, so a product reads each panel once, from its beginning
//! to its end:
//!
//! ```text
//! matrix [M, K]                          memory
//! rows 0-7    | columns 0, 1, 2, ... |   panel 0 | panel 1 | panel 2 | ...
//! rows 8-15   | columns 0, 1, 2, ... |
//! ```

use crate::half_precision::widened;

/// Rows of a panel.
pub const PANEL_ROWS: usize = 8;

/// The most panels that a kernel multiplies at a time where there is one token.
pub(crate) const PANELS_TOGETHER: usize = 4;

/// Numbers that share one scale.
pub const BLOCK: usize = 32;

/// Sixteen bytes at an address that is a multiple of 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Chunk(pub(crate) [u8; 16]);

/// A chunk of zeros.
pub(crate) const EMPTY: Chunk = Chunk([0; 16]);

/// The storage of the numbers of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockType {
    /// A scale and 32 signed bytes.
    Q8_0,
    /// A scale and 32 numbers of 4 bits, from 0 to 15; the weight is the number minus 8.
    Q4_0,
    /// A scale, a least weight, and 32 numbers of 4 bits, from 0 to 15; the weight is scale · number
    /// + least.
    Q4_1,
    /// A scale, a least weight, and 32 numbers of 5 bits, from 0 to 31; the weight is scale ·
    /// number + least.
    Q5_1,
    /// Two scales, of 16 numbers each, and 32 numbers of 6 bits, from 0 to 63; the weight is scale
    /// · (number − 32). It holds the numbers of Q6_K. No file has it: the type is this project's
    /// own.
    Q6,
}

impl BlockType {
    /// Every type.
    pub const ALL: [Self; 5] = [Self::Q8_0, Self::Q4_0, Self::Q4_1, Self::Q5_1, Self::Q6];

    /// The name in GGUF files; of Q6, which no file has, this project's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Q8_0 => "Q8_0",
            Self::Q4_0 => "Q4_0",
            Self::Q4_1 => "Q4_1",
            Self::Q5_1 => "Q5_1",
            Self::Q6 => "Q6",
        }
    }

    /// Bytes of one block in a file: scales and a least weight in f16, and 32 numbers.
    pub fn block_bytes(self) -> usize {
        2 * self.panel_chunks()
    }

    /// Chunks of one block of eight rows: the numbers, then one of eight scales in f16 for each
    /// group, and one of eight least weights in f16 where there are any.
    pub(crate) const fn panel_chunks(self) -> usize {
        self.number_chunks() + self.heads()
    }

    /// Bits of a number.
    pub(crate) const fn bits(self) -> usize {
        match self {
            Self::Q8_0 => 8,
            Self::Q4_0 | Self::Q4_1 => 4,
            Self::Q5_1 => 5,
            Self::Q6 => 6,
        }
    }

    /// Groups of a block: the numbers of each have a scale of their own.
    pub(crate) const fn groups(self) -> usize {
        groups(self.bits())
    }

    /// True where a block has a least weight.
    pub(crate) const fn has_least(self) -> bool {
        matches!(self, Self::Q4_1 | Self::Q5_1)
    }

    /// Chunks of the numbers of one block of eight rows.
    pub(crate) const fn number_chunks(self) -> usize {
        2 * self.bits()
    }

    /// Numbers of two bytes before those of a block: its scales, and its least weight.
    const fn heads(self) -> usize {
        self.groups() + self.has_least() as usize
    }
}

/// Groups of a block whose numbers have `bits` bits.
pub(crate) const fn groups(bits: usize) -> usize {
    if bits == 6 { 2 } else { 1 }
}

/// The integer that is subtracted from a stored number of `bits` bits: half of their range. Bytes
/// have a sign already.
pub(crate) const fn centre(bits: usize) -> i8 {
    if bits == 8 { 0 } else { 1 << (bits - 1) }
}

/// The chunk of eight rows that has the fifth and sixth bits of number `k`, after those of the low
/// four bits, and their first bit in each half of a byte; a number has `high` such bits.
const fn high_place(k: usize, high: usize) -> (usize, usize) {
    let at = k / 4 * high;
    (8 + at / 4, at % 4)
}

/// A matrix `[M, K]` of quantized weights, K a multiple of 32, packed for [`crate::matmul_blocks`].
///
/// A panel is its blocks, one after the other: the numbers of eight rows and 32 columns, then their
/// eight scales. `r3 c0-3` are columns 0 to 3 of row 3; each line is a chunk of 16 bytes:
///
/// ```text
/// a block of Q8_0: 17 chunks, a number is a byte
/// chunk  0   r0 c0-3     r1 c0-3     r2 c0-3     r3 c0-3
/// chunk  1   r4 c0-3     r5 c0-3     r6 c0-3     r7 c0-3
/// chunk  2   r0 c4-7     r1 c4-7     r2 c4-7     r3 c4-7
/// chunk  3   r4 c4-7     r5 c4-7     r6 c4-7     r7 c4-7
///   ...
/// chunk 14   r0 c28-31   r1 c28-31   r2 c28-31   r3 c28-31
/// chunk 15   r4 c28-31   r5 c28-31   r6 c28-31   r7 c28-31
/// chunk 16   scales of r0, r1, r2, r3, r4, r5, r6, r7 in f16
///
/// a block of Q4_0: 9 chunks, a number is half a byte
/// chunk  0   low halves    r0 c0-3     r1 c0-3     r2 c0-3     r3 c0-3
///            high halves   r4 c0-3     r5 c0-3     r6 c0-3     r7 c0-3
/// chunk  1   low halves    r0 c4-7     r1 c4-7     r2 c4-7     r3 c4-7
///            high halves   r4 c4-7     r5 c4-7     r6 c4-7     r7 c4-7
///   ...
/// chunk  7   low halves    r0 c28-31   r1 c28-31   r2 c28-31   r3 c28-31
///            high halves   r4 c28-31   r5 c28-31   r6 c28-31   r7 c28-31
/// chunk  8   scales of r0, r1, r2, r3, r4, r5, r6, r7 in f16
///
/// a block of Q4_1: 10 chunks, as Q4_0, then
/// chunk  9   least weights of r0, r1, r2, r3, r4, r5, r6, r7 in f16
///
/// a block of Q5_1: 12 chunks, the low four bits in chunks 0 to 7 as Q4_0; a bit of rows 0 to 3 in
/// the low and one of rows 4 to 7 in the high half of a byte, from the lowest on for c0-3, c4-7, ...
/// chunk  8   fifth bits of c0-15
/// chunk  9   fifth bits of c16-31
/// chunk 10   scales in f16
/// chunk 11   least weights in f16
///
/// a block of Q6: 14 chunks, as Q5_1 with two bits in place of one
/// chunk  8   upper two bits of c0-7
///   ...
/// chunk 11   upper two bits of c24-31
/// chunk 12   scales of c0-15 in f16
/// chunk 13   scales of c16-31 in f16
/// ```
///
/// One instruction multiplies and sums four columns of a row. A weight takes as many bytes as in
/// the file.
#[derive(Clone, PartialEq)]
pub struct PackedBlocks {
    pub(crate) kind: BlockType,
    pub(crate) rows: usize,
    pub(crate) blocks: usize,
    pub(crate) chunks: Vec<Chunk>,
    /// [M / 8]: true where each scale and least weight of a panel is 0 or a normal number.
    plain: Vec<bool>,
}

impl std::fmt::Debug for PackedBlocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (rows, cols) = (self.rows, self.cols());
        write!(f, "PackedBlocks({:?} [{rows}, {cols}])", self.kind)
    }
}

/// One row of one block.
pub(crate) struct BlockRow {
    /// The integers; those of fewer than 8 bits are the stored ones minus [`centre`].
    pub(crate) numbers: [i8; BLOCK],
    /// The scales of the two halves: the same twice where the block has one.
    pub(crate) scales: [f32; 2],
    /// The least weight, where there is one.
    pub(crate) least: Option<f32>,
}

impl PackedBlocks {
    /// A matrix of zeros, to be filled by [`PackedBlocks::set_rows`] as its rows arrive.
    ///
    /// # Panics
    /// When `cols` is not a multiple of 32, or the size does not fit an address.
    #[track_caller]
    pub fn zeros(kind: BlockType, rows: usize, cols: usize) -> Self {
        assert!(
            cols.is_multiple_of(BLOCK),
            "{cols} columns are not whole blocks of {BLOCK}"
        );
        let blocks = cols / BLOCK;
        let count = rows
            .div_ceil(PANEL_ROWS)
            .checked_mul(blocks)
            .and_then(|count| count.checked_mul(kind.panel_chunks()));
        assert!(count.is_some(), "[{rows}, {cols}] is too large");
        let mut empty = [EMPTY; 17];
        // The middle of the numbers is the weight 0; with a scale of 0 it is that of a type with a
        // least weight too.
        match kind.bits() {
            4 => empty[..8].fill(Chunk([0x88; 16])),
            5 => empty[8..10].fill(Chunk([0xff; 16])),
            6 => empty[8..12].fill(Chunk([0xaa; 16])),
            _ => {}
        }
        let empty = &empty[..kind.panel_chunks()];
        let mut chunks = Vec::with_capacity(count.unwrap_or(0));
        while chunks.len() < count.unwrap_or(0) {
            chunks.extend_from_slice(empty);
        }
        Self {
            kind,
            rows,
            blocks,
            chunks,
            plain: vec![true; rows.div_ceil(PANEL_ROWS)],
        }
    }

    /// Packs a whole matrix: `bytes` are its blocks in the form of GGUF files, row by row.
    ///
    /// # Panics
    /// When `cols` is not a multiple of 32 or `bytes` are not that many blocks.
    #[track_caller]
    pub fn new(kind: BlockType, bytes: &[u8], rows: usize, cols: usize) -> Self {
        // bytes [M, K / 32] blocks
        let mut packed = Self::zeros(kind, rows, cols);
        assert!(
            Some(bytes.len()) == rows.checked_mul(packed.row_bytes()),
            "{} bytes are not [{rows}, {cols}] in {kind:?}",
            bytes.len()
        );
        packed.set_rows(0, bytes);
        packed
    }

    /// Packs some rows, from row `first` on.
    ///
    /// # Panics
    /// When `bytes` are not whole rows or go beyond the last one.
    #[track_caller]
    pub fn set_rows(&mut self, first: usize, bytes: &[u8]) {
        // bytes [some rows, K / 32] blocks
        let row_bytes = self.row_bytes();
        if row_bytes == 0 {
            assert!(bytes.is_empty(), "a row of no columns has no bytes");
            return;
        }
        let count = bytes.len() / row_bytes;
        assert!(
            bytes.len().is_multiple_of(row_bytes)
                && first <= self.rows
                && count <= self.rows - first,
            "{} bytes from row {first} on do not fit {self:?}",
            bytes.len()
        );
        let (mut row, mut rest) = (first, bytes);
        while !rest.is_empty() {
            let is_panel = row.is_multiple_of(PANEL_ROWS) && rest.len() >= PANEL_ROWS * row_bytes;
            let (count, sets_lows) = if is_panel && self.kind.bits() < 8 {
                self.set_lows(row / PANEL_ROWS, rest);
                (PANEL_ROWS, false)
            } else {
                (1, true)
            };
            let (part, after) = rest.split_at(count * row_bytes);
            for bytes in part.chunks_exact(row_bytes) {
                let blocks = bytes.chunks_exact(self.kind.block_bytes());
                for (block, bytes) in blocks.enumerate() {
                    self.set_block(row, block, bytes, sets_lows);
                }
                row += 1;
            }
            rest = after;
        }
    }

    /// Packs the low four bits of a whole panel, whose eight rows are the first of `bytes`: four
    /// columns of two rows at a time, rows r and r + 4, which share their bytes.
    fn set_lows(&mut self, panel: usize, bytes: &[u8]) {
        const LOW: u32 = 0x0f0f_0f0f;
        let (kind, row_bytes) = (self.kind, self.row_bytes());
        let (size, start) = (kind.block_bytes(), kind.block_bytes() - BLOCK / 2);
        let panels = self.chunks.chunks_exact_mut(kind.panel_chunks());
        let panel_blocks = panels.skip(panel * self.blocks).take(self.blocks);
        for (block, chunks) in panel_blocks.enumerate() {
            for quad in 0..PANEL_ROWS / 2 {
                let [a, b] = [quad, quad + PANEL_ROWS / 2].map(|row| {
                    let from = row * row_bytes + block * size + start;
                    bytes[from..from + BLOCK / 2].as_chunks::<4>().0
                });
                for (n, (a, b)) in a.iter().zip(b).enumerate() {
                    let (a, b) = (u32::from_le_bytes(*a), u32::from_le_bytes(*b));
                    // Byte j has number j in its low and number j + 16 in its high half.
                    let both = [a & LOW | (b & LOW) << 4, a >> 4 & LOW | b & !LOW];
                    for (half, both) in both.into_iter().enumerate() {
                        let to = &mut chunks[4 * half + n].0[4 * quad..4 * quad + 4];
                        to.copy_from_slice(&both.to_le_bytes());
                    }
                }
            }
        }
    }

    /// Packs one block of one row, in the form of a file; without the low four bits of its numbers
    /// where [`Self::set_lows`] has packed them.
    fn set_block(&mut self, row: usize, block: usize, bytes: &[u8], sets_lows: bool) {
        let (place, quad, upper) = (row % PANEL_ROWS, row % 4 * 4, row % PANEL_ROWS / 4);
        let kind = self.kind;
        let from = (row / PANEL_ROWS * self.blocks + block) * kind.panel_chunks();
        let chunks = &mut self.chunks[from..from + kind.panel_chunks()];
        let (heads, numbers) = bytes.split_at(2 * kind.heads());
        if kind == BlockType::Q8_0 {
            for (step, four) in numbers.chunks_exact(4).enumerate() {
                chunks[2 * step + upper].0[quad..quad + 4].copy_from_slice(four);
            }
        } else if sets_lows || kind.bits() > 4 {
            // Fifth and sixth bits come first, number by number from the lowest bit on.
            let high = kind.bits() - 4;
            let (highs, lows) = numbers.split_at(4 * high);
            let mut put = |chunk: usize, k: usize, shift: usize, mask: u8, bits: u8| {
                let byte = &mut chunks[chunk].0[quad + k % 4];
                let shift = shift + 4 * upper;
                *byte = *byte & !(mask << shift) | bits << shift;
            };
            let mask = (1 << high) - 1;
            // Byte j has number j in its low and number j + 16 in its high half.
            for (j, &pair) in lows.iter().enumerate() {
                for (k, low) in [(j, pair & 15), (j + 16, pair >> 4)] {
                    if sets_lows {
                        put(k / 4, k, 0, 15, low);
                    }
                    if high > 0 {
                        let (chunk, shift) = high_place(k, high);
                        let bits = highs[high * k / 8] >> (high * k % 8) & mask;
                        put(chunk, k, shift, mask, bits);
                    }
                }
            }
        }
        let last = chunks[kind.number_chunks()..].iter_mut();
        let mut plain = true;
        for (chunk, head) in last.zip(heads.chunks_exact(2)) {
            chunk.0[2 * place..2 * place + 2].copy_from_slice(head);
            let magnitude = u16::from_le_bytes([head[0], head[1]]) & 0x7fff;
            plain &= magnitude == 0 || (0x400..0x7c00).contains(&magnitude);
        }
        self.plain[row / PANEL_ROWS] &= plain;
    }

    /// True where each scale and least weight of a panel is 0 or a normal number, in half
    /// precision: then a quick conversion to `f32` is exact.
    pub(crate) fn is_plain(&self, panel: usize) -> bool {
        self.plain.get(panel).is_some_and(|plain| *plain)
    }

    /// The number of rows, M.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns, K.
    pub fn cols(&self) -> usize {
        self.blocks * BLOCK
    }

    /// The format of the blocks.
    pub fn kind(&self) -> BlockType {
        self.kind
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.chunks.as_slice())
    }

    /// The bits of the activations that a product takes: 8, with every type and on every machine.
    pub fn activation_bits(&self) -> u32 {
        8
    }

    /// Bytes of one row in a file.
    fn row_bytes(&self) -> usize {
        self.blocks * self.kind.block_bytes()
    }

    /// One row of one block.
    pub(crate) fn block(&self, row: usize, block: usize) -> BlockRow {
        let (place, quad, upper) = (row % PANEL_ROWS, row % 4 * 4, row % PANEL_ROWS / 4);
        let kind = self.kind;
        let from = (row / PANEL_ROWS * self.blocks + block) * kind.panel_chunks();
        let chunks = &self.chunks[from..from + kind.panel_chunks()];
        let bits = kind.bits();
        let mut numbers = [0; BLOCK];
        for (k, number) in numbers.iter_mut().enumerate() {
            *number = if bits == 8 {
                chunks[k / 4 * 2 + upper].0[quad + k % 4].cast_signed()
            } else {
                let half = |chunk: usize| chunks[chunk].0[quad + k % 4] >> (4 * upper) & 15;
                let mut stored = half(k / 4);
                if bits > 4 {
                    let (chunk, shift) = high_place(k, bits - 4);
                    stored |= (half(chunk) >> shift & ((1 << (bits - 4)) - 1)) << 4;
                }
                stored.cast_signed() - centre(bits)
            };
        }
        let head = |n: usize| {
            let eight = &chunks[kind.number_chunks() + n].0;
            widened(u16::from_le_bytes([eight[2 * place], eight[2 * place + 1]]))
        };
        BlockRow {
            numbers,
            scales: [head(0), head(kind.groups() - 1)],
            least: kind.has_least().then(|| head(1)),
        }
    }

    /// Writes row `row` as `f32` to `out`, such as a token's row of an embedding table.
    ///
    /// # Panics
    /// When there is no such row or `out` does not have the length K.
    #[track_caller]
    pub fn unpack_row(&self, row: usize, out: &mut [f32]) {
        // out [K]
        assert!(
            row < self.rows && out.len() == self.cols(),
            "row {row} into {} places of {self:?}",
            out.len()
        );
        for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
            let block = self.block(row, block);
            let centre = centre(self.kind.bits());
            for (k, (out, number)) in out.iter_mut().zip(block.numbers).enumerate() {
                let scale = block.scales[k / (BLOCK / 2)];
                *out = match block.least {
                    Some(least) => scale * f32::from(number + centre) + least,
                    None => scale * f32::from(number),
                };
            }
        }
    }
}

/// A matrix `[M, K]` of `f32`, packed for [`crate::matmul_f32`]: panels of eight rows, column by
/// column, without scales.
///
/// ```text
/// r0 c0   r1 c0   r2 c0   ...   r7 c0   r0 c1   r1 c1   ...   r7 c1   r0 c2   ...
/// ```
#[derive(Clone, PartialEq)]
pub struct PackedF32 {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    /// [M / 8, K, 8]
    pub(crate) numbers: Vec<f32>,
}

impl std::fmt::Debug for PackedF32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PackedF32([{}, {}])", self.rows, self.cols)
    }
}

impl PackedF32 {
    /// A matrix of zeros, to be filled by [`PackedF32::set_row`] as its rows arrive.
    ///
    /// # Panics
    /// When the size does not fit an address.
    #[track_caller]
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let count = rows
            .div_ceil(PANEL_ROWS)
            .checked_mul(PANEL_ROWS)
            .and_then(|rows| rows.checked_mul(cols));
        assert!(count.is_some(), "[{rows}, {cols}] is too large");
        Self {
            rows,
            cols,
            numbers: vec![0.0; count.unwrap_or(0)],
        }
    }

    /// Packs a matrix whose rows follow each other.
    ///
    /// # Panics
    /// When `weights` are not `rows` of `cols`.
    #[track_caller]
    pub fn new(weights: &[f32], rows: usize, cols: usize) -> Self {
        // weights [M, K]
        assert!(
            Some(weights.len()) == rows.checked_mul(cols),
            "{} weights are not [{rows}, {cols}]",
            weights.len()
        );
        let mut packed = Self::zeros(rows, cols);
        if cols > 0 {
            for (row, weights) in weights.chunks_exact(cols).enumerate() {
                packed.set_row(row, weights);
            }
        }
        packed
    }

    /// Packs one row.
    ///
    /// # Panics
    /// When there is no such row or `weights` are not K.
    #[track_caller]
    pub fn set_row(&mut self, row: usize, weights: &[f32]) {
        // weights [K]
        assert!(
            row < self.rows && weights.len() == self.cols,
            "{} weights as row {row} of {self:?}",
            weights.len()
        );
        let from = self.place(row, 0);
        let places = self.numbers[from..].iter_mut().step_by(PANEL_ROWS);
        for (place, weight) in places.zip(weights) {
            *place = *weight;
        }
    }

    /// The index of an element in `numbers`.
    fn place(&self, row: usize, col: usize) -> usize {
        (row / PANEL_ROWS * self.cols + col) * PANEL_ROWS + row % PANEL_ROWS
    }

    /// The number in row `row` and column `col`.
    pub(crate) fn number(&self, row: usize, col: usize) -> f32 {
        self.numbers[self.place(row, col)]
    }

    /// The number of rows, M.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns, K.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Bytes in memory.
    pub fn bytes(&self) -> usize {
        size_of_val(self.numbers.as_slice())
    }

    /// Writes row `row`, with the bits that were packed, to `out`.
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
