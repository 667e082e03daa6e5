//! Numbers as texts, for messages.

/// A number in decimal digits, as few as tell it from its neighbours; `inf` and `NaN` for what has
/// none.
///
/// ```
/// use engine::decimal::decimal;
/// assert_eq!(decimal(0.1), "0.1");
/// assert_eq!(decimal(f64::NAN), "NaN");
/// assert_eq!(decimal(f64::NEG_INFINITY), "-inf");
/// ```
pub fn decimal(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        _ => finite(number),
    }
}

#[cfg(not(all(feature = "browser", target_family = "wasm")))]
fn finite(number: f64) -> String {
    number.to_string()
}

/// The standard library's writer of decimal numbers is 5 kB after gzip, and the browser has one.
#[cfg(all(feature = "browser", target_family = "wasm"))]
fn finite(number: f64) -> String {
    js_sys::Number::from(number)
        .to_string_with_radix(10)
        .map_or_else(|_| String::new(), String::from)
}
