//! Metadata of the database in a ninth table; nothing is inferred from counts.

use std::collections::BTreeMap;

use engine::Session;
use workload::owned::{ANALYTICAL_MARK, Owned};

use super::refresh::SETS_MAX;
use super::{OlapError, Result, Scale, TABLES};

/// Version of the generator: the major version of its crate, which is pinned.
pub(super) const GENERATOR: &str = "tpchgen 4";
/// Fact that rows have changed since the load: the highest number of a set that may have run.
pub(super) const REFRESHED: &str = "before_refreshed";
pub(crate) const OWNED: Owned = Owned {
    facts: "dbdyno_olap",
    notes: &[],
    tables: &TABLES,
    mark: ANALYTICAL_MARK,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    pub scale: Scale,
    pub generator: String,
    /// Rows of each table as they were sent.
    pub rows: BTreeMap<&'static str, u64>,
    /// True if everything is loaded and counted, with keys and statistics.
    pub whole: bool,
    /// Highest number of a refresh set that may have changed the rows; `None` for the rows of the load.
    pub refreshed: Option<u32>,
}

impl Metadata {
    /// `None` if there is no analytical database of dbdyno.
    ///
    /// # Errors
    /// When the metadata are invalid.
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

    /// Reads the metadata of a complete database with the rows of its load.
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

    /// Reads the metadata of a complete database, refreshed or not.
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

    /// Creates the metadata and the tables before a load.
    pub(super) fn begin(session: &mut dyn Session, tables: &str, scale: Scale) -> Result<()> {
        let facts = [
            ("scale", scale.to_string()),
            ("generator", GENERATOR.to_owned()),
            ("whole", "0".to_owned()),
        ];
        Ok(OWNED.begin(session, tables, &facts)?)
    }
}

/// Stores the rows that were sent, and that the load is complete.
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
