//! How hard tables are compressed that lie in memory by columns.

use std::fmt;
use std::str::FromStr;

/// How hard the columns are compressed. The classes are those that measurement bears out; each is what the
/// engine really does for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    None,
    /// Numbers and days are packed, texts are as they are.
    QueryLow,
    /// Texts as well, by a dictionary and by symbols.
    QueryHigh,
    /// Everything, and then by a general compressor, fast.
    CapacityLow,
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

    pub fn meaning(self) -> &'static str {
        match self {
            Level::None => "uncompressed columns",
            Level::QueryLow => "numbers and dates packed, texts uncompressed",
            Level::QueryHigh => "numbers packed, texts with dictionary and FSST compression",
            Level::CapacityLow => "Parquet with zstd 1 in memory",
            Level::CapacityHigh => "Parquet with zstd 9 in memory",
        }
    }

    /// True if rows of its tables can be replaced one by one for as long as it takes: those of files cannot.
    pub fn follows(self) -> bool {
        self.zstd().is_none()
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

/// How rows are put into a group of a Parquet file, for [`crate::Store::encoded_bytes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Encoded column by column: what packing and dictionaries make of them.
    Plain,
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
            format!("unknown level \"{text}\"; the levels are {known}")
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
