//! The points that the laws relate to each other. Each is a step of one plan, in this order, so that all of them are measured
//! in every repetition.

use std::time::Duration;

/// What a point is measured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// One session, a statement that asks for nothing, no think time.
    Idle,
    /// A few sessions that look up rows without think time.
    First,
    Second,
    Users,
    /// The same users with twice the think time.
    LongThink,
    /// Half of the users with the think time of all.
    HalfUsers,
    /// Operations that arrive at a rate far below capacity.
    Open,
    /// One session, transactions of one statement.
    One,
    /// … of [`Parameters::STATEMENTS`].
    Many,
    /// … of twice as many.
    TwiceAsMany,
    /// A statement that waits in the server.
    ShortDelay,
    LongDelay,
    /// Transactions that change rows, some of them the same ones.
    Commit,
    /// One look at everything they have changed, by another session.
    Count,
}

impl Role {
    /// In the order of the plan's steps.
    pub const ALL: [Self; 14] = [
        Self::Idle,
        Self::First,
        Self::Second,
        Self::Users,
        Self::LongThink,
        Self::HalfUsers,
        Self::Open,
        Self::One,
        Self::Many,
        Self::TwiceAsMany,
        Self::ShortDelay,
        Self::LongDelay,
        Self::Commit,
        Self::Count,
    ];

    /// Number of its step, from 1.
    pub fn step(self) -> u32 {
        self as u32 + 1
    }

    /// Name of its script; the code of its test has `S-` in front.
    pub fn script(self) -> &'static str {
        match self {
            Self::Idle => "check-idle",
            Self::First
            | Self::Second
            | Self::Users
            | Self::LongThink
            | Self::HalfUsers
            | Self::Open => "check-lookup",
            Self::One => "check-one",
            Self::Many => "check-many",
            Self::TwiceAsMany => "check-twice-as-many",
            Self::ShortDelay => "check-short-delay",
            Self::LongDelay => "check-long-delay",
            Self::Commit => "check-commit",
            Self::Count => "check-count",
        }
    }
}

/// The numbers by which the points are asked for, and the laws judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Users of [`Role::Users`]; even.
    pub users: u32,
    /// Mean think time of them, exponentially distributed.
    pub think_ms: f64,
    /// Length of a point that is measured for a time.
    pub seconds: f64,
    pub repetitions: u32,
}

impl Parameters {
    /// Statements of the transactions of [`Role::Many`].
    pub const STATEMENTS: u32 = 100;
    /// How long the server waits in [`Role::ShortDelay`] and [`Role::LongDelay`].
    pub const DELAYS_MS: [f64; 2] = [10.0, 60.0];
    /// Rows that [`Role::Count`] reads beside those that the transactions have left, one each.
    pub const ROWS_BESIDE: f64 = 1.0;
    /// How long a statement of `mock:` takes.
    pub const MOCK_US: f64 = 200.0;
    /// How long one sleeps in slices of [`Self::SLICE`]: the eighth ends just within the slice, so that eight end in the part that
    /// counts, which has room for little more than seven.
    pub const SLICES_US: u64 = 12_400;
    pub const SLICES_JOBS: u32 = 4;
    pub const SLICE: Duration = Duration::from_millis(100);

    /// Rate of [`Role::Open`]: a quarter of what the users reach, were they answered at once.
    pub fn rate_per_s(&self) -> f64 {
        f64::from(self.users) / self.think_ms * 1e3 / 4.0
    }
}
