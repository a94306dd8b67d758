//! What became of something that was to be measured.

use archive::Point;

/// What became of a key of the agenda.
pub(crate) enum Done {
    /// It and what belongs to it is in the archive.
    Entered(Vec<Point>),
    /// Its user stopped it; nothing of it is kept.
    Interrupted,
    /// The target gave out.
    Broken(String),
}

/// What measuring a key gave.
pub(crate) enum Measured {
    /// A point, or points that belong together.
    Points(Vec<Point>),
    /// Its user stopped it.
    Interrupted,
    /// The target gave out.
    Broken(String),
}

impl Measured {
    /// What became of a drive that did not come to its end.
    pub fn cut_short(interrupted: bool, fatal: Option<&str>) -> Result<(), Self> {
        match fatal {
            _ if interrupted => Err(Self::Interrupted),
            Some(message) => Err(Self::Broken(message.to_owned())),
            None => Ok(()),
        }
    }

    /// The points; if there are none, what became of the key.
    pub fn into_points(self) -> Result<Vec<Point>, Done> {
        match self {
            Self::Points(points) => Ok(points),
            Self::Interrupted => Err(Done::Interrupted),
            Self::Broken(message) => Err(Done::Broken(message)),
        }
    }
}
