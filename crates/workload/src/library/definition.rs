//! The format of a test's TOML file.

use std::collections::BTreeMap;
use std::sync::Arc;

use archive::{CacheState, Component};
use serde::Deserialize;

use crate::expectation::Expectation;
use crate::script::Script;

/// A test as its file says it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Code, e.g. "T611".
    pub code: String,
    /// Title in tables and reports.
    pub title: String,
    /// What it measures and what a reader should know.
    pub about: String,
    /// Part of the platform that it loads.
    pub component: Component,
    /// True when the code stands in the published reports.
    pub published: bool,
    /// Importance for the two kinds of systems.
    pub importance: Importance,
    /// Features the target must have, by name.
    #[serde(default)]
    pub needs: Vec<String>,
    pub sweep: Sweep,
    #[serde(default)]
    pub writes: bool,
    /// Whether an operation is a query, so that queries per minute apply.
    #[serde(default)]
    pub queries: bool,
    /// Where the data are meant to come from.
    pub cache: Cache,
    /// True when the figure cannot be compared between engines, with the reason in `about`.
    #[serde(default)]
    pub engine_specific: bool,
    /// The test whose SQL and stored code this one uses; its own when nothing is said.
    #[serde(default)]
    pub sql_of: Option<String>,
    pub exercise: Kind,
    pub work: Work,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Importance {
    pub oltp: Weight,
    pub warehouse: Weight,
}

/// Three degrees of importance, as in the published library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    Less,
    Important,
    Very,
}

impl Definition {
    /// Whether the test writes to the database at all: an index is built without changing a row.
    pub fn leaves_traces(&self) -> bool {
        self.writes || matches!(self.exercise, Kind::CreateIndex { .. })
    }
}

impl Weight {
    pub fn name(self) -> &'static str {
        match self {
            Self::Less => "less important",
            Self::Important => "important",
            Self::Very => "very important",
        }
    }
}

/// What is swept from point to point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sweep {
    /// Jobs: 1, 2, 4 … 4 × cores.
    Jobs,
    /// Threads inside one statement: 1, 2, 4 … cores.
    Threads,
    One,
}

/// Where the data are meant to come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// From memory; the table was read just before.
    Warm,
    /// From the device; engine and kernel were made to forget the files.
    Cold,
    Any,
}

impl Cache {
    /// What is said of a point.
    pub fn state(self) -> CacheState {
        match self {
            Self::Warm => CacheState::Warm,
            Self::Cold => CacheState::Cold,
            Self::Any => CacheState::AsItComes,
        }
    }
}

/// One of the three tables a test works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Table {
    /// Fits into the engine's cache.
    Small,
    /// Larger than the engine's cache; read only.
    Large,
    /// For transactions that change rows.
    Oltp,
}

impl Table {
    pub const ALL: [Table; 3] = [Self::Small, Self::Large, Self::Oltp];

    /// Its name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "dbdyno_small",
            Self::Large => "dbdyno_large",
            Self::Oltp => "dbdyno_changed",
        }
    }
}

/// How the keys of lookups are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    /// Uniformly from all rows.
    Primary,
    /// Uniformly from all secondary keys.
    Secondary,
    /// One row of every block of rows in random order, each block once over all jobs.
    EachBlockOnce,
}

