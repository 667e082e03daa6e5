//! The time of a training step of shipped models, with one thread and with two in turns:
//! `cargo bench -p train --bench steps -- FOLDER [MODEL…]`, where FOLDER holds the data.
//!
//! Each step is that of the trainer: the gradients of a batch, their length, the optimiser. Both
//! numbers of threads take the same batches, and the medians are over all of them; processor time
//! is that of all threads together.
#![allow(
    clippy::unwrap_used,
    reason = "a measurement fails by panicking, as a test does"
)]

use engine::formula::Formula;
use engine::grad::{AdamW, initialise};
use engine::kernel::threads;
use engine::model::vit::Vit;
use engine::rng::Rng;
use std::path::Path;
use std::time::Instant;
use training::digits::classifier::Classifier;
use training::digits::data::Mnist;
use training::frame::{Subject, gradients_of};
use training::text::language::Language;
use training::text::masked::Masked;
use training::text::translation::{Kind, Translation};

/// Batches that each number of threads takes, and those before that do not count.
const COUNTED: usize = 24;
const WARM_UP: usize = 3;

/// The numbers of threads that are compared.
const THREADS: [usize; 2] = [1, 2];

/// Milliseconds that this program's threads have run; 0 where the system does not say.
fn processor_ms() -> f64 {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return 0.0;
    };
    let ran = tasks.flatten().filter_map(|task| {
        let line = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        line.split(' ').next()?.parse::<f64>().ok()
    });
    ran.sum::<f64>() / 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Takes some steps and prints the medians.
fn measure<S: Subject>(subject: &S) {
    let recipe = subject.recipe();
    let mut source = Formula::new(0, subject.shapes());
    let mut model = subject.load(&mut source).unwrap();
    initialise(&mut model, 1, recipe.draw).unwrap();
    subject.begin(&mut model).unwrap();
    let mut optimiser = AdamW::default();
    let mut times = THREADS.map(|_| [Vec::new(), Vec::new()]);
    let batches = subject.batches(&mut Rng::named(1, "order.0"));
    for (n, batch) in batches.iter().cycle().take(WARM_UP + COUNTED).enumerate() {
        for (times, count) in times.iter_mut().zip(THREADS) {
            threads::limit(count);
            let (before, start) = (processor_ms(), Instant::now());
            let random = (1, n as u64, recipe.dropout);
            let (loss, mut found) = gradients_of(subject, &mut model, batch, random).unwrap();
            found.clip(recipe.clip);
            optimiser.step(&mut model, &found, 1e-4).unwrap();
            assert!(loss.is_finite());
            if n >= WARM_UP {
                times[0].push(start.elapsed().as_secs_f64() * 1e3);
                times[1].push(processor_ms() - before);
            }
        }
    }
    for ([wall, processor], count) in times.into_iter().zip(THREADS) {
        let (name, wall, processor) = (subject.name(), median(wall), median(processor));
        println!("{name}: {count} threads: {wall:.1} ms, {processor:.1} ms of processors");
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let Some(data) = arguments.next() else {
        return println!("skipped: name the folder of the data");
    };
    let names: Vec<String> = arguments.collect();
    let asked = |name: &str| names.is_empty() || names.iter().any(|asked| asked == name);
    let data = Path::new(&data);
    threads::start(THREADS[1]).unwrap();
    if asked("digit-vit") {
        measure(&Classifier::<Vit>::new(
            Mnist::read(&data.join("mnist")).unwrap(),
        ));
    }
    if asked("tiny-bert") {
        measure(&Masked::read(data).unwrap());
    }
    if asked("tiny-gpt") {
        measure(&Language::read(data).unwrap());
    }
    for (name, kind) in [
        ("seq2seq-gru", Kind::Gru),
        ("seq2seq-attention", Kind::Attention),
        ("translator", Kind::Transformer),
    ] {
        if asked(name) {
            measure(&Translation::read(kind, data).unwrap());
        }
    }
}
