//! Units of the figures, and quotients of them.

/// Bytes of a megabyte.
pub(super) const MB: f64 = 1e6;
/// Bytes per second of a terabyte an hour.
pub(super) const TB_PER_H: f64 = 1e12 / 3600.0;

/// A quotient; `None` where it is no number.
pub(super) fn per(dividend: f64, divisor: f64) -> Option<f64> {
    stats::ratio::quotient(divisor, dividend)
}
