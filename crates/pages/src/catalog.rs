//! The cells as the lesson compiler asks about them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cells::exercise as graded;
use cells::model_cache::ModelCache;
use cells::{
    CellError, CellSpec, Computation, InputValue, Inputs, Run, WorkerKind, jobs, registry,
};
use lesson::reference::ElementRef;
use lesson::{Answer, Catalog, Code, Exercise, Listing, Make, Refusal};
use serde_json::{Map, Value};

use crate::twin;

/// Likeness (Jaro and Winkler, from 0 to 1) from which on one name may be meant by another.
const ALIKE: f64 = 0.85;

type Shared = BTreeMap<String, Value>;

/// Answers from the registry of cells and from the folder of shipped files.
#[derive(Debug, Clone)]
pub struct Cells {
    /// The folder whose files the site ships.
    pub public: PathBuf,
}

impl Cells {
    fn spec(name: &str) -> Result<&'static CellSpec, Refusal> {
        registry::find(name).ok_or_else(|| {
            let alike = |spec: &&CellSpec| strsim::jaro_winkler(spec.name, name) >= ALIKE;
            let known: Vec<&str> = registry::all()
                .filter(alike)
                .map(|spec| spec.name)
                .collect();
            let meant = if known.is_empty() {
                "the names are in crates/cells/src/registry.rs, where a new one needs a line"
                    .to_owned()
            } else {
                format!("is it {}?", known.join(" or "))
            };
            Refusal::new(format!("there is no cell {name}; {meant}"))
        })
    }

    fn inputs(
        spec: &CellSpec,
        props: &Map<String, Value>,
        shared: &Shared,
    ) -> Result<Inputs, Refusal> {
        let known = (spec.inputs)();
        if let Some(key) = props
            .keys()
            .find(|key| known.iter().all(|input| input.name != key.as_str()))
        {
            let names: Vec<&str> = known.iter().map(|input| input.name).collect();
            let message = format!(
                "the cell {} has no input {key}; it has {}",
                spec.name,
                names.join(", ")
            );
            return Err(Refusal::of(key, message));
        }
        spec.inputs_from(props, shared)
            .map_err(|error| match &error {
                CellError::Input { input, message, .. } => {
                    Refusal::of(input, format!("{input}: {message}"))
                }
                _ => Refusal::new(error.to_string()),
            })
    }
}

impl Cells {
    fn compute(&self, spec: &CellSpec, inputs: &Inputs) -> Result<Computation, Refusal> {
        let cache = ModelCache::of_folder(self.public.join("models"));
        jobs::compute(spec, inputs, &cache).map_err(|error| Refusal::new(error.to_string()))
    }
}

impl Cells {
    /// Checks that a goal is not met on the inputs of the page, and is met on those of the solution.
    fn check_make(
        &self,
        exercise: &Exercise,
        make: &Make,
        goal: &[graded::Goal],
    ) -> Result<(), Refusal> {
        let spec = Self::spec(&exercise.cell)?;
        let judged = |props: &Map<String, Value>| {
            let inputs = Self::inputs(spec, props, &Shared::new())?;
            let computed = self.compute(spec, &cells::picture::with_drawn_samples(inputs))?;
            let judge = |goal: &graded::Goal| {
                let judged = goal.judge(&computed);
                judged.map_err(|message| Refusal::of("goal", message))
            };
            goal.iter().map(judge).collect::<Result<Vec<_>, _>>()
        };
        if judged(&exercise.props)?.iter().all(|claim| claim.holds) {
            let message = "the goal is already met on the inputs that the page gives the cell";
            return Err(Refusal::of("goal", message));
        }
        let solved = judged(&make.solution)?;
        match goal.iter().zip(solved).find(|(_, claim)| !claim.holds) {
            None => Ok(()),
            Some((goal, claim)) => Err(Refusal::of(
                "solution",
                format!(
                    "the solution does not meet `{}`: the left side is {}",
                    goal.claim, claim.value
                ),
            )),
        }
    }
}

/// What a cell that computes in a worker needs there.
pub(crate) struct Needs {
    /// The worker that computes it.
    pub(crate) kind: WorkerKind,
    /// Files below `models/`.
    pub(crate) files: Vec<&'static str>,
}

impl Cells {
    /// What a cell needs of a worker on these inputs; `None` where the page computes it itself.
    pub(crate) fn needs(name: &str, props: &Map<String, Value>, shared: &Shared) -> Option<Needs> {
        let spec = Self::spec(name).ok()?;
        let Run::Sliced(kind) = spec.run else {
            return None;
        };
        let inputs = Self::inputs(spec, props, shared).ok()?;
        let entry = jobs::find(name)?;
        Some(Needs {
            kind,
            files: (entry.files)(&inputs),
        })
    }
}

impl Catalog for Cells {
    fn check_cell(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &Shared,
    ) -> Result<(), Refusal> {
        let spec = Self::spec(name)?;
        let inputs = Self::inputs(spec, props, shared)?;
        spec.check(&inputs)
            .map_err(|error| Refusal::new(error.to_string()))
    }

