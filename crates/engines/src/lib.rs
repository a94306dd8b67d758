//! The engines there are, in one list: a new engine is a crate and a line here.

#[cfg(test)]
mod tests;
mod whereabouts;

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use engine::source::Source;
use engine::{
    BackupMethod, Engine, Engines, Inspection, Reach, Result, Target, TargetUrl, UrlError,
};
pub use whereabouts::{data_place, runs_here};

/// The engine that is used where no target is named: nothing has to be installed for it.
pub const DEFAULT_ENGINE: &str = "sqlite";

/// Engines of crates that this one does not know.
static ADDED: Mutex<Vec<Engines>> = Mutex::new(Vec::new());

/// All engines, in the order in which they are shown.
static LIST: LazyLock<Vec<&'static dyn Engine>> = LazyLock::new(|| {
    let mut crates = vec![
        sqlite::ENGINES,
        duckdb::ENGINES,
        column_store::ENGINES,
        mock::ENGINES,
        postgres::ENGINES,
        mysql::ENGINES,
        oracle::ENGINES,
    ];
    crates.append(&mut ADDED.lock().unwrap_or_else(PoisonError::into_inner));
    crates.iter().flat_map(|of| of.0).copied().collect()
});

/// Adds engines to the list, before anything else uses it.
pub fn add(engines: Engines) {
    let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
    added.push(engines);
}

/// All engines, as a list that reads URLs.
pub fn all() -> Engines {
    Engines(&LIST)
}

pub fn engines() -> &'static [&'static dyn Engine] {
    &LIST
}

/// The URL that a text is, complete.
///
/// # Errors
/// As [`Engines::parse`].
pub fn parse(url: &str) -> std::result::Result<TargetUrl, UrlError> {
    all().parse(url)
}

/// The same, with a sentence for each setting that has no effect.
///
/// # Errors
/// As [`Engines::parse`].
pub fn parse_with_notes(url: &str) -> std::result::Result<(TargetUrl, Vec<String>), UrlError> {
    all().parse_with_notes(url)
}

/// The same URL with another value of a setting.
///
/// # Errors
/// When it has no meaning.
pub fn with_setting(
    url: TargetUrl,
    key: &str,
    value: &str,
) -> std::result::Result<TargetUrl, UrlError> {
    all().with_setting(url, key, value)
}

/// The file or directory the URL names, `None` for a database in memory and for a server.
pub fn file(url: &TargetUrl) -> Option<PathBuf> {
    all().file(url)
}

/// The engine of a URL, with its settings and their values checked; touches nothing.
///
/// # Errors
/// When there is no such engine, or it knows no such setting or value.
pub fn find(url: &TargetUrl) -> std::result::Result<&'static dyn Engine, UrlError> {
    all().find(url)
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

/// Name of an engine in the library's files, by its scheme with or without `+local`.
pub fn library_name(scheme: &str) -> &str {
    let mut engines = engines().iter().map(|engine| engine.info());
    let family = family(scheme);
    let found = engines.find(|info| self::family(info.scheme) == family);
    found.and_then(|info| info.sql_of).unwrap_or(family)
}

fn family(scheme: &str) -> &str {
    scheme.split('+').next().unwrap_or(scheme)
}

/// The backup methods of an engine, by its scheme with or without `+local`, with those that may be missing something here.
pub fn backup_methods(scheme: &str) -> Vec<BackupMethod> {
    let engines = engines()
        .iter()
        .filter(|e| family(e.scheme()) == family(scheme));
    engines.flat_map(|e| e.backup_methods()).collect()
}

/// True if `?` is an operator in the SQL of an engine, by its name in URLs without `+local`.
pub fn has_question_mark_operators(engine: &str) -> bool {
    let mut engines = engines().iter();
    engines.any(|e| e.scheme() == engine && e.info().has_question_mark_operators)
}

/// The settings of a URL with which a local server would run programs, load libraries or use files by their names.
pub fn executed_settings(url: &TargetUrl) -> Vec<&str> {
    let mut local = engines().iter().filter(|e| e.reach() == Reach::LocalServer);
    if local.any(|engine| engine.scheme() == url.scheme) {
        local_server::executed(url)
    } else {
        Vec::new()
    }
}

/// Where the password for a URL can be, other than in the URL.
pub fn password_places(url: &TargetUrl) -> Option<&'static str> {
    let engine = engines().iter().find(|e| e.scheme() == url.scheme);
    engine.and_then(|engine| engine.info().password_places)
}

/// Opens the database that a URL names.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open(url: &TargetUrl) -> Result<Arc<dyn Target>> {
    all().open(url)
}

/// Opens the database that a URL names, to look at its server's work alone.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open_observed(url: &TargetUrl) -> Result<Arc<dyn Target>> {
    all().find_to_open(url)?.open_observed(url)
}

/// Finds out what a run in the database that a URL names would find; changes nothing.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn inspect(url: &TargetUrl) -> Result<Inspection> {
    all().find_to_open(url)?.inspect(url)
}

/// Opens the database that a URL names, to read from it alone.
///
/// # Errors
/// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
pub fn open_source(url: &TargetUrl) -> Result<Box<dyn Source>> {
    all().find_to_open(url)?.open_source(url)
}

/// Files of dbdyno's own in the format of an engine that reads and writes Parquet, for figures of many systems.
pub mod own_file {
    pub use duckdb::own_file::{Access, Mark, OwnFile, Rows};
    pub use engine::source::Cell;
}

/// Sets up what engines need once per process; to be called before anything else of the process uses
/// one, the archive included.
pub fn before_first_use() {
    sqlite::configure_library();
}
