//! A slider with a box beside it for the exact value.

use cells::decimal;
use cells::format::{Format, number};
use cells::symbols::spoken;
use leptos::prelude::*;

use super::events::typed;
use super::markup::in_markup;
use super::{Limits, NumberEntry, ids, set};

/// A labelled slider and number box that show and set the same value.
#[component]
pub fn Slider(
    /// Label of the number.
    #[prop(into)]
    label: String,
    /// The value.
    #[prop(into)]
    value: Signal<f64>,
    /// Smallest value.
    min: f64,
    /// Largest value.
    max: f64,
    /// Distance between neighbouring positions; 1 with a whole `min` means whole numbers.
    step: f64,
    /// Gets each new value.
    #[prop(into)]
    on_change: Callback<f64>,
    /// Origin of the value (`input:NAME`).
    #[prop(into)]
    source: String,
    /// Text of the value for assistive technology.
    #[prop(default = Format::Typed)]
    format: Format,
    /// Equal ratios instead of equal steps along the slider; for positive ranges over several
    /// powers of ten.
    #[prop(optional)]
    log: bool,
) -> impl IntoView {
    let id = ids::fresh("slider");
    let limits = Limits {
        min,
        max,
        whole: step == 1.0 && min.fract() == 0.0,
    };
    let scale = Scale {
        min,
        max,
        step,
        log: log && min > 0.0,
    };
    view! {
        <div class="slider">
            <label for=id.clone() data-label="">
                {set(&label)}
            </label>
            <input
                type="range"
                id=id
                min=scale.first()
                max=scale.last()
                step=scale.position_step()
                value=in_markup(|| scale.position(value.get()).to_string())
                prop:value=move || scale.position(value.get()).to_string()
                aria-valuetext=move || number(value.get(), format)
                on:input=move |event| {
                    if let Some(position) = decimal::parse(&typed(&event)) {
                        on_change.run(scale.value(position));
                    }
                }
            />
            <NumberEntry value on_commit=on_change limits name=format!("{}, exact value", spoken(&label)) source />
        </div>
    }
}

/// Positions of a logarithmic slider.
const LOG_POSITIONS: f64 = 400.0;

/// Map between positions of the slider and values.
#[derive(Debug, Clone, Copy)]
struct Scale {
    min: f64,
    max: f64,
    step: f64,
    log: bool,
}

impl Scale {
    fn first(self) -> String {
        if self.log {
            "0".to_owned()
        } else {
            self.min.to_string()
        }
    }

    fn last(self) -> String {
        if self.log {
            LOG_POSITIONS.to_string()
        } else {
            self.max.to_string()
        }
    }

    fn position_step(self) -> String {
        if self.log {
            "1".to_owned()
        } else {
            self.step.to_string()
        }
    }

    fn position(self, value: f64) -> f64 {
        if !self.log {
            return value;
        }
        LOG_POSITIONS * (value.max(self.min) / self.min).ln() / (self.max / self.min).ln()
    }

    fn value(self, position: f64) -> f64 {
        if !self.log {
            return position.clamp(self.min, self.max);
        }
        let value = self.min * (self.max / self.min).powf(position / LOG_POSITIONS);
        let stepped = self.min + ((value - self.min) / self.step).round() * self.step;
        stepped.clamp(self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::{LOG_POSITIONS, Scale};

    #[test]
    fn a_logarithmic_slider_reaches_both_ends_in_whole_steps() {
        let scale = Scale {
            min: 1.0,
            max: 1024.0,
            step: 1.0,
            log: true,
        };
        assert_eq!(scale.value(0.0), 1.0);
        assert_eq!(scale.value(LOG_POSITIONS), 1024.0);
        assert_eq!(scale.value(LOG_POSITIONS / 2.0), 32.0);
        assert!((scale.position(32.0) - LOG_POSITIONS / 2.0).abs() < 1e-9);
    }
}
