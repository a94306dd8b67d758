//! Features that a test may need of an engine.

/// A thing that a test needs and an engine may lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Holds tables at all; needed by every test that does more than compute.
    Tables,
    /// Keeps its data in files on a device, so that storage can be measured through it.
    Storage,
    /// Can be made to forget its cache and the kernel's, so that reads reach the device.
    ColdCache,
    /// Reads single small blocks at random places.
    RandomBlockRead,
    /// Stores a table compressed on request.
    Compression,
    /// Lets several sessions write at the same time.
    ConcurrentWriters,
    /// Runs one statement on several threads, with a degree that can be set.
    ParallelStatement,
    /// Has a procedural language inside the server.
    ProceduralLanguage,
    /// Is made for small transactions of many users on the same rows.
    SmallTransactions,
    /// Keeps tables without a primary key.
    KeylessTables,
}

impl Feature {
    /// Every feature with the name used in the library's files.
    pub const NAMED: [(&'static str, Feature); 10] = [
        ("tables", Feature::Tables),
        ("storage", Feature::Storage),
        ("cold_cache", Feature::ColdCache),
        ("random_block_read", Feature::RandomBlockRead),
        ("compression", Feature::Compression),
        ("concurrent_writers", Feature::ConcurrentWriters),
        ("parallel_statement", Feature::ParallelStatement),
        ("procedural_language", Feature::ProceduralLanguage),
        ("small_transactions", Feature::SmallTransactions),
        ("keyless_tables", Feature::KeylessTables),
    ];

    /// Its name in a library file.
    pub fn name(self) -> &'static str {
        let named = Self::NAMED.iter().find(|(_, feature)| *feature == self);
        named.map_or("", |(name, _)| name)
    }

    /// Its name after "tests that need".
    pub fn words(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Storage => "storage",
            Self::ColdCache => "a cold cache",
            Self::RandomBlockRead => "random reads of small blocks",
            Self::Compression => "compressed tables",
            Self::ConcurrentWriters => "concurrent writers",
            Self::ParallelStatement => "parallel statements",
            Self::ProceduralLanguage => "a procedural language",
            Self::SmallTransactions => "small transactions of many users",
            Self::KeylessTables => "tables without a primary key",
        }
    }

    /// The feature called `name` in a library file.
    pub fn named(name: &str) -> Option<Feature> {
        Self::NAMED
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, f)| *f)
    }
}
