//! Merges files of a cut program into one.
//!
//! What one of the files calls through the table and another one has is called directly in the
//! result, without the shim.

use std::borrow::Cow;
use std::collections::BTreeMap;

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{
    CodeSection, ConstExpr, CustomSection, DataSection, ElementSection, Elements, EntityType,
    FunctionSection, HeapType, ImportSection, Module as Output, NameMap, NameSection, RawSection,
    RefType, SectionId,
};
use wasmparser::Import;

use super::error::MergeError;
use super::indices::{Function, at, functions, imports};
use super::module::{Module, count};

/// Content of the memory, by its address.
pub(super) type Contents = BTreeMap<u32, Vec<u8>>;

/// Merges `files` of one program. Where the first of them is the program's first file the result
/// can take its place. `moved` is content that the program's first file has instead of another one.
///
/// # Errors
/// Files that are not of one program.
pub(super) fn merge(files: &[Vec<u8>], moved: &Contents) -> Result<Vec<u8>, MergeError> {
    let modules = files
        .iter()
        .map(|file| Module::parse(file))
        .collect::<Result<Vec<_>, _>>()?;
    Merged::new(&modules, moved)?.write()
}

/// The content of the result.
struct Merged<'a> {
    modules: &'a [Module<'a>],
    first: &'a Module<'a>,
    imports: Vec<Import<'a>>,
    /// For each file, the index in the result of each of its globals; `None` where they keep their
    /// indices.
    globals: Vec<Option<Vec<u32>>>,
    /// The functions of the result, in their order, without the imported ones.
    functions: Vec<Function>,
    /// For each file, the index in the result of each of its functions.
    indices: Vec<Vec<u32>>,
    /// The function of the result in each slot of the table.
    slots: BTreeMap<u32, u32>,
    /// Content of the memory that the program's first file has instead of another one.
    moved: &'a Contents,
}

impl<'a> Merged<'a> {
    fn new(modules: &'a [Module<'a>], moved: &'a Contents) -> Result<Self, MergeError> {
        let first = modules
            .first()
            .ok_or(MergeError::Unexpected("no content"))?;
        let types = |module: &Module<'a>| module.sections.get(&SectionId::Type.into()).copied();
        if modules.iter().any(|module| types(module) != types(first)) {
            return Err(MergeError::Unexpected("types of another program"));
        }
        let later = modules.iter().skip(1);
        if later
            .clone()
            .any(|module| module.imported_functions > 0 || module.table_size.is_some())
        {
            return Err(MergeError::Unexpected("what only the first file has"));
        }
        let (functions, indices) = functions(modules)?;
        let mut slots = BTreeMap::new();
        for (module, indices) in modules.iter().zip(&indices) {
            for (&slot, &function) in &module.slots {
                slots.insert(slot, at(indices, function)?);
            }
        }
        let (imports, globals) = imports(modules)?;
        Ok(Self {
            modules,
            first,
            imports,
            globals,
            functions,
            indices,
            slots,
            moved,
        })
    }

    fn write(&self) -> Result<Vec<u8>, MergeError> {
        let mut output = Output::new();
        self.copy(&mut output, SectionId::Type);
        let mut imports = ImportSection::new();
        for import in &self.imports {
            let kind = EntityType::try_from(import.ty)
                .map_err(|_| MergeError::Unexpected("an import of an unknown kind"))?;
            imports.import(import.module, import.name, kind);
        }
        output.section(&imports);
        let mut types = FunctionSection::new();
        for &(module, function) in &self.functions {
            types.function(at(&self.modules[module].function_types, function)?);
        }
        output.section(&types);
        for section in [
            SectionId::Table,
            SectionId::Memory,
            SectionId::Global,
            SectionId::Export,
            SectionId::Start,
        ] {
            self.copy(&mut output, section);
        }
        output.section(&self.elements());
        output.section(&self.code()?);
        output.section(&self.data()?);
        output.section(&self.names());
        for (name, content) in &self.first.customs {
            output.section(&CustomSection {
                name: Cow::Borrowed(name),
                data: Cow::Borrowed(content),
            });
        }
        Ok(output.finish())
    }

    /// Copies a section of the first file.
    fn copy(&self, output: &mut Output, section: SectionId) {
        if let Some(data) = self.first.sections.get(&section.into()) {
            output.section(&RawSection {
                id: section.into(),
                data,
            });
        }
    }

    fn elements(&self) -> ElementSection {
        let mut section = ElementSection::new();
        let filled: Vec<(u32, u32)> = self
            .slots
            .iter()
            .map(|(&slot, &function)| (slot, function))
            .collect();
        for run in filled.chunk_by(|a, b| a.0 + 1 == b.0) {
            let functions: Vec<u32> = run.iter().map(|&(_, function)| function).collect();
            let offset = ConstExpr::i32_const(run[0].0.cast_signed());
            section.active(Some(0), &offset, Elements::Functions(functions.into()));
        }
        // The file that defines the table also reserves the slots of the other files, or
        // `wasm-bindgen` would use them.
        let empty: Vec<u32> = (1..self.first.table_size.unwrap_or_default())
            .filter(|slot| !self.slots.contains_key(slot))
            .collect();
        for run in empty.chunk_by(|a, b| a + 1 == *b) {
            let nothing = vec![ConstExpr::ref_null(HeapType::FUNC); run.len()];
            let offset = ConstExpr::i32_const(run[0].cast_signed());
            section.active(
                Some(0),
                &offset,
                Elements::Expressions(RefType::FUNCREF, nothing.into()),
            );
        }
        section
    }

    fn code(&self) -> Result<CodeSection, MergeError> {
        let mut section = CodeSection::new();
        for &(module, function) in &self.functions {
            let body = usize::try_from(function)
                .ok()
                .and_then(|function| self.modules[module].bodies.get(function));
            let body = body.ok_or(MergeError::Unexpected("a function without code"))?;
            let mut indices = Indices {
                functions: &self.indices[module],
                globals: self.globals[module].as_deref(),
            };
            indices.parse_function_body(&mut section, body.clone())?;
        }
        Ok(section)
    }

    /// The content of the memory; adjacent parts are joined.
    fn data(&self) -> Result<DataSection, MergeError> {
        let mut parts: Vec<(u32, &[u8])> = self
            .modules
            .iter()
            .flat_map(|module| module.data.iter().copied())
            .filter(|(address, _)| !self.moved.contains_key(address))
            .collect();
        if self.first.table_size.is_some() {
            let moved = self.moved.iter();
            parts.extend(moved.map(|(&address, content)| (address, content.as_slice())));
        }
        parts.sort_unstable_by_key(|&(address, _)| address);
        let mut joined: Vec<(u32, Vec<u8>)> = Vec::new();
        for (address, content) in parts {
            match joined.last_mut() {
                Some((start, part)) if *start + count(part.len())? == address => {
                    part.extend(content);
                }
                Some((start, part)) if *start + count(part.len())? > address => {
                    return Err(MergeError::Unexpected("data that another file has too"));
                }
                _ => joined.push((address, content.to_owned())),
            }
        }
        let mut section = DataSection::new();
        for (address, part) in joined {
            section.active(0, &ConstExpr::i32_const(address.cast_signed()), part);
        }
        Ok(section)
    }

    fn names(&self) -> NameSection {
        let mut names = NameMap::new();
        let mut named = BTreeMap::new();
        for (module, indices) in self.modules.iter().zip(&self.indices).rev() {
            for (&function, &name) in &module.names {
                if let Ok(index) = at(indices, function) {
                    named.insert(index, name);
                }
            }
        }
        for (index, name) in named {
            names.append(index, name);
        }
        let mut section = NameSection::new();
        section.functions(&names);
        section
    }
}

