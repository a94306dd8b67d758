//! A place of its own for what a check creates: it goes again, unless somebody made it before.

use std::sync::Arc;

use crate::database_file::remove_files;
use crate::engine::{Engine, TypeNames};
use crate::inspection::{Inspection, PlaceState};
use crate::{
    Engines, OWN_TABLES, Reach, Result, Session, SessionsLeft, Target, TargetError, TargetUrl,
};

const OWN: &str = "dbdyno_check_";

/// A place beside the database of a URL, and what was found there.
pub struct CheckPlace {
    engine: &'static dyn Engine,
    url: TargetUrl,
    found: Inspection,
}

impl CheckPlace {
    /// The place beside the database of a URL; nothing is changed yet.
    ///
    /// # Errors
    /// When the server cannot be reached, or tables could not be created there.
    pub fn beside(engines: Engines, url: &TargetUrl) -> Result<Self> {
        let statement = |message: String| TargetError::statement(message);
        let engine = engines.find(url).map_err(|e| statement(e.to_string()))?;
        let url = engine.place_of_suite(url)?;
        let found = engine.inspect(&url)?;
        if let Some(why) = &found.read_only {
            return Err(TargetError::unreachable(format!(
                "the check creates tables, but {why}"
            )));
        }
        let right = found.rights.iter().find(|right| right.is_obstacle());
        let right = right.map(|right| format!("{} is missing: {}", right.name, right.grant));
        match found.obstacles.first().cloned().or(right) {
            Some(obstacle) => Err(TargetError::foreign(obstacle)),
            None => Ok(Self { engine, url, found }),
        }
    }

    pub fn words(&self) -> String {
        match (&self.found.place, self.engine.reach()) {
            (_, Reach::LocalServer) => "a server that dbdyno starts for it".into(),
            (Some(place), _) => format!("the {}", place.name),
            (None, _) => "a database in memory".into(),
        }
    }

    /// Opens the place.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub fn open(&self) -> Result<Arc<dyn Target>> {
        self.engine.open(&self.url)
    }

    pub fn url(&self) -> &TargetUrl {
        &self.url
    }

    /// Further sessions that the server lets in, as far as that is known.
    pub fn sessions_left(&self) -> Option<&SessionsLeft> {
        self.found.sessions_left.as_ref()
    }

    /// Median time of a statement that asks for nothing, in microseconds, as far as that is known.
    pub fn round_trip_us(&self) -> Option<f64> {
        self.found.round_trip.map(|trip| trip.median_us)
    }

    pub(super) fn type_names(&self) -> TypeNames {
        self.engine.info().type_names
    }

    pub(super) fn is_server(&self) -> bool {
        matches!(self.engine.reach(), Reach::Network | Reach::LocalServer)
    }

    /// True if it is created for a run and goes with it.
    pub fn is_private(&self) -> bool {
        self.found.place.is_none() || self.engine.reach() == Reach::LocalServer
    }

    /// Opens the place and removes the tables of checks that were left in it; then it is filled.
    ///
    /// # Errors
    /// When the database cannot be opened, or `fill` fails.
    pub fn fill(&self, fill: impl FnOnce(&mut dyn Session) -> Result<()>) -> Result<()> {
        let target = self.open()?;
        let mut session = target.open_session()?;
        remove_tables(session.as_mut())?;
        fill(session.as_mut())
    }

    /// Opens the place, and removes the tables of checks and the place itself.
    ///
    /// # Errors
    /// When the database cannot be opened, or what was made cannot be removed.
    pub fn clear(&self) -> Result<()> {
        let target = self.open()?;
        remove_tables(target.open_session()?.as_mut())?;
        self.remove(target)
    }

    /// Removes the place, unless it was there and dbdyno did not make it.
    pub(super) fn remove(&self, target: Arc<dyn Target>) -> Result<()> {
        let state = self.found.place.as_ref().map(|place| place.state);
        match (self.engine.reach(), state) {
            (Reach::Network, Some(PlaceState::Absent | PlaceState::MadeByDbdyno)) => {
                remove_schema(target.open_session()?.as_mut())
            }
            (Reach::Embedded, Some(PlaceState::Absent)) => {
                drop(target);
                self.url.place().map_or(Ok(()), |file| remove_files(&file))
            }
            _ => Ok(()),
        }
    }
}

/// Removes the tables of checks that were left, as far as dbdyno made them.
pub(super) fn remove_tables(session: &mut dyn Session) -> Result<()> {
    for name in left_behind(session)? {
        session.drop_table(&name)?;
    }
    Ok(())
}

/// Tables of checks that are still there.
pub(super) fn left_behind(session: &mut dyn Session) -> Result<Vec<String>> {
    let tables = session.relations()?.into_keys();
    Ok(tables.filter(|name| name.starts_with(OWN)).collect())
}

/// Removes the schema of a session in which nothing is but dbdyno's register; leaves any other.
pub(super) fn remove_schema(session: &mut dyn Session) -> Result<()> {
    if session.relations()?.keys().any(|name| name != OWN_TABLES) {
        return Ok(());
    }
    let schema = session.schema().to_owned();
    session.batch(&format!("DROP TABLE IF EXISTS {schema}.{OWN_TABLES}"))?;
    session.batch(&format!("DROP SCHEMA {schema}"))
}
