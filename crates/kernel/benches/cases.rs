//! The measured cases: each kernel at a size of a small model. The native benchmark (`kernels.rs`)
//! and the one in the browser (`tests/speed_wasm.rs`) share them.

use crate::random::Rng;
use kernel::{
    BLOCK, BlockType, HalfType, Kernels, PackedBlocks, PackedF32, PackedHalf, QuantizedActivations,
};
use std::rc::Rc;

/// A call of one kernel on fixed data.
pub(crate) struct Case {
    /// The kernel's name and the size.
    pub(crate) name: String,
    /// The number of multiplications and additions of one call; 0 where the benchmark does not
    /// print it.
    pub(crate) operations: f64,
    /// The number of bytes of weights that one call reads.
    pub(crate) bytes: f64,
    /// The function that makes one call.
    pub(crate) run: Box<dyn FnMut(&Kernels)>,
}

fn case(name: impl Into<String>, run: impl FnMut(&Kernels) + 'static) -> Case {
    Case {
        name: name.into(),
        operations: 0.0,
        bytes: 0.0,
        run: Box::new(run),
    }
}

fn numbers(length: usize) -> Vec<f32> {
    let mut rng = Rng::new(length as u64);
    (0..length).map(|_| rng.normal()).collect()
}

type Product = fn(&Kernels, &[f32], &[f32], &mut [f32], usize, usize, usize);

/// A product of `[rows, inner]` and `[inner, cols]`.
fn product(name: &'static str, kernel: Product, [rows, inner, cols]: [usize; 3]) -> Case {
    let (a, b, mut out) = (
        numbers(rows * inner),
        numbers(inner * cols),
        vec![0.0; rows * cols],
    );
    case(name, move |k| {
        kernel(k, &a, &b, &mut out, rows, inner, cols);
    })
}

/// A case of a kernel that works in place, on a new copy each time.
fn in_place(name: &'static str, kernel: fn(&Kernels, &mut [f32]), length: usize) -> Case {
    let (x, mut scratch) = (numbers(length), vec![0.0; length]);
    case(name, move |k| {
        scratch.copy_from_slice(&x);
        kernel(k, &mut scratch);
    })
}

/// A case of a kernel from a slice to a number.
fn reduction(name: &'static str, kernel: fn(&Kernels, &[f32]) -> f32, length: usize) -> Case {
    let x = numbers(length);
    case(name, move |k| {
        std::hint::black_box(kernel(k, &x));
    })
}

/// The shapes `[rows, cols]` of GPT-2's matrices: a projection, the two of the MLP, the output.
const SHAPES: [[usize; 2]; 4] = [[768, 768], [3072, 768], [768, 3072], [50_257, 768]];

/// The number of rows of 768 with as many parameters as all of GPT-2.
const ALL: [usize; 2] = [161_544, 768];

/// The number of tokens of a prompt.
const PROMPT: usize = 128;

/// A matrix of random blocks, packed.
fn blocks(kind: BlockType, [rows, cols]: [usize; 2]) -> PackedBlocks {
    let mut rng = Rng::new(1);
    let mut packed = PackedBlocks::zeros(kind, rows, cols);
    let mut bytes: Vec<u8> = (0..8 * cols / BLOCK * kind.block_bytes())
        .map(|_| rng.below(256) as u8)
        .collect();
    for block in bytes.chunks_exact_mut(kind.block_bytes()) {
        block[..2].copy_from_slice(&0x1400_u16.to_le_bytes());
        let second = match kind {
            BlockType::Q8_0 | BlockType::Q4_0 => continue,
            BlockType::Q4_1 | BlockType::Q5_1 => 0xa000_u16,
            BlockType::Q6 => 0x1400,
        };
        block[2..4].copy_from_slice(&second.to_le_bytes());
    }
    for row in 0..rows {
        let row_bytes = bytes.len() / 8;
        packed.set_rows(row, &bytes[row % 8 * row_bytes..(row % 8 + 1) * row_bytes]);
    }
    packed
}

/// A matrix of normal numbers with a deviation of 0.02, as weights have, in 16 bits.
fn halves(kind: HalfType, [rows, cols]: [usize; 2]) -> PackedHalf {
    let bits = |x: f32| {
        let bits = (0.02 * x).to_bits();
        match kind {
            HalfType::Bf16 => (bits >> 16) as u16,
            // The exponent has another bias; below the smallest normal number, a whole number of
            // 2⁻²⁴.
            HalfType::F16 => {
                let (sign, magnitude) = ((bits >> 16 & 0x8000) as u16, bits & 0x7fff_ffff);
                let small = (f32::from_bits(magnitude) * 16_777_216.0) as u16;
                let normal = (magnitude >> 13).wrapping_sub(112 << 10) as u16;
                sign | if small < 1 << 10 { small } else { normal }
            }
        }
    };
    let numbers = numbers(rows * cols);
    let bytes: Vec<u8> = numbers
        .into_iter()
        .flat_map(|x| bits(x).to_le_bytes())
        .collect();
    PackedHalf::new(kind, &bytes, rows, cols)
}

