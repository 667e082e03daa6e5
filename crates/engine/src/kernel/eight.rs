//! The products with packed weights, written once over eight rows at a time.
//!
//! Whole numbers are summed within a block and turned into `f32` once, so their sum is exact in any order. The blocks of a row are
//! added in their order, by the same operations for one token and for many. So neither the place of a row or token nor their
//! number changes a bit of a result.
//!
//! One token: every weight is needed once, and the loop reads the packed bytes as they come from memory. Many tokens: the panel
//! of eight rows is first written out in the form that the inner loop wants, then all tokens pass over it in tiles; it stays in
//! the nearest cache.

use std::ops::Range;

use super::activations::Activations;
use super::packed::{BLOCK, BlockType, PANEL_ROWS, PackedBlocks};

/// Bytes that one step of the inner loop reads: eight rows of weights, and one token.
pub(super) const STEP_WEIGHTS: usize = 32;
pub(super) const STEP_TOKEN: usize = 4;

/// Bytes of scales (`f32`) or offsets (`i32`) of eight rows.
const EIGHT: usize = 32;

/// How many tokens pass over a panel together.
const TILE: usize = 4;

/// What an instruction set does to eight rows.
///
/// # Safety
/// Every method needs the instruction set of its implementation; that is the callers' one common promise. Pointers are valid
/// for what the method's comment says; none need be aligned.
pub(super) trait Eight {
    /// Eight whole numbers.
    type Sums: Copy;
    /// Eight `f32`.
    type Totals: Copy;
    /// Eight rows of the weights of one step.
    type Weights: Copy;
    /// The activations of one block of one token, in registers or in memory, as the products with one token want them.
    type Block: Copy;

    /// Steps of a block: 8 with four bytes a row and step, 16 with two numbers of 16 bits.
    const STEPS: usize;

    /// Eight zeros.
    unsafe fn zero() -> Self::Totals;
    /// Eight `f32` at `from`.
    unsafe fn totals(from: *const f32) -> Self::Totals;
    /// Eight numbers in half precision at `from`, as `f32`.
    unsafe fn halves(from: *const u8) -> Self::Totals;
    /// totals + sums · (scales · factor).
    unsafe fn add_scaled(
        totals: Self::Totals,
        sums: Self::Sums,
        scales: Self::Totals,
        factor: f32,
    ) -> Self::Totals;
    /// Writes eight numbers to `to`.
    unsafe fn store(totals: Self::Totals, to: *mut f32);

    /// The 32 activations at `from`.
    unsafe fn block(from: *const i8) -> Self::Block;
    /// Products of eight rows of Q8_0, 256 bytes at `weights`, with a block.
    unsafe fn dot_q8(weights: *const u8, block: Self::Block) -> Self::Sums;
    /// The same for Q4_0, 128 bytes at `weights`; `sum` is that of the activations.
    unsafe fn dot_q4(weights: *const u8, block: Self::Block, sum: i32) -> Self::Sums;

    /// Writes 32 activations at `from` as `STEPS` · `STEP_TOKEN` bytes to `to`.
    unsafe fn prepare_token(from: *const i8, to: *mut u8);
    /// Writes eight rows of Q8_0, 256 bytes at `from`, as `STEPS` · `STEP_WEIGHTS` bytes to `to`. Returns the sums to start with.
    unsafe fn prepare_q8(from: *const u8, to: *mut u8) -> Self::Sums;
    /// The same for Q4_0, 128 bytes at `from`.
    unsafe fn prepare_q4(from: *const u8, to: *mut u8) -> Self::Sums;
    /// Eight whole numbers at `from`.
    unsafe fn sums(from: *const i32) -> Self::Sums;
    /// Writes eight whole numbers to `to`.
    unsafe fn store_sums(sums: Self::Sums, to: *mut i32);
    /// `STEP_WEIGHTS` bytes at `from`.
    unsafe fn weights(from: *const u8) -> Self::Weights;
    /// sums + the products of one step, `STEP_TOKEN` bytes of a token at `token`.
    unsafe fn step(sums: Self::Sums, weights: Self::Weights, token: *const u8) -> Self::Sums;
}

/// Writes eight totals, or the `left` of them whose rows exist.
///
/// SAFETY: `left` places are at `to`.
#[inline(always)]
unsafe fn put<E: Eight>(totals: E::Totals, to: *mut f32, left: usize) {
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

#[inline(always)]
pub(super) unsafe fn matmul_blocks<E: Eight>(
    weights: &PackedBlocks,
    tokens: &Activations,
    panels: Range<usize>,
    out: *mut f32,
) {
    // weights [M, K], tokens [T, K], out [T, M], of which the columns of these panels are written
    // SAFETY: `Kernels::matmul_blocks` has checked that the shapes fit each other; both types hold as much as their shapes say.
    unsafe {
        match (tokens.tokens, weights.kind) {
            (1, BlockType::Q8_0) => one_token::<E, true>(weights, tokens, panels, out),
            (1, BlockType::Q4_0) => one_token::<E, false>(weights, tokens, panels, out),
            _ => many_tokens::<E>(weights, tokens, panels, out),
        }
    }
}

/// One token: reads every weight once, in the order of memory.
#[inline(always)]
unsafe fn one_token<E: Eight, const Q8: bool>(
    weights: &PackedBlocks,
    tokens: &Activations,
    panels: Range<usize>,
    out: *mut f32,
) {
    let size = if Q8 { 16 } else { 8 } * 16;
    let panel_bytes = weights.blocks * (size + 16);
    let numbers = tokens.numbers.as_ptr();
    for panel in panels {
        let row = panel * PANEL_ROWS;
        // SAFETY: a panel of `blocks` blocks of `size` + 16 bytes begins at `row`; the token has as many blocks.
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
                from = from.add(size + 16);
            }
            put::<E>(totals, out.add(row), weights.rows - row);
        }
    }
}

