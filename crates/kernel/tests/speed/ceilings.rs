//! The products of packed weights beside the bare loops of their inner steps, all in one run.

use super::bare;
use super::cases;
use core::arch::wasm32::{i8x16_splat, v128};
use kernel::{BlockType, InnerStep, Kernels};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen_test::{Instant, console_log};

/// Rounds in which everything is measured once. Other work interrupts most of them on a busy
/// machine; the fastest counts.
const ROUNDS: usize = 100;

/// The shortest time of one measurement: many times the steps of the browser's clock.
const LEAST_MS: f64 = 0.5;

/// Bytes that no cache holds.
const LARGE: usize = 128 << 20;

/// A way to read numbers.
type Read = fn(&[v128]);

/// Something that is measured.
struct Run<'a> {
    name: String,
    /// The name of what limits it; empty for the limits themselves.
    limit: &'static str,
    /// Operations or bytes of one call.
    amount: f64,
    call: Box<dyn FnMut() + 'a>,
    calls: usize,
    fastest_ms: f64,
}

impl Run<'_> {
    fn measure(&mut self) -> f64 {
        let start = Instant::now();
        for _ in 0..self.calls {
            (self.call)();
        }
        let ms = start.elapsed().as_secs_f64() * 1e3;
        self.fastest_ms = self.fastest_ms.min(ms / self.calls as f64);
        ms
    }

    /// Thousands of millions of operations or bytes in a second.
    fn speed(&self) -> f64 {
        self.amount / self.fastest_ms * 1e-6
    }
}

/// The bare loops of this build, each with its name and the products of 16 bytes.
fn loops() -> Vec<(&'static str, usize, Vec<bare::Loop>)> {
    vec![
        (MUL_ADD, 4, bare::mul_add()),
        (WIDE, 8, bare::wide()),
        #[cfg(target_feature = "relaxed-simd")]
        (RELAXED_MUL_ADD, 4, bare::relaxed_mul_add()),
        #[cfg(target_feature = "relaxed-simd")]
        (DOT, 16, bare::dot()),
        #[cfg(target_feature = "relaxed-simd")]
        (PAIRS, 16, bare::pairs()),
    ]
}

/// The same for whole blocks, where a kernel's sums become numbers after each block.
fn block_loops() -> Vec<(String, usize, Vec<bare::Loop>)> {
    vec![
        (of_blocks(WIDE), 16, bare::wide_blocks()),
        #[cfg(target_feature = "relaxed-simd")]
        (of_blocks(DOT), 16, bare::dot_blocks()),
        #[cfg(target_feature = "relaxed-simd")]
        (of_blocks(PAIRS), 16, bare::pairs_blocks()),
    ]
}

/// The name of a limit by whole blocks.
fn of_blocks(step: &str) -> String {
    format!("blocks of {step}")
}

const MUL_ADD: &str = "f32x4_mul, f32x4_add";
const RELAXED_MUL_ADD: &str = "f32x4_relaxed_madd";
const WIDE: &str = "i32x4_dot_i16x8, i32x4_add";
const DOT: &str = "i32x4_relaxed_dot_i8x16_i7x16_add";
const PAIRS: &str = "i16x8_relaxed_dot_i8x16_i7x16, i16x8_add";
const READ: &str = "reading 128 MB";

/// The bare loop of an inner step.
fn limit_of(step: InnerStep) -> &'static str {
    match step {
        InnerStep::Wide => WIDE,
        InnerStep::RelaxedPairs => PAIRS,
        _ => DOT,
    }
}

