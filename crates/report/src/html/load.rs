//! What the levels of a test count, and the axis of its charts: users, or a degree of parallelism.

use crate::svg::Axis;
use crate::users;

/// What is raised from level to level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// Jobs × threads: each step of the axis doubles it.
    Parallelism,
    /// Users, who are supported up to a number of them: equal distances are equal differences.
    Users,
}

impl Load {
    pub fn of(test: &str) -> Self {
        if users::is_by_users(test) {
            Self::Users
        } else {
            Self::Parallelism
        }
    }

    pub fn axis(self, levels: &[u32]) -> Axis {
        match self {
            Self::Parallelism => Axis::dops("degree of parallelism (jobs × threads)", levels),
            Self::Users => Axis::users("users", levels.iter().copied().max().unwrap_or(1)),
        }
    }

    pub fn head(self) -> &'static str {
        match self {
            Self::Parallelism => "DOP",
            Self::Users => "users",
        }
    }

    /// "… by users".
    pub fn words(self) -> &'static str {
        match self {
            Self::Parallelism => "degree of parallelism",
            Self::Users => "users",
        }
    }
}
