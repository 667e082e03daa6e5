//! Colours and type of a drawing, by the role that they play in it.

use crate::Concept;

/// Red, green and blue.
pub(crate) type Rgb = [u8; 3];

/// What a colour is for. Each role has a colour for marks (lines, bars, dots) and one for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Text, and lines as strong as text.
    Ink,
    /// Axes and their numbers.
    Soft,
    /// Lines of the grid.
    Rule,
    /// Behind the drawing.
    Sheet,
    /// A concept's accent.
    Of(Concept),
    /// Negative values of a concept with a warm hue.
    Cool,
    /// Negative values of a concept with a cool hue.
    Warm,
}

/// Every role with its class and the custom properties of its colours for marks and for text.
const ROLES: [(Role, &str, &str, &str); 15] = [
    (Role::Ink, "p-ink", "--ink", "--ink"),
    (Role::Soft, "p-soft", "--ink-soft", "--ink-soft"),
    (Role::Rule, "p-rule", "--rule", "--rule"),
    (Role::Sheet, "p-sheet", "--sheet", "--sheet"),
    concept(Concept::Query, "--c-query-ink"),
    concept(Concept::Key, "--c-key-ink"),
    concept(Concept::Value, "--c-value-ink"),
    concept(Concept::Position, "--c-position-ink"),
    concept(Concept::Residual, "--c-residual-ink"),
    concept(Concept::Output, "--c-output-ink"),
    concept(Concept::Score, "--c-score-ink"),
    concept(Concept::Weight, "--c-weight-ink"),
    concept(Concept::Plain, "--c-plain-ink"),
    (Role::Cool, "p-cool", "--cool", "--ink"),
    (Role::Warm, "p-warm", "--warm", "--ink"),
];

const fn concept(
    concept: Concept,
    ink: &'static str,
) -> (Role, &'static str, &'static str, &'static str) {
    (Role::Of(concept), concept.class(), concept.variable(), ink)
}

impl Role {
    fn index(self) -> usize {
        ROLES.iter().position(|role| role.0 == self).unwrap_or(0)
    }
}

/// Colours and type of one drawing.
#[derive(Debug, Clone, PartialEq)]
pub struct Theme {
    /// Font family, as CSS lists it.
    pub font: String,
    marks: [Rgb; ROLES.len()],
    texts: [Rgb; ROLES.len()],
}

impl Default for Theme {
    /// Ink on white, for where there is no page.
    fn default() -> Self {
        Self::new(String::new(), |_| None)
    }
}

impl Theme {
    /// The theme whose custom properties have the values that `colour` gives; a property that it
    /// does not know has a colour of ink on white.
    pub fn new(font: String, colour: impl Fn(&str) -> Option<[u8; 3]>) -> Self {
        let plain = |role| match role {
            Role::Ink => [0x22, 0x20, 0x1b],
            Role::Soft | Role::Of(_) => [0x5a, 0x54, 0x48],
            Role::Rule => [0xe2, 0xd9, 0xc7],
            Role::Sheet => [255, 255, 255],
            Role::Cool => [0x1b, 0x5d, 0xaa],
            Role::Warm => [0xb3, 0x4f, 0x24],
        };
        let font = if font.is_empty() {
            "sans-serif".to_owned()
        } else {
            font
        };
        Self {
            font,
            marks: ROLES.map(|(role, _, mark, _)| colour(mark).unwrap_or(plain(role))),
            texts: ROLES.map(|(role, _, _, text)| colour(text).unwrap_or(plain(role))),
        }
    }

    /// The theme in which each role has its [`code`] as its colour.
    pub(crate) fn of_codes() -> Self {
        let codes = std::array::from_fn(code);
        Self {
            font: String::new(),
            marks: codes,
            texts: codes,
        }
    }

    /// Colour of a role for lines, bars and dots.
    pub fn mark(&self, role: Role) -> [u8; 3] {
        self.marks[role.index()]
    }

    /// Colour of a role for text.
    pub fn text(&self, role: Role) -> [u8; 3] {
        self.texts[role.index()]
    }

    /// The rules of a style sheet that give the classes of [`SvgBackend`](crate::SvgBackend) the
    /// colours of this theme.
    pub(crate) fn style_sheet(&self) -> String {
        let mut rules = format!("text{{font-family:{}}}.s{{fill:none}}", self.font);
        for (i, (_, class, _, _)) in ROLES.iter().enumerate() {
            let (mark, text) = (hex(self.marks[i]), hex(self.texts[i]));
            rules += &format!(".s.{class}{{stroke:{mark}}}.f.{class}{{fill:{mark}}}");
            rules += &format!(".t.{class}{{fill:{text}}}");
        }
        rules
    }
}

/// plotters passes colours only. In a drawing with classes the colour of the role number `index` is
/// this: nearly black, and in no colour map.
fn code(index: usize) -> Rgb {
    [0, 0, index as u8 + 1]
}

/// The class of the role that a colour is the code of.
pub(crate) fn class_of([r, g, b]: Rgb) -> Option<&'static str> {
    if (r, g) != (0, 0) {
        return None;
    }
    let index = usize::from(b).checked_sub(1)?;
    ROLES.get(index).map(|role| role.1)
}

/// `#rrggbb`.
pub(crate) fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_a_code_of_its_own() {
        let theme = Theme::of_codes();
        for (role, class, _, _) in ROLES {
            assert_eq!(class_of(theme.mark(role)), Some(class));
            assert_eq!(class_of(theme.text(role)), Some(class));
        }
        assert_eq!(class_of([0, 0, 0]), None, "black is black");
        assert_eq!(class_of([0, 0, 200]), None);
        assert_eq!(class_of([68, 1, 84]), None);
    }

    #[test]
    fn a_style_sheet_holds_the_colours_of_the_page() {
        let dark = |name: &str| (name == "--c-key-ink").then_some([0xf0, 0xae, 0x62]);
        let rules = Theme::new("Roboto, sans-serif".to_owned(), dark).style_sheet();
        assert!(rules.contains(".t.c-key{fill:#f0ae62}"), "{rules}");
        assert!(rules.contains(".s.p-ink{stroke:#22201b}"), "{rules}");
        assert!(rules.contains("font-family:Roboto, sans-serif"), "{rules}");
    }
}