    fn given(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &Shared,
    ) -> Vec<(String, String)> {
        let Ok(spec) = Self::spec(name) else {
            return Vec::new();
        };
        let Ok(inputs) = Self::inputs(spec, props, shared) else {
            return Vec::new();
        };
        let in_words = |input: &cells::InputSpec| {
            Some((
                cells::symbols::plain(input.label),
                in_words(inputs.0.get(input.name)?)?,
            ))
        };
        (spec.inputs)().iter().filter_map(in_words).collect()
    }

    fn check_element(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &Shared,
        element: &ElementRef,
    ) -> Result<(), Refusal> {
        let spec = Self::spec(name)?;
        let inputs = cells::picture::with_drawn_samples(Self::inputs(spec, props, shared)?);
        let computed = self.compute(spec, &inputs)?;
        if computed.at(&element.tensor, &element.index).is_some() {
            return Ok(());
        }
        let known: Vec<String> = computed
            .tensors
            .iter()
            .map(|(name, tensor)| format!("{name} {:?}", tensor.shape()))
            .collect();
        Err(Refusal::new(format!(
            "the cell {name} computes no single number {element}; it has {}",
            known.join(", ")
        )))
    }

    fn check_exercise(&self, exercise: &Exercise) -> Result<Option<usize>, Refusal> {
        let graded: graded::Exercise = serde_json::from_value(exercise.to_json())
            .map_err(|error| Refusal::new(error.to_string()))?;
        if let (Answer::Make(make), graded::Kind::Make { goal, .. }) =
            (&exercise.answer, &graded.kind)
        {
            return self.check_make(exercise, make, goal).map(|()| None);
        }
        let is_choice = matches!(graded.kind, graded::Kind::Choice { .. });
        let key = if is_choice { "choices" } else { "answer" };
        let spec = Self::spec(&graded.cell)?;
        let inputs = graded.inputs(spec).map_err(Refusal::new)?;
        graded
            .expected(&self.compute(spec, &inputs)?)
            .map(|expected| {
                let statement = expected.first().filter(|_| is_choice);
                statement.map(|&index| index as usize)
            })
            .map_err(|message| Refusal::of(key, message))
    }

    fn listing(&self, code: &Code) -> Result<Listing, Refusal> {
        let spec = Self::spec(&code.cell)?;
        let inputs = Self::inputs(spec, &code.props, &Shared::new())?;
        let inputs = cells::picture::with_drawn_samples(inputs);
        let project = self.public.parent().unwrap_or(Path::new("."));
        twin::listing(project, code, &self.compute(spec, &inputs)?)
    }

    fn has_asset(&self, path: &str) -> bool {
        let stays_inside = !path.split('/').any(|part| part == "..");
        !path.is_empty() && stays_inside && self.public.join(path).is_file()
    }
}

/// An input as a reader would say it; `None` for a selection.
fn in_words(value: &InputValue) -> Option<String> {
    Some(match value {
        InputValue::Number(number) => number.to_string(),
        InputValue::Text(text) => format!("\u{201c}{text}\u{201d}"),
        InputValue::Matrix(matrix) => {
            let row = |row: ndarray::ArrayView1<'_, f32>| {
                row.iter()
                    .map(f32::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            matrix
                .rows()
                .into_iter()
                .map(|r| format!("[{}]", row(r)))
                .collect::<Vec<_>>()
                .join(" ")
        }
        InputValue::Toggle(on) => if *on { "on" } else { "off" }.to_owned(),
        InputValue::Choice(name) => name.replace('-', " "),
        InputValue::Order(order) => order
            .iter()
            .map(|i| (i + 1).to_string())
            .collect::<Vec<_>>()
            .join(", "),
        InputValue::Picture(picture) => picture.name.clone(),
        InputValue::Drawing(drawing) => format!("a drawing of {} strokes", drawing.0.len()),
        // A reader without the script cannot select anything.
        InputValue::Selection(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_outside_the_shipped_folder_do_not_count() {
        let cells = Cells {
            public: PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"),
        };
        assert!(cells.has_asset("main.rs"));
        assert!(!cells.has_asset("../Cargo.toml"));
        assert!(!cells.has_asset(""));
    }

    #[test]
    fn a_cell_needs_the_files_of_its_inputs_and_one_of_the_page_needs_no_worker() {
        let needs = |cell: &str, props: Value| {
            let props = props.as_object().cloned().unwrap_or_default();
            Cells::needs(cell, &props, &Shared::new())
        };
        let files = |props| needs("bag-of-words", props).map(|needs| (needs.kind, needs.files));
        assert_eq!(
            files(json!({})),
            Some((
                WorkerKind::Models,
                vec!["tiny-bert-first-layer.safetensors"]
            ))
        );
        assert_eq!(
            files(json!({"model": "random"})),
            Some((WorkerKind::Models, Vec::new()))
        );
        assert!(needs("information-budget", json!({})).is_none());
        assert!(needs("no-cell", json!({})).is_none());
    }
}
