//! A length of time, as it is typed.

use std::time::Duration;

/// A length of time with its unit.
pub fn length(text: &str) -> Result<Duration, String> {
    let length = text.parse::<jiff::SignedDuration>().ok();
    let length = length.and_then(|length| Duration::try_from(length).ok());
    length.ok_or_else(|| "write a length of time with its unit, such as 100ms or 1s".into())
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// A length of time that may be days (`30d`) or weeks (`4w`).
pub fn long(text: &str) -> Result<Duration, String> {
    for (unit, days) in [('d', 1), ('w', 7)] {
        if let Some(Ok(number)) = text.strip_suffix(unit).map(str::parse::<u32>) {
            return DAY
                .checked_mul(number)
                .and_then(|length| length.checked_mul(days))
                .ok_or_else(|| "that is too long".to_owned());
        }
    }
    length(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_weeks_are_lengths_of_a_ring() {
        assert_eq!(long("30d"), Ok(30 * DAY));
        assert_eq!(long("4w"), Ok(28 * DAY));
        assert_eq!(long("1h 30m"), Ok(Duration::from_secs(5400)));
        assert!(long("d").is_err() && long("-1d").is_err() && long("1.5d").is_err());
        assert!(length("1d").is_err(), "an observation is 24 h at most");
    }
}
