//! Statements, blockers and long transactions of single sessions.

use std::collections::HashMap;

use archive::{About, Observed};
use engine::SessionSeen;

/// Limit of distinct statements, blockers and transactions; the page shows the longest.
const ENTRIES_MAX: usize = 4096;
/// A younger transaction is not worth a line.
const TRANSACTION_S_MIN: f64 = 0.5;

#[derive(Debug, Clone)]
struct Transaction {
    age_s: f64,
    session: SessionSeen,
}

#[derive(Debug, Clone)]
struct Blocked {
    seconds: f64,
    longest_s: f64,
    waiting: SessionSeen,
    blocker: Option<SessionSeen>,
}

#[derive(Debug, Default)]
pub(super) struct SessionHistory {
    statements: HashMap<String, f64>,
    /// Open transactions by session; a session's next one moves it to the ended ones.
    open: HashMap<u64, Transaction>,
    ended: Vec<Transaction>,
    blocked: HashMap<(u64, u64), Blocked>,
    /// Seconds that sessions waited for locks of others.
    pub blocked_s: f64,
    pub at_work_max: usize,
    pub transaction_s_max: Option<f64>,
}

impl SessionHistory {
    /// Adds a sample that stands for so many seconds.
    pub fn add(&mut self, sessions: &[SessionSeen], stands_for_s: f64) {
        let at_work = sessions.iter().filter(|session| session.is_at_work);
        self.at_work_max = self.at_work_max.max(at_work.clone().count());
        for session in at_work {
            let text = session.statement.clone();
            let text = text.unwrap_or_else(|| "(unknown)".into());
            if self.statements.len() < ENTRIES_MAX || self.statements.contains_key(&text) {
                *self.statements.entry(text).or_default() += stands_for_s;
            }
        }
        for session in sessions {
            self.add_transaction(session);
            self.add_blocked(session, sessions, stands_for_s);
        }
    }

    fn add_transaction(&mut self, session: &SessionSeen) {
        let Some(age_s) = session.transaction_s else {
            return;
        };
        self.transaction_s_max = Some(self.transaction_s_max.map_or(age_s, |most| most.max(age_s)));
        if age_s < TRANSACTION_S_MIN || self.open.len() >= ENTRIES_MAX {
            return;
        }
        let now = Transaction {
            age_s,
            session: session.clone(),
        };
        let before = self.open.insert(session.id, now);
        // A younger transaction is the session's next.
        self.ended
            .extend(before.filter(|before| before.age_s > age_s));
        if self.ended.len() > 2 * ENTRIES_MAX {
            self.ended.sort_by(|a, b| b.age_s.total_cmp(&a.age_s));
            self.ended.truncate(ENTRIES_MAX);
        }
    }

    fn add_blocked(&mut self, session: &SessionSeen, all: &[SessionSeen], stands_for_s: f64) {
        let Some(blocker) = session.blocked_by.first() else {
            return;
        };
        self.blocked_s += stands_for_s;
        let key = (session.id, *blocker);
        if self.blocked.len() >= ENTRIES_MAX && !self.blocked.contains_key(&key) {
            return;
        }
        let other = all.iter().find(|other| other.id == *blocker).cloned();
        let blocked = self.blocked.entry(key).or_insert_with(|| Blocked {
            seconds: 0.0,
            longest_s: 0.0,
            waiting: session.clone(),
            blocker: other,
        });
        blocked.seconds += stands_for_s;
        blocked.longest_s = blocked.longest_s.max(session.transaction_s.unwrap_or(0.0));
    }

    pub fn statements(&self, source: &str, sampled_time_s: f64, lines: usize) -> Observed {
        let columns = [
            ("statement", ""),
            ("time", "s"),
            ("active sessions", "sessions"),
        ];
        let mut table = Observed::new(About::Statements, source, &columns);
        let mut statements: Vec<(&String, f64)> =
            self.statements.iter().map(|(t, s)| (t, *s)).collect();
        statements.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let row = |(text, seconds): &(&String, f64)| {
            let sessions = (sampled_time_s > 0.0).then(|| seconds / sampled_time_s);
            vec![text.as_str().into(), (*seconds).into(), sessions.into()]
        };
        table.rows = statements.iter().take(lines).map(row).collect();
        table
    }