/// The products with a prompt by one implementation, of the types for which it has an inner step
/// that those before it do not have.
fn products(kernels: &'static Kernels) -> impl Iterator<Item = Run<'static>> {
    let labels: &[&str] = match kernels.name() {
        "simd128" => &["q8", "f32"],
        "relaxed-wide" => &["q8"],
        "relaxed-pairs" => &["q4"],
        _ => &["q8", "q4", "f32"],
    };
    let types = labels.iter().map(move |&label| {
        let limit = match (label, kernels.name()) {
            ("f32", "simd128") => MUL_ADD,
            ("f32", _) => RELAXED_MUL_ADD,
            ("q8", _) => limit_of(kernels.inner_steps(BlockType::Q8_0)[1]),
            _ => limit_of(kernels.inner_steps(BlockType::Q4_0)[1]),
        };
        (label, limit)
    });
    types.flat_map(move |(label, limit)| {
        ["768x768", "3072x768", "768x3072"]
            .into_iter()
            .flat_map(move |shape| {
                let cases = cases::packed_cases(Some(&format!("{label} {shape} by 128")));
                cases.into_iter().map(move |mut case| Run {
                    name: format!("{} {}", case.name, kernels.name()),
                    limit,
                    amount: case.operations,
                    call: Box::new(move || (case.run)(kernels)),
                    calls: 1,
                    fastest_ms: f64::INFINITY,
                })
            })
    })
}

/// Measures in turns, so that all are slowed down alike.
fn measure(runs: &mut [Run]) {
    for run in &mut *runs {
        while run.measure() < LEAST_MS {
            run.calls *= 2;
        }
    }
    for _ in 0..ROUNDS {
        for run in &mut *runs {
            run.measure();
        }
    }
}

/// Prints the limits, then each product beside its own.
fn print(runs: &[Run], unit: &str) {
    let limits = runs.iter().filter(|run| run.limit.is_empty());
    for limit in limits.clone() {
        console_log!("{:<42} {:>7.1} {unit}", limit.name, limit.speed());
    }
    for run in runs.iter().filter(|run| !run.limit.is_empty()) {
        let ceiling = |name: &str| {
            let own = limits.clone().filter(|limit| limit.name.starts_with(name));
            own.map(Run::speed).fold(0.0, f64::max)
        };
        let share =
            |ceiling: f64| format!("{:.0} % of {ceiling:.1}", 100.0 * run.speed() / ceiling);
        let blocks = match ceiling(&of_blocks(run.limit)) {
            0.0 => String::new(),
            blocks => format!(", by blocks {}", share(blocks)),
        };
        console_log!(
            "{:<42} {:>7.1} {unit} {} ({}){blocks}",
            run.name,
            run.speed(),
            share(ceiling(run.limit)),
            run.limit,
        );
    }
}

/// Products of many tokens, which arithmetic limits.
pub(crate) fn of_arithmetic() {
    let limit = |name: &str, amount: f64, bare::Loop { sums, run }| Run {
        name: format!("{name}, {sums} sums"),
        limit: "",
        amount,
        call: Box::new(move || run(bare::TURNS)),
        calls: 1,
        fastest_ms: f64::INFINITY,
    };
    let mut runs = Vec::new();
    for (name, products, loops) in loops() {
        let of = |one: bare::Loop| limit(name, bare::operations(one.sums, products), one);
        runs.extend(loops.into_iter().map(of));
    }
    for (name, products, loops) in block_loops() {
        let of = |one: bare::Loop| limit(&name, bare::block_operations(one.sums, products), one);
        runs.extend(loops.into_iter().map(of));
    }
    for kernels in kernel::implementations() {
        if kernels.name() != "reference" {
            runs.extend(products(kernels));
        }
    }
    measure(&mut runs);
    print(&runs, "Gop/s");
}

/// Products of one token, which memory limits.
pub(crate) fn of_memory() {
    let numbers: Vec<v128> = vec![i8x16_splat(1); LARGE / 16];
    let numbers = numbers.as_slice();
    let read: [(&str, Read); 3] = [
        ("one stream", bare::read::<1>),
        ("two streams", bare::read::<2>),
        ("four streams", bare::read::<4>),
    ];
    let mut runs: Vec<_> = read
        .into_iter()
        .map(|(streams, read)| Run {
            name: format!("{READ}, {streams}"),
            limit: "",
            amount: LARGE as f64,
            call: Box::new(move || read(numbers)) as Box<dyn FnMut()>,
            calls: 1,
            fastest_ms: f64::INFINITY,
        })
        .collect();
    let quantized = ["q8", "q4", "q4_1", "q5_1", "q6"];
    let names = quantized
        .iter()
        .flat_map(|label| {
            [
                format!("{label} 3072x768 by 1"),
                format!("{label} 161544x768 by 1"),
            ]
        })
        .chain(["f32 8192x2048 by 1".to_owned()]);
    for name in names {
        // The filter takes names with this part, `by 128` too.
        let cases = cases::packed_cases(Some(&name)).into_iter();
        for case in cases.filter(|case| case.name == name) {
            let case = Rc::new(RefCell::new(case));
            for kernels in kernel::implementations() {
                if kernels.name() == "reference" {
                    continue;
                }
                let amount = case.borrow().bytes;
                let case = Rc::clone(&case);
                runs.push(Run {
                    name: format!("{name} {}", kernels.name()),
                    limit: READ,
                    amount,
                    call: Box::new(move || (case.borrow_mut().run)(kernels)),
                    calls: 1,
                    fastest_ms: f64::INFINITY,
                });
            }
        }
    }
    measure(&mut runs);
    print(&runs, "GB/s");
}
