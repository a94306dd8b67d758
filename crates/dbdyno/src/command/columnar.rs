//! `dbdyno columnar`: tables lifted into memory by columns.

mod lift;
mod run;

use std::path::PathBuf;

use anyhow::Result;

use crate::arguments::ColumnarVerb;
use crate::exit::Status;

pub fn columnar(verb: &ColumnarVerb, archive: &Option<PathBuf>) -> Result<Status> {
    match verb {
        ColumnarVerb::Lift(asked) => lift::lift(asked),
        ColumnarVerb::Run(asked) => run::study(asked, archive),
    }
}
