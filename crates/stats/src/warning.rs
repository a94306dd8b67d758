//! What is wrong with a series or weakens a result: typed, so that it travels with the result to whoever
//! shows it, and no odd series ever ends in a panic.

/// A reason to doubt a result, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Warning {
    /// NaN or infinite values; they are no measurements and were left out.
    #[error("{dropped} values are not finite numbers and were left out; check for failed runs")]
    NotFinite {
        /// How many values, or pairs, were left out.
        dropped: usize,
    },
    /// Zero or negative values, of which there is no ratio. They are not left out: that would flatter.
    #[error(
        "{count} values are zero or negative, so there is no ratio; compare this metric by eye"
    )]
    NotPositive {
        /// How many values.
        count: usize,
    },
    /// Fewer values than the method needs.
    #[error("the method needs {need} values and has {have}; add repetitions")]
    TooFew {
        /// Usable values.
        have: usize,
        /// Fewest values on which the method rests.
        need: usize,
    },
    /// More values than the method takes.
    #[error(
        "{have} values are too many: the limit is {limit}; summarise each repetition by one figure"
    )]
    TooMany {
        /// Values given.
        have: usize,
        /// Most values that are accepted.
        limit: usize,
    },
    /// All values are alike: noise cannot be seen, and the interval has no width.
    #[error("all values are equal, so the noise is unknown and the interval has no width")]
    SingleValued,
    /// Paired series of different lengths.
    #[error(
        "the two sides have {a} and {b} values and cannot be paired; measure the missing halves"
    )]
    UnequalLengths {
        /// Values of the first side.
        a: usize,
        /// Values of the second side.
        b: usize,
    },
    /// One configuration was measured after the other.
    #[error(
        "the configurations were measured one after the other, not interleaved; \
         a drift of the machine would look like an effect"
    )]
    NotInterleaved,
    /// Only bounds of some figures are known.
    #[error(
        "of {count} values only bounds are known, because their ramps did not pass the limit, or began beyond it; the \
         interval allows for all that they may be; ramp further for a narrower one"
    )]
    Censored {
        /// How many values.
        count: usize,
    },
    /// The series is too short against its own autocorrelation.
    #[error(
        "neighbouring values depend on each other over a large part of the series; \
         the interval is too narrow, measure longer"
    )]
    Autocorrelated,
    /// A parameter of a fitted law lies on its bound.
    #[error("{parameter} is at its bound of 0; the measured range does not determine it")]
    AtBound {
        /// Name of the parameter.
        parameter: &'static str,
    },
    /// The maximum of a fitted law lies outside what was measured.
    #[error("the maximum was not observed; measure at higher parallelism until throughput falls")]
    PeakNotObserved,
    /// A parameter that must lie strictly between 0 and 1 does not.
    #[error("the {name} must be between 0 and 1")]
    NotAShare {
        /// What the parameter is called.
        name: &'static str,
    },
}

/// The finite values, and a warning when some were not.
pub(crate) fn finite(values: &[f64]) -> (Vec<f64>, Option<Warning>) {
    let kept: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let dropped = values.len() - kept.len();
    (
        kept,
        (dropped > 0).then_some(Warning::NotFinite { dropped }),
    )
}

/// Whether all values are alike; true for one value and none.
pub(crate) fn single_valued(values: &[f64]) -> bool {
    values.windows(2).all(|pair| pair[0] == pair[1])
}
