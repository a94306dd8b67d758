//! Sources of the scatter of a study's pairs, and ways to reduce it.

use archive::{Arrangement, StudyPart};
use serde::Serialize;
use stats::components::{self, Components};

use super::Pair;
use crate::metric::Metric;
use crate::outcome::CONFIDENCE;

/// Figures that are rates, whose time series gives the components.
const RATES: [&str; 3] = ["operations_per_s", "rows_per_s", "queries_per_min"];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scatter {
    pub components: Components,
    pub within: Within,
    pub between: Between,
    pub remedy: Remedy,
}

/// Variation within a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Within {
    /// Pairs of neighbouring slices.
    Slices,
    Intervals,
}

/// Variation between pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Between {
    Sessions,
    /// Databases or servers created for each pair.
    Instances,
    /// Blocks, with everything at their start.
    Blocks,
    Pairs,
}

/// Way to reduce the scatter of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Remedy {
    /// Most of the variance comes from within the blocks, with all of its interval.
    #[serde(rename = "more seconds")]
    MoreSeconds,
    /// Most of it does not.
    #[serde(rename = "more pairs")]
    MorePairs,
    /// The interval reaches across a half.
    #[serde(rename = "either")]
    Either,
}

/// Scatter of a metric's pairs; `None` for figures without a time series, and for too few data.
pub(super) fn scatter(study: &StudyPart, metric: &Metric, pairs: &[Pair]) -> Option<Scatter> {
    if !RATES.contains(&metric.figure.as_str()) {
        return None;
    }
    let in_slices = study.slice_ms.is_some();
    let pairs: Vec<_> = (pairs.iter())
        .map(|pair| components::Pair {
            log_ratio: pair.ratio().ln(),
            a: &pair.series[0],
            b: &pair.series[1],
        })
        .collect();
    let components = components::components(&pairs, in_slices, CONFIDENCE).ok()?;
    let share = components.within_share;
    Some(Scatter {
        components,
        within: if in_slices {
            Within::Slices
        } else {
            Within::Intervals
        },
        between: match study.arranged.as_ref().map(|arranged| arranged.how) {
            Some(Arrangement::InPlace | Arrangement::OneServer) => Between::Sessions,
            Some(Arrangement::TwoInstances) => Between::Instances,
            None if in_slices => Between::Pairs,
            _ => Between::Blocks,
        },
        remedy: match (share.low > 0.5, share.high < 0.5) {
            (true, _) => Remedy::MoreSeconds,
            (_, true) => Remedy::MorePairs,
            _ => Remedy::Either,
        },
    })
}
