//! A cell as a page names it, made known to the page's inputs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cells::frame::context::CellCx;
use crate::cells::registry;
use crate::state::PageState;

/// Props that concern the frame of a cell, which the page builder has used up.
const FRAME_PROPS: [&str; 3] = ["title", "caption", "height"];

/// A cell as a page names it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Named {
    /// Name in the registry of cells.
    pub(crate) name: String,
    /// Id of its section.
    pub(crate) id: String,
    /// Title as the reader sees it.
    pub(crate) title: String,
    /// Its inputs as the lesson gives them, and props of its frame.
    pub(crate) props: Map<String, Value>,
}

impl Named {
    /// Makes the inputs of the cell known to the page, whose shared inputs are `shared`.
    ///
    /// # Errors
    /// A text for the reader: the cell is not loaded, or an input is not what it may be.
    pub(crate) fn declare(
        mut self,
        page: PageState,
        shared: &BTreeMap<String, Value>,
    ) -> Result<(CellCx, registry::View), String> {
        let registry::Entry { spec, view } = registry::find(&self.name).ok_or_else(|| {
            format!(
                "This page names a cell \u{201c}{}\u{201d} that this version of the site does not have. Reload the page.",
                self.name
            )
        })?;
        for prop in FRAME_PROPS {
            self.props.remove(prop);
        }
        let inputs = spec
            .inputs_from(&self.props, shared)
            .map_err(|e| e.to_string())?;
        let mut keys = BTreeMap::new();
        for input in (spec.inputs)() {
            let key = match self
                .props
                .get(input.name)
                .and_then(cells::spec::shared_name)
            {
                Some(shared) => format!("${shared}"),
                None => format!("{}.{}", self.id, input.name),
            };
            let initial = inputs
                .0
                .get(input.name)
                .cloned()
                .unwrap_or_else(|| input.default.clone());
            page.declare(&key, &input, initial);
            keys.insert(input.name.to_owned(), key);
        }
        Ok((CellCx::new(self.id, self.title, spec, page, keys), view))
    }
}
