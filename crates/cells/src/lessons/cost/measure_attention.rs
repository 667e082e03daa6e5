//! Attention and a recurrence on texts of several lengths: the multiplications counted, and one of
//! both computed as often as asked, for the page to measure.

use engine::nn::attention::{Mask, Scoring, scale};
use engine::rng::normal_matrix;
use engine::trace::Observer;
use explain::cost::{recurrent, self_attention};
use explain::power_law::PowerLaw;
use ndarray::Axis;

use crate::computation::Computation;
use crate::error::CellError;
use crate::frame::shown::Record;
use crate::input::{InputSpec, InputValue, Inputs};
use crate::jobs::{Entry, no_files};
use crate::spec::{self, CellSpec, Run, WorkerKind};

/// Tokens of the texts that are measured: each twice as long as the one before.
pub const LENGTHS: [usize; 5] = [64, 128, 256, 512, 1_024];

/// The layers, as tensors and measurements are named after them.
pub const LAYERS: [&str; 2] = ["attention", "recurrence"];

/// Most multiplications of one request: about a second of a slow machine.
const MOST: u64 = 600_000_000;

/// Numbers of the output that are shown.
const SHOWN: usize = 3;

/// The cell `measure-attention`.
pub const SPEC: CellSpec = CellSpec {
    name: "measure-attention",
    inputs,
    run: Run::Sliced(WorkerKind::Models),
};

/// The work of the worker.
pub const ENTRY: Entry = Entry {
    name: SPEC.name,
    files: no_files,
    start: |inputs, _| Ok(spec::once_from(inputs, compute)),
    partial_from: None,
};

fn inputs() -> Vec<InputSpec> {
    vec![
        InputSpec::number("width", "Dimension $C$", (16.0, 256.0, 16.0), 64.0),
        InputSpec::choice("layer", "Layer", &LAYERS),
        InputSpec::number("tokens", "Tokens $T$", (16.0, 1_024.0, 16.0), 256.0),
        InputSpec::number("repeats", "Times in a row", (1.0, 200.0, 1.0), 1.0),
    ]
}

/// The inputs with another layer and length, computed so many times in a row.
pub fn asked(inputs: Inputs, layer: usize, tokens: usize, repeats: usize) -> Inputs {
    inputs
        .with("layer", InputValue::Choice(LAYERS[layer].to_owned()))
        .with("tokens", InputValue::Number(tokens as f64))
        .with("repeats", InputValue::Number(repeats as f64))
}

/// The times in a row that take about `wanted_ms`, where one took `once_ms`, as far as the cell allows
/// them.
pub fn repeats(once_ms: f64, wanted_ms: f64, layer: usize, tokens: usize, width: usize) -> usize {
    let fitting = (wanted_ms / once_ms.max(0.001)).round().clamp(1.0, 200.0);
    let allowed = MOST / multiplications(layer, tokens, width).max(1);
    (fitting as usize).min(allowed as usize).max(1)
}

/// The law through measured times of the first of [`LENGTHS`].
pub fn law(times: &[f64]) -> Option<PowerLaw> {
    let lengths = LENGTHS.map(|length| length as f64);
    explain::power_law::fit(lengths.get(..times.len())?, times).ok()
}

fn multiplications(layer: usize, tokens: usize, width: usize) -> u64 {
    match layer {
        0 => self_attention(tokens, width).multiplications,
        _ => recurrent(tokens, width).multiplications,
    }
}

fn compute(inputs: &Inputs) -> Result<Computation, CellError> {
    let (width, tokens) = (inputs.count("width")?, inputs.count("tokens")?);
    let repeats = inputs.count("repeats")?;
    let layer = inputs.choice("layer")?;
    let layer = usize::from(layer != LAYERS[0]);
    let work = multiplications(layer, tokens, width);
    if work * repeats as u64 > MOST {
        let most = MOST / work.max(1);
        let message = format!(
            "so much work would take too long: with this length and dimension, at most {most}."
        );
        return Err(CellError::input("repeats", "Times in a row", message));
    }
    let mut record = Record::new();
    let found = if layer == 0 {
        attention(&mut record, tokens, width, repeats)?
    } else {
        recurrence(&mut record, tokens, width, repeats)?
    };
    record.numbers("output", found);
    record.number("multiplications", work as f64);
    counts(&mut record, width)?;
    Ok(record.finish())
}

