//! Doubts about a series or a result: typed, so that they travel with the result to its reader, and no odd series
//! ever ends in a panic.

#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Warning {
    /// NaN or infinite values; they are not measurements and were left out.
    #[error("{dropped} values are not finite numbers and were left out; check for failed runs")]
    NotFinite { dropped: usize },
    /// Zero or negative values, of which there is no ratio. They are not left out: that would flatter.
    #[error(
        "{count} values are zero or negative, so there is no ratio; compare this metric by eye"
    )]
    NotPositive { count: usize },
    #[error("the method needs {need} values and has {have}; add repetitions")]
    TooFew { have: usize, need: usize },
    #[error(
        "{have} values are too many: the limit is {limit}; summarise each repetition by one figure"
    )]
    TooMany { have: usize, limit: usize },
    /// All values are alike: the noise is unknown, and the interval has no width.
    #[error("all values are equal, so the noise is unknown and the interval has no width")]
    SingleValued,
    #[error(
        "the two sides have {a} and {b} values and cannot be paired; measure the missing halves"
    )]
    UnequalLengths { a: usize, b: usize },
    #[error(
        "the configurations were measured one after the other, not interleaved; \
         a drift of the machine would look like an effect"
    )]
    NotInterleaved,
    #[error(
        "of {count} values only bounds are known, because their ramps did not pass the limit, or began beyond it; the \
         interval allows for all that they may be; ramp further for a narrower one"
    )]
    Censored { count: usize },
    #[error(
        "neighbouring values depend on each other over a large part of the series; \
         the interval is too narrow, measure longer"
    )]
    Autocorrelated,
    #[error("{parameter} is at its bound of 0; the measured range does not determine it")]
    AtBound { parameter: &'static str },
    #[error("the maximum was not observed; measure at higher parallelism until throughput falls")]
    PeakNotObserved,
    #[error("the {name} must be between 0 and 1")]
    NotAShare { name: &'static str },
}

impl Warning {
    pub const fn too_few(have: usize, need: usize) -> Self {
        Self::TooFew { have, need }
    }

    pub const fn too_many(have: usize, limit: usize) -> Self {
        Self::TooMany { have, limit }
    }
}

/// The finite values, and a warning when some were not.
pub(crate) fn finite(values: &[f64]) -> (Vec<f64>, Option<Warning>) {
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let dropped = values.len() - finite.len();
    let warning = (dropped > 0).then_some(Warning::NotFinite { dropped });
    (finite, warning)
}

/// True if all values are equal, also for one value or none.
pub(crate) fn single_valued(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}
