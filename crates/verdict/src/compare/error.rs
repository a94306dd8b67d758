//! Errors of a comparison.

use super::NotComparable;
use crate::metric::{Metric, MetricError};

#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    #[error(transparent)]
    NotComparable(#[from] NotComparable),
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A primary metric has no better direction.
    #[error(
        "the primary metric \"{0}\" has no direction that counts as better, so there is no verdict on it; name a rate or a time"
    )]
    NoDirection(Metric),
    /// The noise of the machine is too large for a learned band.
    #[error(
        "studies of this plan against itself vary so much that {metric} would need an effect beyond ±{pct:.0} %; measure them \
         again while nothing else runs"
    )]
    TooNoisy { metric: Metric, pct: f64 },
    /// The band is no share.
    #[error("the practical band must be between 0 % and 100 %")]
    NotAShare,
}
