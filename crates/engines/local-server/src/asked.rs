//! Reads the settings of a local server from its URL.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Apart;
use super::apart::TABLE;
use super::kind::ServerKind;
use super::spec::{ServerSpec, parse_bytes};
use engine::url::{PLACE, absolute};
use engine::{Result, TargetError, TargetUrl};

/// Least memory of a group: a server with the smallest areas does not start with much less.
const MEMORY_BYTES_MIN: u64 = 128 << 20;
/// Longer names are none of a table that every server takes.
const TABLE_CHARACTERS_MAX: usize = 48;
/// Settings that a URL may carry.
const SETTINGS_MAX: usize = 256;

impl ServerSpec {
    /// Takes `…:[DATA_DIR][?version=…&memory=…&place.log=DIR&KEY=VALUE]` apart; touches nothing.
    ///
    /// # Errors
    /// When a size is none, a setting's name or value cannot be one, or dbdyno decides it itself.
    pub fn from_url(kind: &dyn ServerKind, url: &TargetUrl) -> Result<Self> {
        let mut spec = Self {
            data_directory: url.place(),
            ..Self::default()
        };
        if url.settings.len() > SETTINGS_MAX {
            return Err(TargetError::statement(format!(
                "{url} has more than {SETTINGS_MAX} settings"
            )));
        }
        for (key, value) in &url.settings {
            match key.as_str() {
                "version" => spec.version = Some(value.clone()),
                "memory" => spec.memory_bytes = Some(memory(value)?),
                _ => match key.strip_prefix(PLACE) {
                    Some(apart) => spec.add_place(kind, apart, value)?,
                    None => spec.add_setting(kind, key, value)?,
                },
            }
        }
        let mut directories: Vec<&PathBuf> = spec.places.values().collect();
        directories.extend(&spec.data_directory);
        directories.sort();
        if let Some(pair) = directories.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TargetError::statement(format!(
                "{url} names {} twice; each place needs a directory of its own",
                pair[0].display()
            )));
        }
        if !spec.places.is_empty() && spec.data_directory.is_none() {
            return Err(TargetError::statement(format!(
                "{url} puts files apart from its data; name the directory of the data too, after the colon"
            )));
        }
        Ok(spec)
    }

    fn add_place(&mut self, kind: &dyn ServerKind, key: &str, value: &str) -> Result<()> {
        let apart = apart(kind, key).map_err(TargetError::statement)?;
        self.places.insert(apart, absolute(key, value)?);
        Ok(())
    }

    fn add_setting(&mut self, kind: &dyn ServerKind, key: &str, value: &str) -> Result<()> {
        let is_name = key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !is_name || value.chars().any(char::is_control) {
            return Err(TargetError::statement(format!(
                "\"{}\" cannot be a setting of {}; use only letters, digits, - and _ in the name, and no control \
                 characters in the value",
                key.escape_debug(),
                kind.about().title
            )));
        }
        let key = kind.canonical(key);
        if let Some((_, reason)) = kind.about().reserved.iter().find(|(name, _)| *name == key) {
            return Err(TargetError::statement(format!(
                "{key} cannot be set for a local server: {reason}"
            )));
        }
        if self
            .settings
            .insert(key.clone(), value.to_owned())
            .is_some()
        {
            return Err(TargetError::statement(format!(
                "the setting {key} is given twice"
            )));
        }
        Ok(())
    }

    /// The defaults with the settings asked for laid over them.
    pub fn all_settings(&self, kind: &dyn ServerKind) -> BTreeMap<String, String> {
        let mut settings = kind.defaults(self);
        settings.extend(self.settings.clone());
        settings
    }
}

fn apart(kind: &dyn ServerKind, key: &str) -> std::result::Result<Apart, String> {
    if let Some(table) = key.strip_prefix(TABLE) {
        let is_fit = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let fits = (1..=TABLE_CHARACTERS_MAX).contains(&table.len()) && table.chars().all(is_fit);
        return if fits {
            Ok(Apart::Table(table.to_owned()))
        } else {
            Err(format!(
                "{PLACE}{key}: a table has a name of 1 to {TABLE_CHARACTERS_MAX} lower-case letters, digits and underscores"
            ))
        };
    }
    let known = kind.about().places.iter().find(|it| it.name() == key);
    known.map(|of| Apart::Kind(*of)).ok_or_else(|| {
        let mut names: Vec<&str> = kind.about().places.iter().map(|it| it.name()).collect();
        names.push("table.NAME");
        let (title, names) = (kind.about().title, names.join(", "));
        format!("{PLACE}{key}: {title} keeps apart from its data: {names}")
    })
}

fn memory(text: &str) -> Result<u64> {
    let bytes = parse_bytes(text).ok_or_else(|| {
        TargetError::statement(format!(
            "memory={text} is not a size; write, for example, memory=2GiB"
        ))
    })?;
    if bytes < MEMORY_BYTES_MIN {
        return Err(TargetError::statement(format!(
            "memory={text} is too small; a server needs at least {} MiB to start",
            MEMORY_BYTES_MIN >> 20
        )));
    }
    Ok(bytes)
}
