//! The int8 GEMM: products of packed quantized weights with quantized activations, written once
//! over [`Int8Kernel`].
//!
//! [`PackedBlocks`] has a picture of the packed layout. Integers are summed within a block, or
//! within a group of it that has a scale of its own, and converted to `f32` once, so their sum is
//! exact in any order. The blocks of a row are added in their order, by the same operations for one
//! token and for many. So the bits of a result do not depend on the position of its row or token,
//! or on the number of tokens.
//!
//! With one token every weight is needed once, and the loop reads the packed bytes as they come
//! from memory. With many tokens each panel of eight rows is first expanded into the form that the
//! inner loop reads, and stays in the nearest cache while it is multiplied with all tokens in
//! tiles. Numbers of 4, 5 and 6 bits become bytes, so one inner loop multiplies all types:
//!
//! ```text
//! prepared panel, group after group      | steps x 32 bytes of weights | 32 bytes of partial sums to start from | 8 scales, f32 |
//! prepared tile of n tokens, likewise    | steps x n x 4 bytes of activations        | n scales, f32 |
//! ```
//!
//! A weight of Q4_1 is scale · (number − 8) + offset, where the offset, least weight + 8 · scale, is
//! the same for a whole block. So it is multiplied as one of Q4_0, and then the sum of the block's
//! activations, scaled by the offset, is added. Prepared panels have eight offsets after the scales
//! of a block, prepared tiles n sums. Q5_1 is the same with 16 in place of 8. A block of Q6 is two
//! groups of 16 columns.

use std::ops::Range;

use super::inner_step::{InnerStep, InnerSteps};
use super::packed::{BLOCK, EMPTY, PANEL_ROWS, PANELS_TOGETHER, PackedBlocks, centre, groups};
use super::quantized_activations::QuantizedActivations;
use super::tiles::opaque;

/// Bytes of weights that one step of the inner loop reads, of eight rows together.
pub(crate) const STEP_WEIGHTS: usize = 32;
/// Bytes of activations that one step reads, of one token.
pub(crate) const STEP_TOKEN: usize = 4;

/// Bytes of the scales, or of the partial sums, of eight rows.
const EIGHT: usize = 32;

/// Bytes of the scale of one token in one block.
const FACTOR: usize = 4;

/// The most steps of a block.
pub(crate) const MAX_STEPS: usize = 16;

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
    /// True where the steps are exact with weights of 8 bits, not only with those of fewer.
    const HAS_8_BITS: bool = true;

    /// Writes 32 activations at `from` as `STEPS` · `STEP_TOKEN` bytes to `to`.
    unsafe fn prepare_token(from: *const i8, to: *mut u8);
    /// Writes `steps` steps of `N` tokens, each token's `MAX_STEPS` · `STEP_TOKEN` bytes apart from
    /// `from` on, to `to`: the first step of all tokens, then the second. `steps` is a multiple of
    /// 4.
    #[inline(always)]
    unsafe fn interleave<const N: usize>(from: *const u8, steps: usize, to: *mut u8) {
        for step in 0..steps {
            for n in 0..N {
                // SAFETY: the caller vouches for the tokens and for as many bytes at `to`.
                unsafe {
                    let from = from.add((n * MAX_STEPS + step) * STEP_TOKEN);
                    let to = to.add((step * N + n) * STEP_TOKEN);
                    to.cast::<[u8; STEP_TOKEN]>()
                        .write(from.cast::<[u8; STEP_TOKEN]>().read());
                }
            }
        }
    }
    /// Writes four columns of eight rows, number `four` of the eight of the block at `from`, whose
    /// numbers have `BITS` bits, as `STEPS` / 8 · `STEP_WEIGHTS` bytes to `to`. Returns the updated
    /// partial sums: parts + what the inner loop will add to them and should not.
    unsafe fn prepare<const BITS: usize>(
        from: *const u8,
        four: usize,
        parts: Self::PartialSums,
        to: *mut u8,
    ) -> Self::PartialSums;
    /// The partial sums at `from`.
    unsafe fn partial_sums(from: *const i32) -> Self::PartialSums;
    /// Writes the negative of partial sums to `to`.
    unsafe fn store_negative(parts: Self::PartialSums, to: *mut i32);
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

