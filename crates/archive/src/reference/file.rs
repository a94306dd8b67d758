//! The shape of a reference file, as `serde` reads it. Unknown fields are errors.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::published::{FactSection, PublishedChart, PublishedTable, Remark, StatedFigure, one};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub title: String,
    pub document: String,
    #[serde(default)]
    pub column: Vec<Column>,
    #[serde(default)]
    pub platform: Vec<FactSection>,
    #[serde(default)]
    pub settings: Vec<FactSection>,
    #[serde(default)]
    pub results: Vec<Results>,
    #[serde(default)]
    pub stated: Vec<StatedGroup>,
    #[serde(default)]
    pub table: Vec<PublishedTable>,
    #[serde(default)]
    pub chart: Vec<PublishedChart>,
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
pub(super) struct StatedGroup {
    pub kind: String,
    pub place: String,
    pub figures: Vec<StatedFigure>,
}
