//! What a URL asks of a kind of local server.

use std::collections::BTreeMap;

use super::Apart;
use super::kind::ServerKind;
use super::spec::{ServerSpec, parse_bytes};
use crate::url::{PLACE, absolute};
use crate::{ErrorKind, Result, TargetError, TargetUrl};

/// Least memory of a group: a server with the smallest areas does not start with much less.
const MEMORY_BYTES_MIN: u64 = 128 << 20;
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
            return Err(bad(format!("{url} has more than {SETTINGS_MAX} settings")));
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
        if !spec.places.is_empty() && spec.data_directory.is_none() {
            return Err(bad(format!(
                "{url} puts files apart from its data; name the directory of the data too, behind the colon"
            )));
        }
        Ok(spec)
    }

    fn add_place(&mut self, kind: &dyn ServerKind, key: &str, value: &str) -> Result<()> {
        let apart = Apart::parse(kind, key).map_err(bad)?;
        self.places.insert(apart, absolute(key, value)?);
        Ok(())
    }

    fn add_setting(&mut self, kind: &dyn ServerKind, key: &str, value: &str) -> Result<()> {
        let is_name = key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !is_name || value.chars().any(char::is_control) {
            return Err(bad(format!(
                "\"{}\" cannot be a setting of {}; use only letters, digits, - and _ in the name, and no control \
                 characters in the value",
                key.escape_debug(),
                kind.title()
            )));
        }
        let key = kind.canonical(key);
        if let Some((_, reason)) = kind.reserved().iter().find(|(name, _)| *name == key) {
            return Err(bad(format!(
                "{key} cannot be set for a local server: {reason}"
            )));
        }
        if self
            .settings
            .insert(key.clone(), value.to_owned())
            .is_some()
        {
            return Err(bad(format!("the setting {key} is given twice")));
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

fn memory(text: &str) -> Result<u64> {
    let bytes = parse_bytes(text).ok_or_else(|| {
        bad(format!(
            "memory={text} is not a size; write, for example, memory=2GiB"
        ))
    })?;
    if bytes < MEMORY_BYTES_MIN {
        return Err(bad(format!(
            "memory={text} is too small; a server needs at least {} MiB to start",
            MEMORY_BYTES_MIN >> 20
        )));
    }
    Ok(bytes)
}

fn bad(message: String) -> TargetError {
    TargetError::new(ErrorKind::Statement, message)
}
