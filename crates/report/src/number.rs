//! Numbers for people: thousands separators, three significant digits, "–" for unknown values.

use stats::Interval;
use stats::words::grouped;
pub use stats::words::{count, counted};
use verdict::metric::{self, Metric};

/// Text for an unknown value: never 0.
pub const UNKNOWN: &str = "–";

/// Smaller figures are written in E-notation.
const TINY: f64 = 1e-7;
/// Larger rates are written in E-notation, as in the published tables.
const EXPONENT_FROM: f64 = 1e7;

/// A figure with three significant digits: "0.125", "12.3", "154", "26,800", "1.078E+07"; tiny ones have two: "0.000028".
pub fn figure(value: f64) -> String {
    match value.abs() < EXPONENT_FROM {
        true => exact(rounded(value)),
        false => exact(value),
    }
}

/// A figure whose digits before the point are all known, such as an amount or a published rate: "26,768".
pub fn exact(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    match size {
        0.0 => "0".to_owned(),
        s if !(TINY..EXPONENT_FROM).contains(&s) => exponent(value),
        s if s < 0.001 => {
            let digits = (-s.log10()).ceil() as usize + 1;
            format!("{value:.digits$}")
        }
        s if s < 0.9995 => format!("{value:.3}"),
        s if s < 9.995 => format!("{value:.2}"),
        s if s < 99.95 => format!("{value:.1}"),
        _ => thousands(value),
    }
}

/// Like [`exact`], but large values have no exponent: for a page with room.
pub fn full(value: f64) -> String {
    if value.is_finite() && (EXPONENT_FROM..1e15).contains(&value.abs()) {
        return thousands(value);
    }
    exact(value)
}

/// Like [`figure`], without an exponent.
pub fn plain(value: f64) -> String {
    full(rounded(value))
}

/// A share in percent, with as many digits as it needs: "2", "0.5", "37.5".
pub fn percent(share: f64) -> String {
    let rounded = (share * 1000.0).round() / 10.0;
    format!("{rounded}")
}

/// The value of a metric, with a unit if it is a time.
pub fn of_metric(metric: &Metric, value: Option<f64>) -> String {
    match metric::unit(&metric.figure) {
        Some("µs") => latency(value),
        _ => figure_or_unknown(value),
    }
}

pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// A ratio with three decimals, or three digits if it is far from 1.
pub fn ratio(value: f64) -> String {
    match value {
        v if v >= 1000.0 => "> 1000".to_owned(),
        v if v < 0.001 => "< 0.001".to_owned(),
        v => format!("{v:.3}"),
    }
}

pub fn interval(of: &Interval) -> String {
    format!("{} … {}", ratio(of.low), ratio(of.high))
}

pub fn figure_or_unknown(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), figure)
}

/// A whole number with thousands separators, or "–".
pub fn whole(value: Option<f64>) -> String {
    match value {
        Some(v) if v.is_finite() && v.abs() < EXPONENT_FROM => thousands(v),
        Some(v) if v.is_finite() => exponent(v),
        _ => UNKNOWN.to_owned(),
    }
}

/// A quantity with one decimal: "0.3", "12.0", or "–".
pub fn one_decimal(value: Option<f64>) -> String {
    match value {
        Some(v) if v.is_finite() && v.abs() < 1000.0 => format!("{:.1}", v + 0.0),
        other => whole(other),
    }
}

pub fn users(count: u32) -> String {
    counted(u64::from(count), "user")
}

/// A latency given in µs with the unit that reads best: "0.85 µs", "812 µs", "1.25 ms", "2.10 s".
pub fn latency(us: Option<f64>) -> String {
    match us {
        Some(v) if v.is_finite() && v < 999.5 => format!("{} µs", short(v)),
        Some(v) if v.is_finite() && v < 999_500.0 => format!("{} ms", short(v / 1e3)),
        Some(v) if v.is_finite() => format!("{} s", short(v / 1e6)),
        _ => UNKNOWN.to_owned(),
    }
}

/// Bytes in the binary units of memory and disks: "3.8 GiB".
pub fn bytes(value: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    if value < 1024 {
        return format!("{value} B");
    }
    while scaled >= 1024.0 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", short(scaled), units[unit])
}

/// Three significant digits of a value from 1,000 on.
fn rounded(value: f64) -> f64 {
    if !value.is_finite() || value.abs() < 1_000.0 {
        return value;
    }
    let unit = 10f64.powi(value.abs().log10() as i32 - 2);
    (value / unit).round() * unit
}

/// "1.165E+04", the notation of the published tables.
fn exponent(value: f64) -> String {
    let text = format!("{value:.3E}");
    let (mantissa, power) = text
        .split_once('E')
        .expect("the E format always writes an exponent");
    let (sign, digits) = match power.strip_prefix('-') {
        Some(digits) => ('-', digits),
        None => ('+', power),
    };
    format!("{mantissa}E{sign}{digits:0>2}")
}

fn thousands(value: f64) -> String {
    let text = format!("{value:.0}");
    match text.as_str() {
        "-0" => "0".to_owned(),
        text => grouped(text),
    }
}

/// Three significant digits: "0.125", "12.3", "26,800", "9.13 million".
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        s if !value.is_finite() || s < 999_500.0 => figure(value),
        s if s < 999.5e6 => format!("{} million", short(value / 1e6)),
        s if s < 999.5e9 => format!("{} billion", short(value / 1e9)),
        _ => exponent(value),
    }
}

/// Three significant digits without separators, for values below a thousand.
fn short(value: f64) -> String {
    match value.abs() {
        s if s < 9.995 => format!("{value:.2}"),
        s if s < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_for_people() {
        for (value, want) in [
            (0.0, "0"),
            (0.000_12, "0.00012"),
            (-0.000_027_99, "-0.000028"),
            (1e-9, "1.000E-09"),
            (0.125, "0.125"),
            (0.9999, "1.00"),
            (9.999, "10.0"),
            (99.99, "100"),
            (12.34, "12.3"),
            (999.6, "1,000"),
            (26_768.4, "26,800"),
            (9_994_999.0, "9,990,000"),
            (10_780_000.0, "1.078E+07"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(figure(value), want);
        }
        assert_eq!(figure_or_unknown(None), "–");
        assert_eq!(full(10_781_234.0), "10,781,234");
        assert_eq!(plain(10_781_234.0), "10,800,000");
        assert_eq!(exact(26_768.4), "26,768");
        let said = [26_768.4, 4_108_909.0, 1.078e10].map(three_digits);
        assert_eq!(said, ["26,800", "4.11 million", "10.8 billion"]);
        assert_eq!(full(0.125), "0.125");
        assert_eq!(whole(Some(0.2)), "0");
        assert_eq!(whole(Some(-0.2)), "0");
        assert_eq!(whole(Some(1234.5)), "1,234");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(one_decimal(Some(0.26)), "0.3");
        assert_eq!(one_decimal(Some(1234.5)), "1,234");
        assert_eq!(one_decimal(None), "–");
    }

    #[test]
    fn latencies_and_sizes_choose_their_unit() {
        assert_eq!(latency(Some(0.851)), "0.85 µs");
        assert_eq!(latency(Some(999.7)), "1.00 ms");
        assert_eq!(latency(Some(2_100_000.0)), "2.10 s");
        assert_eq!(latency(None), "–");
        assert_eq!(bytes(4_080_218_931), "3.80 GiB");
        assert_eq!(bytes(512), "512 B");
    }
}
