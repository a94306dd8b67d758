//! The shape of a reference file, as `serde` reads it. Unknown fields are errors.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub title: String,
    pub document: String,
    #[serde(default)]
    pub column: Vec<Column>,
    #[serde(default)]
    pub platform: Vec<Section>,
    #[serde(default)]
    pub settings: Vec<Section>,
    #[serde(default)]
    pub results: Vec<Results>,
    #[serde(default)]
    pub stated: Vec<StatedGroup>,
    #[serde(default)]
    pub table: Vec<Table>,
    #[serde(default)]
    pub chart: Vec<Chart>,
    #[serde(default)]
    pub remark: Vec<Remark>,
}

/// One column of all result rows of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub printed: String,
    /// "nodes", "jobs", "threads" or the name of a figure; absent = as printed only.
    pub is: Option<String>,
    /// Multiplier from the printed value to the figure's unit.
    #[serde(default = "one")]
    pub factor: f64,
}

fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Results {
    pub test: String,
    pub title: String,
    pub place: String,
    pub note: Option<String>,
    /// The figure that the service times at the points are, in ms.
    pub service_is: Option<String>,
    #[serde(default)]
    pub zero_means: BTreeMap<String, String>,
    pub rows: Vec<ResultRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ResultRow {
    pub row: Vec<f64>,
    #[serde(default)]
    pub service: Vec<String>,
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    pub title: String,
    pub place: String,
    pub note: Option<String>,
    pub facts: Vec<Fact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fact {
    pub name: String,
    pub value: String,
    #[serde(default)]
    pub is: Vec<String>,
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatedGroup {
    pub kind: String,
    pub place: String,
    pub figures: Vec<Stated>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stated {
    pub name: String,
    pub test: Option<String>,
    pub value: f64,
    /// Needed only where the text differs from the number.
    pub printed: Option<String>,
    #[serde(default)]
    pub unit: String,
    pub is: Option<String>,
    #[serde(default = "one")]
    pub factor: f64,
    /// Degree of parallelism that it was stated for; absent = the best.
    pub dop: Option<u32>,
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub kind: String,
    pub title: String,
    pub test: Option<String>,
    pub place: String,
    pub note: Option<String>,
    pub columns: Vec<String>,
    pub rows: Vec<TableRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableRow {
    pub row: Vec<Cell>,
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Cell {
    Number(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chart {
    pub title: String,
    pub place: String,
    pub note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Remark {
    pub note: String,
    pub place: String,
}
