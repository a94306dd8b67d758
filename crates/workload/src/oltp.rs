//! An order-entry workload derived from TPC-C 5.11: its database, the loader and the consistency checks.
//!
//! Derived, not the same: results are not comparable with published ones. The nine tables and their
//! columns bear the specification's names, so that anybody's SQL can check them.
//!
//! * [`initial_rows`]: every row of a fresh database, a pure function of seed and warehouse.
//! * [`mod@load`]: brings it into a target, in parallel, warehouse by warehouse, and goes on where it stopped.
//! * [`mod@check`]: the twelve consistency conditions and the row counts.
//! * [`mod@renew`]: makes it as it is after its load, by whatever way is shortest.
//! * [`mod@restore`]: brings it back to what it was right after the load.
//! * [`metadata`]: what is loaded, and whether transactions have run since.
//! * [`terminal`] and [`mix`]: the users, what they ask for and how long they pause.
//! * [`executor`]: a connection that carries their transactions out, in an event loop or on a thread.
//! * [`procedures`]: the same transactions as stored procedures.
//! * [`work`]: users at work, for whoever drives them.
//! * [`step`] and [`mod@measure`]: what a plan says of it, and the points of it.
//! * [`account`] and [`mod@audit`]: what was done, and whether the inputs were those of the specification.
//! * [`commit_log`] and [`mod@reconcile`]: the log of what was acknowledged, outside of the server, and whether the
//!   tables hold it.

pub mod account;
pub mod audit;
pub mod check;
pub mod commit_log;
mod counted;
pub mod executor;
mod files;
pub mod initial_rows;
pub mod load;
pub mod measure;
pub mod metadata;
pub mod mix;
pub mod procedures;
pub mod random;
pub mod reconcile;
pub mod renew;
pub mod restore;
mod statements;
pub mod step;
pub mod terminal;
mod transaction;
pub mod work;

pub use account::{Account, KindAccount, Ledger};
pub use audit::{Audited, audit};
pub use check::{Checked, Finding, Verdict, check};
pub use commit_log::{CommitLog, CommitLogError};
pub use executor::{BlockingExecutor, ExecutorContext, NonblockingExecutor};
pub use files::{fingerprint, obstacle};
pub use initial_rows::WarehouseRows;
pub use load::{LoadOptions, Loaded, drop_all, load};
pub use metadata::{Metadata, note_transactions};
pub use mix::{Kind, Pacing};
pub use reconcile::{Reconciled, Side, reconcile};
pub use renew::{Renewed, renew};
pub use restore::{Restored, Way, restore};
pub use statements::Mode;
pub use terminal::{Constants, Terminals, World};

/// The tables in the order in which they can be filled with foreign keys in force.
pub const TABLES: [&str; 9] = [
    "item",
    "warehouse",
    "district",
    "customer",
    "history",
    "orders",
    "new_order",
    "stock",
    "order_line",
];
/// Most warehouses: some 10 TB.
pub const WAREHOUSES_MAX: u32 = 100_000;
/// Most sessions of a load.
pub const JOBS_MAX: u32 = 256;

pub type Result<T> = std::result::Result<T, OltpError>;

/// What can go wrong with the order-entry database.
#[derive(Debug, thiserror::Error)]
pub enum OltpError {
    #[error(transparent)]
    Target(#[from] target::TargetError),
    /// The engine has no tables for it.
    #[error(
        "the order-entry workload does not run on {engine}: it needs tables, keys and transactions of many \
         small statements; it runs on {known}"
    )]
    Engine {
        engine: String,
        /// Those that it runs on.
        known: String,
    },
    /// The engine takes no foreign keys.
    #[error("{0} cannot add foreign keys to existing tables; load without foreign keys")]
    ForeignKeys(String),
    /// The engine has no stored procedures for it.
    #[error("{0} has no stored procedures for the transactions; set statements = \"client\"")]
    Procedures(String),
    /// A file of the library is wrong.
    #[error("the library's transactions for {engine} cannot be used: {what}")]
    Transactions { engine: String, what: String },
    /// The log of acknowledged transactions cannot be used.
    #[error(transparent)]
    CommitLog(#[from] CommitLogError),
    /// There is no database to work with.
    #[error("there is no order-entry database here; load one first")]
    Absent,
    /// The load was not finished.
    #[error(
        "the order-entry database is incomplete: {done} of {warehouses} warehouses are loaded, {missing}; resume \
         its load with seed {seed}"
    )]
    NotWhole {
        done: u32,
        /// Warehouses that were asked for.
        warehouses: u32,
        missing: String,
        seed: u64,
    },
    /// A database is there, and it is whole.
    #[error(
        "an order-entry database of {warehouses} warehouses is already loaded here; keep it, or replace it"
    )]
    Present { warehouses: u32 },
    /// A database is there, and it is another one.
    #[error(
        "the order-entry database here differs in {what}: {there} instead of {asked}; request the one that is \
         loaded, or replace it"
    )]
    Other {
        what: &'static str,
        there: String,
        asked: String,
    },
    /// Transactions have changed a database that the plan has not loaded.
    #[error(
        "the order-entry database here is not of this plan, and transactions have run on it since its load, which a load \
         step would undo; restore it yourself, or use another database"
    )]
    Used,
    /// Tables of the other workload are here, and some of both have the same names.
    #[error(
        "this database holds the tables of the analytical workload, and some have the same names; use another \
         database, or drop them"
    )]
    Rival,
    /// The metadata make no sense.
    #[error(
        "table {table} does not say what is loaded ({what}) because it was changed; replace the database"
    )]
    Metadata { table: &'static str, what: String },
    /// The target does not hold what was sent to it.
    #[error(
        "table {table} holds {found} rows after the load instead of {right}; load again and replace the database"
    )]
    Rows {
        table: &'static str,
        found: u64,
        right: u64,
    },
    /// The copy does not hold what it is called by.
    #[error(
        "the restored copy does not match its label ({0}); load again and replace the database"
    )]
    Copy(String),
    /// The user asked to stop.
    #[error(
        "interrupted; complete warehouses are kept, and the same command loads the remaining ones"
    )]
    Interrupted,
}