/// Gives functions and globals their indices in the result.
struct Indices<'a> {
    functions: &'a [u32],
    globals: Option<&'a [u32]>,
}

impl Reencode for Indices<'_> {
    type Error = MergeError;

    fn function_index(&mut self, function: u32) -> Result<u32, reencode::Error<MergeError>> {
        at(self.functions, function).map_err(reencode::Error::UserError)
    }

    fn global_index(&mut self, global: u32) -> Result<u32, reencode::Error<MergeError>> {
        self.globals
            .map_or(Ok(global), |globals| at(globals, global))
            .map_err(reencode::Error::UserError)
    }

    fn data_index(&mut self, _: u32) -> Result<u32, reencode::Error<MergeError>> {
        Err(reencode::Error::UserError(MergeError::Unexpected(
            "data without an address",
        )))
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{
        Function as Code, GlobalType, MemoryType, TableSection, TableType, TypeSection, ValType,
    };
    use wasmparser::{Operator, Validator};

    use super::*;

    /// One parameter and one result, both `i32`.
    fn types() -> TypeSection {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32], [ValType::I32]);
        types
    }

    fn table_type() -> TableType {
        TableType {
            element_type: RefType::FUNCREF,
            table64: false,
            minimum: 5,
            maximum: Some(5),
            shared: false,
        }
    }

    fn memory_type() -> MemoryType {
        MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        }
    }

    fn global_type() -> GlobalType {
        GlobalType {
            val_type: ValType::I32,
            mutable: true,
            shared: false,
        }
    }

    /// A function that adds a number, and the stack pointer where `global` names it.
    fn adds(number: i32, global: Option<u32>) -> Code {
        let mut code = Code::new([]);
        let mut sink = code.instructions();
        sink.local_get(0).i32_const(number).i32_add();
        if let Some(global) = global {
            sink.global_get(global).i32_add();
        }
        sink.end();
        code
    }

    /// A function that calls what is in a slot.
    fn shim(slot: i32) -> Code {
        let mut code = Code::new([]);
        code.instructions()
            .local_get(0)
            .i32_const(slot)
            .call_indirect(0, 0)
            .end();
        code
    }

    /// A function that calls others of its file.
    fn calls(functions: &[u32]) -> Code {
        let mut code = Code::new([]);
        let mut sink = code.instructions();
        sink.local_get(0);
        for &function in functions {
            sink.call(function);
        }
        sink.end();
        code
    }

    /// A later file: functions, the slot of the first of them, an address and content.
    fn part(functions: &[Code], slot: i32, data: (i32, &[u8])) -> Vec<u8> {
        let mut module = Output::new();
        module.section(&types());
        let mut imports = ImportSection::new();
        imports.import("__wasm_split", "__stack_pointer", global_type());
        imports.import("__wasm_split", "__indirect_function_table", table_type());
        imports.import("__wasm_split", "memory", memory_type());
        module.section(&imports);
        let mut kinds = FunctionSection::new();
        let mut code = CodeSection::new();
        for function in functions {
            kinds.function(0);
            code.function(function);
        }
        module.section(&kinds);
        let mut elements = ElementSection::new();
        elements.active(
            Some(0),
            &ConstExpr::i32_const(slot),
            Elements::Functions(vec![0].into()),
        );
        module.section(&elements);
        module.section(&code);
        let mut content = DataSection::new();
        content.active(0, &ConstExpr::i32_const(0), []);
        content.active(0, &ConstExpr::i32_const(data.0), data.1.to_vec());
        module.section(&content);
        module.finish()
    }

    fn two_parts() -> Vec<Vec<u8>> {
        vec![
            // Calls slot 1 of the first file, and slot 3 of the other part.
            part(
                &[calls(&[1, 2]), shim(1), shim(3), adds(7, Some(0))],
                2,
                (16, b"abcd"),
            ),
            // Calls slot 1 of the first file, and slot 2 of the other part.
            part(&[calls(&[2, 1, 1]), shim(2), shim(1)], 3, (20, b"efgh")),
        ]
    }

    fn called(module: &Module<'_>, function: usize) -> Vec<u32> {
        let operators = module.bodies[function].get_operators_reader().unwrap();
        let calls = operators
            .into_iter()
            .filter_map(|operator| match operator.unwrap() {
                Operator::Call { function_index } => Some(function_index),
                _ => None,
            });
        calls.collect()
    }

    #[test]
    fn parts_call_each_other_directly_and_share_what_leads_elsewhere() {
        let merged = merge(&two_parts(), &Contents::new()).unwrap();
        Validator::new().validate_all(&merged).unwrap();
        let module = Module::parse(&merged).unwrap();
        // The first part's entry, one shim of slot 1, the function that adds, the other part's
        // entry.
        assert_eq!(module.bodies.len(), 4);
        assert_eq!(module.slots, BTreeMap::from([(2, 0), (3, 3)]));
        assert_eq!(called(&module, 0), [1, 3]);
        assert_eq!(called(&module, 3), [1, 0, 0]);
        assert_eq!(module.shim(1).unwrap(), Some(1));
        assert_eq!(module.imports.len(), 3);
        assert_eq!(module.data, [(16, b"abcdefgh".as_slice())]);
    }

    #[test]
    fn content_that_moved_is_in_the_first_file_only() {
        let moved = Contents::from([(20, b"efgh".to_vec())]);
        let later = merge(&two_parts(), &moved).unwrap();
        let later = Module::parse(&later).unwrap();
        assert_eq!(later.data, [(16, b"abcd".as_slice())]);
        let mut first = Output::new();
        first.section(&types());
        let mut table = TableSection::new();
        table.table(table_type());
        first.section(&table);
        let merged = merge(&[first.finish()], &moved).unwrap();
        let merged = Module::parse(&merged).unwrap();
        assert_eq!(merged.data, [(20, b"efgh".as_slice())]);
    }

    #[test]
    fn files_that_do_not_belong_together_are_refused() {
        let mut parts = two_parts();
        let mut other = Output::new();
        let mut types = TypeSection::new();
        types.ty().function([], []);
        other.section(&types);
        parts.push(other.finish());
        assert!(
            merge(&parts, &Contents::new())
                .unwrap_err()
                .to_string()
                .contains("types")
        );
        let overlapping = [
            part(&[adds(1, None)], 1, (16, b"ab")),
            part(&[adds(2, None)], 2, (17, b"c")),
        ];
        assert!(
            merge(&overlapping, &Contents::new())
                .unwrap_err()
                .to_string()
                .contains("data")
        );
        assert!(merge(&[b"no wasm".to_vec()], &Contents::new()).is_err());
        assert!(merge(&[], &Contents::new()).is_err());
    }
}
