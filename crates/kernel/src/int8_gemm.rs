//! The int8 GEMM: products of packed Q8_0, Q4_0 and Q4_1 weights with quantized activations, written
//! once over [`Int8Kernel`].
//!
//! [`PackedBlocks`] has a picture of the packed layout. Integers are summed within a block and
//! converted to `f32` once, so their sum is exact in any order. The blocks of a row are added in
//! their order, by the same operations for one token and for many. So the bits of a result do not
//! depend on the position of its row or token, or on the number of tokens.
//!
//! With one token every weight is needed once, and the loop reads the packed bytes as they come
//! from memory. With many tokens each panel of eight rows is first expanded into the form that the
//! inner loop reads, and stays in the nearest cache while it is multiplied with all tokens in
//! tiles:
//!
//! ```text
//! prepared panel, block after block      | STEPS x 32 bytes of weights | 32 bytes of partial sums to start from | 8 scales, f32 |
//! prepared tile of n tokens, likewise    | STEPS x n x 4 bytes of activations        | n scales, f32 |
//! ```
//!
//! A weight of Q4_1 is scale · (number − 8) + offset, where the offset, least weight + 8 · scale, is
//! the same for a whole block. So it is multiplied as one of Q4_0, and then the sum of the block's
//! activations, scaled by the offset, is added. Prepared panels have eight offsets after the scales
//! of a block, prepared tiles n sums.

use std::ops::Range;

use super::inner_step::{InnerStep, InnerSteps};
use super::packed::{BLOCK, BlockType, EMPTY, PANEL_ROWS, PackedBlocks};
use super::quantized_activations::QuantizedActivations;

/// Bytes of weights that one step of the inner loop reads, of eight rows together.
pub(crate) const STEP_WEIGHTS: usize = 32;
/// Bytes of activations that one step reads, of one token.
pub(crate) const STEP_TOKEN: usize = 4;

/// Bytes of the scales, or of the partial sums, of eight rows.
const EIGHT: usize = 32;

/// Bytes of the scale of one token in one block.
const FACTOR: usize = 4;

/// The most steps of a block.
const MAX_STEPS: usize = 16;

/// The operations of an instruction set on the totals of eight rows.
///
/// # Safety
/// The machine has the instruction set of the implementation. Each pointer is valid for as many
/// bytes or numbers as the method's comment says; none needs to be aligned.
pub(crate) trait Rows {
    /// Eight integers, the sums of a block.
    type Sums: Copy;
    /// Eight `f32`, the totals of the rows.
    type Totals: Copy;

    /// Eight zeros.
    unsafe fn zero() -> Self::Totals;
    /// The same integer eight times.
    unsafe fn same(sum: i32) -> Self::Sums;
    /// Eight `f32` at `from`.
    unsafe fn totals(from: *const f32) -> Self::Totals;
    /// Eight numbers in half precision at `from`, as `f32`.
    unsafe fn halves(from: *const u8) -> Self::Totals;
    /// The updated totals: totals + sums · (scales · factor).
    unsafe fn add_scaled(
        totals: Self::Totals,
        sums: Self::Sums,
        scales: Self::Totals,
        factor: f32,
    ) -> Self::Totals;
    /// Writes eight numbers to `to`.
    unsafe fn store(totals: Self::Totals, to: *mut f32);
}

/// The products with many tokens, step by step.
///
/// # Safety
/// As [`Rows`].
pub(crate) trait Steps: Rows {
    /// Sums of a block while its steps are added, 32 bytes.
    type PartialSums: Copy;
    /// The weights of one step, of eight rows.
    type Weights: Copy;

    /// The number of tokens that a panel is multiplied with at a time, 4 or 8: as many as have
    /// their sums in registers.
    const TILE: usize;
    /// The number of steps of a block: 8 with four bytes a row and step, 16 with two numbers of 16
    /// bits.
    const STEPS: usize;
    /// The name of [`Self::step`].
    const STEP: InnerStep;

    /// Writes 32 activations at `from` as `STEPS` · `STEP_TOKEN` bytes to `to`.
    unsafe fn prepare_token(from: *const i8, to: *mut u8);
    /// The partial sums at `from`.
    unsafe fn partial_sums(from: *const i32) -> Self::PartialSums;
    /// Writes partial sums to `to`.
    unsafe fn store_partial_sums(parts: Self::PartialSums, to: *mut i32);
    /// `STEP_WEIGHTS` bytes at `from`.
    unsafe fn weights(from: *const u8) -> Self::Weights;
    /// The updated partial sums: parts + the products of one step, `STEP_TOKEN` bytes of a token at
    /// `token`.
    unsafe fn step(
        parts: Self::PartialSums,
        weights: Self::Weights,
        token: *const u8,
    ) -> Self::PartialSums;
    /// The sums of a block whose steps are all added.
    unsafe fn whole(parts: Self::PartialSums) -> Self::Sums;
}

