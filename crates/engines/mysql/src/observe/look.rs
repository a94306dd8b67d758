//! One look at the sessions: the process list, the transactions with their locks, and what threads used of the processors.

use std::collections::HashMap;
use std::time::Duration;

use super::super::flavour::Flavour;
use super::super::watch::class::{self, Meaning};
use super::asking::{Asking, OWN};
use engine::process;
use engine::risen::{number, text};
use engine::statement_text::{Dialect, without_values};
use engine::{Look, Result, SessionSeen, WaitClass};

/// Characters of a statement that are asked for.
const TEXT_MAX: usize = 1000;
/// InnoDB shows its transactions and their locks anew only when nobody has asked for them for 0.1 s. So looks are further apart, and
/// each of them sees sessions and locks of the same moment.
const REST: Duration = Duration::from_millis(150);
const ROW_LOCK: &str = "row lock";

/// A transaction of the storage engine.
#[derive(Debug, Clone, Default)]
struct Transaction {
    age_s: f64,
    waits: bool,
    blocked_by: Vec<u64>,
}

pub(super) struct Looker {
    texts: bool,
    sees_threads: bool,
    sees_transactions: bool,
}

impl Looker {
    pub(super) fn of(asking: &mut Asking, texts: bool) -> Self {
        Self {
            texts,
            sees_threads: asking.thread.is_some(),
            sees_transactions: transactions(asking).is_ok(),
        }
    }

