//! Errors of a step.

use engine::TargetError;
use lab::Measured;
use olap::OlapError;

use crate::ColumnarError;

pub(crate) enum Failed {
    Columnar(ColumnarError),
    Olap(OlapError),
    /// A drive ended early.
    Ended(Measured),
}

impl From<ColumnarError> for Failed {
    fn from(error: ColumnarError) -> Self {
        Self::Columnar(error)
    }
}

impl From<OlapError> for Failed {
    fn from(error: OlapError) -> Self {
        Self::Olap(error)
    }
}

impl From<TargetError> for Failed {
    fn from(error: TargetError) -> Self {
        Self::Columnar(error.into())
    }
}

pub(crate) fn missing() -> ColumnarError {
    ColumnarError::Unknown("there is no source to populate from".into())
}
