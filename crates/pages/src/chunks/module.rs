//! One file of a program that `wasm_split_cli_support` has cut, taken apart.
//!
//! All files have the same list of types. The first file defines memory, table and stack pointer;
//! the others import these and nothing else. A function that several files use is in a slot of the
//! table: a file that calls it has a *shim*, a small function that passes its arguments to the
//! function in that slot.

use std::collections::BTreeMap;
use std::ops::Range;

use wasmparser::{
    BinaryReaderError, ConstExpr, DataKind, ElementItems, ElementKind, ExternalKind, FunctionBody,
    Import, KnownCustom, Name, Operator, Parser, Payload, TypeRef,
};

use super::error::MergeError;

/// A file taken apart. Everything borrows from its bytes.
pub(super) struct Module<'a> {
    /// Content of each section that is copied as it is, by the section's number.
    pub(super) sections: BTreeMap<u8, &'a [u8]>,
    /// Custom sections, without the names.
    pub(super) customs: Vec<(&'a str, &'a [u8])>,
    /// Imports of the file.
    pub(super) imports: Vec<Import<'a>>,
    /// How many of the imports are functions: they come before the functions of the file.
    pub(super) imported_functions: u32,
    /// The type of each function of the file.
    pub(super) function_types: Vec<u32>,
    /// The code of each function of the file.
    pub(super) bodies: Vec<FunctionBody<'a>>,
    /// Function in each slot of the table that the file fills.
    pub(super) slots: BTreeMap<u32, u32>,
    /// Address and content of each part of the memory that the file fills.
    pub(super) data: Vec<(u32, &'a [u8])>,
    /// Names of functions.
    pub(super) names: BTreeMap<u32, &'a str>,
    /// Globals that the file exports.
    pub(super) exported_globals: BTreeMap<&'a str, u32>,
    /// Number of slots of the table, where the file defines it.
    pub(super) table_size: Option<u32>,
    /// Number of parameters of each type.
    parameters: Vec<usize>,
}

impl<'a> Module<'a> {
    /// Takes a file apart.
    ///
    /// # Errors
    /// Bytes that are not wasm, or that have parts which no file of a cut program has.
    pub(super) fn parse(wasm: &'a [u8]) -> Result<Self, MergeError> {
        let mut module = Self {
            sections: BTreeMap::new(),
            customs: Vec::new(),
            imports: Vec::new(),
            imported_functions: 0,
            function_types: Vec::new(),
            bodies: Vec::new(),
            slots: BTreeMap::new(),
            data: Vec::new(),
            names: BTreeMap::new(),
            exported_globals: BTreeMap::new(),
            table_size: None,
            parameters: Vec::new(),
        };
        for payload in Parser::new(0).parse_all(wasm) {
            module.visit(payload?, wasm)?;
        }
        Ok(module)
    }

    /// Bytes of code and data, without the sections that every file has.
    pub(super) fn size(&self) -> usize {
        let code = self.bodies.iter().map(|body| body.as_bytes().len());
        let data = self.data.iter().map(|(_, content)| content.len());
        code.chain(data).sum()
    }

    fn visit(&mut self, payload: Payload<'a>, wasm: &'a [u8]) -> Result<(), MergeError> {
        if let Some((id, range)) = payload.as_section() {
            let content = usize::try_from(range.start)
                .ok()
                .zip(usize::try_from(range.end).ok())
                .and_then(|(start, end)| wasm.get(start..end));
            self.sections.insert(id, content.unwrap_or_default());
        }
        match payload {
            Payload::TypeSection(types) => {
                for kind in types.into_iter_err_on_gc_types() {
                    self.parameters.push(kind?.params().len());
                }
            }
            Payload::ImportSection(imports) => {
                self.imports = imports.into_imports().collect::<Result<_, _>>()?;
                let functions = self
                    .imports
                    .iter()
                    .filter(|i| matches!(i.ty, TypeRef::Func(_)));
                self.imported_functions = count(functions.count())?;
            }
            Payload::FunctionSection(types) => {
                self.function_types = types.into_iter().collect::<Result<_, _>>()?;
            }
            Payload::TableSection(tables) => {
                let first = tables.into_iter().next().transpose()?;
                self.table_size = first.map(|table| size(table.ty.initial)).transpose()?;
            }
            Payload::ExportSection(exports) => {
                for export in exports {
                    let export = export?;
                    if export.kind == ExternalKind::Global {
                        self.exported_globals.insert(export.name, export.index);
                    }
                }
            }
            Payload::ElementSection(elements) => {
                for element in elements {
                    self.fill_slots(element?)?;
                }
            }
            Payload::CodeSectionEntry(body) => self.bodies.push(body),
            Payload::DataSection(segments) => {
                for segment in segments {
                    let segment = segment?;
                    let DataKind::Active { offset_expr, .. } = segment.kind else {
                        return Err(MergeError::Unexpected("data without an address"));
                    };
                    if !segment.data.is_empty() {
                        self.data.push((address(&offset_expr)?, segment.data));
                    }
                }
            }
            Payload::CustomSection(custom) => match custom.as_known() {
                KnownCustom::Name(names) => {
                    for part in names {
                        if let Name::Function(map) = part? {
                            self.names = map
                                .into_iter()
                                .map(|naming| naming.map(|naming| (naming.index, naming.name)))
                                .collect::<Result<_, BinaryReaderError>>()?;
                        }
                    }
                }
                _ => self.customs.push((custom.name(), custom.data())),
            },
            _ => {}
        }
        Ok(())
    }

