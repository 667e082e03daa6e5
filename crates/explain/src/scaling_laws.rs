//! Two published laws that say how large a model should be for a budget of training.
//!
//! ```text
//! C = 6 N D                                    operations, parameters, tokens
//! Kaplan:    N = 1.3e9 · (C / 1 PF-day)^0.73                 1 PF-day = 8.64e19 operations
//! Hoffmann:  L(N, D) = 1.69 + 406.4 / N^0.34 + 410.7 / D^0.28,   N the one with the least L for D = C / 6 N:
//!            N = G (C / 6)^(β / (α + β)),   G = (α A / (β B))^(1 / (α + β))
//! ratio:     N = √(C / (6 · 20))                20 tokens for each parameter
//! ```
//! The constants are those that the papers print, with as few digits. Kaplan et al. count parameters
//! without the embeddings, Hoffmann et al. with them.
//!
//! ```
//! use explain::scaling_laws::{PF_DAY, kaplan_parameters, tokens};
//! assert!((kaplan_parameters(PF_DAY) - 1.3e9).abs() < 1.0);
//! assert_eq!(tokens(6e20, 1e10), 1e10);
//! ```
//!
//! Source: Kaplan et al. 2020, "Scaling laws for neural language models", table 6; Hoffmann et al.
//! 2022, "Training compute-optimal large language models", equations 2, 4 and 10, and table 3 (the
//! ratio).

use engine::math::double;

/// Operations of a machine that does 10^15 in a second, in a day.
pub const PF_DAY: f64 = 8.64e19;

/// Tokens for each parameter in the first row of table 3 of Hoffmann et al.: 8.0 billion for 400
/// million.
pub const RATIO: f64 = 20.0;

/// E, A, B, α and β of equation 10 of Hoffmann et al.
const HOFFMANN: [f64; 5] = [1.69, 406.4, 410.7, 0.34, 0.28];

/// D: the tokens that a budget pays for.
pub fn tokens(operations: f64, parameters: f64) -> f64 {
    operations / (6.0 * parameters)
}

/// N after Kaplan et al.
pub fn kaplan_parameters(operations: f64) -> f64 {
    1.3e9 * double::pow(operations / PF_DAY, 0.73)
}

/// N after the third approach of Hoffmann et al.
pub fn hoffmann_parameters(operations: f64) -> f64 {
    let [_, a, b, alpha, beta] = HOFFMANN;
    let g = double::pow(alpha * a / (beta * b), 1.0 / (alpha + beta));
    g * double::pow(operations / 6.0, beta / (alpha + beta))
}

/// N with 20 tokens for each parameter.
pub fn ratio_parameters(operations: f64) -> f64 {
    double::sqrt(operations / (6.0 * RATIO))
}

/// L: the loss that Hoffmann et al. predict, in nats a token.
pub fn hoffmann_loss(parameters: f64, tokens: f64) -> f64 {
    let [e, a, b, alpha, beta] = HOFFMANN;
    e + a / double::pow(parameters, alpha) + b / double::pow(tokens, beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula of the best size is where the loss is least: tried on a fine grid.
    #[test]
    fn the_best_size_has_the_least_loss() {
        for power in [19.0, 21.5, 23.76, 26.0] {
            let operations = double::pow(10.0, power);
            let best = hoffmann_parameters(operations);
            let loss = |n: f64| hoffmann_loss(n, tokens(operations, n));
            for step in 1..100 {
                let factor = 1.0 + f64::from(step) / 50.0;
                assert!(loss(best) < loss(best * factor) && loss(best) < loss(best / factor));
            }
        }
    }

    /// Table 3 of Hoffmann et al.: 400 million parameters and 8.0 billion tokens for 1.92e19.
    #[test]
    fn the_ratio_is_that_of_the_table() {
        let parameters = ratio_parameters(1.92e19);
        assert!((parameters / 4e8 - 1.0).abs() < 1e-12);
        assert!((tokens(1.92e19, parameters) / 8e9 - 1.0).abs() < 1e-12);
    }

    /// At the budget of Gopher and Chinchilla, 5.76e23, the two laws differ by a factor of 25.
    #[test]
    fn the_laws_disagree() {
        let (kaplan, hoffmann) = (kaplan_parameters(5.76e23), hoffmann_parameters(5.76e23));
        assert!((7.9e11..8.2e11).contains(&kaplan), "{kaplan}");
        assert!((3.1e10..3.3e10).contains(&hoffmann), "{hoffmann}");
        assert!((6.8e10..7.0e10).contains(&ratio_parameters(5.76e23)));
    }
}