/// The first numbers of the last row of attention.
fn attention(
    record: &mut Record,
    tokens: usize,
    width: usize,
    repeats: usize,
) -> Result<Vec<f64>, CellError> {
    let [q, k, v] = ["q", "k", "v"].map(|name| normal_matrix(7, name, tokens, width, 1.0));
    let [q, k, v] = [&q, &k, &v].map(|x| x.view().insert_axis(Axis(0)));
    let (scoring, mask) = (Scoring::Dot(scale(width)), Mask::None);
    let mut nobody: Option<&mut dyn Observer> = None;
    let mut found = shown!(
        record,
        engine::nn::attention::attend,
        q,
        k,
        v,
        &scoring,
        &mask,
        &mut nobody
    )?;
    for _ in 1..repeats {
        found = std::hint::black_box(engine::nn::attention::attend(
            q,
            k,
            v,
            &scoring,
            &mask,
            &mut nobody,
        )?);
    }
    let output = found.output.index_axis(Axis(0), 0);
    Ok(first(output.row(tokens - 1)))
}

/// The first numbers of the last state of a recurrence.
fn recurrence(
    record: &mut Record,
    tokens: usize,
    width: usize,
    repeats: usize,
) -> Result<Vec<f64>, CellError> {
    let x = normal_matrix(7, "x", tokens, width, 1.0);
    // So small that a state neither dies nor saturates.
    let std = 1.0 / engine::math::sqrt(2.0 * width as f32);
    let [w_x, w_h] = ["w_x", "w_h"].map(|name| normal_matrix(7, name, width, width, std));
    let (x, w_x, w_h) = (x.view(), w_x.view(), w_h.view());
    let mut found = shown!(record, explain::recurrence::read, x, w_x, w_h)?;
    for _ in 1..repeats {
        found = std::hint::black_box(explain::recurrence::read(x, w_x, w_h)?);
    }
    Ok(first(found.row(tokens - 1)))
}

fn first(row: ndarray::ArrayView1<'_, f32>) -> Vec<f64> {
    row.iter().take(SHOWN).map(|&x| f64::from(x)).collect()
}

