//! Heads minus tails of a number of coins, a thousand times: a sum of independent steps, whose
//! spread grows with the root of their number.

use explain::stats::Histogram;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, Inputs};
use crate::spec::{CellSpec, Run};

/// How often the coins are flipped.
const REPEATS: usize = 1_000;

/// The names of [`COUNTS`].
const FLIPS: &[&str] = &["4", "16", "64", "256"];

/// The numbers of coins that a reader can choose.
pub const COUNTS: [usize; 4] = [4, 16, 64, 256];

/// Ends of the axis for every number of coins: four standard deviations of 256 coins, and half a
/// bar. Sums of an even number of coins are even, so each bar holds one of them.
const REACH: f64 = 65.0;

/// Bars of the histogram, each two wide.
const BINS: usize = 65;

/// The cell `coin-flips`.
pub const SPEC: CellSpec = CellSpec {
    name: "coin-flips",
    inputs,
    run: Run::Now(compute),
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::choice("flips", "Coins $d$", FLIPS),
        InputSpec::seed(7),
    ]
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (mut record, seed) = (Record::new(), inputs.seed()?);
    let chosen = inputs.choice("flips")?;
    let mut deviations = Vec::new();
    for (name, flips) in FLIPS.iter().zip(COUNTS) {
        if *name != chosen {
            // The same functions as below, so their calls are not kept again.
            let sums = explain::coin_walk::heads_minus_tails(seed, REPEATS, flips);
            deviations.push(explain::stats::standard_deviation(sums.view()));
            continue;
        }
        let sums = shown!(
            record,
            explain::coin_walk::heads_minus_tails,
            seed,
            REPEATS,
            flips
        );
        let x = sums.view();
        let deviation = shown!(record, explain::stats::standard_deviation, x);
        let Histogram {
            centres,
            counts,
            outside,
        } = shown!(record, explain::stats::histogram, x, -REACH, REACH, BINS)?;
        deviations.push(deviation);
        record.number("deviation", deviation);
        record.number("root", root(flips));
        record.number("outside", outside);
        record.numbers("centres", centres);
        record.numbers("histogram", counts);
    }
    record.number("repeats", REPEATS as f64);
    record.numbers("deviations", deviations);
    record.numbers("roots", COUNTS.map(root).to_vec());
    record.numbers("coins", COUNTS.map(|flips| flips as f64).to_vec());
    Ok(record.finish())
}

/// The standard deviation that theory expects.
fn root(flips: usize) -> f64 {
    f64::from(engine::math::sqrt(flips as f32))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputValue;

    fn of(flips: &str, seed: f64) -> Computation {
        let given = Inputs::defaults(&inputs())
            .with("flips", InputValue::Choice(flips.to_owned()))
            .with("seed", InputValue::Number(seed));
        compute(&given).unwrap()
    }

    /// The lesson's claim: heads minus tails of 64 coins is typically about 8.
    #[test]
    fn the_spread_is_the_root_of_the_number_of_coins() {
        for seed in [1.0, 7.0, 99.0] {
            for (place, flips) in FLIPS.iter().enumerate() {
                let c = of(flips, seed);
                let (found, root) = (c.at("deviation", &[]), c.at("root", &[]));
                assert_eq!(root, Some([2.0, 4.0, 8.0, 16.0][place]));
                let ratio = found.unwrap() / root.unwrap();
                // Four standard errors: 4/√2,000.
                assert!((ratio - 1.0).abs() < 0.09, "{flips} coins: {ratio}");
                assert_eq!(c.at("deviations", &[place]), found);
            }
        }
    }

    #[test]
    fn every_sum_is_in_a_bar_or_beyond_the_axis() {
        for flips in FLIPS {
            let c = of(flips, 7.0);
            let counts = c.tensor("histogram").unwrap().values.sum();
            assert_eq!(counts + c.at("outside", &[]).unwrap(), 1_000.0);
            // The bar in the middle is the one of as many heads as tails.
            assert_eq!(c.at("centres", &[32]), Some(0.0));
            assert!(c.at("histogram", &[32]).unwrap() > 20.0, "{flips}");
        }
        assert_eq!(of("4", 7.0).at("histogram", &[35]), Some(0.0));
    }

    #[test]
    fn another_seed_gives_other_flips() {
        assert_eq!(of("16", 7.0).tensors, of("16", 7.0).tensors);
        assert_ne!(
            of("16", 7.0).at("deviation", &[]),
            of("16", 8.0).at("deviation", &[])
        );
    }
}
