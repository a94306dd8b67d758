//! JSON: the whole run, each point one flat row.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::{Map, Value};

use super::SpareCores;
use super::rows::{MissingRow, PointRow, RunRow};
use crate::store::finite::finite;
use crate::{Graded, Inventory, Platform, Point, Run, TargetRecord};

/// Value of `schema` in every export; the number changes when a reader would have to change.
pub const SCHEMA_NAME: &str = "dbdyno-result/2";

/// Writes an export as pretty-printed JSON with a line end, one point after the other.
///
/// # Errors
/// As writing.
pub fn write_json(exported: &Exported<'_>, mut to: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut to, exported)?;
    to.write_all(b"\n")
}

pub fn json_text(run: &Run) -> String {
    let mut text = Vec::new();
    write_json(&Exported::of(run), &mut text)
        .expect("a Vec takes everything, and names and values are strings and finite numbers");
    String::from_utf8(text).expect("JSON is always valid UTF-8")
}

/// The run as a JSON value; `docs/dbdyno-result.schema.json` describes it.
pub fn json(run: &Run) -> Value {
    serde_json::to_value(Exported::of(run))
        .expect("names and values are strings and finite numbers")
}

/// Unknown values are null, never 0. MB is 10^6 bytes. Times are RFC 3339 in UTC.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(title = "One run of dbdyno")]
pub struct Exported<'a> {
    #[schemars(extend("const" = SCHEMA_NAME))]
    schema: &'static str,
    run: RunRow<'a>,
    /// How far the figures may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub grade: Option<Graded>,
    targets: &'a [TargetRecord],
    platform: &'a Platform,
    inventory: &'a Inventory,
    missing: Vec<MissingRow<'a>>,
    points: Points<'a>,
    /// Cores of the host that each target could do without (docs/FORMAT.md, Spare cores).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(required)]
    pub spare_cores: Option<Vec<SpareCores>>,
    /// With --prices: items, total, and what the figures cost (docs/FORMAT.md, Prices).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Map<String, Value>")]
    pub prices: Option<Value>,
}

impl<'a> Exported<'a> {
    pub fn of(run: &'a Run) -> Self {
        let missing = run.missing.iter();
        Self {
            schema: SCHEMA_NAME,
            run: RunRow::of(run),
            grade: None,
            targets: &run.targets,
            platform: &run.platform,
            inventory: &run.inventory,
            missing: missing
                .map(|missing| MissingRow::of(run, missing))
                .collect(),
            points: Points {
                run,
                has_distributions: true,
                has_device_samples: true,
            },
            spare_cores: None,
            prices: None,
        }
    }

    /// The same without the distributions, which are most of it.
    #[must_use]
    pub fn without_distributions(mut self) -> Self {
        self.points.has_distributions = false;
        self
    }

    /// The same without the samples of devices; the devices stay.
    #[must_use]
    pub fn without_device_samples(mut self) -> Self {
        self.points.has_device_samples = false;
        self
    }
}

/// Converted one at a time: a run of thousands of points would take a multiple of its own memory.
#[derive(Debug, JsonSchema)]
#[schemars(with = "Vec<PointRow>")]
struct Points<'a> {
    run: &'a Run,
    has_distributions: bool,
    has_device_samples: bool,
}

impl Serialize for Points<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut points = serializer.serialize_seq(Some(self.run.points.len()))?;
        for point in &self.run.points {
            let mut point = finite(point);
            if !self.has_device_samples {
                (point.devices.iter_mut()).for_each(|device| device.samples.clear());
            }
            let row = PointRow::of(self.run, &point);
            if self.has_distributions {
                points.serialize_element(&row)?;
            } else {
                let mut fields = map(&row);
                fields.retain(|name, _| !name.ends_with("_histogram"));
                points.serialize_element(&fields)?;
            }
        }
        points.end()
    }
}

/// The row of a point by its names.
pub(super) fn row(run: &Run, point: &Point) -> Map<String, Value> {
    map(&PointRow::of(run, &finite(point)))
}

fn map(row: &PointRow<'_>) -> Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("a row is an object, and its numbers are finite"),
    }
}