/// The multiplications of both layers for all lengths, and the exponents of their growth.
fn counts(record: &mut Record, width: usize) -> Result<(), CellError> {
    let lengths = LENGTHS.map(|length| length as f64).to_vec();
    for (layer, name) in LAYERS.into_iter().enumerate() {
        let of = |tokens: usize| multiplications(layer, tokens, width) as f64;
        let counted = LENGTHS.map(of).to_vec();
        let (x, y) = (lengths.as_slice(), counted.as_slice());
        let law = shown!(record, explain::power_law::fit, x, y)?;
        record.number(&format!("{name}.exponent"), law.exponent);
        record.number(&format!("{name}.error"), law.standard_error);
        let four = of(4 * LENGTHS[0]) / of(LENGTHS[0]);
        record.number(&format!("{name}.four"), four);
        record.numbers(&format!("{name}.counted"), counted);
    }
    let steps = LENGTHS.map(|tokens| recurrent(tokens, width).sequential as f64);
    record.numbers("recurrence.steps", steps.to_vec());
    record.numbers("lengths", lengths);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::test_models::{choice, computed, number};

    fn given(layer: &str, tokens: f64, repeats: f64) -> Inputs {
        Inputs::defaults(&inputs())
            .with("layer", choice(layer))
            .with("tokens", number(tokens))
            .with("repeats", number(repeats))
    }

    /// The counts are exact: four times the tokens are 16 times the work of attention, and 4 times
    /// that of the recurrence, which also waits 4 times as often.
    #[test]
    fn counts_grow_with_the_square_and_with_the_length() {
        let c = computed(&SPEC, &Inputs::defaults(&inputs())).unwrap();
        let of = |name: &str| c.at(name, &[]).unwrap();
        assert_eq!((of("attention.four"), of("recurrence.four")), (16.0, 4.0));
        for (layer, expected) in [("attention", 2.0), ("recurrence", 1.0)] {
            let [exponent, error] =
                ["exponent", "error"].map(|name| of(&format!("{layer}.{name}")));
            println!("{layer}, counted: {exponent:.9} \u{b1} {error:.1e}");
            assert!(
                (exponent - expected).abs() < 1e-9 && error < 1e-6,
                "{layer}"
            );
        }
        for (n, length) in LENGTHS.into_iter().enumerate() {
            let square = 2 * length * length * 64;
            assert_eq!(c.at("attention.counted", &[n]), Some(square as f64));
            assert_eq!(c.at("recurrence.steps", &[n]), Some(length as f64));
        }
        // At T = C both count the same.
        assert_eq!(
            c.at("attention.counted", &[0]),
            c.at("recurrence.counted", &[0])
        );
    }

    /// The measurement of the page, natively and with the shortest of twenty times in place of three,
    /// since other work only adds to a time. It asserts nothing: times are the machine's affair. The
    /// log is in `BENCHMARKS.md`; the command is `cargo test -p cells growth_is_measured -- --ignored
    /// --nocapture`.
    #[test]
    #[ignore = "a measurement, not a test"]
    fn growth_is_measured() {
        let ms = |layer: usize, tokens: usize, often: usize| {
            let inputs = asked(Inputs::defaults(&inputs()), layer, tokens, often);
            let begun = std::time::Instant::now();
            computed(&SPEC, &inputs).unwrap();
            begun.elapsed().as_secs_f64() * 1e3 / often as f64
        };
        for run in 1..=5 {
            for (layer, name) in LAYERS.into_iter().enumerate() {
                let times = LENGTHS.map(|tokens| {
                    let often = repeats(ms(layer, tokens, 1), 30.0, layer, tokens, 64);
                    let rounds = (0..20).map(|_| ms(layer, tokens, often));
                    rounds.fold(f64::INFINITY, f64::min)
                });
                let found = law(&times).unwrap();
                let (exponent, error) = (found.exponent, found.standard_error);
                let four = times[4] / times[2];
                println!(
                    "run {run}, {name}: exponent {exponent:.2} \u{b1} {error:.2}; 4 times the tokens, {four:.1} times the time; ms {times:.3?}"
                );
            }
        }
    }

    /// Repeating a computation gives what it gives once.
    #[test]
    fn repeats_change_nothing() {
        for layer in LAYERS {
            let once = computed(&SPEC, &given(layer, 64.0, 1.0)).unwrap();
            let often = computed(&SPEC, &given(layer, 64.0, 5.0)).unwrap();
            assert_eq!(once.tensors, often.tensors, "{layer}");
        }
    }

    /// Too much work is refused with the number that is allowed, and that number works.
    #[test]
    fn too_much_work_is_refused() {
        let wide = given("attention", 1_024.0, 200.0).with("width", number(256.0));
        assert!(matches!(
            computed(&SPEC, &wide),
            Err(CellError::Input { .. })
        ));
        assert!(computed(&SPEC, &wide.with("repeats", number(1.0))).is_ok());
        for layer in 0..2 {
            for tokens in LENGTHS {
                for width in [16, 64, 256] {
                    let found = repeats(0.0, 30.0, layer, tokens, width);
                    let work = multiplications(layer, tokens, width) * found as u64;
                    assert!((1..=200).contains(&found) && work <= MOST);
                }
            }
        }
        assert_eq!(repeats(10.0, 30.0, 0, 64, 64), 3);
    }

    /// The law of given times, with its error.
    #[test]
    fn given_times_have_this_law() {
        let times = LENGTHS.map(|length| 1e-5 * (length * length) as f64);
        let found = law(&times).unwrap();
        assert!((found.exponent - 2.0).abs() < 1e-9 && found.standard_error < 1e-7);
        assert!(law(&times[..2]).is_none() && law(&[0.0; 5]).is_none() && law(&[1.0; 6]).is_none());
        let noisy = [1.0, 2.1, 3.9, 8.3, 15.8];
        let found = law(&noisy).unwrap();
        assert!((found.exponent - 1.0).abs() < 0.02);
        assert!((0.001..0.03).contains(&found.standard_error));
    }
}
