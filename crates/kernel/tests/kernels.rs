//! Property tests of the kernels, natively: every implementation that this machine has against the
//! plain loops.
//!
//! `cargo test -p kernel --test kernels`
//!
//! The same suite runs in the browser (`kernels_wasm.rs`), and on a few small sizes under Miri.
#![cfg(not(target_family = "wasm"))]
#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking, in its helpers too"
)]

mod suite;

use kernel::{
    BlockType, HalfType, InnerStep, Kernels, PackedBlocks, PackedF32, PackedHalf, ProductShape,
    QuantizedActivations,
};

/// Runs a check on the implementation called `name`; the test is skipped where this machine does
/// not have it.
fn run(name: &str, check: suite::Check) {
    let found = kernel::implementations()
        .into_iter()
        .find(|kernels| kernels.name() == name);
    match found {
        Some(kernels) => draw(kernels, check),
        None => skip::because(format_args!("this machine does not have {name}")),
    }
}

/// Draws seeds and sizes, and shrinks them where a check panics.
#[cfg(not(miri))]
fn draw(kernels: &Kernels, check: suite::Check) {
    use proptest::test_runner::{Config, TestRunner};
    let mut runner = TestRunner::new(Config {
        cases: 300,
        failure_persistence: None,
        ..Config::default()
    });
    let size = || 0..=suite::LARGEST;
    let drawn = runner.run(
        &(proptest::num::u64::ANY, size(), size(), size()),
        |(seed, a, b, c)| {
            check(kernels, seed, [a, b, c]);
            Ok(())
        },
    );
    drawn.unwrap();
}

/// The sizes for Miri, which runs some thousand times slower: 0, single elements, remainders of
/// every kind of tile.
#[cfg(miri)]
fn draw(kernels: &Kernels, check: suite::Check) {
    for (seed, sizes) in (0..).zip([[0, 0, 0], [1, 1, 1], [5, 7, 3], [37, 1, 9], [6, 7, 18]]) {
        check(kernels, seed, sizes);
    }
}

