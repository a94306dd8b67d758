//! The server's own account of the time in statements: `performance_schema` where it is on, else user statistics where they are. A
//! statement enters it when it ends; those under way are added from the process list.

use std::time::Instant;

use super::asking::{Asking, OWN};
use engine::risen::number;
use engine::{Result, TimeInStatements};

/// Statements of clients: those within stored programs are in the time of the outer one, and replication is not a client's.
const ENTERED: &str = "SELECT SUM(SUM_TIMER_WAIT) / 1e12 FROM performance_schema.events_statements_summary_global_by_event_name \
     WHERE EVENT_NAME NOT LIKE 'statement/sp/%' AND EVENT_NAME NOT LIKE 'statement/rpl/%' AND EVENT_NAME NOT LIKE 'statement/scheduler/%' \
     AND EVENT_NAME NOT LIKE 'statement/com/Binlog%'";
const BUSY: &str = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'BUSY_TIME' AND @@userstat = 1";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Statements,
    Users,
}

impl Source {
    fn name(self) -> &'static str {
        match self {
            Self::Statements => "performance_schema.events_statements_summary_global_by_event_name",
            Self::Users => "Busy_time of the user statistics",
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Statements => ENTERED,
            Self::Users => BUSY,
        }
    }
}

/// Entered transactions and open ones at one moment.
#[derive(Debug)]
pub(super) struct Account {
    source: Source,
    seconds: f64,
    read: Instant,
}

impl Account {
    /// The first of the accounts that is kept; `None` where there is none, or this user may not see it.
    pub(super) fn begin(asking: &mut Asking) -> Option<Self> {
        let users = asking.flavour.has_user_statistics.then_some(Source::Users);
        let sources = std::iter::once(Source::Statements).chain(users);
        let mut kept = sources.filter_map(|source| Self::read(asking, source).ok()?);
        // A server that has counted nothing does not count.
        kept.find(|account| account.seconds > 0.0)
    }

    fn read(asking: &mut Asking, source: Source) -> Result<Option<Self>> {
        let entered = source.sql();
        let open = asking.flavour.open_statements_query;
        let sql = format!("SELECT ({entered}) AS {OWN}, ({open})");
        let rows = asking.rows(source.name(), &sql)?;
        let read = Instant::now();
        let cell = |at: usize| rows.first().and_then(|row| number(row.get(at)));
        Ok(cell(0).map(|entered_s| Self {
            source,
            seconds: entered_s + cell(1).unwrap_or(0.0).max(0.0),
            read,
        }))
    }

    /// Time passed until now; `None` where the counters were reset.
    pub(super) fn until_now(&self, asking: &mut Asking) -> Result<Option<TimeInStatements>> {
        let end = Self::read(asking, self.source)?;
        Ok(end.and_then(|end| self.until(&end)))
    }

    fn until(&self, end: &Self) -> Option<TimeInStatements> {
        let seconds = end.seconds - self.seconds;
        (seconds >= 0.0).then(|| TimeInStatements {
            seconds,
            unclear_s: 0.0,
            elapsed_s: (end.read - self.read).as_secs_f64(),
            source: self.source.name(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_reset_leaves_no_account() {
        let begin = Account {
            source: Source::Statements,
            seconds: 100.0,
            read: Instant::now(),
        };
        let after = |seconds: f64| Account {
            seconds,
            read: begin.read + Duration::from_secs(10),
            ..begin
        };
        let time = begin.until(&after(125.0)).unwrap();
        assert_eq!(
            (time.seconds, time.elapsed_s, time.unclear_s),
            (25.0, 10.0, 0.0)
        );
        assert_eq!(begin.until(&after(3.0)), None);
    }
}
