//! The sources of a model's parameters: a file, a formula, random draws.
//!
//! A model asks for each of its parameters by the name that the source gives it, with the shape
//! that it needs; a parameter that is missing or has another shape is an error that names it. A
//! matrix that a model only multiplies with is a [`Weight`]; [`Compressed`] converts the matrices
//! of a source to one [`MatrixForm`] while they are loaded.
//!
//! ```
//! use engine::parameters::{Memory, Parameters, matrix, vector};
//! use ndarray::array;
//! let mut source = Memory::default();
//! source.insert("a.weight", array![[1.0, 2.0], [3.0, 4.0]].into_dyn());
//! assert_eq!(matrix(&mut source, "a.weight", 2, 2)?, array![[1.0, 2.0], [3.0, 4.0]]);
//! let error = vector(&mut source, "a.bias", 2).unwrap_err();
//! assert_eq!(error.to_string(), "parameter a.bias: expected [2], found none");
//! # Ok::<(), engine::EngineError>(())
//! ```

use std::collections::BTreeMap;

use ndarray::{Array1, Array2, ArrayD, ArrayView1, ArrayView2, Ix1, Ix2};

use crate::error::{EngineError, Result};
use crate::nn::embedding::embed;
use crate::nn::linear::linear;
use crate::quant::{Matrix, QuantError, Type, quantize};
use crate::shape::contiguous;

/// A source of parameters by name.
pub trait Parameters {
    /// All names, in the order of the source.
    fn names(&self) -> Vec<String>;

    /// The shape of a parameter, rows first; `None` where the source has no parameter of that name.
    fn shape(&self, name: &str) -> Option<Vec<usize>>;

    /// The type in which the source stores a parameter: `f32` unless a source overrides this.
    fn form(&self, name: &str) -> Type {
        let _ = name;
        Type::F32
    }

    /// The source's own name of a parameter, for messages.
    fn known_as(&self, name: &str) -> String {
        name.to_owned()
    }

    /// A parameter as plain numbers, unpacked where the source stores blocks.
    ///
    /// # Errors
    /// When the source has no parameter of that name, or it cannot be read.
    fn read(&mut self, name: &str) -> Result<ArrayD<f32>>;

    /// A matrix `[rows, cols]` to multiply with, in the form in which the source stores it.
    ///
    /// # Errors
    /// When the source has no matrix of that name and shape, or it cannot be read.
    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        // A source without compressed forms gives plain numbers.
        expect_shape(self.shape(name), name, &[rows, cols])?;
        let read = self.read(name)?;
        self.pack(name, fixed::<Ix2>(name, read, &[rows, cols])?)
    }

    /// A matrix that was made from the parameter `name`, such as a transposed one, in the form of
    /// this source's matrices. A parameter that the source does not have under this name counts as
    /// one of `f32`.
    ///
    /// # Errors
    /// When it cannot be packed into that form.
    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        let _ = name;
        Ok(Weight::Dense(matrix))
    }
}

/// The methods of [`Parameters`] that describe parameters, answered by another source: for a source
/// that wraps one and changes only how parameters are read. `forward_description!(self =>
/// self.source);` is written among the methods.
#[macro_export]
macro_rules! forward_description {
    ($self:ident => $source:expr) => {
        fn names(&$self) -> Vec<String> {
            $source.names()
        }

        fn shape(&$self, name: &str) -> Option<Vec<usize>> {
            $source.shape(name)
        }

        fn form(&$self, name: &str) -> $crate::quant::Type {
            $source.form(name)
        }

        fn known_as(&$self, name: &str) -> String {
            $source.known_as(name)
        }
    };
}

impl<P: Parameters + ?Sized> Parameters for Box<P> {
    forward_description!(self => (**self));

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        (**self).read(name)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        (**self).weight(name, rows, cols)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        (**self).pack(name, matrix)
    }
}

/// A matrix `[C_out, C_in]` that is only multiplied with.
#[derive(Debug, Clone, PartialEq)]
pub enum Weight {
    /// Plain numbers, row by row.
    Dense(Array2<f32>),
    /// Numbers in the order and form that fast products read.
    Packed(Matrix),
}

impl Weight {
    /// The shape, (C_out, C_in).
    pub fn dim(&self) -> (usize, usize) {
        match self {
            Self::Dense(weight) => weight.dim(),
            Self::Packed(matrix) => matrix.dim(),
        }
    }

    /// The rows `ids` as plain numbers; see [`embed`].
    ///
    /// # Errors
    /// When an id is not a row.
    pub fn rows(&self, ids: &[usize]) -> Result<Array2<f32>> {
        // self [V, C], ids [T] -> [T, C]
        match self {
            Self::Dense(table) => embed(table.view(), ids),
            Self::Packed(matrix) => matrix.rows(ids),
        }
    }

