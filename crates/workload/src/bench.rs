//! Test bench: target, size, amount of work, and counters.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Counters, Result, Target};
use lab::alternate::SharedPoint;

use crate::library::{Amount, Library, SizeClass, Table, Test};
use crate::owned::with_schema;

pub struct Bench {
    pub target: Arc<dyn Target>,
    pub engine: String,
    pub test: Test,
    pub library: Arc<Library>,
    pub size: SizeClass,
    pub amount: Amount,
    /// Seed of all random choices of the point.
    pub seed: u64,
    pub meter: Arc<Meter>,
    /// Tables of this database that were verified in this run.
    pub proven: Arc<Proven>,
    /// Point of both sides if they take turns on the same tables, and the side's database.
    pub shared: Option<(SharedPoint, String)>,
}

impl Bench {
    pub(crate) fn sql(&self) -> &str {
        self.test.sql(&self.engine)
    }

    /// Recreates the stored code of the test, so that the fingerprint describes the code that runs.
    ///
    /// # Errors
    /// When the target refuses it.
    pub(crate) fn create_stored_code(&self) -> Result<()> {
        match self.test.set_up_sql(&self.engine) {
            "" => Ok(()),
            sql => {
                let mut session = self.target.open_session()?;
                let sql = with_schema(session.as_ref(), sql);
                session.batch(&sql)
            }
        }
    }

    /// True if work on the tables of both sides is still due: once in a run, or else once per point.
    pub(crate) fn is_due_for_both(&self, what: &str, once_in_a_run: bool) -> bool {
        self.shared.as_ref().is_none_or(|(point, database)| {
            let number = if once_in_a_run { 0 } else { point.number };
            point.is_first_to(format!("{number} {database} {} {what}", self.test.code()))
        })
    }

    pub fn checkpoint(&self) -> Result<()> {
        self.target.checkpoint()
    }
}

#[derive(Debug, Default)]
pub struct Meter {
    counters: Mutex<Option<Counters>>,
    changed: AtomicU64,
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

    /// Sum that the clients computed for the proof.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, counters: Counters, changed: u64, sum: u64) {
        self.changed.fetch_add(changed, Ordering::Relaxed);
        self.sum.fetch_add(sum, Ordering::Relaxed);
        let mut total = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        *total = Some(total.map_or(counters, |sum| sum.plus(counters)));
    }
}

/// Tables of one database that were verified cell by cell in this run.
#[derive(Debug, Default)]
pub struct Proven {
    tables: Mutex<HashSet<Table>>,
    /// Scripts whose data were set up in this run, by fingerprint, with the current values of their sequences.
    scripts: Mutex<HashMap<String, Arc<AtomicU64>>>,
}

impl Proven {
    /// Marks a table as verified; false if it already was.
    pub(crate) fn insert(&self, table: Table) -> bool {
        self.lock().insert(table)
    }

    /// Current values of a script's sequences; `None` if its data were not set up before.
    pub(crate) fn script(&self, fingerprint: &str) -> Option<Arc<AtomicU64>> {
        let scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.get(fingerprint).cloned()
    }

    pub(crate) fn insert_script(&self, fingerprint: &str) -> Arc<AtomicU64> {
        let mut scripts = self.scripts.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = scripts.entry(fingerprint.to_owned()).or_default();
        *begun = Arc::default();
        Arc::clone(begun)
    }

    pub(crate) fn forget(&self, table: Table) {
        self.lock().remove(&table);
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
