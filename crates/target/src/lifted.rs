//! Tables of another database, lifted into memory by columns.
//!
//! What they lie in is an engine of this crate; callers see levels, a store that is filled, and a target that is
//! asked. It is a copy: the source knows nothing of it, and later changes of the source are not in it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

pub use crate::duckdb::GROUP_ROWS;
pub use crate::duckdb::lifted::{Change, Codec, MEMORY_BYTES_MIN, Store, Writer, available};
use crate::{Result, TargetUrl};

/// A target whose tables are those of another one, lifted.
pub trait Replica {
    /// How hard they are compressed.
    fn level(&self) -> Level;

    /// Memory for them in bytes; as much as is available when nothing was said.
    fn memory_bytes(&self) -> Option<u64>;

    /// Whether there are any.
    fn is_filled(&self) -> bool;

    /// Takes the tables that were lifted; what was there before is gone when its last session is.
    ///
    /// # Errors
    /// What the engine says.
    fn fill(&self, store: Store) -> Result<()>;

    /// What was lifted; `None` where nothing was.
    fn store(&self) -> Option<Arc<Store>>;

    /// Gives the memory of what was there back, as soon as its last session is gone.
    fn empty(&self);
}

/// URLs of targets of these levels, each with so much memory and so many threads.
pub fn urls(levels: &[Level], memory_bytes: Option<u64>, threads: Option<u32>) -> Vec<TargetUrl> {
    let url = |level: &Level| {
        let memory = memory_bytes.map(|bytes| ("memory_limit_mb", (bytes / 1_000_000).to_string()));
        let threads = threads.map(|threads| ("threads", threads.to_string()));
        let settings = memory.into_iter().chain(threads);
        TargetUrl {
            scheme: crate::duckdb::lifted::scheme(*level).to_owned(),
            path: String::new(),
            settings: settings
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
            password: None,
        }
    };
    levels.iter().map(url).collect()
}

/// How hard the columns are compressed. The classes are those that measurement bears out; each is what the
/// engine really does for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// As the values are.
    None,
    /// Numbers and days are packed, texts are as they are.
    QueryLow,
    /// Texts as well, by a dictionary and by symbols.
    QueryHigh,
    /// Everything, and then by a general compressor, fast.
    CapacityLow,
    /// The same, thoroughly.
    CapacityHigh,
}

impl Level {
    /// All of them, from the largest to the smallest.
    pub const ALL: [Level; 5] = [
        Level::None,
        Level::QueryLow,
        Level::QueryHigh,
        Level::CapacityLow,
        Level::CapacityHigh,
    ];

    /// Its name, as in plans and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::QueryLow => "query-low",
            Level::QueryHigh => "query-high",
            Level::CapacityLow => "capacity-low",
            Level::CapacityHigh => "capacity-high",
        }
    }

    /// What it does, in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Level::None => "columns as they are",
            Level::QueryLow => "numbers and days packed, texts as they are",
            Level::QueryHigh => "numbers packed, texts by dictionary and symbols",
            Level::CapacityLow => "Parquet with zstd 1 in memory",
            Level::CapacityHigh => "Parquet with zstd 9 in memory",
        }
    }

    /// The level of the general compressor; `None` where there is none.
    pub(crate) fn zstd(self) -> Option<u32> {
        match self {
            Level::CapacityLow => Some(1),
            Level::CapacityHigh => Some(9),
            _ => None,
        }
    }

    /// Bytes that a table of so many takes at most in the experience of this project: less than that of memory
    /// is refused before anything is read.
    pub fn expected_bytes(self, disk_bytes: u64) -> u64 {
        match self {
            Level::None => disk_bytes + disk_bytes / 10,
            Level::QueryLow => disk_bytes,
            Level::QueryHigh => disk_bytes / 2,
            Level::CapacityLow | Level::CapacityHigh => disk_bytes / 2,
        }
    }
}

/// How rows are put into a group of a Parquet file, for [`Store::encoded_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Encoded column by column: what packing and dictionaries make of them.
    Plain,
    /// Compressed behind that, fast.
    Compressed,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let found = Level::ALL.into_iter().find(|level| level.name() == text);
        found.ok_or_else(|| {
            let known = Level::ALL.map(Level::name).join(", ");
            format!("there is no level \"{text}\"; there are {known}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_names() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        let error = "zstd".parse::<Level>().unwrap_err();
        assert!(error.contains("capacity-high"), "{error}");
    }
}
