//! Limit of the reading for an estimate.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Longest time limit: a week.
const TIME_MOST: Duration = Duration::from_secs(7 * 24 * 3600);

/// Limits of reading a sample; at least one of the two is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    pub share: Option<f64>,
    pub time: Option<Duration>,
}

impl Default for Budget {
    /// Two percent of the rows, and at most half a minute.
    fn default() -> Self {
        Self {
            share: Some(0.02),
            time: Some(Duration::from_secs(30)),
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    /// Parses "2%", "30s" or "2%,30s"; a limit that is not given is unlimited.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut budget = Self {
            share: None,
            time: None,
        };
        for part in text.split(',').map(str::trim) {
            let twice = match (share(part), time(part)) {
                (Some(share), _) => budget.share.replace(share).is_some(),
                (None, Some(time)) => budget.time.replace(time).is_some(),
                (None, None) => true,
            };
            if twice {
                return Err(format!(
                    "\"{text}\" is not a budget; expected a share of the rows (2%), a time (30s, 500ms or 2m), or \
                     both (2%,30s)"
                ));
            }
        }
        Ok(budget)
    }
}

fn share(text: &str) -> Option<f64> {
    let percent: f64 = text.strip_suffix('%')?.trim().parse().ok()?;
    (percent > 0.0 && percent <= 100.0).then_some(percent / 100.0)
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit_s) = [("ms", 1e-3), ("s", 1.0), ("m", 60.0)]
        .into_iter()
        .find_map(|(unit, unit_s)| Some((text.strip_suffix(unit)?, unit_s)))?;
    let seconds = number.trim().parse::<f64>().ok()? * unit_s;
    let time = Duration::try_from_secs_f64(seconds).ok()?;
    (!time.is_zero() && time <= TIME_MOST).then_some(time)
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.share.map(|share| format!("{} %", share * 100.0));
        let time = self.time.map(|time| format!("{} s", time.as_secs_f64()));
        let both: Vec<String> = share.into_iter().chain(time).collect();
        f.write_str(&both.join(" or "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_a_time_or_both() {
        let parsed = |text: &str| text.parse::<Budget>();
        let share = |share| Budget { share, time: None };
        assert_eq!(parsed("2%"), Ok(share(Some(0.02))));
        let time = Budget {
            share: None,
            time: Some(Duration::from_millis(500)),
        };
        assert_eq!((parsed("500ms"), parsed("0.5 s")), (Ok(time), Ok(time)));
        assert_eq!(parsed("2%,30s"), Ok(Budget::default()));
        assert_eq!(Budget::default().to_string(), "2 % or 30 s");
        for bad in [
            "", "2", "0%", "101%", "-1s", "0s", "1%,2%", "1y", "nan%", "infs",
        ] {
            assert!(parsed(bad).unwrap_err().contains("2%,30s"), "{bad}");
        }
    }
}
