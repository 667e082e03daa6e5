//! The frame with a network so small that it learns in milliseconds.

use engine::EngineError;
use engine::grad::{Draw, Schedule, Tape, Var};
use engine::model::cnn::{Cnn, Config};
use engine::ndarray::{Array4, Axis};
use engine::nn::compute::Compute;
use engine::parameters::{Memory, Parameters};
use engine::quant::Type;
use engine::rng::Rng;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use training::frame::{
    Card, Choice, Evaluation, Figure, HALF, Keep, LARGEST_FILE, Options, Recipe, Subject, Trained,
    WEIGHTS, kept, ship, ship_again, tables, train,
};
use training::{Result, TrainError};

/// A network that learns on which side of a picture the light is.
struct Tiny {
    sizes: Config,
    /// The step at which it is interrupted.
    fails_at: Option<u64>,
    /// The step at which the loss is no number.
    diverges_at: Option<u64>,
    /// True for a loss that is computed with a clone of the model.
    clones: bool,
    /// The most that smaller weights may change its figure by.
    allowed: f64,
    /// Parts of batches so far, two in each step.
    parts: AtomicU64,
    /// Scores to give in place of its own.
    scores: Vec<f64>,
    /// The checkpoints that it keeps.
    keep: Option<Keep>,
    evaluations: AtomicUsize,
}

impl Default for Tiny {
    fn default() -> Self {
        Self {
            sizes: Config {
                channels: 1,
                image: 6,
                widths: vec![3],
                side: 3,
                inner: 8,
                classes: 2,
            },
            fails_at: None,
            diverges_at: None,
            clones: false,
            allowed: 0.02,
            parts: AtomicU64::new(0),
            scores: Vec::new(),
            keep: None,
            evaluations: AtomicUsize::new(0),
        }
    }
}

const PICTURES: usize = 22;
const STEPS: u64 = 30;

fn pictures(places: &[usize], rng: &mut Rng) -> (Array4<f32>, Vec<Option<usize>>) {
    let mut all = Array4::from_shape_simple_fn((places.len(), 1, 6, 6), || rng.uniform());
    for (mut picture, place) in all.outer_iter_mut().zip(places) {
        // Left or right by the picture's number.
        let column = 3 * (place % 2) + place % 3;
        picture
            .index_axis_mut(Axis(2), column)
            .mapv_inplace(|value| value + 1.5);
    }
    (all, places.iter().map(|place| Some(place % 2)).collect())
}

impl Subject for Tiny {
    type Model = Cnn;

    fn name(&self) -> &'static str {
        "tiny"
    }

    fn load(&self, source: &mut dyn Parameters) -> Result<Cnn> {
        Ok(Cnn::load(self.sizes.clone(), source)?)
    }

    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        self.sizes.shapes()
    }

    fn config(&self) -> Value {
        json!({"model_type": "cnn"})
    }

    fn recipe(&self) -> Recipe {
        Recipe {
            steps: STEPS,
            schedule: Schedule::Cosine {
                peak: 0.01,
                last: 0.0,
                warmup: 3,
                steps: STEPS,
            },
            beta_2: 0.99,
            decay: 0.01,
            clip: 1.0,
            dropout: 0.2,
            draw: Draw::Xavier,
            evaluate_every: 4,
            patience: 3,
            score: "right, %",
            choice: Choice::LargestScore,
            keep: self.keep,
        }
    }

    fn batches(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let order = rng.permutation(PICTURES);
        order.chunks(4).map(<[usize]>::to_vec).collect()
    }

    fn loss(&self, model: &Cnn, tape: &mut Tape, places: &[usize], rng: &mut Rng) -> Result<Var> {
        let step = self.parts.fetch_add(1, Ordering::Relaxed) / 2 + 1;
        if self.fails_at == Some(step) {
            return Err(EngineError::value("tiny", "power", "on", "off").into());
        }
        let (pictures, labels) = pictures(places, rng);
        let clone = model.clone();
        let model = if self.clones { &clone } else { model };
        let logits = model.run(tape, pictures.view())?;
        if self.diverges_at == Some(step) {
            let weights = vec![f32::NAN; labels.len() * 2];
            return Ok(tape.weighted_sum(&logits, &weights)?);
        }
        Ok(tape.cross_entropy(&logits, &labels, 0.0)?)
    }

    fn evaluate(&self, model: &Cnn) -> Result<Evaluation> {
        let places: Vec<usize> = (0..40).collect();
        let (pictures, labels) = pictures(&places, &mut Rng::new(5));
        let logits = model.forward_batch(pictures.view())?;
        let mut tape = Tape::new();
        let logits = tape.constant(logits.view());
        let loss = tape.cross_entropy(&logits, &labels, 0.0)?;
        let loss = f64::from(tape.value(&loss)?[[0, 0]]);
        let n = self.evaluations.fetch_add(1, Ordering::Relaxed);
        let score = self.scores.get(n).copied().unwrap_or(-loss);
        Ok(Evaluation { loss, score })
    }

    fn measure(&self, model: &Cnn) -> Result<Vec<Figure>> {
        Ok(vec![Figure {
            name: "loss".to_owned(),
            value: self.evaluate(model)?.loss,
            decimals: 4,
            tolerance: 0.0,
            allowed: -self.allowed..=self.allowed,
        }])
    }

    fn card(&self) -> Card {
        let text = |text: &str| text.to_owned();
        Card {
            about: text("Tells left from right."),
            data: text("noise"),
            licence: text("none"),
            source: text("here"),
        }
    }
}

