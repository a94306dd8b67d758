//! The engines there are. Adding one means adding a module and a line in [`engines`].

use std::sync::Arc;

use crate::duckdb::lifted::LiftedTables;
use crate::lifted::Level;
use crate::source::{Kept, Source};
use crate::{Result, Target, TargetUrl, UrlError};

/// A kind of database.
pub trait Engine: Sync {
    /// Its scheme in a target URL.
    fn scheme(&self) -> &'static str;

    /// Where its databases are.
    fn reach(&self) -> Reach {
        Reach::Embedded
    }

    /// What `dbdyno list engines` shows.
    fn info(&self) -> EngineInfo;

    /// Where there may be several versions: each one found, with its program.
    fn found(&self) -> Vec<String> {
        Vec::new()
    }

    /// Settings a URL may carry, with their meaning.
    fn settings(&self) -> &'static [(&'static str, &'static str)];

    /// The setting that is the size of its cache in 10^6 bytes; `None` where a URL does not set it.
    fn cache_setting(&self) -> Option<&'static str> {
        None
    }

    /// Whether a URL may carry settings that are not among [`Engine::settings`]: those of the server,
    /// which a local server has as a whole, and a running one in every session that is measured.
    /// The server checks them.
    fn takes_settings_of_the_server(&self) -> bool {
        false
    }

    /// Checks the values of the URL's settings; touches nothing.
    ///
    /// # Errors
    /// When a value is none that the engine knows.
    fn check(&self, url: &TargetUrl) -> Result<()>;

    /// Opens the database that the URL names to read its tables, somebody's too; nothing is written.
    ///
    /// # Errors
    /// When it cannot be reached, or this engine's tables are not read so.
    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        // A server that is started for it lives as long as its target.
        let target = self.open(url)?;
        let source = target.source()?;
        Ok(Box::new(Kept {
            source,
            _target: target,
        }))
    }

    /// Opens the database that the URL names; [`open`] has checked its settings' names.
    ///
    /// # Errors
    /// When it cannot be reached, is damaged or is not ours.
    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>>;
}

/// Where the databases of an engine are. A run that names no target measures the embedded ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// There is no database.
    Nowhere,
    /// In a file or in memory, inside this process.
    Embedded,
    /// In memory, a copy of another target's.
    Replica,
    /// In a server that dbdyno starts and removes.
    LocalServer,
    /// In a server that runs already.
    Network,
}

/// One line of `dbdyno list engines`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    /// Scheme in a target URL.
    pub scheme: &'static str,
    /// What it is.
    pub title: &'static str,
    /// Its version, or the sentence that says how to get it.
    pub version: std::result::Result<String, String>,
}

/// All engines.
pub fn engines() -> &'static [&'static dyn Engine] {
    &[
        &crate::sqlite::Sqlite,
        &crate::duckdb::DuckDb,
        &LiftedTables(Level::None),
        &LiftedTables(Level::QueryLow),
        &LiftedTables(Level::QueryHigh),
        &LiftedTables(Level::CapacityLow),
        &LiftedTables(Level::CapacityHigh),
        &crate::mock::Mock,
        &crate::postgres::Postgres,
        &crate::postgres::LocalPostgres,
        &crate::mysql::MySql,
        &crate::mysql::LocalMySql,
    ]
}

/// The engine of a URL, with its settings and their values checked; touches nothing.
///
/// # Errors
/// When there is no such engine, or it knows no such setting or value.
pub fn find(url: &TargetUrl) -> std::result::Result<&'static dyn Engine, UrlError> {
    let engine = engines()
        .iter()
        .find(|e| e.scheme() == url.scheme)
        .ok_or_else(|| unknown_engine(&url.scheme))?;
    for key in url.settings.keys() {
        let is_known = engine.takes_settings_of_the_server()
            || engine.settings().iter().any(|(known, _)| known == key);
        if !is_known {
            return Err(UrlError::UnknownSetting {
                engine: engine.scheme(),
                key: key.clone(),
                known: engine
                    .settings()
                    .iter()
                    .map(|(k, _)| *k)
                    .collect::<Vec<_>>()
                    .join(", "),
            });
        }
    }
    engine
        .check(url)
        .map_err(|e| UrlError::BadValue(e.message))?;
    Ok(*engine)
}

fn unknown_engine(scheme: &str) -> UrlError {
    let nearest = engines()
        .iter()
        .map(|e| (strsim::damerau_levenshtein(e.scheme(), scheme), e.scheme()))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    UrlError::UnknownEngine {
        scheme: scheme.to_owned(),
        hint: nearest.map_or(String::new(), |(_, name)| {
            format!(" (did you mean \"{name}\"?)")
        }),
    }
}

/// The URL with a cache of so many bytes, where its engine takes such a setting and it has none.
///
/// # Errors
/// When the URL is wrong in itself.
pub fn with_cache(mut url: TargetUrl, bytes: u64) -> std::result::Result<TargetUrl, UrlError> {
    if let Some(key) = find(&url)?.cache_setting() {
        let mb = (bytes / 1_000_000).to_string();
        url.settings.entry(key.to_owned()).or_insert(mb);
    }
    Ok(url)
}

/// Opens the database that a URL names.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open(url: &TargetUrl) -> Result<Arc<dyn Target>> {
    let engine = find(url)
        .map_err(|e| crate::TargetError::new(crate::ErrorKind::Statement, e.to_string()))?;
    engine.open(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_engine_names_the_nearest() {
        let url = TargetUrl::parse("sqlit:x").unwrap();
        let message = find(&url).err().unwrap().to_string();
        assert!(message.contains("did you mean \"sqlite\"?"), "{message}");
    }

    #[test]
    fn an_unknown_setting_names_the_known_ones() {
        let url = TargetUrl::parse("sqlite:x?cache=1").unwrap();
        let message = find(&url).err().unwrap().to_string();
        assert!(message.contains("cache_mb"), "{message}");
    }

    #[test]
    fn a_value_is_checked_before_anything_is_opened() {
        for bad in [
            "sqlite:x?cache_mb=much",
            "sqlite:x?synchronous=MAYBE",
            "duckdb:x?threads=0",
        ] {
            let url = TargetUrl::parse(bad).unwrap();
            let error = find(&url).err().unwrap();
            assert!(matches!(error, UrlError::BadValue(_)), "{bad}: {error}");
        }
    }
}