/// The products with one token, of `P` panels at a time.
///
/// # Safety
/// As [`Rows`].
pub(crate) trait OneToken: Rows {
    /// The activations of one block of one token, in registers or in memory.
    type Block: Copy;
    /// The sums of a group of one token while its halves of a block are added.
    type Accumulator: Copy;
    /// What the inner loop needs in registers.
    type Constants: Copy;

    /// The name of [`Self::dot_q8`].
    const DOT_Q8: InnerStep;
    /// The name of [`Self::add_half`].
    const ADD_HALF: InnerStep;
    /// The number of panels that are multiplied at a time, 1, 2 or 4. They share the activations,
    /// and memory delivers several streams faster than one.
    const PANELS: usize = 1;
    /// The same for weights of 8 bits, which need fewer registers than packed ones.
    const PANELS_OF_8_BITS: usize = Self::PANELS;
    /// Bytes of the activations of a block as [`Self::dot_q8`] reads them: 32, or the 64 that
    /// [`Self::prepare_block`] writes.
    const BLOCK_BYTES: usize = BLOCK;

    /// The constants for numbers of `BITS` bits.
    unsafe fn constants<const BITS: usize>() -> Self::Constants;
    /// As [`Rows::halves`], where each is 0 or a normal number.
    #[inline(always)]
    unsafe fn plain_halves(from: *const u8, _constants: Self::Constants) -> Self::Totals {
        // SAFETY: the caller vouches for the same.
        unsafe { Self::halves(from) }
    }
    /// Writes the 32 activations at `from` as `BLOCK_BYTES` bytes to `to`.
    #[inline(always)]
    unsafe fn prepare_block(from: *const i8, to: *mut i8) {
        // SAFETY: the caller vouches for 32 readable and writable bytes.
        unsafe { std::ptr::copy_nonoverlapping(from, to, BLOCK) }
    }
    /// The activations at `from`: 32, or `BLOCK_BYTES` bytes for [`Self::dot_q8`].
    unsafe fn block(from: *const i8) -> Self::Block;
    /// Products of eight rows of Q8_0, 256 bytes at each of `weights`, with a block whose
    /// activations have the sum `sum`.
    unsafe fn dot_q8<const P: usize>(
        weights: [*const u8; P],
        block: Self::Block,
        sum: i32,
        constants: Self::Constants,
    ) -> [Self::Sums; P];
    /// An accumulator that starts from `sum` in each row.
    unsafe fn start(sum: i32) -> Self::Accumulator;
    /// The updated accumulators: sums + the products of 16 columns of eight rows, half `half` of the
    /// block at each of `weights`, with those of a token. The numbers have `BITS` bits, 4, 5 or 6,
    /// and are as stored, from 0 on.
    unsafe fn add_half<const BITS: usize, const P: usize>(
        sums: [Self::Accumulator; P],
        weights: [*const u8; P],
        block: Self::Block,
        half: usize,
        constants: Self::Constants,
    ) -> [Self::Accumulator; P];
    /// The sums of an accumulator.
    unsafe fn finish(sums: Self::Accumulator) -> Self::Sums;
}

/// The products of an instruction set, by the bits of a weight.
pub(crate) trait Int8Kernel {
    /// One token, and weights of 8, 5 and 6 bits.
    type OneToken: OneToken;
    /// One token, and weights of 4 bits, for which an instruction set may have a quicker product.
    type OneTokenOf4: OneToken;
    /// Many tokens, and weights of 8 bits.
    type ManyTokens: Steps;
    /// Many tokens, and weights of fewer bits, likewise.
    type ManyTokensFew: Steps;
    /// True where these two are the same.
    const SAME_STEPS: bool = true;
}

