//! Features that SQLite lacks, with reasons.

use engine::Feature;

/// The reason, for a database in memory or in a file.
pub fn lacks(in_memory: bool, feature: Feature) -> Option<String> {
    match feature {
        Feature::Tables | Feature::KeylessTables | Feature::SmallTransactions => None,
        Feature::Storage | Feature::ColdCache | Feature::RandomBlockRead => {
            in_memory.then(|| "this database is in memory and has no storage".into())
        }
        Feature::Compression => Some("SQLite stores rows uncompressed".into()),
        Feature::ConcurrentWriters => {
            Some("SQLite has one writer at a time: more jobs would only wait".into())
        }
        Feature::ParallelStatement => Some("SQLite runs each statement on one thread".into()),
        Feature::ProceduralLanguage => Some("SQLite has no procedural language".into()),
    }
}
