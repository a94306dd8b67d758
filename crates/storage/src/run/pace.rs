//! Rate of a run, arrivals of its I/Os, and its end.

#[derive(Debug, Clone, PartialEq)]
pub enum Rate {
    Max {
        /// The slowest SD limits the others, so that the streams keep their shares; otherwise every SD runs at its
        /// maximum.
        controlled: bool,
        /// The points of a curve follow, relative to the rate of this run.
        curve: bool,
    },
    Fixed {
        iops: f64,
    },
    Curve(CurvePoint),
    /// A percentage of the rate that the previous run reached.
    PercentOfPrevious {
        pct: f64,
    },
    /// Rates in a cycle.
    Variable {
        /// At least one; at most an hour in total.
        steps: Vec<RateStep>,
    },
}

impl Rate {
    #[must_use]
    pub const fn max(controlled: bool, curve: bool) -> Self {
        Self::Max { controlled, curve }
    }

    #[must_use]
    pub fn is_controlled(&self) -> bool {
        matches!(
            self,
            Self::Max {
                controlled: true,
                ..
            }
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    pub pct: f64,
    /// Index, in the list of runs, of the run that finds the maximum.
    pub maximum_run: usize,
    /// The streams have the shares observed in that run instead of the given ones.
    pub shares_observed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateStep {
    pub iops: f64,
    pub seconds: u32,
}

/// Distribution of the gaps between the intended starts of one stream around their mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrivals {
    /// Exponential, each gap at most 180 s: independent users.
    #[default]
    Exponential,
    /// Uniform between 0 and twice the mean.
    Uniform,
    Deterministic,
    /// All I/Os of a second at its beginning.
    Spike,
}

/// Conditions that end a run early. All limits apply to the counted time, at the ends of intervals.
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
    /// Multiple of the total size of the SDs of the run.
    TimesSize(f64),
}

/// Rates of a curve are rounded up to a multiple of 10 up to this one, and of 100 above it.
const FINE_IOPS_MAX: f64 = 1000.0;
/// Rate on which a curve is based when its first run did nothing, as in a simulation.
const UNKNOWN_IOPS: f64 = 10_000.0;

/// Rate of the point at `pct` percent of a curve whose first run reached `maximum_iops`: in whole percent of whole
/// I/Os per second, rounded up to the next 10, or the next 100 above 1000.
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
        for (maximum, pct, rate) in [
            (46_756.0, 50.0, 23_400.0),
            (46_756.9, 90.0, 42_100.0),
            (1000.0, 100.0, 1000.0),
            (1001.0, 100.0, 1100.0),
            (91.0, 50.0, 50.0),
            (0.0, 25.0, 2500.0),
        ] {
            assert_eq!(curve_rate_iops(maximum, pct), rate);
        }
    }
}
