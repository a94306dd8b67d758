//! Numbers in sentences.

/// A count with its noun, whose plural is regular: "1 user", "1,024 users".
pub fn counted(value: u64, noun: &str) -> String {
    let ending = if value == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(value))
}

/// A count of things: "1,024".
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A decimal number with a comma before every third digit of its whole part; any other text as it is.
pub fn grouped(number: &str) -> String {
    let (sign, digits) = number.split_at(usize::from(number.starts_with('-')));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    if !whole.bytes().all(|b| b.is_ascii_digit()) {
        return number.to_owned();
    }
    let mut text = String::with_capacity(number.len() + whole.len() / 3);
    text.push_str(sign);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

/// Bytes with a unit of powers of ten: "1.50 GB", "64.0 MB", "0.5 kB".
pub fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} kB", b / 1e3),
    }
}

/// A time of RFC 3339 in UTC for people: "27 November 2026, 18:40 UTC"; any other text as it is.
pub fn date(rfc3339: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let known = || {
        let (day, time) = rfc3339.split_once('T')?;
        let mut parts = day.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let month = month.parse::<usize>().ok()?.checked_sub(1)?;
        let minute = time.get(..5).filter(|_| time.ends_with('Z'))?;
        let day: u32 = day.parse().ok()?;
        Some(format!("{day} {} {year}, {minute} UTC", MONTHS.get(month)?))
    };
    known().unwrap_or_else(|| rfc3339.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        let users = [0, 1, 16, 1024].map(|count| counted(count, "user"));
        assert_eq!(users, ["0 users", "1 user", "16 users", "1,024 users"]);
    }

    #[test]
    fn dates_are_for_people() {
        let cases = [
            ("2026-11-27T18:40:05.123Z", "27 November 2026, 18:40 UTC"),
            ("2026-03-01T08:00:00Z", "1 March 2026, 08:00 UTC"),
            ("2026-13-01T08:00:00Z", "2026-13-01T08:00:00Z"),
            ("yesterday", "yesterday"),
        ];
        for (from, wanted) in cases {
            assert_eq!(date(from), wanted);
        }
    }

    #[test]
    fn thousands_stand_apart() {
        let cases = [
            ("999", "999"),
            ("1000", "1,000"),
            ("-1234567.8901", "-1,234,567.8901"),
            ("-100", "-100"),
            ("inf", "inf"),
            ("1e30", "1e30"),
        ];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
    }
}