    /// The plain numbers, to be changed; a packed matrix becomes an unpacked one.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn dense_mut(&mut self) -> Result<&mut Array2<f32>> {
        if let Self::Packed(matrix) = self {
            let all: Vec<usize> = (0..matrix.dim().0).collect();
            *self = Self::Dense(matrix.rows(&all)?);
        }
        match self {
            Self::Dense(dense) => Ok(dense),
            Self::Packed(_) => Err(EngineError::shape("weight", "plain numbers", "packed ones")),
        }
    }

    /// The linear layer x · weightᵀ + bias; see [`linear`].
    ///
    /// # Errors
    /// When the columns of `x` and the weight differ, or the bias is not one number for each row of
    /// the weight.
    pub fn linear(
        &self,
        x: ArrayView2<'_, f32>,
        bias: Option<ArrayView1<'_, f32>>,
    ) -> Result<Array2<f32>> {
        // x [T, C_in], self [C_out, C_in], bias [C_out] -> [T, C_out]
        match self {
            Self::Dense(weight) => linear(x, weight.view(), bias),
            Self::Packed(matrix) => matrix.linear(x, bias),
        }
    }
}

/// A parameter of one axis.
///
/// # Errors
/// When the source has no parameter of that name and length, or it cannot be read.
pub fn vector(source: &mut dyn Parameters, name: &str, length: usize) -> Result<Array1<f32>> {
    let read = tensor(source, name, &[length])?;
    fixed::<Ix1>(name, read, &[length])
}

/// A parameter of two axes.
///
/// # Errors
/// When the source has no parameter of that name and shape, or it cannot be read.
pub fn matrix(
    source: &mut dyn Parameters,
    name: &str,
    rows: usize,
    cols: usize,
) -> Result<Array2<f32>> {
    let read = tensor(source, name, &[rows, cols])?;
    fixed::<Ix2>(name, read, &[rows, cols])
}

/// A parameter of any shape.
///
/// # Errors
/// When the source has no parameter of that name and shape, or it cannot be read.
pub fn tensor(source: &mut dyn Parameters, name: &str, shape: &[usize]) -> Result<ArrayD<f32>> {
    let known = source.known_as(name);
    expect_shape(source.shape(name), &known, shape)?;
    let read = source.read(name)?;
    expect_shape(Some(read.shape().to_vec()), &known, shape)?;
    Ok(read)
}

/// Checks the shape of a parameter.
///
/// # Errors
/// When `found` is another shape, or `None`.
pub fn expect_shape(found: Option<Vec<usize>>, name: &str, expected: &[usize]) -> Result<()> {
    if found.as_deref() == Some(expected) {
        return Ok(());
    }
    Err(wrong_shape(found, name, expected))
}

fn fixed<D: ndarray::Dimension>(
    name: &str,
    read: ArrayD<f32>,
    expected: &[usize],
) -> Result<ndarray::Array<f32, D>> {
    let found = read.shape().to_vec();
    let array = read.into_dimensionality::<D>();
    array.map_err(|_| wrong_shape(Some(found), name, expected))
}

fn wrong_shape(found: Option<Vec<usize>>, name: &str, expected: &[usize]) -> EngineError {
    EngineError::Parameter {
        name: name.to_owned(),
        expected: format!("{expected:?}"),
        found: found.map_or_else(|| "none".to_owned(), |shape| format!("{shape:?}")),
    }
}

/// The form in which a model keeps the matrices that it multiplies with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixForm {
    /// As stored, but for types without a fast product of their own ([`Type::has_fast_product`]):
    /// these become the type that stands for theirs ([`Type::fast`]): Q4_1 for Q4_K, Q5_1 for Q5_0
    /// and Q5_K, and Q6 for Q6_K, with the same numbers of 4, 5 and 6 bits. Products take 8 bits of
    /// the activations.
    #[default]
    Fast,
    /// As stored. A product with a type that has no fast product of its own unpacks the matrix each
    /// time.
    Stored,
    /// All in one type. Matrices whose rows are not whole blocks of it become plain numbers.
    In(Type),
}

impl From<Type> for MatrixForm {
    fn from(kind: Type) -> Self {
        Self::In(kind)
    }
}