/// The form in which steps read weights of one type, Q8_0 or else Q4_0, of which Q4_1 has the
/// numbers.
///
/// # Safety
/// As [`Rows`].
pub(crate) trait Prepare<const Q8: bool>: Steps {
    /// Writes eight rows of a block, 256 bytes of Q8_0 or 128 of Q4_0 at `from`, as `STEPS` ·
    /// `STEP_WEIGHTS` bytes to `to`. Returns the partial sums to start from.
    unsafe fn prepare(from: *const u8, to: *mut u8) -> Self::PartialSums;
}

/// The products with one token, and the steps for many.
///
/// # Safety
/// As [`Rows`].
pub(crate) trait Int8Kernel: Prepare<true> {
    /// The steps for weights of 4 bits, for which an instruction set may have quicker ones.
    type Nibbles: Prepare<false>;
    /// The activations of one block of one token, in registers or in memory.
    type Block: Copy;

    /// The names of the steps of [`Self::dot_q8`] and of [`Self::dot_q4`].
    const ONE_TOKEN: [InnerStep; 2];

    /// The 32 activations at `from`.
    unsafe fn block(from: *const i8) -> Self::Block;
    /// Products of eight rows of Q8_0, 256 bytes at `weights`, with a block.
    unsafe fn dot_q8(weights: *const u8, block: Self::Block) -> Self::Sums;
    /// The same for Q4_0, 128 bytes at `weights`; `sum` is that of the activations.
    unsafe fn dot_q4(weights: *const u8, block: Self::Block, sum: i32) -> Self::Sums;
}

/// The names of the steps that [`matmul_blocks`] takes.
pub(crate) const fn inner_steps<E: Int8Kernel>() -> InnerSteps {
    let [eight, four] = E::ONE_TOKEN;
    [[eight, E::STEP], [four, <E::Nibbles as Steps>::STEP]]
}

/// The number `turns`, hidden from the compiler, which would otherwise unroll the loop and first
/// load the values that all turns share: more than there are registers.
#[inline(always)]
pub(crate) fn opaque(turns: usize) -> usize {
    // SAFETY: a reference is valid to read.
    unsafe { std::ptr::read_volatile(&turns) }
}

/// Writes eight totals, or the `left` of them whose rows exist.
///
/// # Safety
/// `to` has room for `left` numbers.
#[inline(always)]
unsafe fn put<E: Rows>(totals: E::Totals, to: *mut f32, left: usize) {
    // SAFETY: no more than `left` numbers are written; the buffer holds all eight.
    unsafe {
        if left >= PANEL_ROWS {
            E::store(totals, to);
        } else {
            let mut eight = [0.0_f32; PANEL_ROWS];
            E::store(totals, eight.as_mut_ptr());
            std::ptr::copy_nonoverlapping(eight.as_ptr(), to, left);
        }
    }
}

/// The product out = X · Wᵀ for the rows of some panels; see [`crate::matmul_blocks`].
///
/// # Safety
/// The machine has the instruction set of `E`; `weights` and `tokens` have the same number of
/// blocks in a row; `panels` exist; `out` is valid for `[T, M]` numbers, and no other thread
/// touches the columns of these panels meanwhile.
#[inline(always)]
pub(crate) unsafe fn matmul_blocks<E: Int8Kernel>(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    // weights [M, K], tokens [T, K], out [T, M], of which the columns of these panels are written
    // SAFETY: `Kernels::matmul_blocks` has checked that the shapes fit each other; both types hold
    // as much as their shapes say.
    unsafe {
        match (tokens.tokens, weights.kind) {
            (1, BlockType::Q8_0) => one_token::<E, true>(weights, tokens, panels, out),
            (1, _) => one_token::<E, false>(weights, tokens, panels, out),
            (_, BlockType::Q8_0) => many_tokens::<E, true>(weights, tokens, panels, out),
            _ => many_tokens::<E::Nibbles, false>(weights, tokens, panels, out),
        }
    }
}

/// The offsets of eight rows from their scales and least weights.
///
/// # Safety
/// The machine has the instruction set.
#[inline(always)]
unsafe fn offsets<E: Rows>(least: E::Totals, scales: E::Totals) -> E::Totals {
    // SAFETY: as the caller vouches. 8 · scale is exact, so fused or not the bits are the same.
    unsafe { E::add_scaled(least, E::same(8), scales, 1.0) }
}

