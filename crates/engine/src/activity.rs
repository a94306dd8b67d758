//! A server on which others are at work, looked at and not loaded: its sessions at this moment, its counters, and what its views
//! say of statements, tables and replicas. On a connection of its own, which changes nothing.

use std::time::Duration;

use archive::Observed;

use crate::{Result, ServerCounts, Tally};

/// Why a target has no sessions of jobs.
pub const ONLY_OBSERVED: &str = "this target was opened to be observed, and nothing is done in it";
/// Why a target cannot be observed.
pub const ONLY_MEASURED: &str = "this target was opened to be measured, not to be observed";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Texts of statements, without the values in them.
    pub texts: bool,
    /// Statements, tables, transactions and other lines that are kept of each kind.
    pub lines: usize,
}

/// A session of somebody else that is in a statement or a transaction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionSeen {
    pub id: u64,
    /// Its user, and where it comes from.
    pub who: String,
    pub is_at_work: bool,
    /// Its wait, or "at work" or "idle" in the server's words.
    pub state: String,
    /// The statement that it is in, or was in last, without values; or its number, where texts are not wanted.
    pub statement: Option<String>,
    /// How long its transaction has been open.
    pub transaction_s: Option<f64>,
    /// Numbers of the sessions whose locks it waits for.
    pub blocked_by: Vec<u64>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// Waits of sessions, and activity of the server's own processes.
    pub tally: Tally,
    pub sessions: Vec<SessionSeen>,
}

/// A cumulative counter of the load.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadCount {
    pub name: &'static str,
    /// Unit of the count, e.g. "MB".
    pub unit: &'static str,
    pub count: Option<f64>,
    /// The figure of a point that its rate per second is; "" where it is none.
    pub figure: &'static str,
}

/// Counters of a server's load at one moment, without this observer's own statements.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadCounts {
    /// Transactions that ended, committed or rolled back.
    pub transactions: Option<f64>,
    pub counts: Vec<LoadCount>,
    /// Changes when counters are reset, or the server was started anew.
    pub era: String,
    /// How far this server is behind its source, or the slowest of its replicas behind it.
    pub lag_s: Option<f64>,
}

/// The server's own account of how long sessions were in statements, over some time.
#[derive(Debug, Clone, PartialEq)]
pub struct TimeInStatements {
    /// Seconds of all sessions together, this observer's own among them, statements under way at both ends with what lies between.
    pub seconds: f64,
    /// Seconds that may be missing, or belong to the time before.
    pub unclear_s: f64,
    /// Seconds that passed meanwhile.
    pub elapsed_s: f64,
    pub source: &'static str,
}

/// Processor time of other sessions, by the kernel's account.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeOnProcessors {
    /// Seconds that their threads were on a processor or waited for one, since [`Activity::begin`].
    pub seconds: f64,
    /// How many of them there are at this moment, idle ones among them.
    pub sessions: usize,
}

impl TimeOnProcessors {
    /// Seconds since `earlier`, and the most sessions that there were at either moment.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            seconds: self.seconds - earlier.seconds,
            sessions: self.sessions.max(earlier.sessions),
        }
    }
}

pub trait Activity: Send {
    /// Where sessions are looked up, e.g. "pg_stat_activity".
    fn source(&self) -> String;

    /// Why sessions of others are hidden, as the statement that shows them; `None` where all are seen.
    fn hidden(&self) -> Option<String>;

    /// Remembers what the server has counted of time in statements, of statements and of tables: what it says at the end is less by
    /// that.
    ///
    /// # Errors
    /// When the server does not answer.
    fn begin(&mut self) -> Result<()>;

    /// Shortest time from the end of a look to the begin of the next one for it to show what is new.
    fn rest(&self) -> Duration;

    /// # Errors
    /// When the server does not answer.
    fn look(&mut self) -> Result<Look>;

    /// # Errors
    /// When the server does not answer.
    fn load(&mut self) -> Result<LoadCounts>;

    /// The server's account of the time since [`Self::begin`]; `None` where it keeps none, or it was interrupted.
    ///
    /// # Errors
    /// When the server does not answer.
    fn time_in_statements(&mut self) -> Result<Option<TimeInStatements>>;

    /// Processor time of other sessions' threads; `None` where they cannot be read, as on another machine. A session
    /// counts from the first call that finds it.
    ///
    /// # Errors
    /// When the server does not answer.
    fn time_on_processors(&mut self) -> Result<Option<TimeOnProcessors>>;

    /// Cumulative counters of the server's own work.
    ///
    /// # Errors
    /// When the server does not answer.
    fn count(&mut self) -> Result<ServerCounts>;

    /// Tables of the views for the time since [`Self::begin`]: server, statements, replicas, tables, indexes, and what
    /// could not be seen. Of statements only where the server counts them. One that it does not answer has the reason as its remark.
    fn tables(&mut self) -> Vec<Observed>;

    /// Connects again, after the server has ended the session.
    ///
    /// # Errors
    /// When the server does not let anybody in.
    fn reconnect(&mut self) -> Result<()>;

    /// Statements that this observer has asked so far.
    fn asked(&self) -> u64;

    /// Processor time that the server has spent on this observer so far; `None` where it is unknown, as on another machine.
    fn server_cpu_ns(&self) -> Option<u64>;
}
