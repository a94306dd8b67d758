//! Order-entry workload derived from TPC-C 5.11: database, loader and consistency checks.
//!
//! Results are not comparable with published ones. The nine tables and their columns have the specification's names, so
//! that anybody's SQL works on them.
//!
//! * [`initial_rows`]: rows of a fresh database, a pure function of seed and warehouse.
//! * [`mod@load`]: parallel loader by warehouse, which resumes where it stopped.
//! * [`mod@check`]: the twelve consistency conditions and the row counts.
//! * [`mod@renew`]: brings the database to its initial state in the fastest way.
//! * [`mod@restore`]: restores the initial rows.
//! * [`metadata`]: what is loaded, and whether transactions have run since.
//! * [`terminal`] and [`mix`]: the users, their transactions and their pauses.
//! * [`executor`]: execution of the transactions, in an event loop or on a thread.
//! * [`procedures`]: the same transactions as stored procedures.
//! * [`work`]: the users as clients.
//! * [`step`] and [`mod@measure`]: the plan's table and the points.
//! * [`account`] and [`mod@audit`]: counts of transactions, and checks of the inputs against the specification.
//! * [`commit_log`] and [`mod@reconcile`]: the external log of acknowledged transactions, and its comparison with the
//!   tables.

#![forbid(unsafe_code)]

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

/// Foreign keys can be in force while tables are filled in this order.
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
/// Some 10 TB.
pub const WAREHOUSES_MAX: u32 = 100_000;
pub const JOBS_MAX: u32 = 256;

pub type Result<T> = std::result::Result<T, OltpError>;

#[derive(Debug, thiserror::Error)]
pub enum OltpError {
    #[error(transparent)]
    Target(#[from] engine::TargetError),
    #[error(
        "the order-entry workload does not run on {engine}: it needs tables, keys and transactions of many \
         small statements; it runs on {known}"
    )]
    Engine { engine: String, known: String },
    #[error("{0} cannot add foreign keys to existing tables; load without foreign keys")]
    ForeignKeys(String),
    #[error("{0} has no stored procedures for the transactions; set statements = \"client\"")]
    Procedures(String),
    #[error("the library's transactions for {engine} cannot be used: {what}")]
    Transactions { engine: String, what: String },
    #[error(transparent)]
    CommitLog(#[from] CommitLogError),
    #[error("there is no order-entry database here; load one first")]
    Absent,
    #[error(
        "the order-entry database is incomplete: {done} of {warehouses} warehouses are loaded, {missing}; resume \
         its load with seed {seed}"
    )]
    NotWhole {
        done: u32,
        warehouses: u32,
        missing: String,
        seed: u64,
    },
    #[error(
        "an order-entry database of {warehouses} warehouses is already loaded here; keep it, or replace it"
    )]
    Present { warehouses: u32 },
    #[error(
        "the order-entry database here differs in {what}: {there} instead of {requested}; request the one that is \
         loaded, or replace it"
    )]
    Other {
        what: &'static str,
        there: String,
        requested: String,
    },
    #[error(
        "the order-entry database here is not of this plan, and transactions have run on it since its load, which a load \
         step would undo; restore it yourself, or use another database"
    )]
    Used,
    #[error(
        "this database holds the tables of the analytical workload, and some have the same names; use another \
         database, or drop them"
    )]
    Rival,
    #[error(
        "table {table} does not say what is loaded ({what}) because it was changed; replace the database"
    )]
    Metadata { table: &'static str, what: String },
    #[error(
        "table {table} holds {found} rows after the load instead of {right}; load again and replace the database"
    )]
    Rows {
        table: &'static str,
        found: u64,
        right: u64,
    },
    #[error(
        "the restored copy does not match its label ({0}); load again and replace the database"
    )]
    Copy(String),
    #[error(
        "interrupted; complete warehouses are kept, and the same command loads the remaining ones"
    )]
    Interrupted,
}

impl OltpError {
    /// The end of a measurement that it means, or the error itself if it is a finding about the target.
    pub fn ended(self) -> std::result::Result<lab::Measured, Self> {
        match self {
            Self::Interrupted => Ok(lab::Measured::Interrupted),
            Self::Target(error) if error.kind != engine::ErrorKind::Statement => {
                Ok(lab::Measured::Broken(error.message))
            }
            // The database would still be missing at the next point.
            Self::Absent | Self::NotWhole { .. } | Self::Other { .. } | Self::Used => {
                Ok(lab::Measured::NotLoaded(Box::new(self)))
            }
            error => Err(error),
        }
    }
}