/// The product with one token: reads every weight once, in the order of memory.
///
/// # Safety
/// As [`matmul_blocks`], with one token and weights of the numbers that `Q8` says.
#[inline(always)]
unsafe fn one_token<E: Int8Kernel, const Q8: bool>(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    let size = if Q8 { 16 } else { 8 } * 16;
    let has_offsets = !Q8 && weights.kind == BlockType::Q4_1;
    let block_bytes = size + if has_offsets { 32 } else { 16 };
    let panel_bytes = weights.blocks * block_bytes;
    let numbers = tokens.numbers.as_ptr();
    for panel in panels {
        let row = panel * PANEL_ROWS;
        // SAFETY: a panel of `blocks` blocks of `block_bytes` begins at `row`; the token has as many
        // blocks.
        unsafe {
            let mut from = weights
                .chunks
                .as_ptr()
                .cast::<u8>()
                .add(panel * panel_bytes);
            let mut totals = E::zero();
            for block in 0..weights.blocks {
                let token = E::block(numbers.add(block * BLOCK));
                let sums = if Q8 {
                    E::dot_q8(from, token)
                } else {
                    E::dot_q4(from, token, *tokens.sums.get_unchecked(block))
                };
                let scales = E::halves(from.add(size));
                let factor = *tokens.scales.get_unchecked(block);
                totals = E::add_scaled(totals, sums, scales, factor);
                if has_offsets {
                    let offsets = offsets::<E>(E::halves(from.add(size + 16)), scales);
                    let sums = E::same(*tokens.sums.get_unchecked(block));
                    totals = E::add_scaled(totals, sums, offsets, factor);
                }
                from = from.add(block_bytes);
            }
            put::<E>(totals, out.add(row), weights.rows - row);
        }
    }
}

/// The product with any number of tokens, a panel of eight rows at a time.
///
/// # Safety
/// As [`matmul_blocks`], with weights of the numbers that `Q8` says.
#[inline(always)]
unsafe fn many_tokens<E: Prepare<Q8>, const Q8: bool>(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    let (rows, blocks, count) = (weights.rows, weights.blocks, tokens.tokens);
    let has_offsets = !Q8 && weights.kind == BlockType::Q4_1;
    let extra = usize::from(has_offsets);
    let token_bytes = blocks * (E::STEPS * STEP_TOKEN + (1 + extra) * FACTOR);
    let panel_bytes = blocks * (E::STEPS * STEP_WEIGHTS + (2 + extra) * EIGHT);
    // Chunks, so that no load crosses a line of the cache.
    let mut prepared = vec![EMPTY; (count * token_bytes).div_ceil(16)];
    let mut panel = vec![EMPTY; panel_bytes / 16];
    let (prepared, panel) = (
        prepared.as_mut_ptr().cast::<u8>(),
        panel.as_mut_ptr().cast::<u8>(),
    );
    let whole = count / E::TILE * E::TILE;
    // SAFETY: the buffers above have these sizes; `row` is the first of a panel and `token` + the
    // tile's tokens are at most `count`.
    unsafe {
        for token in 0..count {
            let (first, n) = if token < whole {
                (token / E::TILE * E::TILE, E::TILE)
            } else {
                (token, 1)
            };
            prepare_token::<E>(
                tokens,
                has_offsets,
                token,
                n,
                token - first,
                prepared.add(first * token_bytes),
            );
        }
        for number in panels {
            let row = number * PANEL_ROWS;
            prepare_panel::<E, Q8>(weights, has_offsets, number, panel);
            let (left, mut token) = (rows - row, 0);
            while token < count {
                let (from, to) = (
                    prepared.add(token * token_bytes),
                    out.add(token * rows + row),
                );
                if token >= whole {
                    tile::<E, 1>(panel, from, has_offsets, blocks, to, rows, left);
                    token += 1;
                } else if E::TILE == 8 {
                    tile::<E, 8>(panel, from, has_offsets, blocks, to, rows, left);
                    token += 8;
                } else {
                    tile::<E, 4>(panel, from, has_offsets, blocks, to, rows, left);
                    token += 4;
                }
            }
        }
    }
}

