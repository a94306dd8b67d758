//! Published figures of other platforms (`reference/*.toml`, one file per platform, each with its source).

use std::collections::BTreeMap;

use crate::Figures;

/// Facts by section, in the order of the document: (section, [(name, value)]).
pub type PlatformFacts = Vec<(String, Vec<(String, String)>)>;

/// A platform whose figures somebody published.
#[derive(Debug, Clone, PartialEq)]
pub struct Reference {
    /// Name used as `ref:NAME`.
    pub name: String,
    /// Column title in a scorecard, e.g. "HP DL980 + Violin VMA 3205".
    pub title: String,
    /// Document, with author and year.
    pub document: String,
    /// Facts of the platform as stated there: section → (name, value).
    pub platform: PlatformFacts,
    /// Published result rows, converted to the units of [`Figures`].
    pub points: Vec<ReferencePoint>,
    /// Single published figures that belong to no result row.
    pub stated: Vec<StatedFigure>,
}

/// One published result row.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencePoint {
    /// Test code.
    pub test: String,
    /// Nodes (#N).
    pub nodes: u32,
    /// Jobs (#J).
    pub jobs: u32,
    /// Threads in a job (#T).
    pub threads: u32,
    /// The row in dbdyno's names and units.
    pub figures: Figures,
    /// Mean service time where it was published, ms.
    pub service_ms_mean: Option<f64>,
    /// The figures exactly as printed, under the document's own column names.
    pub printed: BTreeMap<String, f64>,
    /// Where it stands, e.g. "slide 13".
    pub place: String,
    /// A contradiction or a doubt, recorded beside the figure.
    pub note: Option<String>,
}

/// One published figure outside the result tables.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedFigure {
    /// What it says, e.g. "OLTP insert transaction, throughput".
    pub name: String,
    /// Test code where there is one.
    pub test: Option<String>,
    /// Value as printed.
    pub value: f64,
    /// Unit as printed.
    pub unit: String,
    /// Where it stands.
    pub place: String,
    /// A contradiction or a doubt, recorded beside the figure.
    pub note: Option<String>,
}
