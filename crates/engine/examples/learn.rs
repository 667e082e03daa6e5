//! A small Transformer learns to copy, reverse or sort sequences of 16 symbols, from nothing.
//!
//! ```text
//! cargo run --release -p engine --example learn -- reverse
//! ```
//! Options: `copy`, `reverse` or `sort`, then the most steps, the batch, the highest rate and the warm-up.
#![allow(missing_docs, reason = "a program")]

#[cfg(not(target_family = "wasm"))]
#[path = "../tests/gradients/learn.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod learn;

#[cfg(not(target_family = "wasm"))]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use engine::grad::{Schedule, Settings, Task};
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (symbols, length) = (10, 16);
    let task = match arguments.first().map(String::as_str) {
        Some("copy") => Task::Copy { symbols, length },
        Some("sort") => Task::Sort { symbols, length },
        Some("reverse") | None => Task::Reverse { symbols, length },
        Some(other) => return Err(format!("no task {other}: copy, reverse or sort").into()),
    };
    let number = |n: usize, default: f64| -> Result<f64, std::num::ParseFloatError> {
        arguments.get(n).map_or(Ok(default), |text| text.parse())
    };
    let (most, batch) = (number(1, 800.0)? as u64, number(2, 16.0)? as usize);
    let (peak, warmup) = (number(3, 0.002)? as f32, number(4, 100.0)? as u64);
    let schedule = Schedule::Cosine {
        peak,
        last: peak / 20.0,
        warmup,
        steps: most,
    };
    let mut learner = learn::Learner::new(task, Settings::default(), batch, schedule)?;
    let start = std::time::Instant::now();
    for n in 1..=most {
        let loss = learner.step()?;
        if n % 50 == 0 {
            let score = 100.0 * learner.score(100)?;
            let elapsed_s = start.elapsed().as_secs_f32();
            println!("step {n:5}  {elapsed_s:6.1} s  loss {loss:.4}  {score:5.1} % wholly right");
            if score >= 99.0 {
                break;
            }
        }
    }
    println!(
        "{:.1} % of 1000 held-out sequences",
        100.0 * learner.score(1000)?
    );
    Ok(())
}

#[cfg(target_family = "wasm")]
fn main() {}
