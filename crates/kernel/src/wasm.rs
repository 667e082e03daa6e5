//! The intrinsics of WebAssembly, with addresses of 32 bits or of 64. Those for 64 are unstable, so
//! only a nightly compiler builds them.

#[cfg(target_arch = "wasm32")]
pub(crate) use core::arch::wasm32::*;
#[cfg(target_arch = "wasm64")]
pub(crate) use core::arch::wasm64::*;

/// Bytes of a page of memory.
const PAGE_BYTES: u64 = 65_536;

/// Bytes of memory that this program has taken from its host.
pub fn memory_bytes() -> u64 {
    memory_size::<0>() as u64 * PAGE_BYTES
}
