//! What a test is carried out on: target, size, amount of work, and what is kept meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lab::alternate::SharedPoint;
use target::{Counters, Result, Target};

use crate::library::{Amount, Library, SizeClass, Table, Test};
use crate::owned::placed;

/// Everything an exercise works with: one test on one target at one size.
pub struct Bench {
    pub target: Arc<dyn Target>,
    /// Name of its engine in the library's files.
    pub engine: String,
    pub test: Test,
    /// The library that it comes from.
    pub library: Arc<Library>,
    pub size: SizeClass,
    pub amount: Amount,
    /// Seed of everything random in the point.
    pub seed: u64,
    /// Where the sessions leave their counters.
    pub meter: Arc<Meter>,
    /// Tables of this database that were proven in this run.
    pub proven: Arc<Proven>,
    /// The point of both sides, where they work on the same tables in turn, and which of its databases this is.
    pub shared: Option<(SharedPoint, String)>,
}

impl Bench {
    /// SQL of the test for this engine.
    pub(crate) fn sql(&self) -> &str {
        self.test.sql(&self.engine)
    }

    /// Creates the stored code of the test anew, so that what runs is what the fingerprint says.
    ///
    /// # Errors
    /// When the target refuses it.
    pub(crate) fn create_stored_code(&self) -> Result<()> {
        match self.test.set_up_sql(&self.engine) {
            "" => Ok(()),
            sql => {
                let mut session = self.target.open_session()?;
                let sql = placed(session.as_ref(), sql);
                session.batch(&sql)
            }
        }
    }

    /// Whether something that concerns the tables of both sides, once in a run or else at each point, is still to be done.
    pub(crate) fn is_due_for_both(&self, what: &str, once_in_a_run: bool) -> bool {
        self.shared.as_ref().is_none_or(|(point, database)| {
            let number = if once_in_a_run { 0 } else { point.number };
            point.is_first_to(format!("{number} {database} {} {what}", self.test.code()))
        })
    }

    /// Brings the log to the data files.
    ///
    /// # Errors
    /// When the target fails.
    pub fn checkpoint(&self) -> Result<()> {
        self.target.checkpoint()
    }
}

/// Collects what the sessions of a point counted.
#[derive(Debug, Default)]
pub struct Meter {
    counters: Mutex<Option<Counters>>,
    /// Rows changed by committed transactions, ramp-up included.
    changed: AtomicU64,
    /// Sum over something the clients keep for the proof.
    sum: AtomicU64,
}

impl Meter {
    /// Sum of the sessions' counters in the measured window; `None` before any session ended.
    pub fn counters(&self) -> Option<Counters> {
        *self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rows changed by committed transactions, ramp-up included.
    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }

    /// The sum that the clients kept for the proof.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    /// Adds what one session counted.
    pub(crate) fn add(&self, counters: Counters, changed: u64, sum: u64) {
        self.changed.fetch_add(changed, Ordering::Relaxed);
        self.sum.fetch_add(sum, Ordering::Relaxed);
        let mut total = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        *total = Some(total.map_or(counters, |sum| sum.plus(counters)));
    }
}

/// Tables of one database that were proven cell by cell in this run.
#[derive(Debug, Default)]
pub struct Proven {
    tables: Mutex<HashSet<Table>>,
    /// Scripts whose data were set up in this run, by their fingerprints, with how far their sequences have come since.
    scripts: Mutex<HashMap<String, Arc<AtomicU64>>>,
}

impl Proven {
    /// Notes that a table was proven; false when it had been before.
    pub(crate) fn insert(&self, table: Table) -> bool {
        self.lock().insert(table)
    }

    /// How far the sequences of a script have come in this run; `None` where its data were not set up before.
    pub(crate) fn script(&self, fingerprint: &str) -> Option<Arc<AtomicU64>> {
        let scripts = self.scripts.lock();
        let scripts = scripts.unwrap_or_else(PoisonError::into_inner);
        scripts.get(fingerprint).cloned()
    }

    /// Notes that a script's data were set up, so that its sequences begin.
    pub(crate) fn insert_script(&self, fingerprint: &str) -> Arc<AtomicU64> {
        let scripts = self.scripts.lock();
        let mut scripts = scripts.unwrap_or_else(PoisonError::into_inner);
        let begun = scripts.entry(fingerprint.to_owned()).or_default();
        *begun = Arc::default();
        Arc::clone(begun)
    }

    /// Has a table proven again.
    pub(crate) fn forget(&self, table: Table) {
        self.lock().remove(&table);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
