//! Random inputs of the kind that a cell takes, the same for the same seed.

use std::sync::Arc;

use cells::{Drawing, InputKind, InputSpec, InputValue, Picture, Selectable, Selection};
use engine::rng::Rng;
use ndarray::Array2;

/// Words for random sentences: short and long, with an accent, without a meaning that could help a
/// cell.
const WORDS: &[&str] = &[
    "river", "a", "paper", "sings", "blue", "because", "naïve", "stone", "under", "seven",
    "clocks", "turn",
];

/// A random value for an input, other than `present` where the kind allows it.
pub(crate) fn value(random: &mut Rng, spec: &InputSpec, present: &InputValue) -> InputValue {
    for _ in 0..20 {
        let new = draw(random, spec, present);
        if new != *present && spec.check(&new).is_ok() {
            return new;
        }
    }
    present.clone()
}

/// Most steps of a training that is computed again: more of them are the same steps again, and
/// would take minutes.
const MOST_STEPS: usize = 12;

fn draw(random: &mut Rng, spec: &InputSpec, present: &InputValue) -> InputValue {
    match (&spec.kind, present) {
        (InputKind::Number { .. }, _) if spec.name == "steps" => {
            InputValue::Number(random.below(MOST_STEPS + 1) as f64)
        }
        (InputKind::Number { min, max, step }, _) => {
            // Sliders over thousands of sizes are tried in their lower tenth too, where readers
            // are.
            let span = if random.below(2) == 0 {
                max - min
            } else {
                (max - min) / 10.0
            };
            let steps = (f64::from(random.uniform()) * span / step).round();
            InputValue::Number((min + steps * step).min(*max))
        }
        (InputKind::Text { .. }, _) => {
            // A cell that begins with a long text may need one.
            let own = match &spec.default {
                InputValue::Text(text) => text.split_whitespace().count(),
                _ => 0,
            };
            let least = if own > 2 * WORDS.len() { own / 2 } else { 0 };
            let words: Vec<&str> = (0..least + 1 + random.below(6))
                .map(|_| WORDS[random.below(WORDS.len())])
                .collect();
            InputValue::Text(words.join(" "))
        }
        (InputKind::Matrix { .. }, InputValue::Matrix(matrix)) => {
            InputValue::Matrix(shake(random, matrix))
        }
        (InputKind::Toggle, InputValue::Toggle(on)) => InputValue::Toggle(!on),
        (InputKind::Choice(names), _) => {
            InputValue::Choice(names[random.below(names.len())].to_owned())
        }
        (InputKind::Order { .. }, InputValue::Order(order)) => {
            InputValue::Order(random.permutation(order.len()))
        }
        (InputKind::Selection(Selectable::Entry { axes }), _) => {
            let index = (0..*axes).map(|_| random.below(2)).collect();
            InputValue::Selection(Selection::Entry(index))
        }
        (InputKind::Selection(Selectable::Word), _) => {
            InputValue::Selection(Selection::word(WORDS[random.below(WORDS.len())]))
        }
        (InputKind::Drawing, _) => InputValue::Drawing(strokes(random)),
        (InputKind::Picture(names), _) => picture(names[random.below(names.len())]),
        _ => present.clone(),
    }
}

/// Adds noise to each entry, in hundredths, as a reader would type; a mask of zeros and ones stays
/// one.
fn shake(random: &mut Rng, matrix: &Array2<f32>) -> Array2<f32> {
    let is_mask = matrix.iter().all(|&entry| entry == 0.0 || entry == 1.0);
    matrix.mapv(|entry| {
        if is_mask {
            return if random.below(4) == 0 {
                1.0 - entry
            } else {
                entry
            };
        }
        let noise = random.uniform_in(-0.5, 0.5);
        ((entry + noise) * 100.0).round() / 100.0
    })
}

/// One to three strokes, each a walk over the pad.
fn strokes(random: &mut Rng) -> Drawing {
    let mut drawing = Drawing::default();
    for _ in 0..1 + random.below(3) {
        let mut at = [0, 1].map(|_| 100 + random.below(300) as i32);
        for n in 0..4 + random.below(16) {
            drawing.add(at.map(|at| at as u16), n == 0);
            at = at.map(|at| (at + random.below(81) as i32 - 40).clamp(0, 511));
        }
    }
    drawing
}

/// A sample picture with its pixels, drawn or read natively.
pub(crate) fn picture(name: &str) -> InputValue {
    let pixels = match cells::picture::file(name) {
        None => cells::picture::draw(name),
        Some(file) => Some(decode(file)),
    };
    InputValue::Picture(Picture {
        name: name.to_owned(),
        pixels: pixels.map(Arc::new),
    })
}

/// Reads a picture file of the built site without the browser.
fn decode(file: &str) -> cells::input::Pixels {
    let path = super::site::dist().join("pictures").join(file);
    let bytes =
        std::fs::File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = png::Decoder::new(std::io::BufReader::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().expect("a PNG file");
    let mut rgb = vec![
        0;
        reader
            .output_buffer_size()
            .expect("a picture that fits into memory")
    ];
    let info = reader.next_frame(&mut rgb).expect("a whole picture");
    assert_eq!(
        info.color_type,
        png::ColorType::Rgb,
        "{file} is stored as red, green and blue"
    );
    rgb.truncate(info.buffer_size());
    cells::input::Pixels {
        width: info.width as usize,
        height: info.height as usize,
        rgb,
    }
}
