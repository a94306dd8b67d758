//! Analytical workload derived from TPC-H 2.17.1: database, loader, 22 queries and their answers.
//!
//! Results are not comparable with published ones. The eight tables and their columns have the specification's names,
//! so that anybody's SQL works on them.
//!
//! * [`scale`]: size of the database.
//! * [`rows`]: its rows, straight from the generator.
//! * [`mod@load`]: parallel loader, with keys and statistics.
//! * [`metadata`]: what is loaded.
//! * [`query`] and [`parameters`]: the queries and their parameters.
//! * [`answer`] and [`mod@reference`]: comparison of answers.
//! * [`refresh`] and [`undo_refreshes`]: the refresh functions, and the restore of the loaded rows.
//! * [`mod@check`]: row counts and all answers of a database.
//! * [`order`]: order of the queries in each stream.
//! * [`step`] and [`mod@measure`]: the plan's table and the points.
//! * [`work`]: clients that execute streams of queries.

#![forbid(unsafe_code)]

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

/// Foreign keys can be in force while tables are filled in this order.
pub const TABLES: [&str; 8] = [
    "region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem",
];
pub const QUERIES: u32 = 22;
pub const JOBS_MAX: u32 = 256;

pub type Result<T> = std::result::Result<T, OlapError>;

#[derive(Debug, Clone, thiserror::Error)]
pub enum OlapError {
    #[error(transparent)]
    Target(#[from] engine::TargetError),
    #[error("the analytical workload does not run on {engine}; it runs on {known}")]
    Engine { engine: String, known: String },
    #[error("the library's analytical queries cannot be used: {0}")]
    Library(String),
    #[error("there is no analytical database here; load one first")]
    Absent,
    #[error(
        "the analytical database of scale {scale} is incomplete because its load was interrupted; load scale \
         {scale} again to complete it"
    )]
    NotWhole { scale: Scale },
    #[error(
        "a refresh was interrupted and left changed rows in the analytical database; load scale {scale} again to \
         restore them"
    )]
    Refreshed { scale: Scale },
    #[error("the refresh failed: {0}")]
    Refresh(String),
    #[error(
        "the rows were restored after a refresh, but {what} is {found} instead of {right}; replace the database"
    )]
    NotPutBack {
        what: String,
        found: String,
        right: String,
    },
    #[error(
        "an analytical database of scale {scale} is already loaded here; keep it, or replace it"
    )]
    Present { scale: Scale },
    #[error(
        "the analytical database here differs in {what}: {there} instead of {requested}; request the one that is \
         loaded, or replace it"
    )]
    Other {
        what: &'static str,
        there: String,
        requested: String,
    },
    #[error(
        "this database holds the tables of the order-entry workload, and some have the same names; use another \
         database, or drop them"
    )]
    Rival,
    #[error(
        "table dbdyno_olap does not say what is loaded ({0}) because it was changed; replace the database"
    )]
    Metadata(String),
    #[error(
        "table {table} holds {found} rows after the load instead of {right}; load again and replace the database"
    )]
    Rows {
        table: &'static str,
        found: u64,
        right: u64,
    },
    #[error("interrupted; the database is incomplete, and the same command completes it")]
    Interrupted,
}
