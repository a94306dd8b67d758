//! Units of the figures, and quotients of them.

pub(super) const MB: f64 = 1e6;
/// Bytes per second at one terabyte per hour.
pub(super) const TB_PER_H: f64 = 1e12 / 3600.0;

/// Quotient, or `None` if it is not finite.
pub(super) fn per(dividend: f64, divisor: f64) -> Option<f64> {
    stats::ratio::quotient(divisor, dividend)
}
