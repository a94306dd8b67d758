//! Options and sentences that the verbs of populated tables share.

use anyhow::Result;
use archive::Remark;
use columnar::{Chosen, ColumnarError, LeftOut};
use engine::source::Source;
use engines::open_source;
use stats::words::counted;

use crate::arguments::columnar::Wanted;
use crate::exit::InvalidInput;

pub(super) fn source_of(wanted: &Wanted) -> Result<Box<dyn Source>> {
    let url = wanted.from.url()?;
    engines::find(&url)?;
    Ok(open_source(&url)?)
}

pub(super) fn chosen_of(wanted: &Wanted) -> Chosen {
    Chosen {
        tables: wanted.tables.clone(),
        columns: wanted.columns.clone(),
        unfit: wanted.unfit,
    }
}

/// A name or sentence as one line: names of tables may hold line breaks.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The reason for a missing sum of the sizes on disk; `None` if all sizes are known.
pub(super) fn no_sum<'a>(unknown: impl Iterator<Item = &'a str>) -> Option<String> {
    let unknown: Vec<String> = unknown.map(one_line).collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "all: no size on disk and no factor, because the size on disk of {} is unknown; leave it out with --tables -{}",
            unknown.join(", "),
            unknown.join(",-")
        )
    })
}

pub(super) fn tables_of(count: usize) -> String {
    counted(count as u64, "table")
}

pub(super) fn left_out(left_out: &[LeftOut]) -> Vec<serde_json::Value> {
    (left_out.iter())
        .map(|out| serde_json::json!({"name": out.name, "why": out.why}))
        .collect()
}

/// Invalid input has a separate exit status.
pub(super) fn error_with_status(error: ColumnarError) -> anyhow::Error {
    match error {
        ColumnarError::Unknown(message) => InvalidInput(message).into(),
        other => other.into(),
    }
}

pub(super) fn texts(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(Remark::to_string).collect()
}
