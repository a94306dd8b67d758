//! Published figures of a platform.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Figures;

/// Facts by section, in the order of the document: (section, [(name, value)]).
pub type PlatformFacts = Vec<(String, Vec<(String, String)>)>;

/// A platform (or a study of one) with published figures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reference {
    /// Name used as `ref:NAME`: the stem of its file.
    pub name: String,
    /// Column title in a scorecard, e.g. "HP DL980 + Violin VMA 3205".
    pub title: String,
    /// Document, with author and year.
    pub document: String,
    /// Facts of the platform as stated there, without places and notes: section → (name, value).
    pub platform: PlatformFacts,
    /// Names of the columns of its result rows, in the order of the document.
    pub columns: Vec<String>,
    /// Published result rows, converted to the units of [`Figures`].
    pub points: Vec<ReferencePoint>,
    /// Single published figures that belong to no result row.
    pub stated: Vec<StatedFigure>,
    /// The result tables that `points` come from: title, place and how their zeros are read.
    pub result_tables: Vec<ResultTable>,
    /// Every section of facts with its place and notes: the platform and the appendices with settings.
    pub sections: Vec<FactSection>,
    /// Published tables that are not result rows (events, sizes, parameters, bills of material).
    pub tables: Vec<PublishedTable>,
    /// Charts without numbers, listed so that their figures are not missed.
    pub charts: Vec<PublishedChart>,
    /// Contradictions and doubts that belong to no single figure.
    pub remarks: Vec<Remark>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReferencePoint {
    pub test: String,
    pub nodes: u32,
    pub jobs: u32,
    /// Threads in a job (#T).
    pub threads: u32,
    /// The row in dbdyno's names and units.
    pub figures: Figures,
    /// Mean service time where it was published as a value, ms. A label such as "< 500 µs" gives none.
    pub service_ms_mean: Option<f64>,
    /// Service times printed at this point of the chart, the first one being that of the test.
    pub service_labels: Vec<ServiceLabel>,
    /// The figures exactly as printed, under the document's own column names.
    pub printed: BTreeMap<String, f64>,
    /// Where it stands, e.g. "slide 13".
    pub place: String,
    /// A contradiction or a doubt.
    pub note: Option<String>,
}

/// A service time printed at a point of a chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServiceLabel {
    /// As printed, e.g. "DBWR < 500 µs".
    pub printed: String,
    /// Process, if the label names it, e.g. "DBWR".
    pub of: Option<String>,
    /// The value (or the bound), ms.
    pub ms: f64,
    /// True when the label prints an upper bound ("<") and not a value.
    pub upper_bound: bool,
}

/// Figures that are made of those of a sweep: by how many percent the best level beyond the cores exceeds that with one job
/// per core, mean service time, and how much one read or write of a device carries.
pub const DERIVED: [&str; 4] = [
    "multithreading_gain_pct",
    "service_us_mean",
    "bytes_per_read",
    "bytes_per_write",
];

/// One published figure outside the result tables.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatedFigure {
    /// E.g. "scorecard", "claim", "distribution", "price".
    #[serde(skip)]
    pub kind: String,
    /// E.g. "OLTP insert transaction, throughput".
    pub name: String,
    pub test: Option<String>,
    pub value: f64,
    /// Value as printed, as a text: keeps "< 5" and "290’00".
    #[serde(default)]
    pub printed: String,
    /// Unit as printed; empty for a count without one.
    #[serde(default)]
    pub unit: String,
    /// The figure of a measured test to compare it with: a name of [`Figures`], or one of [`DERIVED`].
    pub is: Option<String>,
    /// Multiplier from that figure to the printed unit.
    #[serde(default = "one")]
    pub factor: f64,
    /// Degree of parallelism that it was stated for; `None` = the best.
    pub dop: Option<u32>,
    #[serde(skip)]
    pub place: String,
    pub note: Option<String>,
}

/// A table of result rows, without its rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultTable {
    pub test: String,
    pub title: String,
    pub place: String,
    pub note: Option<String>,
    /// The figure that the service times printed at its points are, in ms.
    pub service_is: Option<String>,
    /// Columns in which a printed 0 is no measurement, each with what it means there.
    pub zero_means: BTreeMap<String, String>,
}

pub(super) fn one() -> f64 {
    1.0
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FactKind {
    #[default]
    Platform,
    Settings,
}

/// Facts stated together in one place.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactSection {
    #[serde(skip)]
    pub kind: FactKind,
    pub title: String,
    pub place: String,
    pub note: Option<String>,
    /// The facts in the order of the document; a name may repeat.
    pub facts: Vec<Fact>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    pub name: String,
    /// Value as printed; "-" where the document prints a dash.
    pub value: String,
    /// Facts of a measured platform to compare it with, of which the first known one counts: a fact that dbdyno finds, or with
    /// a dot a field of the platform file.
    #[serde(default)]
    pub is: Vec<String>,
    pub note: Option<String>,
}

/// A published table that is not made of result rows.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// E.g. "events", "sizes", "parameters".
    pub kind: String,
    pub title: String,
    pub test: Option<String>,
    pub place: String,
    pub note: Option<String>,
    pub columns: Vec<String>,
    pub rows: Vec<PublishedRow>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    #[serde(rename = "row")]
    pub cells: Vec<Cell>,
    pub note: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "Printed")]
pub enum Cell {
    Empty,
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Printed {
    Number(f64),
    Text(String),
}

impl From<Printed> for Cell {
    fn from(printed: Printed) -> Self {
        match printed {
            Printed::Number(value) => Self::Number(value),
            Printed::Text(text) if text.is_empty() => Self::Empty,
            Printed::Text(text) => Self::Text(text),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedChart {
    pub title: String,
    pub place: String,
    pub note: Option<String>,
}

/// A contradiction or a doubt that belongs to no single figure.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remark {
    pub note: String,
    pub place: String,
}
