//! A test bound to a target, and the state of its data and caches before a point.

use archive::{CacheState, Remark, TransactionKind};
use load::{BlockingClient, NonblockingClient, Outcome};
use target::{Cooled, Result};

use crate::bench::Bench;
use crate::library::{Cache, Table};
use crate::tables;

/// The state of data and caches before a point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prepared {
    /// State of the data, e.g. "fresh, analysed".
    pub state: String,
    pub cache: CacheState,
    pub reasons: Vec<Remark>,
}

/// A test bound to a target.
pub trait Exercise {
    /// Brings data and caches into the declared state.
    ///
    /// # Errors
    /// When the target fails.
    fn prepare(&mut self) -> Result<Prepared>;

    /// One client per job, each with a session of its own.
    ///
    /// # Errors
    /// When a session cannot be opened or a statement is not right.
    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>>;

    /// The same for an event loop; `None` where the engine's calls block, so that clients are needed.
    ///
    /// # Errors
    /// As [`Exercise::clients`].
    fn nonblocking_clients(
        &mut self,
        _jobs: u32,
    ) -> Result<Option<Vec<Box<dyn NonblockingClient>>>> {
        Ok(None)
    }

    /// What belongs to the timing after the last job has finished.
    ///
    /// # Errors
    /// When the target fails.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    /// Proves what the clients did against what the database holds; says what is wrong.
    ///
    /// # Errors
    /// When the target fails.
    fn verify(&mut self, outcome: &Outcome) -> Result<Vec<Remark>>;

    /// What a reader should know of what the clients did.
    fn notes(&self, _outcome: &Outcome) -> Vec<Remark> {
        Vec::new()
    }

    /// What each kind of transaction did, where the test has kinds.
    fn transactions(&self) -> Vec<TransactionKind> {
        Vec::new()
    }

    /// Operations of the test in one operation of a client (loop passes of a statement).
    fn operations_scale(&self) -> u64 {
        1
    }

    /// Bytes of user data in a row that a client reports, where MB/s of user data mean something.
    fn row_bytes(&self) -> Option<u64> {
        None
    }

    /// Bytes that a point of `outcome` has to read from the device when its cache was cold.
    fn device_read_bytes(&self, _outcome: &Outcome) -> Option<u64> {
        None
    }
}

/// Prepares the tables of a reading test and sets the caches as the test declares.
pub(crate) fn prepare_tables(bench: &Bench, needed: &[Table]) -> Result<Prepared> {
    let mut reasons = Vec::new();
    for table in needed {
        tables::ensure(bench, *table)?;
        // The proof reads every row, so it leaves the table in memory as well.
        reasons.extend(tables::proof(bench, *table)?);
    }
    let cache = match bench.test.definition.cache {
        Cache::Cold => match bench.target.cool()? {
            Cooled::Cold => CacheState::Cold,
            Cooled::Lukewarm(why) => CacheState::Lukewarm(why),
        },
        other => other.state(),
    };
    Ok(Prepared {
        state: "fresh, analysed".into(),
        cache,
        reasons,
    })
}

/// Makes the table that a writing test fills, empty and in the shape it wants.
pub(crate) fn prepare_empty(bench: &Bench, shape: &str, table: &str) -> Result<Prepared> {
    let mut session = bench.target.open_session()?;
    tables::recreate(session.as_mut(), bench, shape, table)?;
    drop(session);
    bench.checkpoint()?;
    Ok(Prepared {
        state: "empty table".into(),
        cache: bench.test.definition.cache.state(),
        reasons: Vec::new(),
    })
}
