//! A source of parameters that brings every matrix into one form, counts the bytes that a model
//! takes from it, and reports progress.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use engine::Result;
use engine::ndarray::{Array2, ArrayD};
use engine::parameters::{MatrixForm, Parameters, Weight};

/// The counts of what was taken from a source.
pub(super) struct LoadCounts<'a> {
    /// Bytes of each parameter that was given, by its name without the end `.weight`: a matrix that
    /// is read, transposed and then packed counts once, in its packed form.
    bytes: RefCell<BTreeMap<String, usize>>,
    /// The fewest bits that activations have where they meet a matrix.
    activation_bits: Cell<u32>,
    /// The types in the file that were converted for speed, such as `Q6_K as Q6`.
    repacked: RefCell<BTreeSet<String>>,
    /// Numbers in all parameters, and in those that were given.
    all: Cell<usize>,
    given: Cell<usize>,
    progress: RefCell<&'a mut dyn FnMut(f32)>,
}

impl<'a> LoadCounts<'a> {
    /// Counts of zero; `progress` is called with the share of the numbers that was given.
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

    /// The types in the file that were converted for speed, such as `Q6_K as Q6`.
    pub(super) fn repacked(&self) -> Vec<String> {
        self.repacked.borrow().iter().cloned().collect()
    }

    fn count(&self, name: &str, bytes: usize) {
        let name = name.strip_suffix(".weight").unwrap_or(name);
        self.bytes.borrow_mut().insert(name.to_owned(), bytes);
    }

    fn keep(&self, name: &str, weight: &Weight) {
        match weight {
            Weight::Dense(matrix) => self.count(name, matrix.len() * size_of::<f32>()),
            Weight::Packed(matrix) => {
                self.count(name, matrix.size());
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
pub(super) struct CountingLoader<'a> {
    source: Box<dyn Parameters>,
    form: MatrixForm,
    counts: &'a LoadCounts<'a>,
}

impl<'a> CountingLoader<'a> {
    /// The parameters of `source`, with matrices in `form`.
    pub(super) fn new(
        source: Box<dyn Parameters>,
        form: MatrixForm,
        counts: &'a LoadCounts<'a>,
    ) -> Self {
        let numbers = |name: &String| source.shape(name).map_or(0, |shape| shape.iter().product());
        counts.all.set(source.names().iter().map(numbers).sum());
        Self {
            source,
            form,
            counts,
        }
    }
}

impl Parameters for CountingLoader<'_> {
    engine::forward_description!(self => self.source);

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let read = self.source.read(name)?;
        self.counts.count(name, read.len() * size_of::<f32>());
        self.counts.report(read.len());
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
            let kept = format!("{} as {}", stored.name(), matrix.kind().name());
            self.counts.repacked.borrow_mut().insert(kept);
        }
        self.counts.keep(name, &weight);
        self.counts.report(rows * cols);
        Ok(weight)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        let weight = self.form.pack_made(name, self.source.form(name), matrix)?;
        self.counts.keep(name, &weight);
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

    /// A source that stores everything in F16.
    struct Halves(Formula);

    impl Parameters for Halves {
        fn names(&self) -> Vec<String> {
            self.0.names()
        }

        fn shape(&self, name: &str) -> Option<Vec<usize>> {
            self.0.shape(name)
        }

        fn form(&self, _: &str) -> Type {
            Type::F16
        }

        fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
            // Whole numbers below 2¹¹, which F16 holds.
            let numbers = self.0.read(name)?;
            Ok(numbers.mapv(|x| (1000.0 * x).round()))
        }
    }

    #[test]
    fn a_transposed_matrix_of_16_bits_keeps_them() {
        let shapes = [("a.weight".to_owned(), vec![8, 64])];
        for (form, bytes) in [
            (MatrixForm::Fast, 2 * 8 * 64),
            (MatrixForm::Stored, 2 * 8 * 64),
            (Type::F32.into(), 4 * 8 * 64),
        ] {
            let mut ignore = |_| {};
            let counts = LoadCounts::new(&mut ignore);
            let source = Box::new(Halves(Formula::new(0, shapes.clone())));
            let mut loader = CountingLoader::new(source, form, &counts);
            let stored = loader.read("a.weight").unwrap();
            let stored = stored.into_dimensionality::<Ix2>().unwrap();
            let turned = stored.t().as_standard_layout().into_owned();
            let weight = loader.pack("a.weight", turned.clone()).unwrap();
            assert_eq!(counts.bytes(), bytes, "{form:?}");
            let all: Vec<usize> = (0..64).collect();
            assert_eq!(weight.rows(&all).unwrap(), turned);
            // What F16 does not hold stays as it is.
            let weight = loader.pack("a.weight", turned / 3.0).unwrap();
            assert_eq!(counts.bytes(), 4 * 8 * 64);
            assert!(weight.rows(&all).unwrap().iter().any(|x| x.fract() != 0.0));
        }
    }

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
        let counts = LoadCounts::new(&mut note);
        let mut loader = CountingLoader::new(Box::new(source), Type::Q8_0.into(), &counts);
        let Ok(Weight::Packed(a)) = loader.weight("a.weight", 8, 64) else {
            panic!("plain")
        };
        assert_eq!((a.kind(), counts.bytes()), (Type::Q8_0, 8 * 2 * 34));
        let turned = loader
            .read("b.weight")
            .unwrap()
            .into_dimensionality::<Ix2>()
            .unwrap();
        loader
            .pack("b", turned.t().as_standard_layout().into_owned())
            .unwrap();
        assert_eq!(counts.bytes(), 2 * 8 * 2 * 34);
        loader.read("b.bias").unwrap();
        assert_eq!(counts.bytes(), 2 * 8 * 2 * 34 + 12);
        assert_eq!(shares.last(), Some(&1.0));

        for form in [Type::F32.into(), MatrixForm::Stored, MatrixForm::Fast] {
            let mut ignore = |_| {};
            let counts = LoadCounts::new(&mut ignore);
            let mut plain = CountingLoader::new(Box::new(formula.clone()), form, &counts);
            assert!(matches!(
                plain.weight("a.weight", 8, 64),
                Ok(Weight::Packed(_))
            ));
            assert_eq!(counts.bytes(), 8 * 64 * 4);
        }
    }
}
