//! The seed that random weights are drawn from.

use leptos::prelude::*;

use super::{Limits, NumberEntry};

/// A number box for the seed, and a button that draws another one.
#[component]
pub fn SeedBox(
    /// Label of the seed.
    #[prop(into, default = "Seed".to_owned())]
    label: String,
    /// The seed.
    #[prop(into)]
    value: Signal<f64>,
    /// Gets each new seed.
    #[prop(into)]
    on_change: Callback<f64>,
    /// Largest seed.
    #[prop(default = 9999.0)]
    max: f64,
    /// Origin of the value (`input:NAME`).
    #[prop(into, default = "input:seed".to_owned())]
    source: String,
) -> impl IntoView {
    let limits = Limits {
        min: 0.0,
        max,
        whole: true,
    };
    view! {
        <div class="seed-box">
            <span class="seed-label">{label.clone()}</span>
            <NumberEntry value on_commit=on_change limits name=label source />
            <button
                type="button"
                class="button"
                on:click=move |_| on_change.run(next_seed(value.get_untracked(), max))
            >
                "Another seed"
            </button>
        </div>
    }
}

/// The seed after this one: drawn from the engine's own stream, so that the walk is the same for
/// everybody.
fn next_seed(seed: f64, max: f64) -> f64 {
    let now = seed.max(0.0) as u64;
    let next = engine::rng::Rng::new(now).below(max as usize + 1);
    // A seed that leads to itself would make the button dead.
    if next as u64 == now {
        ((next + 1) % (max as usize + 1)) as f64
    } else {
        next as f64
    }
}

#[cfg(test)]
mod tests {
    use super::next_seed;

    #[test]
    fn the_next_seed_is_another_one_within_the_limit() {
        for seed in 0..200 {
            let next = next_seed(f64::from(seed), 9999.0);
            assert!(next != f64::from(seed) && (0.0..=9999.0).contains(&next));
        }
        assert_eq!(next_seed(0.0, 1.0), 1.0);
    }
}
