//! Check of the method itself: invariants that relate the figures of points to each other, whatever the speed of the target
//! (metamorphic checks).
//!
//! * [`roles`]: the points that are needed, and their parameters.
//! * `invariants`: each invariant as pairs of an expected and an observed figure, one for each repetition.
//! * [`judge`]: from pairs to *holds*, *broken* or *too noisy*, with the error rate stated.

mod findings;
mod invariants;
pub mod judge;
pub mod roles;
#[cfg(test)]
mod tests;

pub use findings::{Clocks, Measured, confirmed, find, own_cost};
pub use judge::{Outcome, Reading};
pub use roles::{Parameters, Role};

/// Invariant that every correct measurement obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Invariant {
    /// Doubling the think time halves the rate: X₁/X₂ = (2Z + R₂)/(Z + R₁).
    ThinkTime,
    /// N = X·(R + Z), the interactive response time law.
    ResponseTime,
    /// Twice the users give at most twice the rate.
    Users,
    /// A rate offered below capacity is delivered.
    OfferedRate,
    /// The same load twice gives the same rate.
    HalvesRate,
    /// … and the same median response time.
    HalvesMedian,
    /// A known number of further statements costs that many times one of them.
    Statements,
    /// A known delay in the server is measured correctly.
    Delay,
    /// Sessions that only wait in the server are in it all the time: N = X·S.
    Waits,
    /// Σ committed = Σ changed.
    Committed,
    /// The counts of the histograms add up to the operations.
    Counts,
    /// The times in the histograms add up to the busy time of the sessions.
    Times,
    /// A statement of known length (on `mock:`) is measured correctly.
    Floor,
    /// … and so is its rate in slices, with whose edges it is in phase: N = X·S.
    Slices,
    /// The clocks of driver and server have the same rate.
    Clock,
}

impl Invariant {
    /// All invariants, in the order of reports.
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

    /// True for invariants without randomness: one deviation breaks them, without a second measurement.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Committed | Self::Counts | Self::Times)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub invariant: Invariant,
    pub outcome: Outcome,
}
