//! A source that sees to the form of every matrix, adds up what a model keeps of it, and says how far the loading is.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use engine::Result;
use engine::ndarray::{Array2, ArrayD};
use engine::parameters::{MatrixForm, Parameters, Weight};

/// What was taken from a source.
pub(super) struct Tally<'a> {
    /// Bytes of each parameter that was given, without the end `.weight` of its name: a matrix that is read, turned and then packed
    /// counts once, as what it was packed into.
    bytes: RefCell<BTreeMap<String, usize>>,
    /// The fewest bits that activations have where they meet a matrix.
    activation_bits: Cell<u32>,
    /// Names of the types in the file that were brought into another for the sake of speed.
    repacked: RefCell<BTreeSet<&'static str>>,
    /// Numbers in all parameters, and in those that were given.
    all: Cell<usize>,
    given: Cell<usize>,
    progress: RefCell<&'a mut dyn FnMut(f32)>,
}

impl<'a> Tally<'a> {
    /// Nothing yet; `progress` hears the share of the numbers that was given.
    pub(super) fn new(progress: &'a mut dyn FnMut(f32)) -> Self {
        Self {
            bytes: RefCell::default(),
            activation_bits: Cell::new(u32::BITS),
            repacked: RefCell::default(),
            all: Cell::new(0),
            given: Cell::new(0),
            progress: RefCell::new(progress),
        }
    }

    /// Bytes of everything that was given.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.borrow().values().sum()
    }

    /// The fewest bits that activations have where they meet one of the matrices.
    pub(super) fn activation_bits(&self) -> u32 {
        self.activation_bits.get()
    }

    /// Names of the types in the file that were brought into another for the sake of speed.
    pub(super) fn repacked(&self) -> Vec<String> {
        self.repacked
            .borrow()
            .iter()
            .map(|&name| name.to_owned())
            .collect()
    }

    fn weigh(&self, name: &str, bytes: usize) {
        let name = name.strip_suffix(".weight").unwrap_or(name);
        self.bytes.borrow_mut().insert(name.to_owned(), bytes);
    }

    fn keep(&self, name: &str, weight: &Weight) {
        match weight {
            Weight::Dense(matrix) => self.weigh(name, matrix.len() * size_of::<f32>()),
            Weight::Packed(matrix) => {
                self.weigh(name, matrix.size());
                let bits = self.activation_bits.get().min(matrix.activation_bits());
                self.activation_bits.set(bits);
            }
        }
    }

    fn report(&self, numbers: usize) {
        let given = self.given.get() + numbers;
        self.given.set(given);
        (self.progress.borrow_mut())((given as f32 / self.all.get().max(1) as f32).min(1.0));
    }
}

/// Another source, with every matrix in one form, or as the source has it.
pub(super) struct Weighed<'a> {
    source: Box<dyn Parameters>,
    form: MatrixForm,
    tally: &'a Tally<'a>,
}

impl<'a> Weighed<'a> {
    /// The parameters of `source`, with matrices in `form`.
    pub(super) fn new(source: Box<dyn Parameters>, form: MatrixForm, tally: &'a Tally<'a>) -> Self {
        let count = |name: &String| source.shape(name).map_or(0, |shape| shape.iter().product());
        tally.all.set(source.names().iter().map(count).sum());
        Self {
            source,
            form,
            tally,
        }
    }
}

impl Parameters for Weighed<'_> {
    fn names(&self) -> Vec<String> {
        self.source.names()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.source.shape(name)
    }

    fn form(&self, name: &str) -> Type {
        self.source.form(name)
    }

    fn known_as(&self, name: &str) -> String {
        self.source.known_as(name)
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let read = self.source.read(name)?;
        self.tally.weigh(name, read.len() * size_of::<f32>());
        self.tally.report(read.len());
        Ok(read)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        let stored = self.source.form(name);
        let weight = self.form.weight(&mut *self.source, name, rows, cols)?;
        if let Weight::Packed(matrix) = &weight
            && self.form == MatrixForm::Fast
            && matrix.kind() != stored
            && !stored.has_fast_product()
        {
            self.tally.repacked.borrow_mut().insert(stored.name());
        }
        self.tally.keep(name, &weight);
        self.tally.report(rows * cols);
        Ok(weight)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        let weight = self.form.pack(name, matrix)?;
        self.tally.keep(name, &weight);
        Ok(weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::formula::Formula;
    use engine::ndarray::Ix2;
    use engine::parameters::Compressed;
    use engine::quant::Type;

    #[test]
    fn what_a_model_keeps_is_counted_once_in_the_form_it_is_kept_in() {
        let shapes = [
            ("a.weight", vec![8, 64]),
            ("b.weight", vec![64, 8]),
            ("b.bias", vec![3]),
        ];
        let shapes = shapes.map(|(name, shape)| (name.to_owned(), shape));
        let formula = Formula::new(0, shapes);
        // In the file it has another form.
        let source = Compressed::new(formula.clone(), Type::Q4_0);
        let mut shares = Vec::new();
        let mut note = |share| shares.push(share);
        let tally = Tally::new(&mut note);
        let mut weighed = Weighed::new(Box::new(source), Type::Q8_0.into(), &tally);
        let Ok(Weight::Packed(a)) = weighed.weight("a.weight", 8, 64) else {
            panic!("plain")
        };
        assert_eq!((a.kind(), tally.bytes()), (Type::Q8_0, 8 * 2 * 34));
        let turned = weighed
            .read("b.weight")
            .unwrap()
            .into_dimensionality::<Ix2>()
            .unwrap();
        weighed
            .pack("b", turned.t().as_standard_layout().into_owned())
            .unwrap();
        assert_eq!(tally.bytes(), 2 * 8 * 2 * 34);
        weighed.read("b.bias").unwrap();
        assert_eq!(tally.bytes(), 2 * 8 * 2 * 34 + 12);
        assert_eq!(shares.last(), Some(&1.0));

        for form in [Type::F32.into(), MatrixForm::Stored, MatrixForm::Fast] {
            let mut ignore = |_| {};
            let tally = Tally::new(&mut ignore);
            let mut plain = Weighed::new(Box::new(formula.clone()), form, &tally);
            assert!(matches!(
                plain.weight("a.weight", 8, 64),
                Ok(Weight::Packed(_))
            ));
            assert_eq!(tally.bytes(), 8 * 64 * 4);
        }
    }
}
