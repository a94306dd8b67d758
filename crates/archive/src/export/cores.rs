//! Spare cores, as exports have them.

use schemars::JsonSchema;
use serde::Serialize;

/// Cores that a level of a target could do without (docs/FORMAT.md, Spare cores).
#[derive(Debug, Serialize, JsonSchema)]
pub struct SpareCores {
    /// Name of the target.
    pub target: String,
    /// Test with this level.
    pub test: String,
    /// "supported": the most users within the response-time limit; "best": the level with the highest throughput.
    #[schemars(extend("enum" = ["supported", "best"]))]
    pub level: &'static str,
    /// Jobs or users of the level.
    pub jobs: u32,
    /// Threads of each job.
    pub threads: u32,
    /// Physical cores of the host.
    pub cores: u32,
    /// Hardware threads of a core.
    pub threads_per_core: f64,
    /// Valid repetitions of the level.
    pub repetitions: usize,
    /// Cores busy without those of other programs, median of the repetitions.
    pub busy_cores: f64,
    /// … lowest.
    pub busy_cores_low: f64,
    /// … highest.
    pub busy_cores_high: f64,
    /// Cores used by the database alone, median.
    pub busy_cores_by_database: Option<f64>,
    /// Cores used by other programs, median.
    pub busy_cores_by_others: Option<f64>,
    /// True if the processors were saturated: the load may need more cores than the host has.
    pub saturated: bool,
    /// Share of the needed cores that stays idle on average.
    pub headroom_pct: f64,
    /// Cores that are enough by the measured use.
    pub cores_needed_by_use: u32,
    /// Cores that are enough for this many threads at once.
    pub cores_needed_by_threads: Option<u32>,
    /// The larger of both, at most all; all if the processors were saturated.
    pub cores_needed: u32,
    /// Cores that can be removed.
    pub spare_cores: u32,
    /// Amounts that they save; null without prices.
    pub saved: Option<Saved>,
    /// Why it is unknown how much they save.
    pub saved_unknown: Option<String>,
}

/// Amounts that fewer cores save.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Saved {
    /// Currency of the prices.
    pub currency: String,
    /// Years for which yearly prices count.
    pub term_years: Option<f64>,
    pub items: Vec<SavedItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SavedItem {
    /// Name of the part.
    pub part: String,
    /// Number saved.
    pub fewer: f64,
    /// List price saved.
    pub list: f64,
    /// Net price saved.
    pub net: f64,
}
