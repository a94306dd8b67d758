//! Code and definition of an observation.

use archive::PointKey;

pub(super) const CODE: &str = PointKey::OBSERVATION;
pub(super) const TITLE: &str = "Database activity, observed without a load";
/// Version of the sampling, so that only like observations are compared.
pub(super) const DEFINITION: &str = "observe 1";