/// Expands a panel: block by block its steps, the partial sums to start from, the scales, and the
/// offsets where there are any.
///
/// # Safety
/// The machine has the instruction set, the weights are of the type that `Q8` and `has_offsets` say,
/// the panel exists, and `to` has room for it.
#[inline(always)]
unsafe fn prepare_panel<E: Prepare<Q8>, const Q8: bool>(
    weights: &PackedBlocks,
    has_offsets: bool,
    panel: usize,
    mut to: *mut u8,
) {
    let chunks = weights.kind.panel_chunks();
    let numbers = if Q8 { 16 } else { 8 };
    // SAFETY: block < blocks stays inside the panel.
    unsafe {
        let mut from = weights.chunks.as_ptr().add(panel * weights.blocks * chunks);
        for _ in 0..weights.blocks {
            let parts = E::prepare(from.cast(), to);
            to = to.add(E::STEPS * STEP_WEIGHTS);
            E::store_partial_sums(parts, to.cast());
            let scales = E::halves(from.add(numbers).cast());
            E::store(scales, to.add(EIGHT).cast());
            to = to.add(2 * EIGHT);
            if has_offsets {
                let least = E::halves(from.add(numbers + 1).cast());
                E::store(offsets::<E>(least, scales), to.cast());
                to = to.add(EIGHT);
            }
            from = from.add(chunks);
        }
    }
}

/// Writes a token as number `index` of a tile of `tile` tokens: block by block the steps of all
/// tokens, then all their scales, and the sums of their activations where there are offsets.
///
/// # Safety
/// `token` exists, the machine has the instruction set, and `to` has room for the tile.
#[inline(always)]
unsafe fn prepare_token<E: Steps>(
    tokens: &QuantizedActivations,
    has_offsets: bool,
    token: usize,
    tile: usize,
    index: usize,
    to: *mut u8,
) {
    let first = token * tokens.blocks;
    // SAFETY: block < blocks and step < STEPS stay inside the token and the tile; a step is at most
    // 4 · 16 bytes a block.
    unsafe {
        for block in 0..tokens.blocks {
            let mut steps = [[0_u8; STEP_TOKEN]; MAX_STEPS];
            let from = tokens.numbers.as_ptr().add((first + block) * BLOCK);
            E::prepare_token(from, steps.as_mut_ptr().cast());
            let extra = usize::from(has_offsets);
            let to = to.add(block * tile * (E::STEPS * STEP_TOKEN + (1 + extra) * FACTOR));
            for (step, bytes) in steps.iter().enumerate().take(E::STEPS) {
                let to = to.add((step * tile + index) * STEP_TOKEN);
                to.cast::<[u8; STEP_TOKEN]>().write(*bytes);
            }
            let to = to.add((E::STEPS * tile * STEP_TOKEN) + index * FACTOR);
            to.cast::<f32>()
                .write_unaligned(*tokens.scales.get_unchecked(first + block));
            if has_offsets {
                let sum = *tokens.sums.get_unchecked(first + block);
                to.add(tile * FACTOR).cast::<i32>().write_unaligned(sum);
            }
        }
    }
}

/// The product of a prepared panel with a prepared tile of `N` tokens, all sums in registers.
///
/// # Safety
/// The machine has the instruction set; `panel` has `blocks` prepared blocks and `tokens` is a tile
/// of `N` with as many; `out` is at `N` rows, `stride` apart, with room for `left` numbers each.
#[inline(always)]
unsafe fn tile<E: Steps, const N: usize>(
    panel: *const u8,
    tokens: *const u8,
    has_offsets: bool,
    blocks: usize,
    out: *mut f32,
    stride: usize,
    left: usize,
) {
    // SAFETY: block < blocks, step < STEPS and n < N stay inside the caller's bounds.
    unsafe {
        let steps = opaque(E::STEPS);
        let (mut weights, mut token) = (panel, tokens);
        let mut totals = [E::zero(); N];
        for _ in 0..blocks {
            let behind = weights.add(E::STEPS * STEP_WEIGHTS);
            let mut parts = [E::partial_sums(behind.cast()); N];
            for _ in 0..steps {
                let eight = E::weights(weights);
                for n in 0..N {
                    parts[n] = E::step(parts[n], eight, token.add(n * STEP_TOKEN));
                }
                weights = weights.add(STEP_WEIGHTS);
                token = token.add(N * STEP_TOKEN);
            }
            let scales = E::totals(weights.add(EIGHT).cast());
            for n in 0..N {
                let factor = token.add(n * FACTOR).cast::<f32>().read_unaligned();
                totals[n] = E::add_scaled(totals[n], E::whole(parts[n]), scales, factor);
            }
            weights = weights.add(2 * EIGHT);
            if has_offsets {
                let offsets = E::totals(weights.cast());
                for n in 0..N {
                    let factor = token.add(n * FACTOR).cast::<f32>().read_unaligned();
                    let sum = token.add((N + n) * FACTOR).cast::<i32>().read_unaligned();
                    totals[n] = E::add_scaled(totals[n], E::same(sum), offsets, factor);
                }
                weights = weights.add(EIGHT);
                token = token.add(N * FACTOR);
            }
            token = token.add(N * FACTOR);
        }
        for n in 0..N {
            put::<E>(totals[n], out.add(n * stride), left);
        }
    }
}
