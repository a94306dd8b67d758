//! `dbdyno storage`: the storage below databases.

pub mod fleet;
pub mod layout;
pub mod vdbench;

use std::path::PathBuf;

use anyhow::Result;

use crate::arguments::StorageVerb;
use crate::exit::Status;

pub fn storage(verb: &StorageVerb, archive: &Option<PathBuf>) -> Result<Status> {
    match verb {
        StorageVerb::Vdbench(arguments) => Ok(vdbench::vdbench(arguments, archive)),
        StorageVerb::Layout(layout) => layout::layout(&layout.verb),
        StorageVerb::Fleet(fleet) => fleet::fleet(&fleet.verb),
    }
}
