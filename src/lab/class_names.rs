//! Names for the classes of a model whose file has none: those of ImageNet-1k, where their number fits.

use worker::model::protocol::{ModelInfo, ModelRequest};

use crate::browser::{address, fetch};

/// Classes of ImageNet-1k, which most published models of pictures know, in one order.
const IMAGENET: usize = 1000;

/// The list, one name a line.
const FILE: &str = "models/imagenet-classes.txt";

/// The names that the classes of a model have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClassNames {
    /// Its own, or none are needed.
    Own,
    /// None: classes are shown by their numbers.
    Numbers,
    /// Those of ImageNet-1k.
    ImageNet,
    /// Those of ImageNet-1k could not be fetched.
    Unfetched,
}

impl ClassNames {
    /// What the reader is told.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Numbers => {
                Some("The file has no names for its classes: they are shown by number.")
            }
            Self::ImageNet => Some(
                "The file has no names for its 1,000 classes: they are called as in ImageNet-1k, which most such models know.",
            ),
            Self::Unfetched => Some(
                "The file has no names for its classes, and the list of ImageNet-1k\u{2019}s could not be fetched: they are shown by number. Open the model again to try once more.",
            ),
        }
    }
}

/// The names for the classes of a model that was opened from a file, and the request that tells them to
/// its worker.
pub(super) async fn of(model: &ModelInfo) -> (ClassNames, Option<ModelRequest>) {
    if model.classes == 0 || model.has_labels {
        return (ClassNames::Own, None);
    }
    if model.classes != IMAGENET {
        return (ClassNames::Numbers, None);
    }
    match fetch::text(&address::site_url(FILE)).await {
        Ok(names) if names.lines().count() == IMAGENET => {
            (ClassNames::ImageNet, Some(ModelRequest::NameClasses(names)))
        }
        _ => (ClassNames::Unfetched, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_odd_is_said() {
        assert_eq!(ClassNames::Own.note(), None);
        for names in [
            ClassNames::Numbers,
            ClassNames::ImageNet,
            ClassNames::Unfetched,
        ] {
            assert!(names.note().is_some_and(|note| note.contains("classes")));
        }
    }
}
