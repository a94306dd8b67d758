//! Why there is no comparison.

use super::NotComparable;
use crate::metric::{Metric, MetricError};

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The runs do not measure the same.
    #[error(transparent)]
    NotComparable(#[from] NotComparable),
    /// A primary metric is none.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// A primary metric describes and does not judge.
    #[error(
        "the primary metric \"{0}\" has no direction that counts as better, so there is no verdict on it; name a rate or a time"
    )]
    NoDirection(Metric),
    /// The machine scattered too much for a band to be learned.
    #[error(
        "studies of this plan against itself vary so much that {metric} would need an effect beyond ±{pct:.0} %; measure them \
         again while nothing else runs"
    )]
    TooNoisy {
        metric: Metric,
        /// The noise, in percent.
        pct: f64,
    },
    /// The effect or the band is no share.
    #[error("the {0} must be between 0 % and 100 %")]
    NotAShare(&'static str),
}
