//! What points of observations are called.

use archive::PointKey;

/// Code of its one test.
pub(super) const CODE: &str = PointKey::OBSERVATION;
pub(super) const TITLE: &str = "Database at work, observed without a load";
/// Names what is measured, so that observations are comparable as long as they look alike.
pub(super) const DEFINITION: &str = "observe 1";
