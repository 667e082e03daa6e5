//! Puts the functions of a wasm file in an order that compresses better.
//!
//! gzip looks back 32 kB. Functions that were made from the same source for different types repeat
//! each other, but the linker and `wasm-opt` put them anywhere. [`ordered`] puts functions that
//! resemble each other next to each other and changes nothing else: each call, export, and slot of a
//! table still names the function that it named before.

use std::collections::{BTreeMap, BTreeSet};

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, ImportSection, Module};
use wasmparser::{
    BinaryReaderError, CodeSectionReader, CustomSectionReader, FunctionSectionReader, Imports,
    KnownCustom, Parser, Payload, TypeRef,
};

/// Bytes of a piece of code by which functions are compared.
const PIECE: usize = 6;

/// Functions that share a piece; what more of them share says little about any two.
const MOST_SHARING: usize = 30;

/// How far back gzip finds repetitions, in bytes.
const WINDOW: usize = 32_000;

/// Bytes that are added to the length of a function, so that the shortest do not all come first.
const LENGTH_BONUS: u64 = 40;

/// The module `wasm` with its functions in another order and without their names, and its imports
/// by their names in `short`.
pub(crate) fn ordered(wasm: &[u8], short: BTreeMap<String, String>) -> Result<Vec<u8>, OrderError> {
    let (imported, bodies) = functions(wasm)?;
    let places = by_likeness(&bodies);
    let mut indices = vec![0; places.len()];
    for (place, &function) in places.iter().enumerate() {
        let index = u32::try_from(imported + place).map_err(|_| OrderError::NoFunction)?;
        *indices.get_mut(function).ok_or(OrderError::NoFunction)? = index;
    }
    let mut module = Module::new();
    let mut places = Places {
        imported,
        places,
        indices,
        short,
    };
    places.parse_core_module(&mut module, Parser::new(0), wasm)?;
    Ok(module.finish())
}

/// A reason why the functions of a file cannot be ordered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OrderError {
    #[error("{0}")]
    Read(#[from] BinaryReaderError),
    #[error("{0}")]
    Write(String),
    #[error("it names a function that it does not have")]
    NoFunction,
}

impl From<reencode::Error<OrderError>> for OrderError {
    fn from(error: reencode::Error<OrderError>) -> Self {
        match error {
            reencode::Error::UserError(error) => error,
            other => Self::Write(other.to_string()),
        }
    }
}

/// The number of imported functions, and the code of the others.
fn functions(wasm: &[u8]) -> Result<(usize, Vec<&[u8]>), OrderError> {
    let (mut imported, mut bodies) = (0, Vec::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += usize::from(matches!(import?.ty, TypeRef::Func(_)));
                }
            }
            Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
            _ => {}
        }
    }
    Ok((imported, bodies))
}

/// The indices of all functions in an order in which each resembles those before it.
///
/// The most called functions lose the indices that one byte can hold; keeping these for them costs
/// more than it saves.
fn by_likeness(code: &[&[u8]]) -> Vec<usize> {
    let mut likeness = Likeness::new(code);
    let mut order: Vec<usize> = Vec::new();
    let mut left: BTreeSet<usize> = (0..code.len()).collect();
    // The functions within gzip's reach, which are the last of the order.
    let (mut from, mut bytes) = (0, 0);
    while let Some(next) = likeness.best(left.iter().copied(), code) {
        left.remove(&next);
        order.push(next);
        likeness.add(next);
        bytes += code[next].len();
        while bytes > WINDOW && from + 1 < order.len() {
            likeness.take_away(order[from]);
            bytes -= code[order[from]].len();
            from += 1;
        }
    }
    order
}

/// How much of each function is also in those within gzip's reach.
struct Likeness {
    /// For each piece of code that several functions share, these functions.
    sharing: Vec<Vec<usize>>,
    /// For each function the pieces that it shares with others.
    pieces: Vec<Vec<usize>>,
    /// For each piece how many functions within reach have it.
    within: Vec<u32>,
    /// For each function the weight of its pieces that are within reach.
    weights: Vec<u64>,
}