/// Any number of tokens, a panel of eight rows at a time.
#[inline(always)]
unsafe fn many_tokens<E: Eight>(
    weights: &PackedBlocks,
    tokens: &Activations,
    panels: Range<usize>,
    out: *mut f32,
) {
    let (rows, blocks, count) = (weights.rows, weights.blocks, tokens.tokens);
    let token_bytes = blocks * E::STEPS * STEP_TOKEN;
    let block_bytes = E::STEPS * STEP_WEIGHTS + 2 * EIGHT;
    let mut prepared = vec![0_u8; count * token_bytes];
    // Chunks, so that no load crosses a line of the cache.
    let mut panel = vec![super::packed::Chunk([0; 16]); blocks * block_bytes / 16];
    let (numbers, factors) = (tokens.numbers.as_ptr(), tokens.scales.as_ptr());
    let (prepared, panel) = (prepared.as_mut_ptr(), panel.as_mut_ptr().cast::<u8>());
    let chunks = weights.kind.panel_chunks();
    // SAFETY: the buffers above have these sizes; `row` is the first of a panel and `token` + the tile's tokens are at most
    // `count`.
    unsafe {
        for block in 0..count * blocks {
            E::prepare_token(
                numbers.add(block * BLOCK),
                prepared.add(block * E::STEPS * STEP_TOKEN),
            );
        }
        for place in panels {
            let row = place * PANEL_ROWS;
            let from = weights.chunks.as_ptr().add(place * blocks * chunks);
            for block in 0..blocks {
                let from = from.add(block * chunks).cast::<u8>();
                let to = panel.add(block * block_bytes);
                let sums = match weights.kind {
                    BlockType::Q8_0 => E::prepare_q8(from, to),
                    BlockType::Q4_0 => E::prepare_q4(from, to),
                };
                let to = to.add(E::STEPS * STEP_WEIGHTS);
                E::store_sums(sums, to.cast());
                let scales = E::halves(from.add(16 * (chunks - 1)));
                E::store(scales, to.add(EIGHT).cast());
            }
            let mut token = 0;
            while token < count {
                let (from, factors) = (
                    prepared.add(token * token_bytes),
                    factors.add(token * blocks),
                );
                let to = out.add(token * rows + row);
                if token + TILE <= count {
                    tile::<E, TILE>(panel, from, factors, blocks, to, rows, rows - row);
                    token += TILE;
                } else {
                    tile::<E, 1>(panel, from, factors, blocks, to, rows, rows - row);
                    token += 1;
                }
            }
        }
    }
}

/// Eight rows of a panel by `N` tokens, all sums in registers.
///
/// SAFETY: `panel` has `blocks` prepared blocks; `tokens` and `factors` are at `N` tokens of as many; `out` is at `N` rows,
/// `stride` apart, with `left` places each.
#[inline(always)]
unsafe fn tile<E: Eight, const N: usize>(
    panel: *const u8,
    tokens: *const u8,
    factors: *const f32,
    blocks: usize,
    out: *mut f32,
    stride: usize,
    left: usize,
) {
    let (token_bytes, block_bytes) = (
        blocks * E::STEPS * STEP_TOKEN,
        E::STEPS * STEP_WEIGHTS + 2 * EIGHT,
    );
    // SAFETY: block < blocks, step < STEPS and n < N stay inside what the caller vouches for.
    unsafe {
        let mut totals = [E::zero(); N];
        for block in 0..blocks {
            let weights = panel.add(block * block_bytes);
            let token = tokens.add(block * E::STEPS * STEP_TOKEN);
            let behind = weights.add(E::STEPS * STEP_WEIGHTS);
            let mut sums = [E::sums(behind.cast()); N];
            for step in 0..E::STEPS {
                let weights = E::weights(weights.add(step * STEP_WEIGHTS));
                for n in 0..N {
                    let token = token.add(n * token_bytes + step * STEP_TOKEN);
                    sums[n] = E::step(sums[n], weights, token);
                }
            }
            let scales = E::totals(behind.add(EIGHT).cast());
            for n in 0..N {
                let factor = *factors.add(n * blocks + block);
                totals[n] = E::add_scaled(totals[n], sums[n], scales, factor);
            }
        }
        for n in 0..N {
            put::<E>(totals[n], out.add(n * stride), left);
        }
    }
}
