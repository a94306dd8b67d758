//! Features that DuckDB lacks, with reasons.

use engine::Feature;

/// The reason, for a database in memory or in a file.
pub fn lacks(in_memory: bool, feature: Feature) -> Option<String> {
    match feature {
        Feature::Storage | Feature::ColdCache if in_memory => {
            Some("this database is in memory and has no storage".into())
        }
        Feature::RandomBlockRead => Some(
            "DuckDB reads column segments in 256 KiB blocks and cannot do 8 kB random reads".into(),
        ),
        Feature::ProceduralLanguage => Some("DuckDB has no procedural language".into()),
        Feature::SmallTransactions => Some(
            "DuckDB keeps tables by column and lets one of two transactions on the same row fail; order entry is loaded into it \
             for backups alone"
                .into(),
        ),
        Feature::Tables
        | Feature::KeylessTables
        | Feature::Storage
        | Feature::ColdCache
        | Feature::Compression
        | Feature::ConcurrentWriters
        | Feature::ParallelStatement => None,
    }
}
