//! `mlp-runs`: the runs of MLPs with four nonlinearities ([`explain::fact_memory`]) and of mixtures of
//! experts with the balance loss and without ([`explain::expert_words`]), and the log that the site
//! ships.
//!
//! ```text
//! setting  NAME           VALUE                     what was run, and how
//! first    SCHEME         SEED  loss …              of the first steps, each to its last bit
//! loss     ACTIVITY-RATE  SEED  loss …              means over an eighth of the steps each, in nats
//! right    ACTIVITY-RATE  SEED  share               of all facts, after the last step
//! load     SCHEME         SEED  share of expert …   of the words, after the last step
//! words    SCHEME         SEED  loss                of the last step, without the balance loss
//! ```
//! The fields of a line are separated by tabs. SCHEME is ACTIVITY-RATE, `balanced` or `free`. All runs
//! compute with the kernels that give the same bits on every machine.

use crate::Result;
use crate::frame::replace;
use explain::expert_words::{self, ExpertRun, TEXT, Words, load};
use explain::fact_memory::{self, Activity, FACTS, FactMemory, FactRun, RATES};
use std::fmt::Write;
use std::path::Path;

/// The file that the site ships.
pub const FILE: &str = "mlp-runs.tsv";
/// Runs of each scheme, with seeds one after the other.
pub const SEEDS: u64 = 5;
/// Steps whose losses are in the log to the last bit.
pub const FIRST: usize = 3;
/// Means along a run.
pub const MEANS: usize = 8;
/// The mixtures of experts: name in the log, and whether the loss balances their load.
pub const MIXTURES: [(&str, bool); 2] = [("balanced", true), ("free", false)];

/// Trains all models, the first of each with the seed `seed`, and writes the log to `out`.
///
/// # Errors
/// When a run fails, or the log cannot be written.
pub fn mlp_runs(seed: u64, out: &Path) -> Result<()> {
    let mut log = settings(seed)?;
    for rate in RATES {
        for (name, activity) in Activity::ALL {
            for own in seed..seed + SEEDS {
                let lines = facts(name, activity, rate, own)?;
                eprint!("{lines}");
                log.push_str(&lines);
            }
        }
    }
    for (name, is_balanced) in MIXTURES {
        for own in seed..seed + SEEDS {
            let lines = experts(name, is_balanced, own)?;
            eprint!("{lines}");
            log.push_str(&lines);
        }
    }
    let path = out.join(FILE);
    replace(&path, log.as_bytes())?;
    eprintln!("wrote {}", path.display());
    Ok(())
}

/// The lines on all runs together.
fn settings(seed: u64) -> Result<String> {
    let mut all = String::new();
    let parameters = FactMemory::new(Activity::Relu, seed)?.count()?;
    for (name, value) in [
        (
            "command",
            format!("cargo xtask train mlp-runs --seed {seed}"),
        ),
        ("seeds", SEEDS.to_string()),
        ("facts", FACTS.to_string()),
        ("fact steps", fact_memory::STEPS.to_string()),
        ("fact width", fact_memory::WIDTH.to_string()),
        ("fact parameters", parameters.to_string()),
        ("expert steps", expert_words::STEPS.to_string()),
        ("experts", expert_words::EXPERTS.to_string()),
        ("expert alpha", expert_words::ALPHA.to_string()),
    ] {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(all, "setting\t{name}\t{value}");
    }
    Ok(all)
}

/// The numbers of a line.
fn line(log: &mut String, (kind, scheme): (&str, &str), seed: u64, numbers: &[String]) {
    let _ = writeln!(log, "{kind}\t{scheme}\t{seed}\t{}", numbers.join("\t"));
}

/// The first losses of a run.
fn first(losses: &[f32]) -> Vec<String> {
    losses.iter().take(FIRST).map(ToString::to_string).collect()
}

/// The lines of one run on facts.
fn facts(name: &str, activity: Activity, rate: &str, seed: u64) -> Result<String> {
    let mut run = FactRun::new(activity, rate.parse().unwrap_or_default(), seed)?;
    let losses = (0..fact_memory::STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let (mut log, scheme) = (String::new(), format!("{name}-{rate}"));
    line(&mut log, ("first", &scheme), seed, &first(&losses));
    let means = losses.chunks(losses.len().div_ceil(MEANS)).map(|part| {
        let sum: f64 = part.iter().copied().map(f64::from).sum();
        format!("{:.4}", sum / part.len() as f64)
    });
    let means: Vec<String> = means.collect();
    line(&mut log, ("loss", &scheme), seed, &means);
    let share = run.model.right()? as f64 / FACTS as f64;
    line(&mut log, ("right", &scheme), seed, &[format!("{share:.4}")]);
    Ok(log)
}

/// The lines of one run of a mixture of experts.
fn experts(name: &str, is_balanced: bool, seed: u64) -> Result<String> {
    let mut run = ExpertRun::new(&Words::of(TEXT), is_balanced, seed)?;
    let losses = (0..expert_words::STEPS).map(|_| run.step());
    let losses = losses.collect::<engine::Result<Vec<f32>>>()?;
    let mut log = String::new();
    line(&mut log, ("first", name), seed, &first(&losses));
    let shares = load(run.gates()?.view());
    let shares: Vec<String> = shares.iter().map(|share| format!("{share:.4}")).collect();
    line(&mut log, ("load", name), seed, &shares);
    let last = losses.last().copied().unwrap_or_default();
    line(&mut log, ("words", name), seed, &[format!("{last:.4}")]);
    Ok(log)
}
