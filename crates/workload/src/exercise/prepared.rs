//! A test bound to a target, and the state of its data and caches before a point.

use archive::{CacheState, Remark, TransactionKind};
use engine::{Cooled, Result};
use load::{BlockingClient, NonblockingClient, Outcome};

use crate::bench::Bench;
use crate::library::{Cache, Table};
use crate::tables;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prepared {
    /// Such as "fresh, analysed".
    pub state: String,
    pub cache: CacheState,
    pub reasons: Vec<Remark>,
}

pub trait Exercise {
    /// Brings data and caches into the declared state.
    fn prepare(&mut self) -> Result<Prepared>;

    /// One client per job, each with its own session.
    ///
    /// # Errors
    /// When a session cannot be opened or a statement is invalid.
    fn clients(&mut self, jobs: u32) -> Result<Vec<Box<dyn BlockingClient>>>;

    /// Clients for an event loop; `None` if the engine's calls block.
    fn nonblocking_clients(
        &mut self,
        _jobs: u32,
    ) -> Result<Option<Vec<Box<dyn NonblockingClient>>>> {
        Ok(None)
    }

    /// Finishes work that the timing includes, after the last job has ended.
    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    /// Checks the clients' work against the content of the database, unless every answer was compared on arrival.
    /// Returns the differences.
    fn verify(&mut self, _outcome: &Outcome) -> Result<Vec<Remark>> {
        Ok(Vec::new())
    }

    fn notes(&self, _outcome: &Outcome) -> Vec<Remark> {
        Vec::new()
    }

    fn transactions(&self) -> Vec<TransactionKind> {
        Vec::new()
    }

    /// Operations of the test per operation of a client (loop passes of a statement).
    fn operations_scale(&self) -> u64 {
        1
    }

    /// Bytes of user data in a row, if MB/s of user data mean something.
    fn row_bytes(&self) -> Option<u64> {
        None
    }

    /// Bytes that a point with `outcome` must read from the device if its cache was cold.
    fn device_read_bytes(&self, _outcome: &Outcome) -> Option<u64> {
        None
    }
}

/// Prepares the tables of a reading test and sets the caches as the test declares.
pub(crate) fn prepare_tables(bench: &Bench, needed: &[Table]) -> Result<Prepared> {
    let mut reasons = Vec::new();
    for table in needed {
        tables::ensure(bench, *table)?;
        // The proof reads every row, so it also brings the table into memory.
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
