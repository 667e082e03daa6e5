//! Every cell that a lesson can name.

use crate::spec::CellSpec;

/// All cells, in the order of the course.
pub const ALL: &[&CellSpec] = &[&crate::three_patches::SPEC];

/// The cell of a name.
pub fn find(name: &str) -> Option<&'static CellSpec> {
    ALL.iter().copied().find(|spec| spec.name == name)
}
