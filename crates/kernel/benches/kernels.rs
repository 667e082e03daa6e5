//! A benchmark of each fast kernel against the plain loops, natively, in one run:
//! `cargo bench -p kernel --bench kernels -- --warm-up-time 0.2 --measurement-time 0.5`
//!
//! In the browser: see `tests/speed_wasm.rs`.

#[cfg(not(target_family = "wasm"))]
mod cases;
#[cfg(not(target_family = "wasm"))]
#[path = "../tests/suite/random.rs"]
#[allow(dead_code, reason = "a measurement needs less of it than the tests")]
mod random;

#[cfg(not(target_family = "wasm"))]
mod native {
    use criterion::{BenchmarkId, Criterion, Throughput};

    fn kernels(criterion: &mut Criterion) {
        let packed = super::cases::packed_cases(None);
        for mut case in super::cases::cases().into_iter().chain(packed) {
            let mut group = criterion.benchmark_group(case.name.clone());
            if case.operations > 0.0 {
                // The memory limits the product with one token, the arithmetic that with many.
                group.throughput(if case.name.ends_with(" by 1") {
                    Throughput::Bytes(case.bytes as u64)
                } else {
                    Throughput::Elements(case.operations as u64)
                });
            }
            for kernels in kernel::implementations() {
                group.bench_function(BenchmarkId::from_parameter(kernels.name()), |bencher| {
                    bencher.iter(|| (case.run)(kernels));
                });
            }
            group.finish();
        }
    }

    criterion::criterion_group!(benches, kernels);
}

#[cfg(not(target_family = "wasm"))]
criterion::criterion_main!(native::benches);

#[cfg(target_family = "wasm")]
fn main() {}
