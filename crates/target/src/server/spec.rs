//! What a URL asks of a local server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::kind::ServerKind;
use crate::{ErrorKind, Result, TargetError, TargetUrl};

/// Sessions that a server must bear: the largest degree of parallelism of a sweep.
pub const SESSIONS_MAX: u32 = 512;
/// Sessions beside those of the jobs: set-up, proofs, samplers of counters and waits.
pub(crate) const SESSIONS_RESERVE: u32 = 64;
/// Least memory of a group: a server with the smallest areas does not start with much less.
const MEMORY_BYTES_MIN: u64 = 128 << 20;
/// Settings that a URL may carry.
const SETTINGS_MAX: usize = 256;

/// What is asked of a local server; everything else has a default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerSpec {
    /// Where its data lies and stays; `None` for a directory that goes with the server.
    pub data_directory: Option<PathBuf>,
    /// Version or series of versions, e.g. "15".
    pub version: Option<String>,
    /// Size of the memory group, page cache included.
    pub memory_bytes: Option<u64>,
    /// The server's own settings.
    pub settings: BTreeMap<String, String>,
    /// Parent of the servers' directories, where neither the default nor `$DBDYNO_SERVER_DIR` will do.
    pub parent_directory: Option<PathBuf>,
}

impl ServerSpec {
    /// Takes `…:[DATA_DIR][?version=…&memory=…&KEY=VALUE]` apart; touches nothing.
    ///
    /// # Errors
    /// When a size is none, a setting's name or value cannot be one, or dbdyno decides it itself.
    pub fn from_url(kind: &dyn ServerKind, url: &TargetUrl) -> Result<Self> {
        let mut spec = Self {
            data_directory: url.file(),
            ..Self::default()
        };
        if url.settings.len() > SETTINGS_MAX {
            return Err(bad(format!("{url} has more than {SETTINGS_MAX} settings")));
        }
        for (key, value) in &url.settings {
            match key.as_str() {
                "version" => spec.version = Some(value.clone()),
                "memory" => spec.memory_bytes = Some(memory(value)?),
                _ => spec.add_setting(kind, key, value)?,
            }
        }
        Ok(spec)
    }

    fn add_setting(&mut self, kind: &dyn ServerKind, key: &str, value: &str) -> Result<()> {
        let is_name = key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        if !is_name || value.chars().any(char::is_control) {
            return Err(bad(format!(
                "\"{}\" cannot be a setting of {}: names are of letters, digits, - and _, and values \
                 have no control characters",
                key.escape_debug(),
                kind.title()
            )));
        }
        let key = kind.canonical(key);
        if let Some((_, reason)) = kind.reserved().iter().find(|(name, _)| *name == key) {
            return Err(bad(format!(
                "{key} of a local server is dbdyno's to set: {reason}"
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
            "memory={text} is not a size; write it like memory=2GiB"
        ))
    })?;
    if bytes < MEMORY_BYTES_MIN {
        return Err(bad(format!(
            "memory={text} is too little: a server needs {} MiB to start at all",
            MEMORY_BYTES_MIN >> 20
        )));
    }
    Ok(bytes)
}

/// Reads a size: digits and kB, MB, GB (powers of 10^3) or KiB, MiB, GiB, TiB (of 2^10).
pub fn parse_bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let unit: u64 = match &text[digits..] {
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

fn bad(message: String) -> TargetError {
    TargetError::new(ErrorKind::Statement, message)
}
