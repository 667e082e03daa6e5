//! The colours of the light theme.

/// The style sheet whose first block has them.
const TOKENS: &str = include_str!("../../../../style/tokens.css");

/// Names of the concepts, as in the classes `c-NAME` and the colours `--c-NAME`.
pub(super) const CONCEPTS: [&str; 9] = [
    "query", "key", "value", "position", "residual", "output", "score", "weight", "plain",
];

/// The colour called `--NAME` in the light theme, as `#rrggbb`.
///
/// # Errors
/// Where the style sheet has no such colour.
pub(super) fn colour(name: &str) -> Result<&'static str, String> {
    let value = token(name)?;
    if value.len() == 7 && value.starts_with('#') {
        Ok(value)
    } else {
        Err(format!("style/tokens.css: --{name} is no colour"))
    }
}

/// The value called `--NAME` in the light theme.
///
/// # Errors
/// Where the style sheet has no such value.
pub(super) fn token(name: &str) -> Result<&'static str, String> {
    let light = TOKENS.split("@media").next().unwrap_or_default();
    light
        .split_once(&format!(" --{name}: "))
        .and_then(|(_, rest)| rest.split(';').next())
        .ok_or_else(|| format!("style/tokens.css has no --{name}"))
}

/// The colour `share` of the way from one colour to another, as CSS mixes them in sRGB.
pub(super) fn mix(from: &str, to: &str, share: f32) -> String {
    let channel = |colour: &str, at: usize| {
        let digits = colour.get(at..at + 2).unwrap_or_default();
        f32::from(u8::from_str_radix(digits, 16).unwrap_or_default())
    };
    let mixed = [1, 3, 5].map(|at| {
        let (from, to) = (channel(from, at), channel(to, at));
        format!("{:02x}", (from + (to - from) * share).round() as u8)
    });
    format!("#{}", mixed.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_concept_has_a_light_colour() {
        for concept in CONCEPTS {
            colour(&format!("c-{concept}")).unwrap();
        }
        assert_eq!(colour("paper"), Ok("#faf6ed"));
        assert!(colour("none").unwrap_err().contains("--none"));
        assert!(colour("behind").is_err());
        assert_eq!(token("behind"), Ok("0.2"));
    }

    #[test]
    fn colours_are_mixed_by_channel() {
        assert_eq!(mix("#000000", "#ff8040", 0.5), "#804020");
        assert_eq!(mix("#102030", "#ffffff", 0.0), "#102030");
    }
}