impl Likeness {
    fn new(code: &[&[u8]]) -> Self {
        let mut all: Vec<(&[u8], usize)> = Vec::new();
        for (function, body) in code.iter().enumerate() {
            all.extend(body.windows(PIECE).map(|piece| (piece, function)));
        }
        all.sort_unstable();
        all.dedup();
        let mut pieces = vec![Vec::new(); code.len()];
        let mut sharing = Vec::new();
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            if (2..=MOST_SHARING).contains(&same.len()) {
                let functions: Vec<usize> = same.iter().map(|&(_, function)| function).collect();
                for &function in &functions {
                    pieces[function].push(sharing.len());
                }
                sharing.push(functions);
            }
        }
        Self {
            within: vec![0; sharing.len()],
            weights: vec![0; code.len()],
            sharing,
            pieces,
        }
    }

    /// The function of `left` with the largest part within reach; the longest of those with nothing
    /// there.
    fn best(&self, left: impl Iterator<Item = usize>, code: &[&[u8]]) -> Option<usize> {
        let length = |function: usize| code[function].len() as u64;
        left.reduce(|best, other| {
            let (a, b) = (self.weights[best], self.weights[other]);
            let is_better = if (a, b) == (0, 0) {
                length(other) > length(best)
            } else {
                b * (length(best) + LENGTH_BONUS) > a * (length(other) + LENGTH_BONUS)
            };
            if is_better { other } else { best }
        })
    }

    fn add(&mut self, function: usize) {
        for &piece in &self.pieces[function] {
            self.within[piece] += 1;
            if self.within[piece] == 1 {
                let weight = self.weight(piece);
                for &other in &self.sharing[piece] {
                    self.weights[other] += weight;
                }
            }
        }
    }

    fn take_away(&mut self, function: usize) {
        for &piece in &self.pieces[function] {
            self.within[piece] -= 1;
            if self.within[piece] == 0 {
                let weight = self.weight(piece);
                for &other in &self.sharing[piece] {
                    self.weights[other] -= weight;
                }
            }
        }
    }

    /// The weight of a piece: the fewer functions have it, the more it says.
    fn weight(&self, piece: usize) -> u64 {
        u64::from(
            (self.pieces.len() / self.sharing[piece].len())
                .max(2)
                .ilog2(),
        )
    }
}

/// Writes a module with its functions in another order.
struct Places {
    imported: usize,
    /// The functions in their new order.
    places: Vec<usize>,
    /// The new index of each function.
    indices: Vec<u32>,
    /// New names of imports.
    short: BTreeMap<String, String>,
}

impl Places {
    /// The entries of a list of functions in the new order.
    fn sorted<T: Clone>(&self, list: &[T]) -> Result<Vec<T>, reencode::Error<OrderError>> {
        let entry = |&function: &usize| list.get(function).cloned();
        self.places
            .iter()
            .map(|place| entry(place).ok_or(reencode::Error::UserError(OrderError::NoFunction)))
            .collect()
    }
}

impl Reencode for Places {
    type Error = OrderError;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error<OrderError>> {
        let Some(local) = as_usize(function).checked_sub(self.imported) else {
            return Ok(function);
        };
        let index = self.indices.get(local).copied();
        index.ok_or(reencode::Error::UserError(OrderError::NoFunction))
    }