/// The names of the steps that [`matmul_blocks`] takes.
pub(crate) const fn inner_steps<E: Int8Kernel>() -> InnerSteps {
    let few = <E::ManyTokensFew as Steps>::STEP;
    [
        [E::OneToken::DOT_Q8, E::ManyTokens::STEP],
        [E::OneTokenOf4::ADD_HALF, few],
        [E::OneToken::ADD_HALF, few],
    ]
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
        match (tokens.tokens, weights.kind.bits()) {
            (1, 8) => one_token_by_panels::<E::OneToken, 8>(weights, tokens, panels, out),
            (1, 4) => one_token_by_panels::<E::OneTokenOf4, 4>(weights, tokens, panels, out),
            (1, 5) => one_token_by_panels::<E::OneToken, 5>(weights, tokens, panels, out),
            (1, _) => one_token_by_panels::<E::OneToken, 6>(weights, tokens, panels, out),
            (_, bits) if bits == 8 || E::SAME_STEPS => {
                many_tokens::<E::ManyTokens>(weights, tokens, panels, out);
            }
            _ => many_tokens::<E::ManyTokensFew>(weights, tokens, panels, out),
        }
    }
}

/// The offsets of eight rows from their scales and least weights, with numbers of `bits` bits.
///
/// # Safety
/// The machine has the instruction set.
#[inline(always)]
unsafe fn offsets<E: Rows>(least: E::Totals, scales: E::Totals, bits: usize) -> E::Totals {
    // SAFETY: as the caller vouches. A power of two times a scale is exact, so fused or not the
    // bits are the same.
    unsafe { E::add_scaled(least, E::same(i32::from(centre(bits))), scales, 1.0) }
}

/// The number of panels that are multiplied with one token at a time.
const fn panels_of<E: OneToken, const BITS: usize>() -> usize {
    let panels = if BITS == 8 {
        E::PANELS_OF_8_BITS
    } else {
        E::PANELS
    };
    assert!(matches!(panels, 1 | 2 | PANELS_TOGETHER));
    panels
}

/// [`one_token`] with as many panels at a time as are fastest on the instruction set.
///
/// # Safety
/// As [`one_token`].
#[inline(always)]
unsafe fn one_token_by_panels<E: OneToken, const BITS: usize>(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    // SAFETY: as the caller vouches.
    unsafe {
        match const { panels_of::<E, BITS>() } {
            1 => one_token::<E, BITS, 1>(weights, tokens, panels, out),
            2 => one_token::<E, BITS, 2>(weights, tokens, panels, out),
            _ => one_token::<E, BITS, PANELS_TOGETHER>(weights, tokens, panels, out),
        }
    }
}