    /// Pairs of waiting and blocking sessions, the longest wait first.
    pub fn blockers(&self, source: &str, lines: usize) -> Observed {
        let columns = [
            ("waiting session", ""),
            ("its statement", ""),
            ("waited", "s"),
            ("blocking session", ""),
            ("its state", ""),
            ("its last statement", ""),
        ];
        let mut table = Observed::new(About::Blockers, source, &columns);
        let mut all: Vec<(&(u64, u64), &Blocked)> = self.blocked.iter().collect();
        all.sort_by(|a, b| {
            b.1.seconds
                .total_cmp(&a.1.seconds)
                .then_with(|| a.0.cmp(b.0))
        });
        let row = |((_, blocker_id), blocked): &(&(u64, u64), &Blocked)| {
            let of_blocker = |part: fn(&SessionSeen) -> String| {
                blocked.blocker.as_ref().map_or_else(String::new, part)
            };
            vec![
                named(&blocked.waiting).into(),
                blocked.waiting.statement.clone().unwrap_or_default().into(),
                blocked.seconds.into(),
                match &blocked.blocker {
                    Some(blocker) => named(blocker).into(),
                    None => blocker_id.to_string().into(),
                },
                of_blocker(|session| session.state.clone()).into(),
                of_blocker(|session| session.statement.clone().unwrap_or_default()).into(),
            ]
        };
        table.rows = all.iter().take(lines).map(row).collect();
        table
    }

    /// The longest transactions, each at its oldest.
    pub fn transactions(&self, source: &str, lines: usize) -> Observed {
        let columns = [
            ("session", ""),
            ("open", "s"),
            ("state", ""),
            ("last statement", ""),
        ];
        let mut table = Observed::new(About::Transactions, source, &columns);
        let mut all: Vec<&Transaction> = self.ended.iter().chain(self.open.values()).collect();
        all.sort_by(|a, b| {
            let by_age = b.age_s.total_cmp(&a.age_s);
            by_age.then_with(|| a.session.id.cmp(&b.session.id))
        });
        let row = |transaction: &&Transaction| {
            let session = &transaction.session;
            vec![
                named(session).into(),
                transaction.age_s.into(),
                session.state.clone().into(),
                session.statement.clone().unwrap_or_default().into(),
            ]
        };
        table.rows = all.iter().take(lines).map(row).collect();
        table
    }
}

/// Such as "4711 bench (pgbench)".
fn named(session: &SessionSeen) -> String {
    format!("{} {}", session.id, session.who).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use archive::Cell;

    use super::*;

    fn session(id: u64, transaction_s: f64, blocked_by: &[u64]) -> SessionSeen {
        SessionSeen {
            id,
            who: "bench".into(),
            is_at_work: !blocked_by.is_empty(),
            statement: Some(format!("statement of {id}")),
            transaction_s: Some(transaction_s),
            blocked_by: blocked_by.to_vec(),
            ..SessionSeen::default()
        }
    }

    /// Session 2 waits for session 1 in two samples of half a second; then session 1 begins another transaction.
    #[test]
    fn golden_blockers_transactions_and_statements() {
        let mut history = SessionHistory::default();
        history.add(&[session(1, 3.0, &[]), session(2, 1.0, &[1])], 0.5);
        history.add(&[session(1, 3.5, &[]), session(2, 1.5, &[1])], 0.5);
        history.add(&[session(1, 0.6, &[])], 0.5);
        assert_eq!((history.blocked_s, history.at_work_max), (1.0, 1));
        assert_eq!(history.transaction_s_max, Some(3.5));
        let blockers = history.blockers("locks", 10);
        assert_eq!(blockers.rows.len(), 1);
        assert_eq!(blockers.number(&blockers.rows[0], "waited"), Some(1.0));
        assert_eq!(blockers.rows[0][3], Cell::from("1 bench"));
        let transactions = history.transactions("sessions", 10);
        let ages = transactions
            .rows
            .iter()
            .map(|row| transactions.number(row, "open"));
        assert_eq!(ages.collect::<Vec<_>>(), [Some(3.5), Some(1.5), Some(0.6)]);
        let statements = history.statements("samples", 1.5, 10);
        assert_eq!(statements.rows.len(), 1);
        assert_eq!(statements.number(&statements.rows[0], "time"), Some(1.0));
        assert_eq!(history.transactions("sessions", 1).rows.len(), 1);
    }
}
