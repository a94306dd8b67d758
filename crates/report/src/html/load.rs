//! The kind of a test's levels, and the axis of its charts: users, or degrees of parallelism.

use crate::level::TestGroup;
use crate::users;
use chart::Axis;

/// The quantity that rises from level to level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Jobs × threads, on an axis of doublings.
    Parallelism,
    /// I/Os in flight below a database, on an axis of doublings.
    InFlight,
    /// Users, on a linear axis, because the supported number is of interest.
    Users,
}

impl Load {
    pub fn of(group: &TestGroup<'_>) -> Self {
        if users::is_by_users(group.test) {
            Self::Users
        } else if group.below_database() {
            Self::InFlight
        } else {
            Self::Parallelism
        }
    }

    pub fn axis(self, levels: &[u32]) -> Axis {
        match self {
            Self::Parallelism => Axis::dops("sessions × threads", levels),
            Self::InFlight => Axis::dops("I/Os in flight", levels),
            Self::Users => Axis::users("users", levels.iter().copied().max().unwrap_or(1)),
        }
    }

    pub fn head(self) -> &'static str {
        match self {
            Self::Parallelism => "DOP",
            Self::InFlight => "in flight",
            Self::Users => "users",
        }
    }

    /// "… by users".
    pub fn words(self) -> &'static str {
        match self {
            Self::Parallelism => "degree of parallelism",
            Self::InFlight => "I/Os in flight",
            Self::Users => "users",
        }
    }
}