/// A work folder that is not there yet.
fn options(name: &str) -> Options {
    let work = std::env::temp_dir().join(format!("train-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&work);
    Options {
        work,
        seed: 3,
        checkpoint_every: 5,
        resume: false,
        steps: None,
        stop_after: None,
    }
}

/// All files of a folder with their bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut all: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

fn bits(parameters: &Memory) -> Vec<(String, Vec<u32>)> {
    let one = |(name, tensor): (&str, &engine::ndarray::ArrayD<f32>)| {
        (
            name.to_owned(),
            tensor.iter().map(|x| x.to_bits()).collect(),
        )
    };
    parameters.iter().map(one).collect()
}

#[test]
fn a_parameter_without_a_gradient_ends_the_training() {
    let cloned = Tiny {
        clones: true,
        ..Tiny::default()
    };
    let error = error(&cloned, &options("cloned")).to_string();
    assert!(
        error.starts_with("parameter ") && error.contains("expected a gradient, found none"),
        "{error}"
    );
}

/// The error of a training that should fail.
fn error(subject: &Tiny, options: &Options) -> TrainError {
    match train(subject, options) {
        Ok(_) => panic!("it went well"),
        Err(error) => error,
    }
}

/// Interrupts a training at its first step of this number in one run.
fn interrupted(options: &Options, at: u64) {
    let subject = Tiny {
        fails_at: Some(at),
        ..Tiny::default()
    };
    assert!(error(&subject, options).to_string().contains("power"));
}

#[test]
fn a_training_that_was_killed_twice_ends_with_the_same_bits() {
    let whole = options("whole");
    let expected: Trained = train(&Tiny::default(), &whole).unwrap();
    let mut parts = options("parts");
    // Checkpoints are at steps 5, 10, …; a pass over the data has 6 batches; the best score is
    // looked for after 4, 8, …
    interrupted(&parts, 9);
    parts.resume = true;
    interrupted(&parts, 14);
    let found = train(&Tiny::default(), &parts).unwrap();
    assert_eq!(bits(&found.best), bits(&expected.best));
    assert_eq!(found.step, expected.step);
    let log = |options: &Options| std::fs::read_to_string(options.work.join("log.jsonl")).unwrap();
    assert_eq!(log(&parts), log(&whole));
    // 30 steps, and an evaluation after each fourth and after the last.
    assert_eq!(log(&whole).lines().count(), 30 + 8);
    let picture = std::fs::read_to_string(parts.work.join("loss.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("held out"));
    // Once done it stays done.
    let again = train(&Tiny::default(), &parts).unwrap();
    assert_eq!(bits(&again.best), bits(&expected.best));
    assert!(found.elapsed_s > 0.0);
}

#[test]
fn a_training_that_is_cut_short_can_go_on() {
    let whole = options("uncut");
    let expected = train(&Tiny::default(), &whole).unwrap();
    let short = Options {
        stop_after: Some(11),
        ..options("cut")
    };
    let first = train(&Tiny::default(), &short).unwrap();
    assert!([4, 8, 11].contains(&first.step), "{}", first.step);
    let on = Options {
        stop_after: None,
        resume: true,
        ..short
    };
    let found = train(&Tiny::default(), &on).unwrap();
    assert_eq!(bits(&found.best), bits(&expected.best));
    assert_eq!(found.step, expected.step);
}

#[test]
fn another_seed_learns_otherwise_and_the_loss_falls() {
    let first = options("first");
    let other = Options {
        seed: 4,
        ..options("other")
    };
    let [a, b] = [&first, &other].map(|options| train(&Tiny::default(), options).unwrap());
    assert_ne!(bits(&a.best), bits(&b.best));
    let log = std::fs::read_to_string(first.work.join("log.jsonl")).unwrap();
    let losses: Vec<f64> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter_map(|line| line["held_out_loss"].as_f64())
        .collect();
    assert!(losses[7] < 0.9 * losses[0], "{losses:?}");
}

#[test]
fn nothing_is_overwritten_by_a_training_that_does_not_fit() {
    let begun = options("begun");
    interrupted(&begun, 12);
    let resumed = Options {
        resume: true,
        ..begun.clone()
    };
    let before = contents(&begun.work);
    let anew = error(&Tiny::default(), &begun);
    assert!(matches!(anew, TrainError::Begun { step: 10, .. }), "{anew}");
    let seed = Options {
        seed: 8,
        ..resumed.clone()
    };
    let seed = error(&Tiny::default(), &seed).to_string();
    assert!(
        seed.ends_with("checkpoint.safetensors: expected seed 8, found 3"),
        "{seed}"
    );
    let longer = Options {
        steps: Some(STEPS + 1),
        ..resumed.clone()
    };
    let longer = error(&Tiny::default(), &longer).to_string();
    assert!(longer.contains("expected the recipe"), "{longer}");
    let mut wide = Tiny::default();
    wide.sizes.inner = 9;
    let wide = error(&wide, &resumed).to_string();
    assert!(
        wide.ends_with(
            "checkpoint.safetensors: parameter up.weight: expected [9, 27], found [8, 27]"
        ),
        "{wide}"
    );
    assert_eq!(contents(&begun.work), before);
    let path = begun.work.join("checkpoint.safetensors");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let short = error(&Tiny::default(), &resumed).to_string();
    assert!(short.contains("checkpoint.safetensors: "), "{short}");
    assert_eq!(std::fs::read(&path).unwrap().len(), whole.len() - 9);
    let none = Options {
        resume: true,
        ..options("none")
    };
    assert!(matches!(
        error(&Tiny::default(), &none),
        TrainError::NotBegun { .. }
    ));
    assert!(!none.work.exists());
}

#[test]
fn it_stops_when_nothing_gets_better_and_keeps_the_best() {
    let early = options("early");
    let subject = Tiny {
        scores: vec![1.0, 3.0, 2.0, 3.0, 2.5, 9.0],
        ..Tiny::default()
    };
    let found = train(&subject, &early).unwrap();
    // Evaluations after 4, 8, …: the best after 8, then three that are no better.
    let parts = subject.parts.load(Ordering::Relaxed);
    assert_eq!((found.step, parts), (8, 2 * 20));
    let eight = Options {
        steps: Some(8),
        ..options("eight")
    };
    // Another number of steps has other rates: what is compared is that the best is not the last.
    assert_ne!(
        bits(&found.best),
        bits(&train(&Tiny::default(), &eight).unwrap().best)
    );
}

/// The last steps of a recipe are kept, the same in a run that was interrupted after one of them.
#[test]
fn the_last_checkpoints_are_kept() {
    let tiny = |fails_at, from: u32| Tiny {
        keep: Some(Keep { count: 3, apart: 4 }),
        scores: (from..from + 8).map(f64::from).collect(),
        fails_at,
        ..Tiny::default()
    };
    let recipe = tiny(None, 1).recipe();
    assert_eq!(recipe.kept_steps(), [22, 26, 30]);
    assert_eq!(recipe.clone().of_steps(6).kept_steps(), [2, 6]);
    assert!(Tiny::default().recipe().kept_steps().is_empty());
    let whole = options("kept");
    let trained = train(&tiny(None, 1), &whole).unwrap();
    let expected = kept(&whole.work, &recipe).unwrap();
    // The last one is the best too, by these scores.
    assert_eq!(bits(&expected[2].1), bits(&trained.best));
    assert_ne!(bits(&expected[1].1), bits(&expected[2].1));
    // After the checkpoint of step 20 and before that of step 25.
    let mut parts = options("kept-parts");
    error(&tiny(Some(24), 1), &parts);
    parts.resume = true;
    train(&tiny(None, 11), &parts).unwrap();
    let found = kept(&parts.work, &recipe).unwrap();
    for ((step, found), (known, expected)) in found.iter().zip(&expected) {
        assert_eq!((step, bits(found)), (known, bits(expected)));
    }
    std::fs::remove_file(parts.work.join("kept-26.safetensors")).unwrap();
    let missing = kept(&parts.work, &recipe).unwrap_err().to_string();
    assert!(missing.contains("kept-26"), "{missing}");
}

#[test]
fn a_loss_that_is_no_number_ends_the_training() {
    let subject = Tiny {
        diverges_at: Some(7),
        ..Tiny::default()
    };
    let error = error(&subject, &options("diverges"));
    assert!(
        matches!(error, TrainError::Diverged { step: 7, .. }),
        "{error}"
    );
}

#[test]
fn what_is_shipped_is_measured_as_it_is_shipped() {
    let ways = options("ships");
    let subject = Tiny::default();
    let trained = train(&subject, &ways).unwrap();
    let folder = ways.work.join("models");
    ship(&subject, &trained, &ways, (&folder, Path::new("../data"))).unwrap();
    let bytes = std::fs::read(folder.join("tiny.safetensors")).unwrap();
    let file = engine::format::safetensors::SafeTensors::parse(bytes.clone().into()).unwrap();
    let mut tensors = file.tensors.clone();
    let model = subject.load(&mut tensors).unwrap();
    let text = std::fs::read_to_string(folder.join("MODELS.md")).unwrap();
    let card = &tables(&text)[0];
    let measured = &subject.measure(&model).unwrap()[0];
    assert_eq!(card.get("loss"), Some(measured.shown().as_str()));
    assert_eq!(card.get("bytes"), Some(bytes.len().to_string().as_str()));
    let command = "`cargo xtask train tiny --data ../data --seed 3`";
    assert_eq!(card.get("command"), Some(command));
    let said = |key: &str| {
        let found = file.metadata().iter().find(|(known, _)| known == key);
        found.map(|(_, text)| text.as_str())
    };
    assert_eq!(said("score"), Some(measured.shown().as_str()));
    assert_eq!(
        (said("seed"), said("config")),
        (Some("3"), Some("{\"model_type\":\"cnn\"}"))
    );

    // Half precision, shipped again as it was and as signed bytes.
    assert!(card.get(WEIGHTS).unwrap().starts_with("Q8_0"), "{card:?}");
    let exact = Tiny {
        allowed: 0.0,
        ..Tiny::default()
    };
    let half = ways.work.join("half");
    ship(&exact, &trained, &ways, (&half, Path::new("../data"))).unwrap();
    let from = half.join("tiny.safetensors");
    let text = std::fs::read_to_string(half.join("MODELS.md")).unwrap();
    let kept = &tables(&text)[0];
    assert!(
        kept.get(WEIGHTS)
            .unwrap()
            .starts_with("half precision: with Q8_0")
    );
    assert_eq!(card.get(HALF), kept.get("loss"));
    assert_eq!(kept.get(HALF), None);
    ship_again(&subject, &from, &half).unwrap();
    let again = std::fs::read_to_string(half.join("MODELS.md")).unwrap();
    for row in [
        "command",
        "best step",
        "time taken",
        "loss",
        WEIGHTS,
        HALF,
        "parameters",
    ] {
        assert_eq!(tables(&again)[0].get(row), card.get(row), "{row}");
    }
    let lossy = ship_again(&subject, &from, &half).unwrap_err().to_string();
    assert!(lossy.contains("expected weights in F16, found"), "{lossy}");
    let none = ship_again(&subject, &from.with_extension("none"), &half).unwrap_err();
    assert!(none.to_string().contains("cannot read"), "{none}");
    // A file that was never shipped has no seed, and without a card nothing says how it came to be.
    let bare = half.join("bare");
    let unknown = tools::safetensors::write_parameters(&[], &trained.best, Type::F16).unwrap();
    std::fs::write(&bare, unknown).unwrap();
    let no_seed = ship_again(&subject, &bare, &half).unwrap_err().to_string();
    assert!(no_seed.contains("expected its seed"), "{no_seed}");
    std::fs::write(half.join("MODELS.md"), "# Models\n").unwrap();
    let no_card = ship_again(&subject, &bare, &half).unwrap_err().to_string();
    assert!(
        no_card.contains("expected tiny, found no such section"),
        "{no_card}"
    );

    // Too large together with what is there: neither file nor card is touched.
    let before = contents(&folder);
    std::fs::write(folder.join("other.gguf"), vec![0; 14_000_000]).unwrap();
    let full = ship(&subject, &trained, &ways, (&folder, Path::new("../data"))).unwrap_err();
    assert!(full.to_string().contains("all models together"), "{full}");
    std::fs::remove_file(folder.join("other.gguf")).unwrap();
    let mut wide = Tiny::default();
    // In Q8_0, 27 numbers for each of the inner ones and its bias in half precision.
    wide.sizes.inner = LARGEST_FILE / 27;
    let shapes = wide.sizes.shapes();
    let mut drawn = engine::formula::Formula::new(0, shapes.clone());
    let mut best = Memory::default();
    for (name, _) in shapes {
        best.insert(name.clone(), drawn.read(&name).unwrap());
    }
    let wide_one = Trained { best, ..trained };
    let large = ship(&wide, &wide_one, &ways, (&folder, Path::new("../data"))).unwrap_err();
    assert!(
        large.to_string().contains("a model may take at most"),
        "{large}"
    );
    assert_eq!(contents(&folder), before);
}
