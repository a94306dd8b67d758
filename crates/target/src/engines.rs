//! The engines there are. Adding one means adding a module and a line in [`engines`].

use std::sync::Arc;

use crate::catalogue::Source;
use crate::duckdb::lifted::LiftedTables;
use crate::engine::{Engine, Reach};
use crate::inspection::Inspection;
use crate::level::Level;
use crate::url::is_password;
use crate::{BackupMethod, ErrorKind, Result, Target, TargetError, TargetUrl, UrlError};

/// The engine that is used where no target is named: nothing has to be installed for it.
pub const DEFAULT_ENGINE: &str = "sqlite";

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
        if is_password(key) {
            return Err(UrlError::PasswordSetting(key.clone()));
        }
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
    if let Some((key, value)) = find(&url)?.cache_setting(bytes) {
        url.settings.entry(key.to_owned()).or_insert(value);
    }
    Ok(url)
}

/// The URL with room for so many sessions of jobs, where a server is started for it whose usual settings have none, and the
/// URL does not say how many.
///
/// # Errors
/// When the URL is wrong in itself.
pub fn with_sessions(
    mut url: TargetUrl,
    sessions: u32,
) -> std::result::Result<TargetUrl, UrlError> {
    if let Some((key, value)) = find(&url)?.sessions_setting(sessions) {
        let is_said =
            |said: &String| said.eq_ignore_ascii_case(key) || said.replace('-', "_") == key;
        if !url.settings.keys().any(is_said) {
            url.settings.insert(key.to_owned(), value);
        }
    }
    Ok(url)
}

/// The backup methods of an engine, by its name in URLs without `+local`, with those that may be missing something here.
pub fn backup_methods(engine: &str) -> Vec<BackupMethod> {
    let is_of = |scheme: &str| scheme.split('+').next() == Some(engine);
    let engines = engines().iter().filter(|e| is_of(e.scheme()));
    engines.flat_map(|e| e.backup_methods()).collect()
}

/// Whether `?` is an operator in the SQL of an engine, by its name in URLs without `+local`.
pub fn has_question_mark_operators(engine: &str) -> bool {
    let mut engines = engines().iter();
    engines.any(|e| e.scheme() == engine && e.has_question_mark_operators())
}

/// The settings of a URL with which a local server would run programs, load libraries or use files by their names.
pub fn executed_settings(url: &TargetUrl) -> Vec<&str> {
    let mut local = engines().iter().filter(|e| e.reach() == Reach::LocalServer);
    if local.any(|engine| engine.scheme() == url.scheme) {
        crate::server::executed(url)
    } else {
        Vec::new()
    }
}

/// Where the password for a URL can be, other than in the URL.
pub fn password_places(url: &TargetUrl) -> Option<&'static str> {
    let engine = engines().iter().find(|e| e.scheme() == url.scheme);
    engine.and_then(|engine| engine.password_places())
}

/// Opens the database that a URL names.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open(url: &TargetUrl) -> Result<Arc<dyn Target>> {
    let engine = find(url).map_err(|e| TargetError::new(ErrorKind::Statement, e.to_string()))?;
    engine.open(url)
}

/// Opens the database that a URL names, to look at its server's work alone.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open_observed(url: &TargetUrl) -> Result<Arc<dyn Target>> {
    let engine = find(url).map_err(|e| TargetError::new(ErrorKind::Statement, e.to_string()))?;
    engine.open_observed(url)
}

/// Finds out what a run in the database that a URL names would find; changes nothing.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn inspect(url: &TargetUrl) -> Result<Inspection> {
    let engine = find(url).map_err(|e| TargetError::new(ErrorKind::Statement, e.to_string()))?;
    engine.inspect(url)
}

/// Opens the database that a URL names, to read from it alone.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open_source(url: &TargetUrl) -> Result<Box<dyn Source>> {
    let engine = find(url).map_err(|e| TargetError::new(ErrorKind::Statement, e.to_string()))?;
    engine.open_source(url)
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
    fn a_database_in_memory_may_be_called_as_its_engine_calls_it() {
        for engine in ["sqlite", "duckdb"] {
            let url = TargetUrl::parse(&format!("{engine}::memory:")).unwrap();
            assert_eq!(url, TargetUrl::parse(&format!("{engine}:")).unwrap());
            assert_eq!(url.file(), None);
        }
    }

    #[test]
    fn an_unknown_setting_names_the_known_ones() {
        let url = TargetUrl::parse("sqlite:x?cache=1").unwrap();
        let message = find(&url).err().unwrap().to_string();
        assert!(message.contains("cache_mb"), "{message}");
    }

    #[test]
    fn a_server_that_is_started_gets_room_for_the_sessions_of_its_plan() {
        let with = |url: &str, sessions| {
            let url = TargetUrl::parse(url).unwrap();
            with_sessions(url, sessions).unwrap().to_string()
        };
        for scheme in ["postgres+local", "mysql+local"] {
            let plain = format!("{scheme}:");
            assert_eq!(with(&plain, 512), plain, "the usual room does");
            let roomy = format!("{scheme}:?max_connections=5064");
            assert_eq!(with(&plain, 5000), roomy);
            let said = format!("{scheme}:?max_connections=20");
            assert_eq!(with(&said, 5000), said, "what is said is kept");
        }
        for other in [
            "mysql+local:?max-connections=20",
            "sqlite:x",
            "postgres://bench@server/bench",
        ] {
            assert_eq!(with(other, 5000), other);
        }
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