/// The product with one token: reads every weight once, but for the last panel, which may be read
/// again.
///
/// The panels are divided into `P` parts, and one panel of each part is multiplied at a time. So
/// the weights are read in `P` streams, each in the order of memory from its beginning to its end.
/// With `P` neighbours at a time each stream would end after one panel, and the prefetcher would
/// have to start again (`BENCHMARKS.md`).
///
/// # Safety
/// As [`matmul_blocks`], with one token and weights whose numbers have `BITS` bits.
// In wasm, tables share these functions; natively each has features that the caller does not have.
#[cfg_attr(target_family = "wasm", inline(never))]
#[cfg_attr(not(target_family = "wasm"), inline(always))]
unsafe fn one_token<E: OneToken, const BITS: usize, const P: usize>(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    // Chunks of numbers, then of scales.
    let (size, groups) = (2 * BITS * 16, groups(BITS));
    let has_offsets = matches!(BITS, 4 | 5) && weights.kind.has_least();
    let block_bytes = size + (groups + usize::from(has_offsets)) * 16;
    let panel_bytes = weights.blocks * block_bytes;
    let (mut numbers, mut stride) = (tokens.numbers.as_ptr(), BLOCK);
    let mut prepared = Vec::new();
    if BITS == 8 && E::BLOCK_BYTES != BLOCK {
        stride = E::BLOCK_BYTES;
        prepared.resize(weights.blocks * stride, 0_i8);
        for block in 0..weights.blocks {
            // SAFETY: the token has as many blocks, and `prepared` room for them.
            unsafe {
                let to = prepared.as_mut_ptr().add(block * stride);
                E::prepare_block(numbers.add(block * BLOCK), to);
            }
        }
        numbers = prepared.as_ptr();
    }
    // Σ (w − c) x = Σ w x − c Σ x, with the sum of x over a group.
    let group_sums = if groups == 1 {
        Vec::new()
    } else {
        group_sums(&tokens.numbers, BLOCK / groups)
    };
    let sums = if groups == 1 {
        &tokens.sums
    } else {
        &group_sums
    };
    let start = |group: usize| {
        // SAFETY: the caller vouches for the instruction set; the token has as many groups.
        unsafe { [E::start(-i32::from(centre(BITS)) * *sums.get_unchecked(group)); P] }
    };
    // SAFETY: the caller vouches for the instruction set.
    let constants = unsafe { E::constants::<BITS>() };
    let each = panels.len().div_ceil(P);
    for step in 0..each {
        // The last parts may be shorter: there the last panel of all is multiplied again, and gives
        // the same numbers.
        let number = |p: usize| (panels.start + p * each + step).min(panels.end - 1);
        let plain = (0..P).all(|p| weights.is_plain(number(p)));
        // SAFETY: panels of `blocks` blocks of `block_bytes` begin at `from`; the token has as many
        // blocks.
        unsafe {
            let bytes = weights.chunks.as_ptr().cast::<u8>();
            let mut from = [bytes; P];
            for p in 0..P {
                from[p] = bytes.add(number(p) * panel_bytes);
            }
            let mut totals = [E::zero(); P];
            for block in 0..weights.blocks {
                let token = E::block(numbers.add(block * stride));
                let factor = *tokens.scales.get_unchecked(block);
                if groups == 1 {
                    let sums = if BITS == 8 {
                        let sum = *tokens.sums.get_unchecked(block);
                        E::dot_q8(from, token, sum, constants)
                    } else {
                        let mut sums = start(block);
                        for half in 0..2 {
                            sums = E::add_half::<BITS, P>(sums, from, token, half, constants);
                        }
                        finish_all::<E, P>(sums)
                    };
                    for p in 0..P {
                        let scales = scales_at::<E>(from[p].add(size), plain, constants);
                        totals[p] = E::add_scaled(totals[p], sums[p], scales, factor);
                        if has_offsets {
                            let least = scales_at::<E>(from[p].add(size + 16), plain, constants);
                            let offsets = offsets::<E>(least, scales, BITS);
                            let sums = E::same(*tokens.sums.get_unchecked(block));
                            totals[p] = E::add_scaled(totals[p], sums, offsets, factor);
                        }
                    }
                } else {
                    for half in 0..2 {
                        let sums = start(2 * block + half);
                        let sums = E::add_half::<BITS, P>(sums, from, token, half, constants);
                        let sums = finish_all::<E, P>(sums);
                        for p in 0..P {
                            let at = from[p].add(size + 16 * half);
                            let scales = scales_at::<E>(at, plain, constants);
                            totals[p] = E::add_scaled(totals[p], sums[p], scales, factor);
                        }
                    }
                }
                for p in 0..P {
                    from[p] = from[p].add(block_bytes);
                }
            }
            for p in 0..P {
                let row = number(p) * PANEL_ROWS;
                put::<E>(totals[p], out.add(row), weights.rows - row);
            }
        }
    }
}

/// The sums of accumulators.
///
/// # Safety
/// The machine has the instruction set.
#[inline(always)]
unsafe fn finish_all<E: OneToken, const P: usize>(sums: [E::Accumulator; P]) -> [E::Sums; P] {
    // SAFETY: as the caller vouches.
    unsafe {
        let mut all = [E::same(0); P];
        for p in 0..P {
            all[p] = E::finish(sums[p]);
        }
        all
    }
}

/// Eight scales, or least weights, at `from`. Where all of a panel are plain, the quick conversion
/// is exact.
///
/// # Safety
/// The machine has the instruction set; 16 readable bytes.
#[inline(always)]
unsafe fn scales_at<E: OneToken>(
    from: *const u8,
    plain: bool,
    constants: E::Constants,
) -> E::Totals {
    // SAFETY: as the caller vouches.
    unsafe {
        if plain {
            E::plain_halves(from, constants)
        } else {
            E::totals(rare_halves::<E>(from).as_ptr())
        }
    }
}

