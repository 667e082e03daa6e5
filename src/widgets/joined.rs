//! Lines between matrices that feed each other, each with the operation that leads along it.

use leptos::prelude::*;

use super::{Concept, set};

/// Course of a line in a wide cell. In a narrow one the matrices are in one column, and each line leads
/// down to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Course {
    /// From the matrix above to the one below.
    Down,
    /// The same, with a bar to the column on the right.
    First,
    /// Down from the bar, which continues to the right.
    Branch,
    /// Down from the end of the bar.
    Last,
    /// From the matrix above to the end of a bar; only in a wide cell.
    Joins,
    /// From the matrix above to the one below; only in a wide cell.
    Beside,
    /// From the matrix on the left to the one on the right.
    Across,
}

impl Course {
    const fn class(self) -> &'static str {
        match self {
            Self::Down => "joint",
            Self::First => "joint is-first",
            Self::Branch => "joint is-branch",
            Self::Last => "joint is-last",
            Self::Joins => "joint joins",
            Self::Beside => "joint is-beside",
            Self::Across => "joint is-across",
        }
    }
}

/// A line to the matrix that follows in the page, in the colour of its concept. It is for the eye:
/// the title of the matrix gives its formula.
#[component]
pub fn Joint(
    /// The operation.
    #[prop(into)]
    operation: String,
    /// Where the line leads.
    #[prop(default = Course::Down)]
    course: Course,
    /// Accent colour.
    #[prop(default = Concept::Plain)]
    concept: Concept,
) -> impl IntoView {
    view! {
        <div class=format!("{} {}", course.class(), concept.class()) aria-hidden="true" data-label="">
            <span class="joint-name">{set(&operation)}</span>
        </div>
    }
}
