//! Exercises, graded by recomputing a cell: an answer is right when the engine gets the same. A goal
//! is met when its claims hold for a cell of the page as the reader has edited it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::computation::Computation;
use crate::decimal;
use crate::input::Inputs;
use crate::spec::CellSpec;

/// One exercise as the page carries it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Exercise {
    /// Name of the cell that computes the answer.
    pub cell: String,
    /// Inputs of that cell that the question fixes.
    #[serde(default)]
    pub given: Map<String, Value>,
    /// Form of the reader's answer.
    pub kind: Kind,
    /// A hint as HTML.
    #[serde(default)]
    pub hint: Option<String>,
    /// An explanation as HTML, shown with the verdict.
    #[serde(default)]
    pub explain: Option<String>,
}

/// The kinds of answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One number.
    Number {
        /// Element of the cell's result, `weights[0,1]`.
        answer: String,
        /// Largest difference that still counts as right.
        tolerance: f64,
    },
    /// A matrix or vector, entry by entry.
    Matrix {
        /// Tensor of the cell's result.
        answer: String,
        /// Largest difference that still counts as right.
        tolerance: f64,
    },
    /// One of several statements; the true one is found by the engine.
    Choice {
        /// The statements.
        choices: Vec<Choice>,
    },
    /// Inputs of a cell of the page that meet every claim of a goal.
    Make {
        /// Id of the cell on the page.
        id: String,
        /// The claims.
        goal: Vec<Goal>,
    },
}

/// One claim of a goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// The claim in words, as HTML.
    pub text: String,
    /// The claim, whose left side is an element of the cell's result.
    pub claim: String,
    /// Format in which the left side is shown, as `data-format` holds it.
    pub format: String,
}

/// A claim of a goal, compared with the result of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Present value of the left side.
    pub value: f64,
    /// Whether the claim holds.
    pub holds: bool,
}

impl Goal {
    /// Compares the claim with a result of its cell.
    ///
    /// # Errors
    /// A text for the author: a side that is neither a number nor an element of the result.
    pub fn judge(&self, computed: &Computation) -> Result<Judged, String> {
        compare(&self.claim, computed)
    }

    /// The element on the left of the claim, as `data-from` writes it.
    pub fn element(&self) -> &str {
        let left = self.claim.split(['<', '>', '=']).next();
        left.unwrap_or_default().trim()
    }
}

/// One statement of a choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The statement as HTML.
    pub text: String,
    /// Condition on the cell's result: `weights[0,1] > weights[0,2]`, `entropy <= 0.1`.
    pub claim: String,
}

/// Answer of the reader.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// One number.
    Number(f64),
    /// Entries in row-major order.
    Matrix(Vec<f64>),
    /// Index of the statement.
    Choice(usize),
}

/// The verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// True for a right answer; of a matrix, where all of it is right.
    pub correct: bool,
    /// For a matrix, which entries are right.
    pub entries: Vec<bool>,
    /// The engine's result: values, or the index of the true statement.
    pub expected: Vec<f64>,
}

impl Exercise {
    /// The inputs of its cell, which is `spec`.
    ///
    /// # Errors
    /// A text for the author: an input that does not fit.
    pub fn inputs(&self, spec: &CellSpec) -> Result<Inputs, String> {
        let inputs = spec
            .inputs_from(&self.given, &BTreeMap::new())
            .map_err(|e| e.to_string())?;
        Ok(crate::picture::with_drawn_samples(inputs))
    }

    /// The engine's result: the number, the entries, the index of the one true statement, or the
    /// left sides of a goal; `computed` is what its cell gives on [`Exercise::inputs`].
    ///
    /// # Errors
    /// A text for the author: a reference that does not exist, no or several true statements.
    pub fn expected(&self, computed: &Computation) -> Result<Vec<f64>, String> {
        match &self.kind {
            Kind::Number { answer, .. } => {
                let value = computed
                    .resolve(answer)
                    .ok_or_else(|| format!("the cell gives no {answer}"))?;
                Ok(vec![value])
            }
            Kind::Matrix { answer, .. } => {
                let tensor = computed
                    .tensor(answer)
                    .ok_or_else(|| format!("the cell gives no {answer}"))?;
                Ok(tensor.values.iter().copied().collect())
            }
            Kind::Choice { choices } => {
                let mut holds = Vec::new();
                for (i, choice) in choices.iter().enumerate() {
                    if compare(&choice.claim, computed)?.holds {
                        holds.push(i as f64);
                    }
                }
                if holds.len() == 1 {
                    return Ok(holds);
                }
                Err(format!(
                    "exactly one claim must hold, and {} do",
                    holds.len()
                ))
            }
            Kind::Make { goal, .. } => {
                let value = |goal: &Goal| Ok(goal.judge(computed)?.value);
                goal.iter().map(value).collect()
            }
        }
    }

    /// Rows and columns of the answer form of a matrix exercise.
    ///
    /// # Errors
    /// As [`Exercise::expected`].
    pub fn answer_shape(&self, computed: &Computation) -> Result<(usize, usize), String> {
        match &self.kind {
            Kind::Matrix { answer, .. } => {
                let tensor = computed
                    .tensor(answer)
                    .ok_or_else(|| format!("the cell gives no {answer}"))?;
                tensor
                    .rows_cols()
                    .ok_or_else(|| format!("{answer} has more than two axes"))
            }
            _ => Ok((1, 1)),
        }
    }