impl MatrixForm {
    /// A matrix `[rows, cols]` of a source in this form.
    ///
    /// # Errors
    /// When the source has no matrix of that name and shape, or it cannot be read.
    pub fn weight(
        self,
        source: &mut dyn Parameters,
        name: &str,
        rows: usize,
        cols: usize,
    ) -> Result<Weight> {
        if let Self::In(kind) = self
            && source.form(name) != kind
        {
            let plain = matrix(source, name, rows, cols)?;
            return self.pack(name, plain);
        }
        match source.weight(name, rows, cols)? {
            Weight::Dense(plain) => self.pack(name, plain),
            Weight::Packed(stored) if self == Self::Fast && !stored.kind().has_fast_product() => {
                let fast = stored.kind().fast();
                stored
                    .fast()
                    .map(Weight::Packed)
                    .map_err(refuse(name, fast))
            }
            packed => Ok(packed),
        }
    }

    /// A matrix that was made from a parameter in the type `stored`, in this form. Where the form
    /// leaves the type to the source, numbers of 16 bits stay so if each of them still is one.
    ///
    /// # Errors
    /// When it cannot be packed; `name` is for the message.
    pub fn pack_made(self, name: &str, stored: Type, matrix: Array2<f32>) -> Result<Weight> {
        if matches!(self, Self::Fast | Self::Stored) && stored.is_half() {
            let exact = Matrix::exact(stored, matrix.view());
            if let Some(packed) = exact.map_err(refuse(name, stored))? {
                return Ok(Weight::Packed(packed));
            }
        }
        self.pack(name, matrix)
    }

    /// A matrix of plain numbers in this form.
    ///
    /// # Errors
    /// When it cannot be packed; `name` is for the message.
    pub fn pack(self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        let (rows, cols) = matrix.dim();
        let kind = match self {
            Self::In(kind) if cols.is_multiple_of(kind.block_len()) => kind,
            _ => Type::F32,
        };
        if kind == Type::F32 {
            return Ok(Weight::Packed(Matrix::plain(matrix.view())));
        }
        let bytes = quantize(kind, &contiguous(&matrix.view())).map_err(refuse(name, kind))?;
        let packed = Matrix::new(kind, rows, cols, bytes).map_err(refuse(name, kind))?;
        Ok(Weight::Packed(packed))
    }
}

fn refuse(name: &str, kind: Type) -> impl Fn(QuantError) -> EngineError + '_ {
    move |error| EngineError::Parameter {
        name: name.to_owned(),
        expected: format!("a matrix to pack into {}", kind.name()),
        found: error.to_string(),
    }
}

/// Another source whose matrices are converted to one form while they are loaded, to take less
/// memory and time.
///
/// ```
/// use engine::parameters::{Compressed, Memory, Parameters, Weight};
/// use engine::quant::Type;
/// use ndarray::Array2;
/// let mut source = Memory::default();
/// source.insert("a.weight", Array2::<f32>::ones((8, 64)).into_dyn());
/// let mut source = Compressed::new(source, Type::Q8_0);
/// let Weight::Packed(matrix) = source.weight("a.weight", 8, 64)? else { panic!("not packed") };
/// assert_eq!(matrix.size(), 8 * 2 * 34);
/// # Ok::<(), engine::EngineError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Compressed<P> {
    source: P,
    form: MatrixForm,
}

impl<P: Parameters> Compressed<P> {
    /// The parameters of `source` with matrices in `form`; a [`Type`] stands for [`MatrixForm::In`]
    /// it.
    pub fn new(source: P, form: impl Into<MatrixForm>) -> Self {
        let form = form.into();
        Self { source, form }
    }
}

impl<P: Parameters> Parameters for Compressed<P> {
    forward_description!(self => self.source);

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        self.source.read(name)
    }

    fn weight(&mut self, name: &str, rows: usize, cols: usize) -> Result<Weight> {
        self.form.weight(&mut self.source, name, rows, cols)
    }

    fn pack(&self, name: &str, matrix: Array2<f32>) -> Result<Weight> {
        self.form.pack_made(name, self.source.form(name), matrix)
    }
}

/// Parameters in memory, by name.
#[derive(Debug, Clone, Default)]
pub struct Memory(BTreeMap<String, ArrayD<f32>>);

impl Memory {
    /// Adds a parameter; returns the one of that name that it replaces.
    pub fn insert(&mut self, name: impl Into<String>, tensor: ArrayD<f32>) -> Option<ArrayD<f32>> {
        self.0.insert(name.into(), tensor)
    }

    /// All parameters with their names, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ArrayD<f32>)> {
        self.0.iter().map(|(name, tensor)| (name.as_str(), tensor))
    }
}

impl Parameters for Memory {
    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn shape(&self, name: &str) -> Option<Vec<usize>> {
        self.0.get(name).map(|tensor| tensor.shape().to_vec())
    }

    fn read(&mut self, name: &str) -> Result<ArrayD<f32>> {
        let found = self.0.get(name).cloned();
        found.ok_or_else(|| EngineError::Parameter {
            name: name.to_owned(),
            expected: "a tensor".to_owned(),
            found: "none".to_owned(),
        })
    }
}