/// As [`Rows::halves`], not inlined: few models need it.
///
/// # Safety
/// As [`scales_at`].
// Natively the conversion is one instruction, of a feature that the caller has.
#[cfg_attr(target_family = "wasm", inline(never))]
#[cfg_attr(not(target_family = "wasm"), inline(always))]
unsafe fn rare_halves<E: Rows>(from: *const u8) -> [f32; PANEL_ROWS] {
    let mut eight = [0.0; PANEL_ROWS];
    // SAFETY: as the caller vouches.
    unsafe { E::store(E::halves(from), eight.as_mut_ptr()) }
    eight
}

/// The sums of integers in groups of some length.
#[inline(never)]
fn group_sums(numbers: &[i8], length: usize) -> Vec<i32> {
    // numbers [N · length] -> [N]
    let groups = numbers.chunks_exact(length);
    groups
        .map(|group| group.iter().map(|&number| i32::from(number)).sum())
        .collect()
}

/// The product with any number of tokens, a panel of eight rows at a time.
///
/// # Safety
/// As [`matmul_blocks`], with weights of fewer than 8 bits unless [`Steps::HAS_8_BITS`].
// In wasm, tables share these functions; natively each has features that the caller does not have.
#[cfg_attr(target_family = "wasm", inline(never))]
#[cfg_attr(not(target_family = "wasm"), inline(always))]
unsafe fn many_tokens<E: Steps>(
    weights: &PackedBlocks,
    tokens: &QuantizedActivations,
    panels: Range<usize>,
    out: *mut f32,
) {
    let (rows, count) = (weights.rows, tokens.tokens);
    let form = Form {
        groups: weights.blocks * weights.kind.groups(),
        steps: E::STEPS / weights.kind.groups(),
        has_offsets: weights.kind.has_least(),
    };
    let (token_bytes, panel_bytes) = (form.token_bytes(), form.panel_bytes());
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
        let mut token = 0;
        while token < count {
            let to = prepared.add(token * token_bytes);
            if token >= whole {
                prepare_tile::<E, 1>(tokens, form, token, to);
                token += 1;
            } else if E::TILE == 8 {
                prepare_tile::<E, 8>(tokens, form, token, to);
                token += 8;
            } else {
                prepare_tile::<E, 4>(tokens, form, token, to);
                token += 4;
            }
        }
        for number in panels {
            let row = number * PANEL_ROWS;
            match weights.kind.bits() {
                8 if E::HAS_8_BITS => prepare_panel::<E, 8>(weights, form, number, panel),
                4 => prepare_panel::<E, 4>(weights, form, number, panel),
                5 => prepare_panel::<E, 5>(weights, form, number, panel),
                _ => prepare_panel::<E, 6>(weights, form, number, panel),
            }
            let (left, mut token) = (rows - row, 0);
            while token < count {
                let (from, to) = (
                    prepared.add(token * token_bytes),
                    out.add(token * rows + row),
                );
                if token >= whole {
                    tile::<E, 1>(panel, from, form, to, rows, left);
                    token += 1;
                } else if E::TILE == 8 {
                    tile::<E, 8>(panel, from, form, to, rows, left);
                    token += 8;
                } else {
                    tile::<E, 4>(panel, from, form, to, rows, left);
                    token += 4;
                }
            }
        }
    }
}

/// Sizes of a prepared panel and of prepared tokens.
#[derive(Clone, Copy)]
struct Form {
    /// Groups of a row.
    groups: usize,
    /// Steps of a group.
    steps: usize,
    /// True where offsets and sums follow the scales.
    has_offsets: bool,
}

impl Form {
    /// Bytes of a group of one token.
    #[inline(always)]
    fn token_group(self) -> usize {
        self.steps * STEP_TOKEN + (1 + usize::from(self.has_offsets)) * FACTOR
    }

    /// Bytes of a token.
    #[inline(always)]
    fn token_bytes(self) -> usize {
        self.groups * self.token_group()
    }

    /// Bytes of a panel.
    #[inline(always)]
    fn panel_bytes(self) -> usize {
        let extra = usize::from(self.has_offsets);
        self.groups * (self.steps * STEP_WEIGHTS + (2 + extra) * EIGHT)
    }
}

