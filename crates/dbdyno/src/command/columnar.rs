//! `dbdyno columnar`: tables lifted into memory by columns.

mod lift;

use anyhow::Result;

use crate::arguments::ColumnarVerb;
use crate::exit::Status;

pub fn columnar(verb: &ColumnarVerb) -> Result<Status> {
    match verb {
        ColumnarVerb::Lift(asked) => lift::lift(asked),
    }
}
