//! `dbdyno columnar`: tables in an in-memory column store.

mod lift;
mod run;
mod size;
mod wanted;

use std::path::PathBuf;

use anyhow::Result;

use crate::arguments::ColumnarVerb;
use crate::exit::Status;
use wanted::{
    chosen_of, error_with_status, left_out, no_sum, one_line, source_of, tables_of, texts,
};

pub fn columnar(verb: &ColumnarVerb, archive: &Option<PathBuf>) -> Result<Status> {
    match verb {
        ColumnarVerb::Lift(arguments) => lift::lift(arguments),
        ColumnarVerb::Run(arguments) => run::study(arguments, archive),
        ColumnarVerb::Size(arguments) => size::size(arguments),
    }
}