/// What a job does; the parameters of an exercise.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// One statement that computes something; `passes` loop passes each, giving `answer`.
    Expression {
        /// Bound to the statement's only parameter.
        parameter: i64,
        /// Operations that one statement counts for.
        passes: u64,
        /// The one integer it must return.
        answer: i64,
        /// What is computed instead in every size but the published one, which takes long.
        #[serde(default)]
        smaller: Option<Computation>,
    },
    Lookup {
        table: Table,
        keys: Keys,
        /// Rows that surely fill a block of the engine, for [`Keys::EachBlockOnce`].
        #[serde(default)]
        rows_per_block: Option<u64>,
        /// The same for engines whose blocks are larger.
        #[serde(default)]
        rows_per_block_on: BTreeMap<String, u64>,
        /// Whether the lookups of an operation are one transaction.
        #[serde(default)]
        transaction: bool,
    },
    /// A query over whole tables.
    Query { table: Table, answer: Expectation },
    /// Transactions that update rows by primary key.
    Update {
        table: Table,
        /// Whether writing the changes to the data files belongs to the timing.
        checkpoint: bool,
    },
    /// Transactions that insert rows into an empty table.
    Insert {},
    /// One transaction per operation that loads many rows into an empty table.
    BulkLoad {
        /// Whether the table is stored compressed.
        compressed: bool,
    },
    /// Transactions that append one incompressible block of 1 MiB each.
    BlobWrite {},
    /// I/Os below the database, on a file beside its data.
    Below {
        /// Parameters of a WD, as vdbench writes them.
        workload: String,
        /// Size of the file, MiB.
        file_mib: u64,
        /// Seconds that count, where the plan says nothing else.
        seconds: u32,
    },
    /// The transactions of a script, which no file of the library can be.
    #[serde(skip)]
    Script(Arc<Script>),
    /// Creates an index over a table, and drops it after it was checked.
    CreateIndex { table: Table },
    /// Creates tables from the rows of another, and drops them after they were compared with it.
    CreateTableAs { table: Table },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Computation {
    /// Bound to the statement's only parameter.
    pub parameter: i64,
    /// Operations that one statement counts for.
    pub passes: u64,
    /// The one integer it must return.
    pub answer: i64,
}

impl Kind {
    /// Whether it works on tables; a statement that only computes does not, nor do I/Os below the database.
    pub fn uses_tables(&self) -> bool {
        !matches!(self, Self::Expression { .. } | Self::Below { .. })
    }

    /// Whether it makes tables without a primary key.
    pub fn makes_keyless_tables(&self) -> bool {
        matches!(
            self,
            Self::BulkLoad { .. } | Self::BlobWrite { .. } | Self::CreateTableAs { .. }
        )
    }

    /// Operations that a statement which computes counts for at a size; 1 of everything else.
    pub fn passes(&self, is_published: bool) -> u64 {
        match self {
            Self::Expression {
                smaller: Some(smaller),
                ..
            } if !is_published => smaller.passes,
            Self::Expression { passes, .. } => *passes,
            _ => 1,
        }
    }

    /// Whether no database takes part.
    pub fn is_below_database(&self) -> bool {
        matches!(self, Self::Below { .. })
    }

    /// Whether an operation works on all rows of a table, and so grows with it.
    pub fn uses_a_whole_table(&self) -> bool {
        matches!(
            self,
            Self::Query { .. } | Self::CreateIndex { .. } | Self::CreateTableAs { .. }
        )
    }
}

/// How much a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    /// Operations per job.
    pub operations: u64,
    /// Rows per operation, where that is a choice.
    #[serde(default = "one")]
    pub rows: u64,
}

fn one() -> u64 {
    1
}

/// Amounts of the size classes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The class `quick`; the classes between are multiples of it.
    pub quick: Amount,
    /// `quick` for engines that are far faster or slower than the others.
    #[serde(default)]
    pub quick_on: BTreeMap<String, Amount>,
    pub published: Amount,
    /// Part of the operations done before as ramp-up, unrecorded.
    #[serde(default)]
    pub ramp_up: f64,
}

/// A size class: rows of the tables and the multiple of the `quick` amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// Multiple of the `quick` amounts; 0 stands for the published ones.
    pub factor: u64,
    /// Rows of the small table.
    pub small: u64,
    /// Rows of the large table.
    pub large: u64,
    /// Rows of the table of transactions.
    pub oltp: u64,
}

impl SizeClass {
    /// Whether it is that of the published evaluations.
    pub fn is_published(&self) -> bool {
        self.factor == 0
    }

    /// Rows of a table in this class.
    pub fn rows(&self, table: Table) -> u64 {
        match table {
            Table::Small => self.small,
            Table::Large => self.large,
            Table::Oltp => self.oltp,
        }
    }
}
