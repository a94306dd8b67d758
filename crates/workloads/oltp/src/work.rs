//! Users and their connections, for any driver.

use std::path::PathBuf;
use std::sync::Arc;

use archive::Remark;
use engine::Target;
use load::{Clients, UserPopulation};

use super::audit::{audit, not_judged};
use super::counted::Totals;
use super::{
    Account, Constants, ExecutorContext, Ledger, Metadata, Mode, OltpError, Pacing, Result,
    Terminals, WarehouseRows, World, note_transactions, procedures, reconcile, terminal,
};

#[derive(Debug, Clone, PartialEq)]
pub struct WorkOptions {
    /// Required size of the database (default: any).
    pub warehouses: Option<u32>,
    /// Required share of rows per warehouse (default: any).
    pub rows: Option<WarehouseRows>,
    pub users: u32,
    pub connections: u32,
    pub pacing: Pacing,
    pub mode: Mode,
    /// Seed of the run's constants of the non-uniform choices: one set per run (clause 2.1.6), so that warm-up, levels
    /// and the other side of a comparison work on the same hot rows.
    pub run_seed: u64,
    /// Seed of the users' inputs.
    pub seed: u64,
    /// New file for a log of acknowledged transactions, if requested.
    pub journal: Option<PathBuf>,
}

pub struct Work {
    target: Arc<dyn Target>,
    context: ExecutorContext,
    connections: u32,
    totals: Totals,
}

pub type Opened<'w> = (Arc<dyn UserPopulation>, Clients<'w>);

impl Work {
    /// Notes that the database is no longer in its initial state, and installs the stored procedures if needed.
    ///
    /// # Errors
    /// When there is no complete database, or one of another size.
    pub fn open(target: Arc<dyn Target>, engine: &str, options: &WorkOptions) -> Result<Self> {
        let mut session = target.open_session()?;
        let metadata = Metadata::of_whole(session.as_mut())?;
        let warehouses = options.warehouses.unwrap_or(metadata.warehouses);
        let rows = options.rows.unwrap_or(metadata.rows);
        if (warehouses, rows) != (metadata.warehouses, metadata.rows) {
            return Err(OltpError::Other {
                what: "size",
                there: metadata.rows.size(metadata.warehouses),
                requested: rows.size(warehouses),
            });
        }
        note_transactions(session.as_mut())?;
        if options.mode == Mode::Procedure {
            procedures::install(target.as_ref(), engine)?;
        }
        let world = World {
            warehouses: metadata.warehouses,
            constants: Constants::draw(options.run_seed, metadata.c_last_load, metadata.rows),
            pacing: options.pacing,
            run: terminal::new_run(),
        };
        let journal = options.journal.as_deref();
        let journal = journal
            .map(|path| reconcile::begin(session.as_mut(), path, &world))
            .transpose()?;
        let totals = Totals::read(session.as_mut())?;
        drop(session);
        let context = ExecutorContext {
            engine: engine.to_owned(),
            mode: options.mode,
            terminals: Arc::new(Terminals::new(world, options.users, options.seed)),
            ledger: Arc::new(Ledger::default()),
            commit_log: journal.map(Arc::new),
        };
        Ok(Self {
            target,
            context,
            connections: options.connections,
            totals,
        })
    }

    /// Users with their connections: in an event loop if the engine's answers can be awaited.
    ///
    /// # Errors
    /// When the target refuses so many sessions.
    pub fn population(&self) -> Result<Opened<'_>> {
        let population: Arc<dyn UserPopulation> = Arc::<Terminals>::clone(&self.context.terminals);
        let target = self.target.as_ref();
        let mut pool: Vec<Box<dyn load::NonblockingClient + '_>> = Vec::new();
        for _ in 0..self.connections {
            match self.context.nonblocking(target)? {
                Some(connection) => pool.push(Box::new(connection)),
                // All sessions of a target are of one kind.
                None => {
                    return Ok((population, Clients::Blocking(self.blocking_connections()?)));
                }
            }
        }
        let replace = move || {
            let connection = self
                .context
                .nonblocking(target)
                .map_err(|e| e.to_string())?;
            let connection = connection.ok_or_else(|| {
                "the new connection does not support non-blocking requests".to_owned()
            })?;
            Ok(Box::new(connection) as Box<dyn load::NonblockingClient + '_>)
        };
        let pool = Clients::Nonblocking {
            clients: pool,
            replace: Some(Box::new(replace)),
        };
        Ok((population, pool))
    }

    fn blocking_connections(&self) -> Result<Vec<Box<dyn load::BlockingClient + '_>>> {
        let connection = |_| {
            let connection = self.context.blocking(self.target.as_ref())?;
            Ok(Box::new(connection) as Box<dyn load::BlockingClient + '_>)
        };
        (0..self.connections).map(connection).collect()
    }

    pub fn account(&self) -> Account {
        self.context.ledger.total()
    }

    /// Remarks on counts of the account that the tables do not show; `unknown` operations may or may not have taken
    /// effect. The users must have stopped.
    pub fn uncounted(&self, account: &Account, unknown: u64) -> Result<Vec<Remark>> {
        let after = Totals::read(self.target.open_session()?.as_mut())?;
        Ok(after.differences(&self.totals, account, unknown))
    }

    /// Compares the log, if there is one, with the tables, and removes it if nothing is wrong; otherwise returns a
    /// remark. The users must have stopped.
    ///
    /// # Errors
    /// When the target fails, or the log is damaged.
    pub fn reconcile(&self) -> Result<Option<Remark>> {
        let Some(journal) = &self.context.commit_log else {
            return Ok(None);
        };
        let found = reconcile::reconcile(self.target.as_ref(), journal.path())?;
        if found.is_sound() {
            // The log is no longer needed; a failure to remove it does no harm.
            let _ = std::fs::remove_file(journal.path());
            return Ok(None);
        }
        Ok(Some(found.remark(Some(journal.path()))))
    }

    pub fn warehouses(&self) -> u32 {
        self.context.terminals.world().warehouses
    }

    pub fn size(&self) -> String {
        let world = self.context.terminals.world();
        world.constants.rows.size(world.warehouses)
    }

    /// Remarks on missed bounds of the inputs.
    pub fn audit(&self, account: &Account) -> Vec<Remark> {
        let missed = audit(account, self.warehouses()).into_iter();
        missed
            .filter(|found| found.holds() == Some(false))
            .filter_map(|found| {
                Some(Remark::InputAudit {
                    input: found.what.to_owned(),
                    value: found.value?,
                    low: *found.bounds.start(),
                    high: *found.bounds.end(),
                })
            })
            .collect()
    }

    /// Remark on bounds that could not be judged.
    pub fn audit_note(&self, account: &Account) -> Option<Remark> {
        not_judged(&audit(account, self.warehouses()))
    }

    /// Constants of the non-uniform choices, which are part of a result.
    pub fn constants(&self) -> Remark {
        let constants = self.context.terminals.world().constants;
        Remark::OltpConstants {
            last_names_loaded: constants.c_last_load,
            last_names: constants.c_last_run,
            customers: constants.c_id,
            items: constants.c_item,
        }
    }

    pub fn standing_notes(&self) -> Vec<Remark> {
        let one_writer = self.target.lacks(engine::Feature::ConcurrentWriters);
        one_writer
            .map(|why| Remark::UsersWait { why })
            .into_iter()
            .collect()
    }
}
