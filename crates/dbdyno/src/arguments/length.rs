//! Durations in arguments.

use std::time::Duration;

/// A duration with its unit; a bare number is seconds.
pub fn length(text: &str) -> Result<Duration, String> {
    let length = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => text
            .parse::<jiff::SignedDuration>()
            .ok()
            .and_then(|length| Duration::try_from(length).ok()),
    };
    length.ok_or_else(|| {
        "write a duration with its unit, such as 100ms, 60s, 10m or 2h, or as a number of seconds"
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_bare_seconds_are_read() {
        for (text, seconds) in [
            ("100ms", 0.1),
            ("60s", 60.0),
            ("60", 60.0),
            ("0.5", 0.5),
            ("10m", 600.0),
            ("1h30m", 5400.0),
            ("0", 0.0),
        ] {
            assert_eq!(length(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for bad in ["", "10 parsecs", "-5", "-5s", "inf", "NaN", "1e300"] {
            assert!(length(bad).is_err(), "{bad}");
        }
    }
}
