//! An analytical workload derived from TPC-H 2.17.1: its database, its loader, 22 queries and their answers.
//!
//! Derived, not the same: results are not comparable with published ones. The eight tables and their
//! columns bear the specification's names, so that anybody's SQL can ask them.
//!
//! * [`scale`]: how large the database is.
//! * [`rows`]: every row of it, straight from the generator.
//! * [`mod@load`]: brings them into a target, in parallel, with keys and statistics.
//! * [`metadata`]: what is loaded.
//! * [`query`] and [`parameters`]: the queries, and what is put into them.
//! * [`answer`] and [`mod@reference`]: whether an answer is right.
//! * [`refresh`] and [`undo_refreshes`]: orders that come and go, and the rows of before.
//! * [`mod@check`]: row counts and all answers of a database.
//! * [`order`]: in which order each stream asks.
//! * [`step`] and [`mod@measure`]: what a plan says of it, and the points of it.
//! * [`work`]: streams of queries at work, for whoever drives them.

pub mod answer;
pub mod answers;
pub mod check;
mod clients;
pub mod load;
pub mod measure;
pub mod metadata;
pub mod order;
pub mod parameters;
pub mod query;
pub mod reference;
pub mod refresh;
mod restore;
mod resume;
pub mod rows;
pub mod scale;
pub mod step;
pub mod work;

pub use answer::{Answer, Right};
pub use check::{Checked, Finding, Verdict, check};
pub use load::{LoadOptions, Loaded, drop_all, load};
pub use metadata::Metadata;
pub use parameters::{Parameters, Source};
pub use query::{Query, fingerprint, obstacle, queries};
pub use refresh::Function;
pub use restore::undo_refreshes;
pub use scale::Scale;

/// The tables in the order in which they can be filled with foreign keys in force.
pub const TABLES: [&str; 8] = [
    "region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem",
];
pub const QUERIES: u32 = 22;
/// Most sessions of a load.
pub const JOBS_MAX: u32 = 256;

pub type Result<T> = std::result::Result<T, OlapError>;

/// What can go wrong with the analytical database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OlapError {
    #[error(transparent)]
    Target(#[from] target::TargetError),
    /// The engine has no tables for it.
    #[error("the analytical workload does not run on {engine}; it runs on {known}")]
    Engine {
        engine: String,
        /// Those that it runs on.
        known: String,
    },
    /// A file of the library is wrong.
    #[error("the library's analytical queries cannot be used: {0}")]
    Library(String),
    /// There is no database to work with.
    #[error("there is no analytical database here; load one first")]
    Absent,
    /// The load was not finished.
    #[error(
        "the analytical database of scale {scale} is incomplete because its load was interrupted; load scale \
         {scale} again to complete it"
    )]
    NotWhole { scale: Scale },
    /// A refresh that was broken off has changed rows.
    #[error(
        "a refresh was interrupted and left changed rows in the analytical database; load scale {scale} again to \
         restore them"
    )]
    Refreshed { scale: Scale },
    #[error("the refresh failed: {0}")]
    Refresh(String),
    /// What was put back is not what was there.
    #[error(
        "the rows were restored after a refresh, but {what} is {found} instead of {right}; replace the database"
    )]
    NotPutBack {
        what: String,
        found: String,
        /// What it was before the refresh.
        right: String,
    },
    /// A database is there, and it is whole.
    #[error(
        "an analytical database of scale {scale} is already loaded here; keep it, or replace it"
    )]
    Present { scale: Scale },
    /// A database is there, and it is another one.
    #[error(
        "the analytical database here differs in {what}: {there} instead of {asked}; request the one that is \
         loaded, or replace it"
    )]
    Other {
        what: &'static str,
        there: String,
        asked: String,
    },
    /// Tables of the other workload are here, and some of both have the same names.
    #[error(
        "this database holds the tables of the order-entry workload, and some have the same names; use another \
         database, or drop them"
    )]
    Rival,
    /// The metadata make no sense.
    #[error(
        "table dbdyno_olap does not say what is loaded ({0}) because it was changed; replace the database"
    )]
    Metadata(String),
    /// The target does not hold what was sent to it.
    #[error(
        "table {table} holds {found} rows after the load instead of {right}; load again and replace the database"
    )]
    Rows {
        table: &'static str,
        found: u64,
        right: u64,
    },
    /// The user asked to stop.
    #[error("interrupted; the database is incomplete, and the same command completes it")]
    Interrupted,
}
