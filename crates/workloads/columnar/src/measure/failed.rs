//! Errors of a step.

use lab::Measured;
use olap::OlapError;

use crate::ColumnarError;

pub(crate) enum Failed {
    Columnar(ColumnarError),
    /// A drive ended early.
    Ended(Measured),
}

impl<E: Into<ColumnarError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Columnar(error.into())
    }
}

impl From<OlapError> for ColumnarError {
    fn from(error: OlapError) -> Self {
        match error {
            OlapError::Interrupted => Self::Interrupted,
            OlapError::Target(error) => Self::Target(error),
            other => Self::Unknown(other.to_string()),
        }
    }
}

pub(crate) fn missing() -> ColumnarError {
    ColumnarError::Unknown("there is no source to populate from".into())
}
