//! `dbdyno columnar`: tables lifted into memory by columns.

mod lift;
mod run;
mod size;
mod wanted;

use std::path::PathBuf;

use anyhow::Result;

use crate::arguments::ColumnarVerb;
use crate::exit::Status;
use wanted::{chosen_of, left_out, no_sum, one_line, source_of, tables_of, texts, told};

pub fn columnar(verb: &ColumnarVerb, archive: &Option<PathBuf>) -> Result<Status> {
    match verb {
        ColumnarVerb::Lift(asked) => lift::lift(asked),
        ColumnarVerb::Run(asked) => run::study(asked, archive),
        ColumnarVerb::Size(asked) => size::size(asked),
    }
}
