//! Times in the formats of the pages, in UTC.

use jiff::Timestamp;
use jiff::tz::TimeZone;

fn written(now: Timestamp, form: &str) -> String {
    now.to_zoned(TimeZone::UTC).strftime(form).to_string()
}

/// `23:32:08.008`.
pub(super) fn time_of_day(now: Timestamp) -> String {
    written(now, "%H:%M:%S%.3f")
}

/// `Nov 20, 2026`.
pub(super) fn date(now: Timestamp) -> String {
    written(now, "%b %d, %Y")
}

/// `23:32:04 Nov 20 2026 UTC`.
pub(super) fn created(now: Timestamp) -> String {
    written(now, "%H:%M:%S %b %d %Y UTC")
}

/// `11/20/2026-23:32:08-UTC`.
pub(super) fn status(now: Timestamp) -> String {
    written(now, "%m/%d/%Y-%H:%M:%S-UTC")
}

/// `261120.233208`, for names of folders.
pub(super) fn folder(now: Timestamp) -> String {
    written(now, "%y%m%d.%H%M%S")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_every_form() {
        let now: Timestamp = "2026-11-20T23:32:08.008Z".parse().unwrap();
        assert_eq!(time_of_day(now), "23:32:08.008");
        assert_eq!(date(now), "Nov 20, 2026");
        assert_eq!(created(now), "23:32:08 Nov 20 2026 UTC");
        assert_eq!(status(now), "11/20/2026-23:32:08-UTC");
        assert_eq!(folder(now), "261120.233208");
    }
}
