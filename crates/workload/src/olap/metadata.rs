//! What is loaded, in a table beside the eight: never inferred from counts.

use std::collections::BTreeMap;

use target::Session;

use super::refresh::SETS_MAX;
use super::{OlapError, Result, Scale, TABLES};
use crate::owned::{ANALYTICAL_MARK, Owned};

/// Version of the generator: the major version of the crate that makes the rows, which is held fixed.
pub(super) const GENERATOR: &str = "tpchgen 4";
/// The fact that rows are not those of the load: the highest number of a set that may have been carried out.
pub(super) const REFRESHED: &str = "before_refreshed";
pub(crate) const OWNED: Owned = Owned {
    facts: "dbdyno_olap",
    notes: &[],
    tables: &TABLES,
    mark: ANALYTICAL_MARK,
};

/// What the database says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    pub scale: Scale,
    pub generator: String,
    /// Rows of each table as they were sent.
    pub rows: BTreeMap<&'static str, u64>,
    /// Whether everything is loaded, with keys and statistics, and was counted.
    pub whole: bool,
    /// Highest number of a refresh set that may have changed the rows since; `None` for rows as they were loaded.
    pub refreshed: Option<u32>,
}

impl Metadata {
    /// Reads it; `None` where there is no analytical database of ours.
    ///
    /// # Errors
    /// When it makes no sense.
    pub fn read(session: &mut dyn Session) -> Result<Option<Self>> {
        if !OWNED.has_facts(session)? {
            return Ok(None);
        }
        let facts = OWNED.read(session)?;
        let fact = |name: &str| {
            let text = facts.get(name).cloned();
            text.ok_or_else(|| OlapError::Metadata(format!("{name} is missing")))
        };
        let scale = fact("scale")?;
        let rows = TABLES.iter().filter_map(|table| {
            let rows = facts.get(&rows_of(table))?.parse().ok()?;
            Some((*table, rows))
        });
        Ok(Some(Self {
            scale: scale.parse().map_err(OlapError::Metadata)?,
            generator: fact("generator")?,
            rows: rows.collect(),
            whole: fact("whole")? == "1",
            refreshed: (facts.get(REFRESHED)).map(|sets| sets.parse().unwrap_or(SETS_MAX)),
        }))
    }

    /// Reads that of a database that is whole and holds the rows as they were loaded.
    ///
    /// # Errors
    /// When there is none, its load was not finished, or a refresh has changed its rows.
    pub fn as_loaded(session: &mut dyn Session) -> Result<Self> {
        let metadata = Self::of_whole(session)?;
        match metadata.refreshed {
            None => Ok(metadata),
            Some(_) => Err(OlapError::Refreshed {
                scale: metadata.scale,
            }),
        }
    }

    /// Reads that of a database that is whole, refreshed or not.
    ///
    /// # Errors
    /// When there is none, or its load was not finished.
    pub fn of_whole(session: &mut dyn Session) -> Result<Self> {
        let metadata = Self::read(session)?.ok_or(OlapError::Absent)?;
        if metadata.whole {
            Ok(metadata)
        } else {
            Err(OlapError::NotWhole {
                scale: metadata.scale,
            })
        }
    }

    /// Enters and makes the tables of a database that is going to be loaded.
    pub(super) fn begin(session: &mut dyn Session, tables: &str, scale: Scale) -> Result<()> {
        let facts = [
            ("scale", scale.to_string()),
            ("generator", GENERATOR.to_owned()),
            ("whole", "0".to_owned()),
        ];
        Ok(OWNED.begin(session, tables, &facts)?)
    }
}

/// Notes the rows that were sent, and that everything is there.
pub(super) fn note_whole(session: &mut dyn Session, rows: &BTreeMap<&str, u64>) -> Result<()> {
    let names: Vec<(String, String)> = rows
        .iter()
        .map(|(table, rows)| (rows_of(table), rows.to_string()))
        .collect();
    let facts: Vec<(&str, String)> = (names.iter())
        .map(|(name, rows)| (name.as_str(), rows.clone()))
        .collect();
    OWNED.insert(session, &facts)?;
    Ok(OWNED.set(session, "whole")?)
}

fn rows_of(table: &str) -> String {
    format!("rows_{table}")
}
