//! What became of something that was to be measured.

use archive::{Archive, Point, Remark};

use crate::context::RunContext;
use crate::error::Result;

/// What became of a key of the agenda.
pub enum Done {
    /// It and what belongs to it is in the archive.
    Entered(Vec<Point>),
    /// Its user stopped it; nothing of it is kept.
    Interrupted,
    Broken(String),
    /// The target does not hold what is measured: its user has to load it first.
    NotLoaded(Box<dyn std::error::Error + Send + Sync>),
}

/// What measuring a key gave.
pub enum Measured {
    /// A point, or points that belong together.
    Points(Vec<Point>),
    Interrupted,
    Broken(String),
    /// The target does not hold what is measured: its user has to load it first.
    NotLoaded(Box<dyn std::error::Error + Send + Sync>),
}

impl Measured {
    /// Puts a note at the head of the points of one test.
    pub fn note(&mut self, test: &str, note: &Remark) {
        if let Self::Points(points) = self {
            let of_test = points.iter_mut().filter(|point| point.key.test == test);
            of_test.for_each(|point| point.notes.insert(0, note.clone()));
        }
    }

    /// What became of a drive that did not come to its end.
    pub fn cut_short(interrupted: bool, fatal: Option<&str>) -> std::result::Result<(), Self> {
        match fatal {
            _ if interrupted => Err(Self::Interrupted),
            Some(message) => Err(Self::Broken(message.to_owned())),
            None => Ok(()),
        }
    }

    /// Puts the points of a run into the archive; what became of their key.
    ///
    /// # Errors
    /// The archive.
    pub fn enter(self, archive: &mut Archive, context: &RunContext<'_>) -> Result<Done> {
        self.enter_by(context, |points| {
            Ok(archive.append_points(context.run, points)?)
        })
    }

    /// As [`Self::enter`], where more goes into the archive with the points.
    ///
    /// # Errors
    /// What `enter` gives.
    pub fn enter_by(
        self,
        context: &RunContext<'_>,
        enter: impl FnOnce(&[Point]) -> Result<()>,
    ) -> Result<Done> {
        match self {
            Self::Points(mut points) => {
                context.servers.mark(&mut points, context.targets);
                enter(&points).map(|()| Done::Entered(points))
            }
            Self::Interrupted => Ok(Done::Interrupted),
            Self::Broken(message) => Ok(Done::Broken(message)),
            Self::NotLoaded(what) => Ok(Done::NotLoaded(what)),
        }
    }
}
