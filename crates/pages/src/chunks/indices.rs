//! The place of each file's functions and globals in a merged file.

use std::collections::BTreeMap;

use wasmparser::{Import, TypeRef};

use super::error::MergeError;
use super::module::{Module, count};

/// A function of a file: which file, and its index there.
pub(super) type Function = (usize, u32);

/// What becomes of a file's function.
enum Target {
    /// At this index of the result.
    Index(u32),
    /// A shim, which this other function replaces.
    Other(Function),
}

/// The functions of the result, and for each file the index in the result of each of its functions.
pub(super) fn functions(
    modules: &[Module<'_>],
) -> Result<(Vec<Function>, Vec<Vec<u32>>), MergeError> {
    let imported = modules.first().map_or(0, |first| first.imported_functions);
    let mut at_slot: BTreeMap<u32, Function> = BTreeMap::new();
    for (number, module) in modules.iter().enumerate() {
        let filled = module.slots.iter();
        at_slot.extend(filled.map(|(&slot, &function)| (slot, (number, function))));
    }
    let mut kept = Vec::new();
    let mut targets: BTreeMap<Function, Target> = BTreeMap::new();
    for (number, module) in modules.iter().enumerate() {
        for index in 0..module.imported_functions {
            targets.insert((number, index), Target::Index(index));
        }
        for local in 0..module.bodies.len() {
            let function = (number, module.imported_functions + count(local)?);
            // The first file's exports name its functions, so that all of them stay.
            let shim = match module.table_size {
                Some(_) => None,
                None => module.shim(local)?,
            };
            // The first shim of a slot that no file fills serves all files.
            let other = shim
                .map(|slot| *at_slot.entry(slot).or_insert(function))
                .filter(|&other| other != function);
            let target = match other {
                Some(other) => Target::Other(other),
                None => {
                    kept.push((number, count(local)?));
                    Target::Index(imported + count(kept.len() - 1)?)
                }
            };
            targets.insert(function, target);
        }
    }
    let mut indices = Vec::new();
    for (number, module) in modules.iter().enumerate() {
        let all = module.imported_functions + count(module.bodies.len())?;
        let of_file = (0..all).map(|function| index(&targets, (number, function)));
        indices.push(of_file.collect::<Result<Vec<_>, _>>()?);
    }
    Ok((kept, indices))
}

/// The index in the result of a function; that of the called function for a shim.
fn index(targets: &BTreeMap<Function, Target>, function: Function) -> Result<u32, MergeError> {
    let mut function = function;
    // A shim may call another one, but none calls itself.
    for _ in 0..targets.len() {
        match targets.get(&function) {
            Some(Target::Other(other)) => function = *other,
            Some(Target::Index(index)) => return Ok(*index),
            None => break,
        }
    }
    Err(MergeError::Unexpected("a call that leads nowhere"))
}

/// For each file the indices of its globals in the result; `None` where they keep their indices.
pub(super) type GlobalIndices = Vec<Option<Vec<u32>>>;

/// The imports of the result, and for each file the indices of its globals there; `None` where they
/// keep their indices.
pub(super) fn imports<'a>(
    modules: &[Module<'a>],
) -> Result<(Vec<Import<'a>>, GlobalIndices), MergeError> {
    let is_global = |import: &&Import<'_>| matches!(import.ty, TypeRef::Global(_));
    let Some((first, later)) = modules.split_first() else {
        return Ok((Vec::new(), Vec::new()));
    };
    let mut imports = first.imports.clone();
    let has_all = first.table_size.is_some();
    for import in later.iter().flat_map(|module| &module.imports) {
        let is_known = imports
            .iter()
            .any(|known| (known.module, known.name) == (import.module, import.name));
        if !has_all && !is_known {
            imports.push(*import);
        }
    }
    let mut known: BTreeMap<&str, u32> = BTreeMap::new();
    if has_all {
        known.clone_from(&first.exported_globals);
    } else {
        for (index, import) in imports.iter().filter(is_global).enumerate() {
            known.insert(import.name, count(index)?);
        }
    }
    let mut globals = vec![None];
    for module in later {
        let of_file = module
            .imports
            .iter()
            .filter(is_global)
            .map(|import| known.get(import.name).copied());
        let of_file = of_file.collect::<Option<Vec<u32>>>();
        globals.push(Some(
            of_file.ok_or(MergeError::Unexpected("a global that nobody has"))?,
        ));
    }
    Ok((imports, globals))
}

/// The entry of a list at an index of wasm.
pub(super) fn at(list: &[u32], index: u32) -> Result<u32, MergeError> {
    usize::try_from(index)
        .ok()
        .and_then(|index| list.get(index).copied())
        .ok_or(MergeError::Unexpected("an index of nothing"))
}
