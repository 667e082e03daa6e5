//! A small world for tests: one cell, one picture.

use std::collections::BTreeMap;

use lesson::reference::ElementRef;
use lesson::{
    Answer, Catalog, Code, Exercise, Lesson, LessonError, Listing, Printed, Refusal, compile,
};
use serde_json::{Map, Value};

/// Knows the cell `table` with the inputs `x` (a number) and `sentence`; it computes
/// `weights[0,0]`.
pub(crate) struct World;

type Shared = BTreeMap<String, Value>;

impl Catalog for World {
    fn check_cell(
        &self,
        name: &str,
        props: &Map<String, Value>,
        shared: &Shared,
    ) -> Result<(), Refusal> {
        if name != "table" {
            return Err(Refusal::new(format!("there is no cell {name}")));
        }
        for (key, value) in lesson::resolved(props, shared) {
            match key.as_str() {
                "x" if value.is_number() => {}
                "sentence" if value.is_string() => {}
                "x" | "sentence" => return Err(Refusal::of(key, "this is of the wrong type")),
                _ => return Err(Refusal::of(key.clone(), format!("no input {key}"))),
            }
        }
        Ok(())
    }

    fn given(&self, _: &str, props: &Map<String, Value>, shared: &Shared) -> Vec<(String, String)> {
        lesson::resolved(props, shared)
            .into_iter()
            .map(|(key, value)| (key, value.to_string()))
            .collect()
    }

    fn check_element(
        &self,
        _: &str,
        _: &Map<String, Value>,
        _: &Shared,
        element: &ElementRef,
    ) -> Result<(), Refusal> {
        if element.to_string() == "weights[0,0]" {
            Ok(())
        } else {
            Err(Refusal::new("no such element"))
        }
    }

    fn check_exercise(&self, exercise: &Exercise) -> Result<Option<usize>, Refusal> {
        if exercise.to_json().to_string().contains("missing") {
            let is_goal = matches!(exercise.answer, Answer::Make(_));
            let key = if is_goal { "goal" } else { "answer" };
            return Err(Refusal::of(key, "the cell gives no such tensor"));
        }
        if let Answer::Make(make) = &exercise.answer {
            let is_solved = make.solution.get("x").and_then(Value::as_f64) > Some(2.0);
            return is_solved
                .then_some(None)
                .ok_or_else(|| Refusal::of("solution", "the solution misses the goal"));
        }
        // Every number of this world is positive.
        let Answer::Choice(choices) = &exercise.answer else {
            return Ok(None);
        };
        Ok(choices
            .iter()
            .position(|choice| choice.claim.ends_with("> 0")))
    }

    fn listing(&self, code: &Code) -> Result<Listing, Refusal> {
        if code.function != "engine::add" {
            return Err(Refusal::of("function", "the cell does not call it"));
        }
        Ok(Listing {
            name: "add".to_owned(),
            rust: "<b>fn</b> add()".to_owned(),
            place: "add.rs, line 3".to_owned(),
            shapes: vec![("x".to_owned(), "[3]".to_owned())],
            pytorch: "<b>import</b> torch".to_owned(),
            printed: code.pytorch.contains("(1)").then(|| Printed {
                torch: "2.15".to_owned(),
                text: "1 < 2".to_owned(),
            }),
        })
    }

    fn has_asset(&self, path: &str) -> bool {
        path == "pictures/cat.png"
    }
}

/// Front matter of four lines, so that the body starts in line 6.
pub(crate) const FRONT: &str = "+++\ntitle = \"T\"\ndescription = \"D\"\npart = \"I: x\"\n+++\n";

/// Compiles a body.
pub(crate) fn body(text: &str) -> Result<Lesson, Vec<LessonError>> {
    compile("lessons/03-test.md", &format!("{FRONT}{text}"), &World)
}

/// The article of a body that compiles, with the root `/`.
#[allow(dead_code)]
pub(crate) fn article(text: &str) -> String {
    body(text)
        .unwrap_or_else(|errors| panic!("{errors:?}"))
        .article("/")
}
