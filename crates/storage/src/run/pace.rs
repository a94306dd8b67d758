//! How fast a run goes, how its I/Os arrive, and what ends it.

/// I/Os a second that a run asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Rate {
    /// As fast as it goes.
    Max {
        /// The slowest SD holds the others back, so that the streams keep their shares. Without: every SD runs flat out.
        controlled: bool,
        /// The points of a curve follow, which are relative to what this run reaches.
        curve: bool,
    },
    /// This many a second.
    Fixed {
        /// I/Os a second over all streams.
        iops: f64,
    },
    Curve(CurvePoint),
    /// A share of what the run before this one reached.
    PercentOfPrevious {
        /// Percent, above 0; may be more than 100.
        pct: f64,
    },
    /// One rate after the other, from the start again when the last is over.
    Variable {
        /// At least one; together at most an hour.
        steps: Vec<RateStep>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// Percent of the maximum.
    pub pct: f64,
    /// Index, in the list of runs, of the run that finds the maximum.
    pub maximum_run: usize,
    /// The streams take the shares that they had in that run; without, those they were given.
    pub shares_observed: bool,
}

/// One step of a variable rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateStep {
    /// I/Os a second over all streams.
    pub iops: f64,
    pub seconds: u32,
}

/// How the gaps between the intended starts of one stream are distributed around their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Exponential, one gap at most 180 s: customers who know nothing of each other.
    #[default]
    Exponential,
    /// Uniform between 0 and twice the mean.
    Uniform,
    /// Always the mean.
    Deterministic,
    /// All I/Os of a second at its beginning.
    Spike,
}

/// What ends a run before its time. All limits look at what was done after the warm-up, at the ends of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stop {
    pub data_max: Option<DataLimit>,
    pub read_max: Option<DataLimit>,
    pub written_max: Option<DataLimit>,
    /// A mean response time above this many milliseconds ends the whole list after this run.
    pub response_ms_max: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DataLimit {
    Bytes(u64),
    /// So many times the size of all SDs of the run together.
    TimesSize(f64),
}

/// Rates of a curve are rounded up to a multiple of 10 as far as this one, and of 100 above it.
const FINE_IOPS_MAX: f64 = 1000.0;
/// What a curve goes on with when its first run did nothing (a simulation, say).
const UNKNOWN_IOPS: f64 = 10_000.0;

/// Rate of the point at `pct` percent of a curve whose first run reached `maximum_iops`: in whole percent of whole
/// I/Os a second, rounded up to the next 10, or the next 100 above 1000.
#[must_use]
pub fn curve_rate_iops(maximum_iops: f64, pct: f64) -> f64 {
    let whole = if maximum_iops >= 1.0 {
        maximum_iops.trunc()
    } else {
        UNKNOWN_IOPS
    };
    let iops = (whole * pct.trunc() / 100.0).trunc();
    let step = if iops > FINE_IOPS_MAX { 100.0 } else { 10.0 };
    (iops / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_rounded_as_observed() {
        assert_eq!(curve_rate_iops(46_756.0, 50.0), 23_400.0);
        assert_eq!(curve_rate_iops(46_756.9, 90.0), 42_100.0);
        assert_eq!(curve_rate_iops(1000.0, 100.0), 1000.0);
        assert_eq!(curve_rate_iops(1001.0, 100.0), 1100.0);
        assert_eq!(curve_rate_iops(91.0, 50.0), 50.0);
        assert_eq!(curve_rate_iops(0.0, 25.0), 2500.0);
    }
}