/// Products of each quantized type, and of plain packed numbers, with one token and with a prompt.
pub(crate) fn packed_cases(only: Option<&str>) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, macs: f64, bytes: usize, run: Box<dyn FnMut(&Kernels)>| {
        cases.push(Case {
            name,
            operations: 2.0 * macs,
            bytes: bytes as f64,
            run,
        });
    };
    let wanted = |name: &str| only.is_none_or(|part| name.contains(part));
    let kinds = [
        (BlockType::Q8_0, "q8"),
        (BlockType::Q4_0, "q4"),
        (BlockType::Q4_1, "q4_1"),
        (BlockType::Q5_1, "q5_1"),
        (BlockType::Q6, "q6"),
    ];
    for (kind, label) in kinds {
        for [rows, cols] in SHAPES.into_iter().chain([ALL]) {
            let counts = if rows == ALL[0] {
                &[1][..]
            } else {
                &[1, PROMPT]
            };
            // In f64: a wasm usize is too small.
            let macs = |tokens: usize| rows as f64 * cols as f64 * tokens as f64;
            let name = |tokens| format!("{label} {rows}x{cols} by {tokens}");
            if !counts.iter().any(|&tokens| wanted(&name(tokens))) {
                continue;
            }
            let weights = Rc::new(blocks(kind, [rows, cols]));
            for &tokens in counts {
                let (weights, x) = (Rc::clone(&weights), numbers(tokens * cols));
                let (mut q, mut out) = (QuantizedActivations::new(), vec![0.0; tokens * rows]);
                let bytes = weights.bytes();
                let run = move |k: &Kernels| {
                    q.quantize_by(k, &x, cols);
                    k.matmul_blocks(&weights, &q, &mut out);
                };
                if wanted(&name(tokens)) {
                    add(name(tokens), macs(tokens), bytes, Box::new(run));
                }
            }
        }
    }
    for [rows, cols] in [[768, 768], [3072, 768], [768, 3072], [8192, 2048]] {
        let macs = |tokens: usize| rows as f64 * cols as f64 * tokens as f64;
        // The largest is out of every cache: the memory limits its product with one token.
        let counts = if rows == 8192 {
            &[1][..]
        } else {
            &[1, PROMPT, 197]
        };
        for &tokens in counts {
            let name = format!("f32 {rows}x{cols} by {tokens}");
            if wanted(&name) {
                let weights = PackedF32::new(&numbers(rows * cols), rows, cols);
                let (x, mut out) = (numbers(tokens * cols), vec![0.0; tokens * rows]);
                let bytes = weights.bytes();
                let run = move |k: &Kernels| k.matmul_f32(&weights, &x, &mut out);
                add(name, macs(tokens), bytes, Box::new(run));
            }
            for (kind, label) in [(HalfType::F16, "f16"), (HalfType::Bf16, "bf16")] {
                let name = format!("{label} {rows}x{cols} by {tokens}");
                if wanted(&name) {
                    let weights = halves(kind, [rows, cols]);
                    let (x, mut out) = (numbers(tokens * cols), vec![0.0; tokens * rows]);
                    let bytes = weights.bytes();
                    let run = move |k: &Kernels| k.matmul_half(&weights, &x, &mut out);
                    add(name, macs(tokens), bytes, Box::new(run));
                }
            }
        }
    }
    cases
}

/// The update y ← y + alpha · x. Signs alternate, so y stays bounded however often the case runs.
fn axpy(length: usize) -> Case {
    let (x, mut y, mut alpha) = (numbers(length), numbers(length), 0.5);
    case("axpy 4096", move |k| {
        alpha = -alpha;
        k.axpy(alpha, &x, &mut y);
    })
}

/// All kernels.
pub(crate) fn cases() -> Vec<Case> {
    let (a, b) = (numbers(4096), numbers(4097));
    let (matrix, vector, mut out) = (numbers(768 * 768), numbers(768), vec![0.0; 768]);
    let (row, gamma, mut layer) = (numbers(768), numbers(768), vec![0.0; 768]);
    let (row_2, gamma_2, mut rms) = (numbers(768), numbers(768), vec![0.0; 768]);
    vec![
        case("dot 4096", move |k| {
            std::hint::black_box(k.dot(&a, &b[..4096]));
        }),
        case("matvec 768x768", move |k| {
            k.matvec(&matrix, &vector, &mut out);
        }),
        axpy(4096),
        product("matmul 128x256x256", Kernels::matmul, [128, 256, 256]),
        product("matmul_nt 128x64x128", Kernels::matmul_nt, [128, 64, 128]),
        // A training step of 1024 tokens: the gradients of a weight matrix and of the tokens.
        product("matmul_tn 64x1024x256", Kernels::matmul_tn, [64, 1024, 256]),
        product("matmul 1024x256x64", Kernels::matmul, [1024, 256, 64]),
        product("mix 128x128x64", Kernels::mix, [128, 128, 64]),
        in_place("softmax 1024", Kernels::softmax, 1024),
        case("layer_norm 768", move |k| {
            k.layer_norm(&row, &gamma, &gamma, 1e-5, &mut layer);
        }),
        case("rms_norm 768", move |k| {
            k.rms_norm(&row_2, &gamma_2, 1e-5, &mut rms);
        }),
        in_place("gelu 3072", Kernels::gelu, 3072),
        in_place("relu 3072", Kernels::relu, 3072),
        in_place("silu 3072", Kernels::silu, 3072),
        in_place("gelu_tanh 3072", Kernels::gelu_tanh, 3072),
        reduction("sum 4096", Kernels::sum, 4096),
        reduction("max 4096", Kernels::max, 4096),
    ]
}