    fn fill_slots(&mut self, element: wasmparser::Element<'a>) -> Result<(), MergeError> {
        let ElementKind::Active { offset_expr, .. } = element.kind else {
            return Err(MergeError::Unexpected("functions for no slot of the table"));
        };
        let first = address(&offset_expr)?;
        match element.items {
            ElementItems::Functions(functions) => {
                for (slot, function) in (first..).zip(functions) {
                    self.slots.insert(slot, function?);
                }
            }
            // Slots that another file fills.
            ElementItems::Expressions(_, values) => {
                for value in values {
                    let empty = matches!(
                        value?.get_operators_reader().read()?,
                        Operator::RefNull { .. }
                    );
                    if !empty {
                        return Err(MergeError::Unexpected("a computed function in the table"));
                    }
                }
            }
        }
        Ok(())
    }

    /// The slot that a function of the file calls, where it does nothing else.
    ///
    /// # Errors
    /// Code that is not wasm.
    pub(super) fn shim(&self, function: usize) -> Result<Option<u32>, MergeError> {
        let (Some(body), Some(&kind)) =
            (self.bodies.get(function), self.function_types.get(function))
        else {
            return Ok(None);
        };
        if body.get_locals_reader()?.get_count() > 0 {
            return Ok(None);
        }
        let parameters = usize::try_from(kind)
            .ok()
            .and_then(|kind| self.parameters.get(kind));
        let mut operators = body.get_operators_reader()?;
        for parameter in 0..parameters.copied().unwrap_or_default() {
            let passes = matches!(
                operators.read()?,
                Operator::LocalGet { local_index } if usize::try_from(local_index) == Ok(parameter)
            );
            if !passes {
                return Ok(None);
            }
        }
        let Operator::I32Const { value } = operators.read()? else {
            return Ok(None);
        };
        let calls = matches!(
            operators.read()?,
            Operator::CallIndirect { type_index, table_index: 0 } if type_index == kind
        );
        let ends = calls && matches!(operators.read()?, Operator::End);
        Ok(u32::try_from(value).ok().filter(|_| ends))
    }
}

/// The addresses of what a linked program never changes. Where its linker did not name the parts of
/// the memory there are none.
///
/// # Errors
/// Bytes that are not wasm.
pub(super) fn constants(wasm: &[u8]) -> Result<Range<u32>, MergeError> {
    let mut segments = Vec::new();
    let mut constant = None;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::DataSection(data) => {
                for segment in data {
                    let segment = segment?;
                    let DataKind::Active { offset_expr, .. } = segment.kind else {
                        return Err(MergeError::Unexpected("data without an address"));
                    };
                    let start = address(&offset_expr)?;
                    segments.push(start..start + count(segment.data.len())?);
                }
            }
            Payload::CustomSection(custom) => {
                if let KnownCustom::Name(names) = custom.as_known() {
                    for part in names {
                        if let Name::Data(map) = part? {
                            for naming in map {
                                let naming = naming?;
                                if naming.name == ".rodata" {
                                    constant = usize::try_from(naming.index).ok();
                                }
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    let segment = constant.and_then(|index| segments.get(index).cloned());
    Ok(segment.unwrap_or_default())
}

/// The constant that an address is.
fn address(expression: &ConstExpr<'_>) -> Result<u32, MergeError> {
    match expression.get_operators_reader().read()? {
        Operator::I32Const { value } => Ok(value.cast_unsigned()),
        _ => Err(MergeError::Unexpected("an address that is no constant")),
    }
}

/// A number as the index that wasm uses.
pub(super) fn count(number: usize) -> Result<u32, MergeError> {
    u32::try_from(number).map_err(|_| MergeError::Unexpected("more than 32 bits can count"))
}

fn size(number: u64) -> Result<u32, MergeError> {
    u32::try_from(number).map_err(|_| MergeError::Unexpected("more than 32 bits can count"))
}
