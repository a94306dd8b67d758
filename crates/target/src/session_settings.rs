//! Settings of a running server that a URL asks for. They are set in every session that is measured, read back
//! there, and nowhere else: the server's own settings stay as they are.

use std::collections::BTreeMap;

use crate::{ErrorKind, Result, TargetError, TargetUrl};

/// Settings with their values, by name.
pub(crate) type SessionSettings = BTreeMap<String, String>;

/// More than anybody sets for one session.
const SETTINGS_MAX: usize = 256;
/// What is so near to a setting of dbdyno's own is a misspelt one.
const MISSPELT_MAX: usize = 2;

/// The settings of a URL that are not dbdyno's own (`known`), in lower case; touches nothing.
///
/// # Errors
/// When a name or value cannot be one, or the setting is `reserved` for the reason that stands there.
pub(crate) fn of_url(
    url: &TargetUrl,
    known: &[(&str, &str)],
    reserved: &[(&[&str], &str)],
) -> Result<SessionSettings> {
    let mut settings = SessionSettings::new();
    for (key, value) in &url.settings {
        if known.iter().any(|(name, _)| name == key) {
            continue;
        }
        let name = key.to_ascii_lowercase();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if !name.chars().all(is_name) || value.chars().any(char::is_control) {
            return Err(wrong(format!(
                "\"{}\" cannot be a session setting; use only letters, digits, _ and . in the name, and no control \
                 characters in the value",
                key.escape_debug()
            )));
        }
        let near = known.iter().map(|(known, _)| *known);
        let mut near =
            near.filter(|known| strsim::damerau_levenshtein(known, &name) <= MISSPELT_MAX);
        if let Some(meant) = near.next() {
            return Err(wrong(format!(
                "{url} has no setting \"{key}\" (did you mean \"{meant}\"?)"
            )));
        }
        let is_reserved = |(names, _): &&(&[&str], &str)| names.contains(&name.as_str());
        if let Some((_, reason)) = reserved.iter().find(is_reserved) {
            return Err(wrong(format!(
                "{name} cannot be set for the sessions of a run: {reason}"
            )));
        }
        if settings.insert(name.clone(), value.clone()).is_some() {
            return Err(wrong(format!("{url} contains the setting {name} twice")));
        }
    }
    if settings.len() > SETTINGS_MAX {
        return Err(wrong(format!(
            "{url} has more than {SETTINGS_MAX} settings"
        )));
    }
    Ok(settings)
}

/// Refuses settings where no session is measured.
///
/// # Errors
/// The first of them.
pub(crate) fn refuse(settings: &SessionSettings) -> Result<()> {
    match settings.keys().next() {
        None => Ok(()),
        Some(setting) => Err(wrong(format!(
            "{setting} is a setting of measured sessions, and here none is measured; remove it from the URL"
        ))),
    }
}

/// Puts the settings of the sessions over those of the server, and says whose they are.
pub(crate) fn record(settings: &SessionSettings, recorded: &mut BTreeMap<String, String>) {
    if settings.is_empty() {
        return;
    }
    let names: Vec<&str> = settings.keys().map(String::as_str).collect();
    recorded.insert("dbdyno.session_settings".into(), names.join(", "));
    recorded.extend(settings.clone());
}

/// A setting that is not taken: named, with the reason and what to do. A server that is gone is another matter.
pub(crate) fn not_taken(name: &str, value: &str, error: TargetError) -> TargetError {
    match error.kind {
        ErrorKind::Unreachable => error,
        _ => wrong(format!(
            "the server refused the setting {name} = {value}: {}",
            error.message
        )),
    }
}

/// A setting that the server as a whole has alone.
pub(crate) fn of_the_server(server: &str, name: &str, why: &str) -> TargetError {
    wrong(format!(
        "{server}: {name} cannot be set for a session: {why}; measure a server that dbdyno starts, or change the setting \
         yourself and compare a run before with one after"
    ))
}

/// A setting that is not in force though the server took it.
pub(crate) fn not_in_force(server: &str, name: &str, asked: &str, found: &str) -> TargetError {
    wrong(format!(
        "{server}: the setting {name} = {asked} reads back as \"{found}\"; write the value in the form that the server \
         shows, and connect to the server directly, not through a proxy or pooler"
    ))
}

/// Whether what was read back, in the order of the settings, is what was set.
///
/// # Errors
/// The first that is not.
pub(crate) fn all_in_force(
    server: &str,
    settings: &SessionSettings,
    found: impl IntoIterator<Item = String>,
) -> Result<()> {
    let mut both = settings.iter().zip(found);
    match both.find(|((_, value), found)| found != *value) {
        Some(((name, value), found)) => Err(not_in_force(server, name, value, &found)),
        None => Ok(()),
    }
}

fn wrong(message: String) -> TargetError {
    TargetError::new(ErrorKind::Statement, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[(&str, &str)] = &[("others", ""), ("sslmode", "")];
    const RESERVED: &[(&[&str], &str)] = &[(&["search_path", "role"], "dbdyno sets it")];

    fn settings(text: &str) -> std::result::Result<SessionSettings, String> {
        let url = TargetUrl::parse(&format!("postgres://u@h/d?{text}")).unwrap();
        of_url(&url, KNOWN, RESERVED).map_err(|e| e.message)
    }

    #[test]
    fn what_is_not_dbdynos_is_a_setting_of_the_session() {
        let found = settings("others=allow&Work_Mem=64MB&x.y=a b").unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, [("work_mem", "64MB"), ("x.y", "a b")]);
        assert!(settings("").unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_one_is_named_with_the_reason() {
        for (text, says) in [
            ("otehrs=allow", "did you mean \"others\"?"),
            ("a b=1", "cannot be a session setting"),
            ("a=1\n", "cannot be a session setting"),
            ("ROLE=x", "dbdyno sets it"),
            ("a=1&A=2", "twice"),
        ] {
            let message = settings(text).unwrap_err();
            assert!(message.contains(says), "{text}: {message}");
        }
    }

    #[test]
    fn the_record_says_whose_the_values_are() {
        let mut recorded = BTreeMap::from([("work_mem".to_owned(), "4MB".to_owned())]);
        record(&settings("").unwrap(), &mut recorded);
        assert_eq!(recorded.len(), 1);
        record(&settings("work_mem=64MB&jit=off").unwrap(), &mut recorded);
        assert_eq!(recorded["work_mem"], "64MB");
        assert_eq!(recorded["dbdyno.session_settings"], "jit, work_mem");
    }
}
