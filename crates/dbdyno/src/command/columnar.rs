//! `dbdyno columnar`: tables lifted into memory by columns.

mod lift;
mod run;
mod size;

use std::path::PathBuf;

use anyhow::Result;
use stats::words::counted;
use target::source::{Source, open_source};
use workload::columnar::{Chosen, ColumnarError, LeftOut};

use crate::arguments::ColumnarVerb;
use crate::arguments::columnar::Wanted;
use crate::exit::{Status, Wrong};

pub fn columnar(verb: &ColumnarVerb, archive: &Option<PathBuf>) -> Result<Status> {
    match verb {
        ColumnarVerb::Lift(asked) => lift::lift(asked),
        ColumnarVerb::Run(asked) => run::study(asked, archive),
        ColumnarVerb::Size(asked) => size::size(asked),
    }
}

/// The database to read.
fn source_of(wanted: &Wanted) -> Result<Box<dyn Source>> {
    let url = wanted.from.url()?;
    target::find(&url).map_err(|e| Wrong(e.to_string()))?;
    Ok(open_source(&url)?)
}

/// What of it is meant.
fn chosen_of(wanted: &Wanted) -> Chosen {
    Chosen {
        tables: wanted.tables.clone(),
        columns: wanted.columns.clone(),
        unfit: wanted.unfit,
    }
}

/// Tables, as one counts them.
fn tables_of(count: usize) -> String {
    counted(count as u64, "table")
}

/// The JSON of what is left out.
fn left_out(left_out: &[LeftOut]) -> Vec<serde_json::Value> {
    (left_out.iter())
        .map(|out| serde_json::json!({"name": out.name, "why": out.why}))
        .collect()
}

/// What is wrong in itself has a status of its own.
fn told(error: ColumnarError) -> anyhow::Error {
    match error {
        ColumnarError::Unknown(message) => Wrong(message).into(),
        other => other.into(),
    }
}
