//! Inspects a file without changing it: it is opened for reading, and one that is missing is not created.

use super::VERSION_TESTED;
use super::features::lacks;
use super::instance::refuse_foreign_tables;
use super::library::library;
use engine::inspection::{Inspection, PlaceState};
use engine::{Result, TargetUrl};

/// Looks at the file that a URL names.
pub(super) fn inspect(url: &TargetUrl) -> Result<Inspection> {
    let loaded = library()?;
    let path = url.place();
    let mut found = Inspection {
        engine: "DuckDB".into(),
        version: loaded.version.clone(),
        rules: "rule = []",
        ..Inspection::default()
    };
    if loaded.version != VERSION_TESTED {
        found.notes.push(format!(
            "dbdyno was tested with version {VERSION_TESTED} of the library"
        ));
    }
    let in_memory = path.is_none();
    found.lack(|feature| lacks(in_memory, feature));
    let Some(path) = path else {
        return Ok(found.in_memory());
    };
    let is_empty = std::fs::metadata(&path).map_or(true, |file| file.len() == 0);
    let own = refuse_foreign_tables(loaded, &path);
    let state = match found.refuse(own)? {
        None => PlaceState::Foreign,
        Some(()) if is_empty => PlaceState::Absent,
        Some(()) => PlaceState::Usable,
    };
    Ok(found.in_file(&path, state))
}
