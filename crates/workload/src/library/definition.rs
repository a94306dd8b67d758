//! Format of a test's TOML file.

use std::collections::BTreeMap;
use std::sync::Arc;

use archive::{CacheState, Component};
use serde::Deserialize;

use crate::expectation::Expectation;
use crate::script::Script;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// Such as "T611".
    pub code: String,
    pub title: String,
    pub about: String,
    pub component: Component,
    /// True if the published reports use the code.
    pub published: bool,
    pub importance: Importance,
    #[serde(default)]
    pub needs: Vec<String>,
    pub sweep: Sweep,
    #[serde(default)]
    pub writes: bool,
    /// True if an operation is a query, so that queries per minute apply.
    #[serde(default)]
    pub queries: bool,
    pub cache: Cache,
    /// True if the figure cannot be compared between engines; `about` says why.
    #[serde(default)]
    pub engine_specific: bool,
    /// Test whose SQL and stored code this one shares.
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
    /// True if the test writes to the database, even without changing a row, as building an index does.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sweep {
    /// 1, 2, 4 … 4 × cores.
    Jobs,
    /// Threads inside one statement: 1, 2, 4 … cores.
    Threads,
    One,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The table was read just before.
    Warm,
    /// The files were dropped from the caches of engine and kernel.
    Cold,
    Any,
}

impl Cache {
    pub fn state(self) -> CacheState {
        match self {
            Self::Warm => CacheState::Warm,
            Self::Cold => CacheState::Cold,
            Self::Any => CacheState::Uncontrolled,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Table {
    /// Fits into the engine's cache.
    Small,
    /// Larger than the engine's cache; read only.
    Large,
    Oltp,
}

impl Table {
    pub const ALL: [Table; 3] = [Self::Small, Self::Large, Self::Oltp];

    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "dbdyno_small",
            Self::Large => "dbdyno_large",
            Self::Oltp => "dbdyno_changed",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keys {
    Primary,
    Secondary,
    /// One row of every block of rows in random order, each block once over all jobs.
    EachBlockOnce,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kind {
    /// One statement that computes `passes` loop passes and returns `answer`.
    Expression {
        parameter: i64,
        passes: u64,
        answer: i64,
        /// Smaller input for every size but the published one, whose input takes long.
        #[serde(default)]
        smaller: Option<Computation>,
    },
    Lookup {
        table: Table,
        keys: Keys,
        /// Rows that certainly fill a block of the engine, for [`Keys::EachBlockOnce`].
        #[serde(default)]
        rows_per_block: Option<u64>,
        /// Rows for engines with larger blocks.
        #[serde(default)]
        rows_per_block_on: BTreeMap<String, u64>,
        /// True if the lookups of an operation are one transaction.
        #[serde(default)]
        transaction: bool,
    },
    Query {
        table: Table,
        answer: Expectation,
    },
    Update {
        table: Table,
        /// True if the time includes flushing the changes to the data files.
        checkpoint: bool,
    },
    Insert {},
    /// One transaction per operation that loads many rows into an empty table.
    BulkLoad {
        compressed: bool,
    },
    /// Transactions that append one incompressible block of 1 MiB each.
    BlobWrite {},
    /// I/Os below the database, on a file next to its data.
    Below {
        /// Parameters of a WD in vdbench's syntax.
        workload: String,
        file_mib: u64,
        /// Measured seconds unless the plan sets them.
        seconds: u32,
    },
    /// Transactions of a script; no file of the library has this kind.
    #[serde(skip)]
    Script(Arc<Script>),
    /// Creates an index over a table and drops it after a check.
    CreateIndex {
        table: Table,
    },
    /// Creates tables from the rows of another and drops them after a comparison.
    CreateTableAs {
        table: Table,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Computation {
    pub parameter: i64,
    pub passes: u64,
    pub answer: i64,
}

impl Kind {
    /// False for pure computations and for I/Os below the database.
    pub fn uses_tables(&self) -> bool {
        !matches!(self, Self::Expression { .. } | Self::Below { .. })
    }

    pub fn makes_keyless_tables(&self) -> bool {
        matches!(
            self,
            Self::BulkLoad { .. } | Self::BlobWrite { .. } | Self::CreateTableAs { .. }
        )
    }

    pub fn is_below_database(&self) -> bool {
        matches!(self, Self::Below { .. })
    }

    /// True if an operation works on all rows of a table, and so grows with it.
    pub fn uses_a_whole_table(&self) -> bool {
        matches!(
            self,
            Self::Query { .. } | Self::CreateIndex { .. } | Self::CreateTableAs { .. }
        )
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amount {
    pub operations: u64,
    /// Rows per operation, if that is a choice.
    #[serde(default = "one")]
    pub rows: u64,
}

fn one() -> u64 {
    1
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The class `quick`; the classes up to the published one are multiples of it.
    pub quick: Amount,
    /// `quick` for engines that are far faster or slower than the others.
    #[serde(default)]
    pub quick_on: BTreeMap<String, Amount>,
    pub published: Amount,
    /// Unrecorded ramp-up, as a share of the operations.
    #[serde(default)]
    pub ramp_up: f64,
}

/// Size class: rows of the tables and multiple of the `quick` amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// Multiple of the `quick` amounts; 0 stands for the published ones.
    pub factor: u64,
    pub small: u64,
    pub large: u64,
    pub oltp: u64,
}

impl SizeClass {
    pub fn is_published(&self) -> bool {
        self.factor == 0
    }

    pub fn rows(&self, table: Table) -> u64 {
        match table {
            Table::Small => self.small,
            Table::Large => self.large,
            Table::Oltp => self.oltp,
        }
    }
}
