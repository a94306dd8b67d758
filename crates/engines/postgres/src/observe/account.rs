//! The server's own account of the time in statements. A session enters it when it ends a transaction, at most once a second, and with
//! all statements but the last one, so that what is still open at both ends is added from `pg_stat_activity`.

use std::collections::HashMap;
use std::time::Instant;

use super::asking::{APPLICATION, Asking};
use engine::risen::{number, text};
use engine::{Result, TimeInStatements};

/// `active_time` is there from this version on.
const VERSION: u32 = 14;
const SOURCE: &str = "active_time of pg_stat_database";
/// Part of the elapsed time by which the server's clock and this machine's may differ: it was set meanwhile if they do.
const CLOCK_MAX: f64 = 0.01;
const CLOCK_S_MAX: f64 = 0.05;

/// A session of somebody at one moment, in seconds.
#[derive(Debug, Clone, Default, PartialEq)]
struct Open {
    /// When its statement began, or the last one where it is idle.
    began: String,
    /// How long that has taken or took, which has not been entered.
    pending_s: f64,
    /// How long its transaction had been open before that statement: the statements in it have not been entered either.
    before_s: f64,
}

/// Entered transactions and open ones at one moment.
#[derive(Debug)]
pub(super) struct Account {
    entered_s: f64,
    /// Changes when counters are reset, or the server was started anew.
    era: String,
    at_s: f64,
    read: Instant,
    open: HashMap<String, Open>,
}

impl Account {
    /// `None` where the server keeps none.
    pub(super) fn read(asking: &mut Asking, major: u32) -> Result<Option<Self>> {
        if major < VERSION {
            return Ok(None);
        }
        let sql = format!(
            "WITH counted AS MATERIALIZED (SELECT sum(active_time) / 1e3 AS entered_s, \
             concat(max(stats_reset), ' ', pg_postmaster_start_time()) AS era, clock_timestamp() AS at FROM pg_stat_database) \
             SELECT /* {APPLICATION} */ entered_s::text, era, extract(epoch FROM at)::text, pid::text, query_start::text, \
             extract(epoch FROM CASE WHEN state IN ('active', 'fastpath function call') THEN at ELSE state_change END - query_start)::text, \
             extract(epoch FROM query_start - xact_start)::text \
             FROM counted LEFT JOIN pg_stat_get_activity(NULL) ON backend_type = 'client backend' AND query_start IS NOT NULL \
             AND application_name IS DISTINCT FROM '{APPLICATION}'"
        );
        let rows = asking.rows("pg_stat_database", &sql)?;
        let read = Instant::now();
        let Some(first) = rows.first() else {
            return Ok(None);
        };
        let (Some(entered_s), Some(at_s)) = (number(first.first()), number(first.get(2))) else {
            return Ok(None);
        };
        let open = rows.iter().filter_map(|row| {
            let positive = |at: usize| number(row.get(at)).unwrap_or(0.0).max(0.0);
            let open = Open {
                began: text(row.get(4)),
                pending_s: positive(5),
                before_s: positive(6),
            };
            Some((row.get(3)?.clone()?, open))
        });
        Ok(Some(Self {
            entered_s,
            era: text(first.get(1)),
            at_s,
            read,
            open: open.collect(),
        }))
    }

    /// Time passed until another moment; `None` where the counters were reset, or the clock was set.
    pub(super) fn until(&self, end: &Self) -> Option<TimeInStatements> {
        let elapsed_s = end.at_s - self.at_s;
        let by_own_clock_s = (end.read - self.read).as_secs_f64();
        let was_set =
            (elapsed_s - by_own_clock_s).abs() > CLOCK_S_MAX.max(CLOCK_MAX * by_own_clock_s);
        let seconds = end.entered_s + end.pending_s() - self.entered_s - self.pending_s();
        (self.era == end.era && !was_set && seconds >= 0.0).then(|| TimeInStatements {
            seconds,
            unclear_s: unclear_s(&self.open, &end.open),
            elapsed_s,
            source: SOURCE,
        })
    }

    fn pending_s(&self) -> f64 {
        self.open.values().map(|open| open.pending_s).sum()
    }
}

/// Uncertainty of the time in transactions that were open at one of the two moments. Of a session that is in the same
/// statement at both, or idle since the same one, nothing was entered meanwhile.
fn unclear_s(begin: &HashMap<String, Open>, end: &HashMap<String, Open>) -> f64 {
    let changed = |one: &HashMap<String, Open>, other: &HashMap<String, Open>| -> f64 {
        let changed = one.iter().filter(|(pid, open)| {
            let same = other.get(*pid);
            same.is_none_or(|same| same.began != open.began)
        });
        changed.map(|(_, open)| open.before_s).sum()
    };
    changed(begin, end) + changed(end, begin)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn account(
        entered_s: f64,
        at_s: f64,
        start: Instant,
        open: &[(&str, &str, f64, f64)],
    ) -> Account {
        let open = open.iter().map(|(pid, began, pending_s, before_s)| {
            let open = Open {
                began: (*began).into(),
                pending_s: *pending_s,
                before_s: *before_s,
            };
            ((*pid).to_owned(), open)
        });
        Account {
            entered_s,
            era: "a".into(),
            at_s,
            read: start + Duration::from_secs_f64(at_s),
            open: open.collect(),
        }
    }

    /// In 10 s: session 1 is in one statement all the time, 2 has ended a statement of 8 s that began 5 s before the begin, 3 is in a
    /// transaction at the end whose earlier statements are not known, 4 is idle.
    #[test]
    fn golden_what_is_open_at_both_ends_counts_for_what_lies_between() {
        let start = Instant::now();
        let begin = account(
            100.0,
            0.0,
            start,
            &[
                ("1", "x", 3.0, 0.5),
                ("2", "y", 5.0, 0.0),
                ("4", "z", 7.0, 0.0),
            ],
        );
        let end = account(
            108.0,
            10.0,
            start,
            &[
                ("1", "x", 13.0, 0.5),
                ("2", "new", 0.25, 0.0),
                ("3", "w", 1.0, 2.0),
                ("4", "z", 7.0, 0.0),
            ],
        );
        let time = begin.until(&end).unwrap();
        assert!(
            (time.seconds - (10.0 + 3.0 + 0.25 + 1.0)).abs() < 1e-9,
            "{time:?}"
        );
        assert_eq!((time.unclear_s, time.elapsed_s), (2.0, 10.0));
    }

    #[test]
    fn a_reset_a_restart_and_a_clock_that_was_set_leave_no_account() {
        let start = Instant::now();
        let begin = account(100.0, 0.0, start, &[]);
        assert!(begin.until(&account(101.0, 10.0, start, &[])).is_some());
        assert!(begin.until(&account(99.0, 10.0, start, &[])).is_none());
        let restarted = Account {
            era: "b".into(),
            ..account(101.0, 10.0, start, &[])
        };
        assert!(begin.until(&restarted).is_none());
        let set = Account {
            at_s: 3610.0,
            ..account(101.0, 10.0, start, &[])
        };
        assert!(begin.until(&set).is_none());
    }
}