    /// Compares an answer with the engine's.
    ///
    /// # Errors
    /// As [`Exercise::expected`].
    pub fn grade(&self, computed: &Computation, answer: &Answer) -> Result<Grade, String> {
        let expected = self.expected(computed)?;
        let (given, tolerance) = match (&self.kind, answer) {
            (Kind::Number { tolerance, .. }, Answer::Number(x)) => (vec![*x], *tolerance),
            (Kind::Matrix { tolerance, .. }, Answer::Matrix(xs)) => (xs.clone(), *tolerance),
            (Kind::Choice { .. }, Answer::Choice(i)) => (vec![*i as f64], 0.0),
            _ => return Err("this answer is not of the exercise's kind".to_owned()),
        };
        let entries: Vec<bool> = expected
            .iter()
            .enumerate()
            .map(|(i, e)| given.get(i).is_some_and(|g| (g - e).abs() <= tolerance))
            .collect();
        let correct = entries.iter().all(|&e| e) && given.len() == expected.len();
        Ok(Grade {
            correct,
            entries,
            expected,
        })
    }
}

/// Evaluates `LEFT OP RIGHT`; a side is a number or a reference, OP one of < > <= >= = (within
/// 1e-6).
fn compare(claim: &str, computed: &Computation) -> Result<Judged, String> {
    for op in ["<=", ">=", "<", ">", "="] {
        let Some((left, right)) = claim.split_once(op) else {
            continue;
        };
        let side = |text: &str| -> Result<f64, String> {
            decimal::parse(text.trim()).or_else(|| computed.resolve(text)).ok_or_else(|| {
                format!("\u{201c}{}\u{201d} in the claim \u{201c}{claim}\u{201d} is neither a number nor an element of the result", text.trim())
            })
        };
        let (l, r) = (side(left)?, side(right)?);
        let holds = match op {
            "<=" => l <= r,
            ">=" => l >= r,
            "<" => l < r,
            ">" => l > r,
            _ => (l - r).abs() <= 1e-6,
        };
        return Ok(Judged { value: l, holds });
    }
    Err(format!(
        "the claim \u{201c}{claim}\u{201d} has no comparison in it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn spec() -> &'static CellSpec {
        &crate::lessons::self_attention::three_patches::SPEC
    }

    fn computed(exercise: &Exercise) -> Computation {
        spec().compute(&exercise.inputs(spec()).unwrap()).unwrap()
    }

    fn expected(exercise: Exercise) -> Result<Vec<f64>, String> {
        exercise.expected(&computed(&exercise))
    }

    fn exercise(kind: Value) -> Exercise {
        serde_json::from_value(json!({ "cell": "three-patches", "kind": kind })).unwrap()
    }

    #[test]
    fn a_number_is_right_within_its_tolerance() {
        let e = exercise(json!({ "number": { "answer": "weights[0,0]", "tolerance": 0.005 } }));
        assert!(
            e.grade(&computed(&e), &Answer::Number(0.41))
                .unwrap()
                .correct
        );
        assert!(
            !e.grade(&computed(&e), &Answer::Number(0.39))
                .unwrap()
                .correct
        );
        assert!(
            !e.grade(&computed(&e), &Answer::Number(f64::NAN))
                .unwrap()
                .correct
        );
    }

    #[test]
    fn a_matrix_is_graded_entry_by_entry() {
        let e = exercise(json!({ "matrix": { "answer": "weights", "tolerance": 1e-9 } }));
        let mut right = e.expected(&computed(&e)).unwrap();
        assert_eq!(e.answer_shape(&computed(&e)).unwrap(), (3, 3));
        assert!(
            e.grade(&computed(&e), &Answer::Matrix(right.clone()))
                .unwrap()
                .correct
        );
        right[4] += 0.1;
        let grade = e.grade(&computed(&e), &Answer::Matrix(right)).unwrap();
        assert!(!grade.correct && !grade.entries[4] && grade.entries[3]);
    }

    #[test]
    fn exactly_one_claim_must_hold() {
        let two = json!({ "choice": { "choices": [
            { "text": "a", "claim": "weights[0,0] > weights[0,2]" }, { "text": "b", "claim": "weights[0,0] < weights[0,2]" } ] } });
        assert_eq!(expected(exercise(two)).unwrap(), vec![0.0]);
        let none =
            json!({ "choice": { "choices": [{ "text": "a", "claim": "weights[0,0] > 2" }] } });
        assert!(
            expected(exercise(none))
                .unwrap_err()
                .contains("exactly one")
        );
        let broken =
            json!({ "choice": { "choices": [{ "text": "a", "claim": "nothing[0] > 2" }] } });
        assert!(expected(exercise(broken)).is_err());
    }

    #[test]
    fn a_goal_is_judged_claim_by_claim_with_the_value_on_its_left() {
        let goal = |claim: &str| Goal {
            text: "a".into(),
            claim: claim.into(),
            format: "fixed2".into(),
        };
        let make = json!({ "make": { "id": "t", "goal": [
            { "text": "a", "claim": "weights[0,0] > 0.9", "format": "fixed2" } ] } });
        let e = exercise(make);
        let now = computed(&e);
        let first = now.resolve("weights[0,0]").unwrap();
        assert_eq!(e.expected(&now).unwrap(), [first]);
        assert!(e.grade(&now, &Answer::Number(first)).is_err());
        for (claim, holds) in [
            ("weights[0,0] > 0.9", false),
            ("weights[0,0] > weights[0,2]", true),
        ] {
            let value = first;
            assert_eq!(goal(claim).judge(&now), Ok(Judged { value, holds }));
            assert_eq!(goal(claim).element(), "weights[0,0]");
        }
        let gone = goal("weights[0,9] > 0.9").judge(&now).unwrap_err();
        assert!(gone.contains("weights[0,9]"), "{gone}");
    }
}
