//! Decimals and moments as plain text, for engines without a binary form of their own for them.

use std::fmt::Write;

const DAY_US: i64 = 86_400_000_000;

/// Most places of a decimal.
pub const PLACES_MAX: u8 = 4;

/// Appends `unscaled ÷ 10^places`, e.g. "-10.00".
pub fn put_decimal(unscaled: i64, places: u8, into: &mut impl Write) {
    let unit = 10_u64.pow(u32::from(places.min(PLACES_MAX)));
    let sign = if unscaled < 0 { "-" } else { "" };
    let (whole, rest) = (
        unscaled.unsigned_abs() / unit,
        unscaled.unsigned_abs() % unit,
    );
    // Writing to a buffer that grows cannot fail.
    let _ = match places {
        0 => write!(into, "{sign}{whole}"),
        _ => write!(
            into,
            "{sign}{whole}.{rest:0width$}",
            width = usize::from(places)
        ),
    };
}

/// Appends a day as "2026-01-31".
pub fn put_date(days: i64, into: &mut impl Write) {
    let (year, month, day) = civil(days);
    // Writing to a buffer that grows cannot fail.
    let _ = write!(into, "{year:04}-{month:02}-{day:02}");
}

/// Appends a moment as "2026-01-31 23:59:59", with microseconds where there are some.
pub fn put_moment(us: i64, into: &mut impl Write) {
    let of_day = us.rem_euclid(DAY_US);
    let (s, rest) = (of_day / 1_000_000, of_day % 1_000_000);
    put_date(us.div_euclid(DAY_US), into);
    // Writing to a buffer that grows cannot fail.
    let _ = write!(into, " {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    if rest > 0 {
        let _ = write!(into, ".{rest:06}");
    }
}

/// The unscaled number of digits with a point, e.g. 1234 of "12.34"; `None` where it has other places, or is
/// none.
#[inline]
pub fn unscaled_of(digits: &[u8], places: u8) -> Option<i128> {
    let text = std::str::from_utf8(digits).ok()?;
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let (sign, whole) = match whole.strip_prefix('-') {
        Some(whole) => (-1, whole),
        None => (1, whole),
    };
    if rest.len() != usize::from(places) || whole.is_empty() {
        return None;
    }
    let digits = whole.bytes().chain(rest.bytes());
    let unscaled =
        digits
            .map(|digit| digit.wrapping_sub(b'0'))
            .try_fold(0_i128, |sum, digit| {
                let digit = (digit < 10).then_some(i128::from(digit))?;
                sum.checked_mul(10)?.checked_add(digit)
            })?;
    Some(sign * unscaled)
}

/// Days since 1970 of a day as "2026-01-31", which is taken to be one; `None` where it is not written so.
#[inline]
pub fn days_of(text: &[u8]) -> Option<i64> {
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = *text.first_chunk::<10>()? else {
        return None;
    };
    let number = |digits: &[u8]| {
        let digit = |sum: i64, digit: &u8| {
            digit
                .is_ascii_digit()
                .then(|| sum * 10 + i64::from(digit - b'0'))
        };
        digits.iter().try_fold(0, digit)
    };
    let (month, day) = (number(&[m1, m2])?, number(&[d1, d2])?);
    let is_day = text.len() == 10 && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_day.then_some(days_from(number(&[y1, y2, y3, y4])?, month, day))
}

/// Days since 1970 of a day of the Gregorian calendar: the inverse of `civil`.
#[inline]
pub fn days_from(year: i64, month: i64, day: i64) -> i64 {
    const ERA_DAYS: i64 = 146_097;
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * ERA_DAYS + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar. Years are counted from
/// March, so that the leap day is their last, and in eras of 400, which all have the same days.
pub fn civil(days: i64) -> (i64, i64, i64) {
    const ERA_DAYS: i64 = 146_097;
    // From 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let january_or_february = month >= 10;
    (
        era * 400 + year + i64::from(january_or_february),
        if january_or_february {
            month - 9
        } else {
            month + 3
        },
        day,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i64, places: u8) -> String {
        let mut text = String::new();
        put_decimal(unscaled, places, &mut text);
        text
    }

    fn moment(us: i64) -> String {
        let mut text = String::new();
        put_moment(us, &mut text);
        text
    }

    #[test]
    fn decimals() {
        assert_eq!(decimal(-1000, 2), "-10.00");
        assert_eq!(decimal(-5, 2), "-0.05");
        assert_eq!(decimal(1234, 4), "0.1234");
        assert_eq!(decimal(7, 0), "7");
        assert_eq!(decimal(i64::MIN, 2), "-92233720368547758.08");
    }

    #[test]
    fn moments() {
        assert_eq!(moment(0), "1970-01-01 00:00:00");
        assert_eq!(moment(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(moment(951_782_400_000_000), "2000-02-29 00:00:00");
        assert_eq!(moment(4_107_542_399_000_000), "2100-02-28 23:59:59");
        assert_eq!(moment(4_107_542_400_000_000), "2100-03-01 00:00:00");
    }

    #[test]
    fn unscaled_numbers_are_read() {
        assert_eq!(unscaled_of(b"-12.34", 2), Some(-1234));
        assert_eq!(unscaled_of(b"-0.05", 2), Some(-5));
        assert_eq!(unscaled_of(b"7", 0), Some(7));
        for bad in ["1.2", "1", "a.bc", ".12", "", "1.2x"] {
            assert_eq!(unscaled_of(bad.as_bytes(), 2), None, "{bad}");
        }
    }

    #[test]
    fn days_are_read() {
        assert_eq!(days_of(b"1970-01-01"), Some(0));
        assert_eq!(days_of(b"2000-02-29"), Some(11_016));
        for bad in [
            "1970-1-01",
            "1970-13-01",
            "1970-01-32",
            "1970-01-01 ",
            "19x0-01-01",
            "",
        ] {
            assert_eq!(days_of(bad.as_bytes()), None, "{bad}");
        }
    }

    /// Every day of 800 years is the one after the day before it.
    #[test]
    fn days_follow_each_other() {
        let mut before = civil(-150_000);
        for day in -149_999..150_000 {
            let now = civil(day);
            let follows = now == (before.0, before.1, before.2 + 1)
                || now == (before.0, before.1 + 1, 1)
                || now == (before.0 + 1, 1, 1) && before.1 == 12;
            assert!(follows && now.2 <= 31 && now.1 <= 12, "{before:?} {now:?}");
            assert_eq!(days_from(now.0, now.1, now.2), day);
            before = now;
        }
    }
}
