//! Why a step of lifted tables could not be carried out.

use lab::Measured;
use target::TargetError;

use crate::columnar::ColumnarError;
use crate::olap::OlapError;

/// Why a step could not be carried out.
pub(crate) enum Failed {
    Columnar(ColumnarError),
    Olap(OlapError),
    /// A drive did not come to its end.
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