    pub(super) fn source(&self) -> String {
        let list = "the server's process list";
        let and = [
            (self.sees_transactions, "its transactions and lock waits"),
            (self.sees_threads, "the states of its threads"),
        ];
        let and = and.into_iter().filter_map(|(is, what)| is.then_some(what));
        std::iter::once(list)
            .chain(and)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// True if waits for row locks are seen, and need not be taken from counters.
    pub(super) fn sees_row_locks(&self) -> bool {
        self.sees_transactions
    }

    pub(super) fn rest(&self) -> Duration {
        if self.sees_transactions {
            REST
        } else {
            Duration::ZERO
        }
    }

    pub(super) fn look(&mut self, asking: &mut Asking) -> Result<Look> {
        let transactions = if self.sees_transactions {
            transactions(asking)?
        } else {
            HashMap::new()
        };
        let sql = sessions_sql(asking.flavour, self.sees_threads, self.texts);
        let rows = asking.rows("the process list", &sql)?;
        let mut look = Look::default();
        for row in &rows {
            let session = session(row, &transactions);
            if session.is_at_work {
                let thread = row.get(5).and_then(|cell| cell.as_ref()?.parse().ok());
                let is_asleep = thread
                    .filter(|_| self.sees_threads)
                    .and_then(process::is_asleep);
                let (class, what) = what_it_does(&session, is_asleep);
                look.tally.session(class, what, 1.0);
            }
            if session.is_at_work || session.transaction_s.is_some() {
                look.sessions.push(session);
            }
        }
        Ok(look)
    }
}

/// The state's class, unless the thread runs or waits for a processor: then the wait that is shown is over.
fn what_it_does(session: &SessionSeen, is_asleep: Option<bool>) -> (WaitClass, &str) {
    match (class::of(&session.state), is_asleep) {
        (_, Some(false)) => (WaitClass::Cpu, AT_WORK),
        _ if session.state == ROW_LOCK => (WaitClass::Lock, ROW_LOCK),
        (Meaning::Wait(class), _) => (class, &session.state),
        (Meaning::Unclear, _) => (WaitClass::Cpu, AT_WORK),
    }
}

/// A session from its row of the process list and its transaction.
fn session(row: &[Option<String>], transactions: &HashMap<u64, Transaction>) -> SessionSeen {
    let id = text(row.first()).parse().unwrap_or_default();
    let transaction = transactions.get(&id);
    let is_at_work = text(row.get(2)) == "1";
    let told = text(row.get(3));
    let state = match (is_at_work, transaction.is_some_and(|t| t.waits)) {
        (false, _) => "idle in transaction".to_owned(),
        (true, true) => ROW_LOCK.to_owned(),
        (true, false) => told,
    };
    let statement = row.get(4).cloned().flatten().filter(|s| !s.is_empty());
    SessionSeen {
        id,
        who: text(row.get(1)),
        is_at_work,
        state,
        statement: statement.map(|statement| without_values(&statement, Dialect::MySql)),
        transaction_s: transaction.map(|t| t.age_s),
        blocked_by: transaction
            .map(|t| t.blocked_by.clone())
            .unwrap_or_default(),
    }
}

/// A statement that waits for nothing that is reported.
const AT_WORK: &str = "active, reads of data included";

/// Every session of a client but an observer's: number, who, whether it is at work, state, statement, thread.
fn sessions_sql(flavour: Flavour, threads: bool, texts: bool) -> String {
    let thread = if threads {
        flavour.thread_of_row
    } else {
        "NULL"
    };
    let statement = if texts {
        format!("LEFT(INFO, {TEXT_MAX})")
    } else {
        "NULL".to_owned()
    };
    format!(
        "SELECT ID, CONCAT(USER, IF(DB IS NULL, '', CONCAT(' in ', DB))), COMMAND <> 'Sleep', STATE, {statement}, {thread} {}",
        of_others()
    )
}

/// Threads of a server that serve these sessions, idle ones among them; without one more of the observer's own.
pub(super) fn threads_sql(flavour: Flavour, own_session: u32) -> String {
    let thread = flavour.thread_of_row;
    format!("SELECT {thread} {} AND ID <> {own_session}", of_others())
}

/// Sessions of clients but observers'.
fn of_others() -> String {
    format!(
        "FROM information_schema.PROCESSLIST AS {OWN} WHERE ID <> CONNECTION_ID() \
         AND COMMAND NOT IN ('Daemon', 'Connect', 'Slave_IO', 'Slave_SQL', 'Slave_worker') AND COMMAND NOT LIKE 'Binlog%' \
         AND USER NOT IN ('system user', 'event_scheduler') AND (INFO IS NULL OR INFO NOT LIKE '%{OWN}%')"
    )
}

/// Transactions of sessions, and who waits for whom.
fn transactions(asking: &mut Asking) -> Result<HashMap<u64, Transaction>> {
    let sql = format!(
        "SELECT trx_mysql_thread_id, TIMESTAMPDIFF(MICROSECOND, trx_started, NOW(6)) / 1e6, trx_state = 'LOCK WAIT', trx_id \
         FROM information_schema.INNODB_TRX AS {OWN} WHERE trx_mysql_thread_id NOT IN (0, CONNECTION_ID())"
    );
    let rows = asking.rows("INNODB_TRX", &sql)?;
    let mut all = HashMap::new();
    let mut sessions = HashMap::new();
    for row in &rows {
        let Some(id) = number(row.first()) else {
            continue;
        };
        let transaction = Transaction {
            age_s: number(row.get(1)).unwrap_or(0.0).max(0.0),
            waits: text(row.get(2)) == "1",
            blocked_by: Vec::new(),
        };
        sessions.insert(text(row.get(3)), id as u64);
        all.insert(id as u64, transaction);
    }
    if all.values().any(|transaction| transaction.waits) {
        let [table, waiting, blocking] = asking.flavour.lock_waits;
        let sql = format!("SELECT DISTINCT {waiting}, {blocking} FROM {table} AS {OWN}");
        for row in asking.rows(table, &sql).unwrap_or_default() {
            let pair = sessions
                .get(&text(row.first()))
                .zip(sessions.get(&text(row.get(1))));
            if let Some((waiting, blocking)) = pair
                && let Some(transaction) = all.get_mut(waiting)
            {
                transaction.blocked_by.push(*blocking);
            }
        }
    }
    Ok(all)
}