/// Expands a panel: group by group its steps, the partial sums to start from, the scales, and the
/// offsets where there are any.
///
/// # Safety
/// The machine has the instruction set, the weights are of the type that `BITS` and `form` say, the
/// panel exists, and `to` has room for it.
#[inline(always)]
unsafe fn prepare_panel<E: Steps, const BITS: usize>(
    weights: &PackedBlocks,
    form: Form,
    panel: usize,
    mut to: *mut u8,
) {
    let (chunks, fours) = (weights.kind.panel_chunks(), 8 / groups(BITS));
    // SAFETY: block < blocks and the fours stay inside the panel.
    unsafe {
        let mut from = weights.chunks.as_ptr().add(panel * weights.blocks * chunks);
        for _ in 0..weights.blocks {
            for group in 0..groups(BITS) {
                let mut parts = E::partial_sums([0; PANEL_ROWS].as_ptr());
                for four in group * fours..(group + 1) * fours {
                    parts = E::prepare::<BITS>(from.cast(), four, parts, to);
                    to = to.add(E::STEPS / 8 * STEP_WEIGHTS);
                }
                E::store_negative(parts, to.cast());
                let heads = from.add(2 * BITS);
                let scales = E::halves(heads.add(group).cast());
                E::store(scales, to.add(EIGHT).cast());
                to = to.add(2 * EIGHT);
                if matches!(BITS, 4 | 5) && form.has_offsets {
                    let least = E::halves(heads.add(1).cast());
                    E::store(offsets::<E>(least, scales, BITS), to.cast());
                    to = to.add(EIGHT);
                }
            }
            from = from.add(chunks);
        }
    }
}

/// Writes a tile of `N` tokens, from token `first` on: group by group the steps of all tokens, then
/// all their scales, and the sums of their activations where there are offsets.
///
/// # Safety
/// The tokens exist, the machine has the instruction set, and `to` has room for the tile.
#[inline(always)]
unsafe fn prepare_tile<E: Steps, const N: usize>(
    tokens: &QuantizedActivations,
    form: Form,
    first: usize,
    mut to: *mut u8,
) {
    let mut steps = [[EMPTY; MAX_STEPS * STEP_TOKEN / 16]; N];
    // SAFETY: block < blocks and the groups' steps stay inside the tokens and the tile; a step is
    // at most 4 · 16 bytes a block.
    unsafe {
        for block in 0..tokens.blocks {
            for n in 0..N {
                let from = ((first + n) * tokens.blocks + block) * BLOCK;
                let from = tokens.numbers.as_ptr().add(from);
                E::prepare_token(from, steps[n].as_mut_ptr().cast());
            }
            for group in 0..E::STEPS / form.steps {
                let from = steps.as_ptr().cast::<u8>();
                let from = from.add(group * form.steps * STEP_TOKEN);
                E::interleave::<N>(from, form.steps, to);
                to = to.add(form.steps * N * STEP_TOKEN);
                for n in 0..N {
                    let at = (first + n) * tokens.blocks + block;
                    let scale = *tokens.scales.get_unchecked(at);
                    to.add(n * FACTOR).cast::<f32>().write_unaligned(scale);
                    if form.has_offsets {
                        let sum = *tokens.sums.get_unchecked(at);
                        to.add((N + n) * FACTOR).cast::<i32>().write_unaligned(sum);
                    }
                }
                to = to.add(N * (1 + usize::from(form.has_offsets)) * FACTOR);
            }
        }
    }
}

/// The product of a prepared panel with a prepared tile of `N` tokens, all sums in registers.
///
/// # Safety
/// The machine has the instruction set; `panel` is prepared in this form and `tokens` is a tile of
/// `N` likewise; `out` is at `N` rows, `stride` apart, with room for `left` numbers each.
#[inline(always)]
unsafe fn tile<E: Steps, const N: usize>(
    panel: *const u8,
    tokens: *const u8,
    form: Form,
    out: *mut f32,
    stride: usize,
    left: usize,
) {
    // SAFETY: the groups, their steps and n < N stay inside the caller's bounds.
    unsafe {
        let steps = opaque(form.steps);
        let (mut weights, mut token) = (panel, tokens);
        let mut totals = [E::zero(); N];
        for _ in 0..form.groups {
            let behind = weights.add(form.steps * STEP_WEIGHTS);
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
            if form.has_offsets {
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