stamp!(run, reference = "reference", #[test]);
stamp!(run, portable = "portable", #[test]);
stamp!(run, portable_avx2 = "portable-avx2", #[test]);
stamp!(run, avx2 = "avx2", #[test]);
stamp!(run, avx_vnni = "avx-vnni", #[test]);
stamp!(run, avx_512 = "avx-512", #[test]);

#[test]
fn the_fastest_implementation_is_chosen() {
    #[cfg(target_arch = "x86_64")]
    let expected = if !is_x86_feature_detected!("avx2")
        || !is_x86_feature_detected!("fma")
        || !is_x86_feature_detected!("f16c")
    {
        "portable"
    } else if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vnni")
    {
        "avx-512"
    } else if is_x86_feature_detected!("avxvnni") {
        "avx-vnni"
    } else {
        "avx2"
    };
    #[cfg(not(target_arch = "x86_64"))]
    let expected = "reference";
    assert_eq!(kernel::chosen(), expected);
}

#[test]
fn inner_steps_are_those_of_the_instructions() {
    for kernels in kernel::implementations() {
        let name = kernels.name();
        let expected = match name {
            "avx2" => InnerStep::Avx2,
            "avx-vnni" | "avx-512" => InnerStep::Vnni,
            _ => InnerStep::Plain,
        };
        for kind in BlockType::ALL {
            assert_eq!(kernels.inner_steps(kind), [expected; 2], "{name} {kind:?}");
        }
    }
}

#[test]
fn wrong_lengths_panic_before_anything_is_read() {
    for kernels in kernel::implementations() {
        let wrong: [fn(&Kernels); 15] = [
            |k| assert!(k.dot(&[1.0], &[]).is_nan()),
            |k| k.axpy(1.0, &[1.0], &mut []),
            |k| k.matvec(&[1.0; 5], &[1.0; 2], &mut [0.0; 3]),
            |k| k.matmul(&[1.0; 6], &[1.0; 6], &mut [0.0; 3], 2, 3, 2),
            |k| k.matmul_nt(&[1.0; 6], &[1.0; 5], &mut [0.0; 4], 2, 3, 2),
            |k| k.mix(&[1.0; 6], &[1.0; 6], &mut [0.0; 4], usize::MAX, 3, 2),
            |k| {
                let shape = ProductShape {
                    a_row: 4,
                    ..ProductShape::new([2, 3, 2])
                };
                k.product(&[1.0; 6], &[1.0; 6], &mut [0.0; 4], &shape);
            },
            |k| {
                let shape = ProductShape {
                    out_row: 1,
                    ..ProductShape::new([2, 3, 2])
                };
                k.product(&[1.0; 6], &[1.0; 6], &mut [0.0; 4], &shape);
            },
            |k| k.layer_norm(&[1.0; 2], &[1.0; 2], &[1.0], 0.0, &mut [0.0; 2]),
            |k| k.rms_norm(&[1.0; 2], &[1.0; 2], 0.0, &mut [0.0; 3]),
            |k| k.matmul_f32(&PackedF32::zeros(3, 2), &[1.0; 4], &mut [0.0; 3]),
            |k| {
                let weights = PackedHalf::zeros(HalfType::F16, 3, 2);
                k.matmul_half(&weights, &[1.0; 4], &mut [0.0; 3]);
            },
            |k| QuantizedActivations::new().quantize_by(k, &[1.0; 64], 48),
            |k| {
                let mut tokens = QuantizedActivations::new();
                tokens.quantize_by(k, &[1.0; 64], 32);
                let weights = PackedBlocks::zeros(BlockType::Q8_0, 3, 64);
                k.matmul_blocks(&weights, &tokens, &mut [0.0; 3]);
            },
            |k| {
                let mut tokens = QuantizedActivations::new();
                tokens.quantize_by(k, &[1.0; 64], 32);
                let weights = PackedBlocks::zeros(BlockType::Q8_0, 3, 32);
                k.matmul_blocks(&weights, &tokens, &mut [0.0; 5]);
            },
        ];
        for call in wrong {
            assert!(
                std::panic::catch_unwind(|| call(kernels)).is_err(),
                "{}",
                kernels.name()
            );
        }
    }
}

#[test]
fn packing_refuses_wrong_sizes() {
    let wrong: [fn(); 8] = [
        || drop(PackedBlocks::zeros(BlockType::Q8_0, 1, 33)),
        || drop(PackedBlocks::new(BlockType::Q8_0, &[0; 33], 1, 32)),
        || drop(PackedBlocks::new(BlockType::Q4_0, &[0; 36], 1, 32)),
        || PackedBlocks::zeros(BlockType::Q8_0, 2, 32).set_rows(1, &[0; 68]),
        || PackedBlocks::zeros(BlockType::Q4_0, 2, 32).unpack_row(2, &mut [0.0; 32]),
        || PackedF32::zeros(2, 3).set_row(2, &[0.0; 3]),
        || drop(PackedHalf::new(HalfType::F16, &[0; 11], 2, 3)),
        || PackedHalf::zeros(HalfType::Bf16, 2, 3).unpack_row(2, &mut [0.0; 3]),
    ];
    for call in wrong {
        assert!(std::panic::catch_unwind(call).is_err());
    }
}

/// A packed matrix gives the values of the format's definition.
#[test]
fn a_packed_row_has_the_values_of_the_file() {
    // 0.5 in half precision, numbers −16 to 15.
    let mut row = vec![0x00, 0x38];
    row.extend((-16_i8..16).map(i8::cast_unsigned));
    let packed = PackedBlocks::new(BlockType::Q8_0, &[row.clone(), row].concat(), 2, 32);
    let mut out = [0.0; 32];
    packed.unpack_row(1, &mut out);
    for (k, x) in out.into_iter().enumerate() {
        assert_eq!(x, (k as f32 - 16.0) / 2.0);
    }
    // Number j in the low, number j + 16 in the high half of byte j; 8 stands for 0.
    let mut row = vec![0x00, 0x38];
    row.extend((0..16_u8).map(|j| j | (15 - j) << 4));
    let packed = PackedBlocks::new(BlockType::Q4_0, &row, 1, 32);
    packed.unpack_row(0, &mut out);
    for j in 0..16 {
        assert_eq!(out[j], (j as f32 - 8.0) / 2.0);
        assert_eq!(out[j + 16], (7.0 - j as f32) / 2.0);
    }
    assert_eq!((packed.bytes(), packed.activation_bits()), (8 * 18, 8));
}

/// Whole panels are packed in another way than single rows: the matrix is the same in whatever pieces
/// its rows come.
#[test]
fn rows_are_packed_alike_in_pieces_of_any_size() {
    let (rows, blocks) = (37, 3);
    for kind in BlockType::ALL {
        let row_bytes = blocks * kind.block_bytes();
        let bytes: Vec<u8> = (0..rows * row_bytes)
            .map(|n| (n * n / 7 + n) as u8)
            .collect();
        let whole = PackedBlocks::new(kind, &bytes, rows, 32 * blocks);
        for pieces in [&[1; 37][..], &[8, 8, 8, 8, 5], &[3, 13, 16, 5], &[7, 1, 29]] {
            let mut packed = PackedBlocks::zeros(kind, rows, 32 * blocks);
            let mut first = 0;
            for &count in pieces {
                let piece = &bytes[first * row_bytes..(first + count) * row_bytes];
                packed.set_rows(first, piece);
                first += count;
            }
            assert!(first == rows && packed == whole, "{kind:?} in {pieces:?}");
        }
    }
}

/// Numbers of 5 and 6 bits in each of 19 rows, other ones in each.
#[test]
fn upper_bits_come_back_in_every_row() {
    let number = |row: usize, k: usize, most: usize| (row * 7 + k * 5) % (most + 1);
    // 0.5 and −3 in half precision; fifth and sixth bits follow, number by number.
    for (kind, high) in [(BlockType::Q5_1, 1), (BlockType::Q6, 2)] {
        let most = (16 << high) - 1;
        let mut bytes = Vec::new();
        for row in 0..19 {
            let mut highs = 0_u64;
            for k in 0..32 {
                highs |= (number(row, k, most) as u64 >> 4) << (high * k);
            }
            bytes.extend([0x00, 0x38, 0x00, 0xc2]);
            bytes.extend(&highs.to_le_bytes()[..4 * high]);
            let low = |k| number(row, k, most) & 15;
            bytes.extend((0..16).map(|j| (low(j) | low(j + 16) << 4) as u8));
        }
        let packed = PackedBlocks::new(kind, &bytes, 19, 32);
        assert_eq!(packed.bytes(), 24 * kind.block_bytes());
        let mut out = [0.0; 32];
        for row in 0..19 {
            packed.unpack_row(row, &mut out);
            for (k, x) in out.into_iter().enumerate() {
                let number = number(row, k, most) as f32;
                let expected = match (kind, k) {
                    (BlockType::Q5_1, _) => 0.5 * number - 3.0,
                    (_, 0..16) => 0.5 * (number - 32.0),
                    _ => -3.0 * (number - 32.0),
                };
                assert_eq!(x, expected, "{kind:?} row {row} column {k}");
            }
        }
        let zeros = PackedBlocks::zeros(kind, 3, 64);
        let mut out = [1.0; 64];
        zeros.unpack_row(2, &mut out);
        assert!(out.iter().all(|x| x.to_bits() == 0), "{kind:?}: {out:?}");
    }
}

#[test]
fn the_known_bits() {
    suite::fingerprint::check();
}