    fn parse_imports(
        &mut self,
        section: &mut ImportSection,
        imports: Imports<'_>,
    ) -> Result<(), reencode::Error<OrderError>> {
        match imports {
            Imports::Single(_, import) if self.short.contains_key(import.name) => {
                let kind = self.entity_type(import.ty)?;
                section.import(import.module, &self.short[import.name], kind);
                Ok(())
            }
            other => reencode::utils::parse_imports(self, section, other),
        }
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), reencode::Error<OrderError>> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for kind in self.sorted(&types)? {
            functions.function(kind);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), reencode::Error<OrderError>> {
        let bodies = section.into_iter().collect::<Result<Vec<_>, _>>()?;
        for body in self.sorted(&bodies)? {
            self.parse_function_body(code, body)?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        module: &mut Module,
        section: CustomSectionReader<'_>,
    ) -> Result<(), reencode::Error<OrderError>> {
        // The names of functions would be in the wrong order, and wasm-opt has removed them.
        if matches!(section.as_known(), KnownCustom::Name(_)) {
            return Ok(());
        }
        reencode::utils::parse_custom_section(self, module, section)
    }
}

fn as_usize(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use wasm_encoder::{
        ConstExpr, ElementSection, Elements, EntityType, ExportKind, ExportSection, Function,
        RefType, StartSection, TableSection, TableType, TypeSection, ValType,
    };
    use wasmparser::{ElementItems, Operator, Validator};

    use super::*;

    /// A function that stores many numbers, and calls another one where there is one.
    fn body(numbers: std::ops::Range<i32>, call: Option<u32>) -> Function {
        let mut body = Function::new([(1, ValType::I32)]);
        let mut sink = body.instructions();
        for number in numbers {
            sink.i32_const(1000 * number).local_set(0);
        }
        if let Some(function) = call {
            sink.call(function);
        }
        sink.end();
        body
    }

    /// An imported function, and functions of which the first resembles the third, and the second
    /// the fourth. The last has another type, and calls the third, which is also what starts, is
    /// exported and stands in the table.
    pub(crate) fn module() -> Vec<u8> {
        let mut module = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        types.ty().function([ValType::I64], []);
        module.section(&types);
        let mut imports = ImportSection::new();
        imports.import("a", "__wbg_b_01234567", EntityType::Function(0));
        module.section(&imports);
        let mut functions = FunctionSection::new();
        for kind in [0, 0, 0, 0, 1] {
            functions.function(kind);
        }
        module.section(&functions);
        let mut tables = TableSection::new();
        tables.table(TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 1,
            maximum: None,
            shared: false,
        });
        module.section(&tables);
        let mut exports = ExportSection::new();
        exports.export("third", ExportKind::Func, 3);
        module.section(&exports);
        module.section(&StartSection { function_index: 3 });
        let mut elements = ElementSection::new();
        let offset = ConstExpr::i32_const(0);
        elements.active(None, &offset, Elements::Functions(vec![3].into()));
        module.section(&elements);
        let mut code = CodeSection::new();
        for (numbers, call) in [
            (10..50, None),
            (50..80, None),
            (12..50, Some(0)),
            (52..80, Some(1)),
        ] {
            code.function(&body(numbers, call));
        }
        let mut last = Function::new([]);
        last.instructions().call(3).end();
        code.function(&last);
        module.section(&code);
        module.finish()
    }

    #[test]
    fn functions_that_resemble_each_other_become_neighbours() {
        let wasm = module();
        let ordered = ordered(&wasm, BTreeMap::new()).unwrap();
        Validator::new().validate_all(&ordered).unwrap();
        let (_, before) = functions(&wasm).unwrap();
        let (_, after) = functions(&ordered).unwrap();
        // The longest comes first.
        assert_eq!(after[0], before[0]);
        assert_eq!(by_likeness(&before), [0, 2, 1, 3, 4]);
        assert_eq!(super::ordered(&wasm, BTreeMap::new()).unwrap(), ordered);
    }

    #[test]
    fn all_that_names_a_function_still_names_it() {
        let wasm = ordered(&module(), BTreeMap::new()).unwrap();
        let mut named = Vec::new();
        let mut calls = Vec::new();
        for payload in Parser::new(0).parse_all(&wasm) {
            match payload.unwrap() {
                Payload::ExportSection(exports) => {
                    named.extend(exports.into_iter().map(|export| export.unwrap().index));
                }
                Payload::StartSection { func, .. } => named.push(func),
                Payload::ElementSection(elements) => {
                    for element in elements {
                        let ElementItems::Functions(items) = element.unwrap().items else {
                            panic!("no functions");
                        };
                        named.extend(items.into_iter().map(Result::unwrap));
                    }
                }
                Payload::CodeSectionEntry(body) => {
                    let operators = body.get_operators_reader().unwrap().into_iter();
                    calls.push(operators.map(Result::unwrap).find_map(|op| match op {
                        Operator::Call { function_index } => Some(function_index),
                        _ => None,
                    }));
                }
                _ => {}
            }
        }
        // The third function is now the second, after the imported one.
        assert_eq!(named, [2, 2, 2]);
        // It calls the imported one; the fourth calls the first, which stays; the last the third.
        assert_eq!(calls, [None, Some(0), None, Some(1), Some(2)]);
    }

    #[test]
    fn what_is_not_wasm_is_refused() {
        assert!(ordered(b"no wasm", BTreeMap::new()).is_err());
        let mut call_of_nothing = Module::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        call_of_nothing.section(&types);
        let mut functions = FunctionSection::new();
        functions.function(0);
        call_of_nothing.section(&functions);
        let mut code = CodeSection::new();
        code.function(&body(0..3, Some(7)));
        call_of_nothing.section(&code);
        let error = ordered(&call_of_nothing.finish(), BTreeMap::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "it names a function that it does not have"
        );
    }
}
