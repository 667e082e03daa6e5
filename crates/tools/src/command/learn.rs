//! A Transformer learns a task from nothing: the command `learn`.

use super::arguments::{Arguments, Failure, number, say};
use engine::grad::{Learner, Schedule, Settings, Task, TrainingConfig};
use std::time::Instant;

pub(crate) const HELP: &str = "\
Teaches a small Transformer, two blocks on each side and 64 wide, to copy, reverse or sort sequences of symbols, from nothing.

usage: notebook learn TASK [OPTIONS]

TASK is copy, reverse or sort.

  --steps N      the most steps (default: 800)
  --batch N      sequences in a step (default: 16)
  --rate X       the highest learning rate (default: 0.002)
  --length N     symbols in a sequence (default: 16)
  --symbols N    different symbols (default: 10)

Every 50 steps it prints the loss and how many of 100 sequences that it never trains on it gets wholly right, and stops at 99.
Exit code 2 for wrong arguments.";

/// Steps between looks at the score.
const LOOK: u64 = 50;

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let (mut steps, mut batch, mut peak) = (800u64, 16usize, 0.002f32);
    let (mut length, mut symbols) = (16usize, 10usize);
    let words = arguments.read(|name, value| {
        match name {
            "steps" => steps = number(name, &value()?)?,
            "batch" => batch = number(name, &value()?)?,
            "rate" => peak = number(name, &value()?)?,
            "length" => length = number(name, &value()?)?,
            "symbols" => symbols = number(name, &value()?)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let task = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["copy"] => Task::Copy { symbols, length },
        ["reverse"] => Task::Reverse { symbols, length },
        ["sort"] => Task::Sort { symbols, length },
        _ => return Err(Failure::Usage("TASK is copy, reverse or sort".to_owned())),
    };
    let schedule = Schedule::Cosine {
        peak,
        last: peak / 20.0,
        warmup: steps / 8,
        steps,
    };
    let wrong = |error: engine::EngineError| Failure::Usage(error.to_string());
    let plan = TrainingConfig {
        batch,
        ..TrainingConfig::of(task, schedule)
    };
    let mut learner = Learner::new(plan, Settings::default()).map_err(wrong)?;
    let start = Instant::now();
    for n in 1..=steps {
        let loss = learner.step().map_err(wrong)?;
        if n % LOOK == 0 || n == steps {
            let score = 100.0 * learner.score(100).map_err(wrong)?;
            let elapsed_s = start.elapsed().as_secs_f32();
            say!("step {n:5}  {elapsed_s:6.1} s  loss {loss:.4}  {score:5.1} % wholly right");
            if score >= 99.0 {
                break;
            }
        }
    }
    let score = 100.0 * learner.score(1000).map_err(wrong)?;
    say!("{score:.1} % of 1000 held-out sequences");
    Ok(())
}
