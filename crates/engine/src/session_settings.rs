//! Settings of a running server that a URL asks for. They are set in every session that is measured, read back
//! there, and nowhere else: the server's own settings stay as they are.

use std::collections::BTreeMap;
use std::fmt;

use crate::{ErrorKind, Result, TargetError, TargetUrl};

/// Settings with their values, by name.
pub type SessionSettings = BTreeMap<String, String>;

/// More than anybody sets for one session.
const SETTINGS_MAX: usize = 256;
/// A name so near to one of dbdyno's own settings is misspelt.
const MISSPELT_MAX: usize = 2;

/// A setting that sessions of dbdyno replace, whatever role, database and server have set. The lists of the engines are the
/// one source of what `check` and the records of runs say, and docs/SERVERS.md.
#[derive(Debug, Clone, Copy)]
pub struct Override {
    pub name: &'static str,
    pub value: &'static str,
    /// True if sessions of a user's own SQL replace it as well.
    pub in_scripts: bool,
    pub why: &'static str,
}

impl Override {
    pub const fn everywhere(name: &'static str, value: &'static str, why: &'static str) -> Self {
        Self {
            name,
            value,
            in_scripts: true,
            why,
        }
    }

    /// One that sessions of a user's own SQL leave as they find it.
    pub const fn but_scripts(name: &'static str, value: &'static str, why: &'static str) -> Self {
        Self {
            in_scripts: false,
            ..Self::everywhere(name, value, why)
        }
    }

    /// With the value that it replaces and the place where that was set.
    pub fn over(&self, found: Option<(String, String)>) -> Replaced {
        let instead_of = found.filter(|(value, _)| value != self.value);
        Replaced {
            name: self.name,
            value: self.value,
            instead_of,
            in_scripts: self.in_scripts,
            why: self.why,
        }
    }
}

/// A setting that dbdyno's sessions replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    pub name: &'static str,
    pub value: &'static str,
    /// The value of sessions that do not replace it, and where it was set; `None` where it is the same.
    pub instead_of: Option<(String, String)>,
    /// True if sessions of scripts replace it as well, instead of keeping it.
    pub in_scripts: bool,
    pub why: &'static str,
}

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.name, self.value)?;
        if let Some((value, by)) = &self.instead_of {
            let value = if value.is_empty() { "''" } else { value };
            write!(f, " instead of {value} ({by})")?;
        }
        if self.in_scripts {
            Ok(())
        } else {
            f.write_str(", unchanged in scripts")
        }
    }
}

/// The settings of a URL that are not dbdyno's own (`known`), in lower case; touches nothing.
///
/// # Errors
/// When a name or value cannot be one, or the setting is among the `reserved` names for the reason that stands there.
pub fn of_url(
    url: &TargetUrl,
    known: &[(&str, &str)],
    reserved: &[(&str, &str)],
) -> Result<SessionSettings> {
    let mut settings = SessionSettings::new();
    for (key, value) in &url.settings {
        if known.iter().any(|(name, _)| name == key) {
            continue;
        }
        let name = key.to_ascii_lowercase();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        if !name.chars().all(is_name) || value.chars().any(char::is_control) {
            return Err(TargetError::statement(format!(
                "\"{}\" cannot be a session setting; use only letters, digits, _ and . in the name, and no control \
                 characters in the value",
                key.escape_debug()
            )));
        }
        let near = known.iter().map(|(known, _)| *known);
        let mut near =
            near.filter(|known| strsim::damerau_levenshtein(known, &name) <= MISSPELT_MAX);
        if let Some(meant) = near.next() {
            return Err(TargetError::statement(format!(
                "{url} has no setting \"{key}\" (did you mean \"{meant}\"?)"
            )));
        }
        let is_reserved = |(names, _): &&(&str, &str)| names.split(' ').any(|it| it == name);
        if let Some((_, reason)) = reserved.iter().find(is_reserved) {
            return Err(TargetError::statement(format!(
                "{name} cannot be set for the sessions of a run: {reason}"
            )));
        }
        if settings.insert(name.clone(), value.clone()).is_some() {
            return Err(TargetError::statement(format!(
                "{url} contains the setting {name} twice"
            )));
        }
    }
    if settings.len() > SETTINGS_MAX {
        return Err(TargetError::statement(format!(
            "{url} has more than {SETTINGS_MAX} settings"
        )));
    }
    Ok(settings)
}

/// Refuses settings where no session is measured.
///
/// # Errors
/// The first of them.
pub fn refuse(settings: &SessionSettings) -> Result<()> {
    match settings.keys().next() {
        None => Ok(()),
        Some(setting) => Err(TargetError::statement(format!(
            "{setting} is a setting of measured sessions, and here none is measured; remove it from the URL"
        ))),
    }
}

/// Puts the settings of the sessions over those of the server, and says whose they are.
pub fn record(settings: &SessionSettings, recorded: &mut BTreeMap<String, String>) {
    if settings.is_empty() {
        return;
    }
    let names: Vec<&str> = settings.keys().map(String::as_str).collect();
    recorded.insert("dbdyno.session_settings".into(), names.join(", "));
    recorded.extend(settings.clone());
}

/// Says in the record of a run which settings of others its sessions replaced.
pub fn record_replaced(replaced: &[Replaced], recorded: &mut BTreeMap<String, String>) {
    let differing = replaced.iter().filter(|of| of.instead_of.is_some());
    let words: Vec<String> = differing.map(ToString::to_string).collect();
    if !words.is_empty() {
        recorded.insert("dbdyno.replaced_settings".into(), words.join("; "));
    }
}

/// A setting that is not taken: named, with the reason and what to do. A server that is gone is another matter.
pub fn not_taken(name: &str, value: &str, error: TargetError) -> TargetError {
    match error.kind {
        ErrorKind::Unreachable => error,
        _ => TargetError::statement(format!(
            "the server refused the setting {name} = {value}: {}",
            error.message
        )),
    }
}

/// A setting that the server as a whole has alone.
pub fn of_the_server(server: &str, name: &str, why: &str) -> TargetError {
    TargetError::statement(format!(
        "{server}: {name} cannot be set for a session: {why}; measure a server that dbdyno starts, or change the setting \
         yourself and compare a run before with one after"
    ))
}

/// A setting that is not in force though the server took it.
pub fn not_in_force(server: &str, name: &str, asked: &str, found: &str) -> TargetError {
    TargetError::statement(format!(
        "{server}: the setting {name} = {asked} reads back as \"{found}\"; write the value in the form that the server \
         shows, and connect to the server directly, not through a proxy or pooler"
    ))
}

/// True if what was read back, in the order of the settings, is what was set.
///
/// # Errors
/// The first that is not.
pub fn all_in_force(
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

/// The list of an engine as docs/SERVERS.md has it; the words after a name say on which of its servers.
pub fn table<'o>(title: &str, all: impl Iterator<Item = (&'o Override, String)>) -> String {
    let row = |(of, on): (&Override, String)| {
        let scripts = if of.in_scripts {
            "replaced"
        } else {
            "unchanged"
        };
        format!("| `{}`{on} | `{}` | {scripts} |\n", of.name, of.value)
    };
    let rows: String = all.map(row).collect();
    format!("| {title} | value | in scripts |\n|---|---|---|\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[(&str, &str)] = &[("others", ""), ("sslmode", "")];
    const RESERVED: &[(&str, &str)] = &[("search_path role", "dbdyno sets it")];

    fn settings(text: &str) -> std::result::Result<SessionSettings, String> {
        let url = crate::Engines(&[])
            .parse(&format!("postgres://u@h/d?{text}"))
            .unwrap();
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
