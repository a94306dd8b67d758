//! Results of measuring a key of the agenda.

use archive::{Archive, Point, Remark};

use crate::context::RunContext;
use crate::error::Result;

/// Result of a key of the agenda.
pub enum Done {
    /// The point and everything that belongs to it is in the archive.
    Entered(Vec<Point>),
    Interrupted,
    Broken(String),
    /// The target does not hold the data: its user has to load them first.
    NotLoaded(Box<dyn std::error::Error + Send + Sync>),
}

pub enum Measured {
    /// A point, or points that belong together.
    Points(Vec<Point>),
    Interrupted,
    Broken(String),
    /// The target does not hold the data: its user has to load them first.
    NotLoaded(Box<dyn std::error::Error + Send + Sync>),
}

impl Measured {
    /// Puts a note in front of those of one test's points.
    pub fn note(&mut self, test: &str, note: &Remark) {
        if let Self::Points(points) = self {
            let of_test = points.iter_mut().filter(|point| point.key.test == test);
            of_test.for_each(|point| point.notes.insert(0, note.clone()));
        }
    }

    pub fn cut_short(interrupted: bool, fatal: Option<&str>) -> std::result::Result<(), Self> {
        match fatal {
            _ if interrupted => Err(Self::Interrupted),
            Some(message) => Err(Self::Broken(message.to_owned())),
            None => Ok(()),
        }
    }

    pub fn enter(self, archive: &mut Archive, context: &RunContext<'_>) -> Result<Done> {
        self.enter_by(context, |points| {
            Ok(archive.append_points(context.run, points)?)
        })
    }

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
