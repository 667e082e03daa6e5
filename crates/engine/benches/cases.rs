//! What is measured: each kernel at a size that a small model has. Shared by the native benchmark (`kernels.rs`) and by the one
//! in the browser (`tests/speed_wasm.rs`).

use engine::kernel::Kernels;
use engine::rng::Rng;

/// One kernel on fixed data.
pub(crate) struct Case {
    /// Kernel and size.
    pub(crate) name: &'static str,
    /// One call.
    pub(crate) run: Box<dyn FnMut(&Kernels)>,
}

fn case(name: &'static str, run: impl FnMut(&Kernels) + 'static) -> Case {
    Case {
        name,
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

/// A kernel that works in place, on a fresh copy each time.
fn in_place(name: &'static str, kernel: fn(&Kernels, &mut [f32]), length: usize) -> Case {
    let (x, mut scratch) = (numbers(length), vec![0.0; length]);
    case(name, move |k| {
        scratch.copy_from_slice(&x);
        kernel(k, &mut scratch);
    })
}

/// A kernel from a slice to a number.
fn reduction(name: &'static str, kernel: fn(&Kernels, &[f32]) -> f32, length: usize) -> Case {
    let x = numbers(length);
    case(name, move |k| {
        std::hint::black_box(kernel(k, &x));
    })
}

/// y += alpha x. Signs alternate so that y stays where it began, however often this runs.
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
        reduction("sum 4096", Kernels::sum, 4096),
        reduction("max 4096", Kernels::max, 4096),
    ]
}
