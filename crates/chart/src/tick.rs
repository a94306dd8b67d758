//! Labels of ticks.

/// Short label of an axis tick: "0", "0.5", "20", "1.5k", "200k", "3M".
pub fn tick(value: f64) -> String {
    let (scaled, suffix) = match value.abs() {
        s if s >= 1e9 => (value / 1e9, "G"),
        s if s >= 1e6 => (value / 1e6, "M"),
        s if s >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = format!("{scaled:.3}");
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    if digits == "0" && value != 0.0 {
        return format!("{value:.0e}");
    }
    format!("{digits}{suffix}")
}

/// Axis tick of a latency given in µs: "10µs", "1ms", "2s".
pub fn tick_latency(us: f64) -> String {
    match us.abs() {
        s if s >= 1e6 => format!("{}s", tick(us / 1e6)),
        s if s >= 1e3 => format!("{}ms", tick(us / 1e3)),
        s if s > 0.0 && s < 1.0 => format!("{}ns", tick(us * 1e3)),
        _ => format!("{}µs", tick(us)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        assert_eq!(tick(1500.0), "1.5k");
        assert_eq!(tick(3_000_000.0), "3M");
        assert_eq!(tick(0.5), "0.5");
        assert_eq!(tick(0.000_01), "1e-5");
        assert_eq!(tick_latency(10.0), "10µs");
        assert_eq!(tick_latency(2_000_000.0), "2s");
        assert_eq!(tick_latency(0.1), "100ns");
    }
}
