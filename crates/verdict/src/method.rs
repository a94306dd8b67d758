//! The method itself, held against what must be true of any right measurement: laws that relate the figures of points to
//! each other, whatever the speed of the target (metamorphic checks).
//!
//! * [`roles`]: the points that are needed, and how they are asked for.
//! * `laws`: each law as pairs of what it says and what was seen, one for each repetition.
//! * [`judge`]: from pairs to *holds*, *broken* or *not told*, with the error rate stated.

mod findings;
pub mod judge;
mod laws;
pub mod roles;
#[cfg(test)]
mod tests;

pub use findings::{Clocks, Measured, confirmed, find, own_cost};
pub use judge::{Outcome, Reading};
pub use roles::{Parameters, Role};

/// What must be true of any right measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Law {
    /// Twice the think time halves the rate: X₁/X₂ = (2Z + R₂)/(Z + R₁).
    ThinkTime,
    /// N = X·(R + Z), the interactive response time law.
    ResponseTime,
    /// Twice the users give at most twice the rate.
    Users,
    /// What is offered below capacity is delivered.
    OfferedRate,
    /// The same load twice in a row gives the same rate.
    HalvesRate,
    /// … and the same median response time.
    HalvesMedian,
    /// A known number of further statements costs that many times one of them.
    Statements,
    /// A known delay in the server is measured as that.
    Delay,
    /// Sessions that do nothing but wait in the server are each in it all the time: N = X·S.
    Waits,
    /// Σ committed = Σ changed.
    Committed,
    /// The counts of the histograms add up to the operations.
    Counts,
    /// The times in the histograms add up to the time that sessions were at work.
    Times,
    /// A statement of known length (on `mock:`) is measured as that.
    Floor,
    /// … and so is its rate in slices, with whose edges it is in phase: N = X·S.
    Slices,
    /// The clock of the driver and that of the server run alike.
    Clock,
}

impl Law {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 15] = [
        Self::ThinkTime,
        Self::ResponseTime,
        Self::Users,
        Self::OfferedRate,
        Self::HalvesRate,
        Self::HalvesMedian,
        Self::Statements,
        Self::Delay,
        Self::Waits,
        Self::Committed,
        Self::Counts,
        Self::Times,
        Self::Floor,
        Self::Slices,
        Self::Clock,
    ];

    /// Whether chance has no part in it: it is broken by one deviation, without a second measurement.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Committed | Self::Counts | Self::Times)
    }
}

/// What became of a law.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub law: Law,
    pub outcome: Outcome,
}
