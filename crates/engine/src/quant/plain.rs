//! Numbers without blocks: F32, F16 (IEEE 754 binary16) and BF16 (the upper half of an F32),
//! little-endian.

use super::block::{Block, half, to_half};

/// A number in single precision: four bytes.
#[repr(transparent)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct F32([u8; 4]);

/// A number in half precision: two bytes, 5 bits of exponent, 10 of fraction.
#[repr(transparent)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct F16([u8; 2]);

/// A number in bfloat16: two bytes, 8 bits of exponent, 7 of fraction.
#[repr(transparent)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Bf16([u8; 2]);

impl Block for F32 {
    const LEN: usize = 1;

    fn quantize(numbers: &[f32]) -> Self {
        Self(numbers[0].to_le_bytes())
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        numbers[0] = f32::from_le_bytes(self.0);
    }
}

impl Block for F16 {
    const LEN: usize = 1;

    fn quantize(numbers: &[f32]) -> Self {
        Self(to_half(numbers[0]))
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        numbers[0] = half(self.0);
    }
}

impl Block for Bf16 {
    const LEN: usize = 1;

    fn quantize(numbers: &[f32]) -> Self {
        Self(half::bf16::from_f32(numbers[0]).to_le_bytes())
    }

    fn dequantize(&self, numbers: &mut [f32]) {
        numbers[0] = half::bf16::from_le_bytes(self.0).to_f32();
    }
}
