//! The intervals of the clock, and what the runs in them are called.

use std::time::{Duration, SystemTime};

/// The times of turns are told apart by their seconds where that is needed.
const MINUTE_S: u64 = 60;

/// The names of turns, which are those of the intervals of the clock (UTC) that they are in.
#[derive(Debug, Clone)]
pub(super) struct Times {
    pub name: String,
    pub every_s: u64,
}

impl Times {
    /// Number of the interval, from the epoch on.
    pub fn interval(&self, now: SystemTime) -> u64 {
        unix_s(now) / self.every_s
    }

    pub fn begin_s(&self, interval: u64) -> u64 {
        interval * self.every_s
    }

    /// "db1-2026-11-23T0900Z".
    pub fn label(&self, begin_s: u64) -> String {
        let begin = SystemTime::UNIX_EPOCH + Duration::from_secs(begin_s);
        let told = host::clock::rfc3339(begin);
        let (date, time) = told.split_at(told.len().min(10));
        let digits = if self.every_s.is_multiple_of(MINUTE_S) {
            4
        } else {
            6
        };
        let time: String = time
            .chars()
            .filter(char::is_ascii_digit)
            .take(digits)
            .collect();
        format!("{}-{date}T{time}Z", self.name)
    }

    /// Begin of the interval that a run is called after; `None` of one that is not called so.
    pub fn begin_of(&self, label: &str) -> Option<u64> {
        let time = label.strip_prefix(&self.name)?.strip_prefix('-')?;
        let (time, number) = time.split_once('Z')?;
        let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
        if !number.is_empty() && !number.strip_prefix('-').is_some_and(is_number) {
            return None;
        }
        let (date, time) = time.split_once('T')?;
        if !is_number(time) || !matches!(time.len(), 4 | 6) {
            return None;
        }
        let seconds = time.get(4..6).unwrap_or("00");
        let time = format!("{date}T{}:{}:{seconds}Z", &time[..2], &time[2..4]);
        let time: jiff::Timestamp = time.parse().ok()?;
        u64::try_from(time.as_second()).ok()
    }
}

pub(super) fn unix_s(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
