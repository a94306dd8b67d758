//! Points that the invariants relate to each other. Each is a step of one plan, in this order, so that every repetition
//! measures all of them.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// One session, an empty statement, no think time.
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
    /// One check of all their changes, by another session.
    Count,
}

impl Role {
    /// All roles in the order of the plan's steps.
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

    pub fn step(self) -> u32 {
        self as u32 + 1
    }

    /// Name of its script; the code of its test is `S-` and this name.
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

/// Parameters of the points and of the invariants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// Users of [`Role::Users`]; even.
    pub users: u32,
    /// Mean think time of them, exponentially distributed.
    pub think_ms: f64,
    pub seconds: f64,
    pub repetitions: u32,
}

impl Parameters {
    /// Statements of the transactions of [`Role::Many`].
    pub const STATEMENTS: u32 = 100;
    /// Waits of the server in [`Role::ShortDelay`] and [`Role::LongDelay`].
    pub const DELAYS_MS: [f64; 2] = [10.0, 60.0];
    /// Rows that [`Role::Count`] reads in addition to those of the transactions, one each.
    pub const ROWS_BESIDE: f64 = 1.0;
    pub const MOCK_US: f64 = 200.0;
    /// Duration of a statement in slices of [`Self::SLICE`]: the eighth ends just within the slice, so that eight end
    /// in the part that counts, which has room for little more than seven.
    pub const SLICES_US: u64 = 12_400;
    pub const SLICES_JOBS: u32 = 4;
    pub const SLICE: Duration = Duration::from_millis(100);

    /// Rate of [`Role::Open`]: a quarter of the users' rate with zero response time.
    pub fn rate_per_s(&self) -> f64 {
        f64::from(self.users) / self.think_ms * 1e3 / 4.0
    }
}
