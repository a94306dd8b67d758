//! Targets are named by URLs: `SCHEME:PATH[?KEY=VALUE&…]`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// A parsed target URL. Nothing is opened yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// Kind of database, e.g. "sqlite".
    pub scheme: String,
    /// Path of the database; empty means in memory.
    pub path: String,
    /// Settings after the question mark.
    pub settings: BTreeMap<String, String>,
}

/// What can be wrong with a URL, knowable without touching the target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// There is no scheme.
    #[error(
        "target \"{0}\" has no scheme; write it as ENGINE:PATH, for example sqlite:/data/bench.db"
    )]
    NoScheme(String),
    /// The scheme is not an engine.
    #[error("there is no engine \"{scheme}\"{hint}; `dbdyno list engines` shows them all")]
    UnknownEngine {
        /// What was asked for.
        scheme: String,
        /// ` (did you mean "…"?)` or nothing.
        hint: String,
    },
    /// A setting is not KEY=VALUE.
    #[error("\"{0}\" in a target URL is not KEY=VALUE")]
    BadSetting(String),
    /// The value of a setting is none that the engine knows.
    #[error("{0}")]
    BadValue(String),
    /// The engine knows no such setting.
    #[error("engine {engine} has no setting \"{key}\"; it knows {known}")]
    UnknownSetting {
        /// Engine.
        engine: &'static str,
        /// Setting asked for.
        key: String,
        /// Settings there are.
        known: String,
    },
}

impl TargetUrl {
    /// Takes a URL apart.
    ///
    /// # Errors
    /// When there is no scheme or a setting has no value.
    pub fn parse(url: &str) -> Result<Self, UrlError> {
        let (scheme, rest) = url
            .split_once(':')
            .filter(|(s, _)| {
                !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
            })
            .ok_or_else(|| UrlError::NoScheme(url.into()))?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut settings = BTreeMap::new();
        for part in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .filter(|(k, _)| !k.is_empty())
                .ok_or_else(|| UrlError::BadSetting(part.into()))?;
            settings.insert(key.to_owned(), value.to_owned());
        }
        Ok(Self {
            scheme: scheme.to_owned(),
            path: path.to_owned(),
            settings,
        })
    }

    /// The file the URL names, `None` for a database in memory.
    pub fn file(&self) -> Option<PathBuf> {
        (!self.path.is_empty()).then(|| PathBuf::from(&self.path))
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.scheme, self.path)?;
        let mut separator = '?';
        for (key, value) in &self.settings {
            write!(f, "{separator}{key}={value}")?;
            separator = '&';
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_come_apart_and_together() {
        let url = TargetUrl::parse("sqlite:/data/a.db?cache_mb=64&page_size=4096").unwrap();
        assert_eq!(
            (url.scheme.as_str(), url.path.as_str()),
            ("sqlite", "/data/a.db")
        );
        assert_eq!(url.settings["page_size"], "4096");
        assert_eq!(
            url.to_string(),
            "sqlite:/data/a.db?cache_mb=64&page_size=4096"
        );
        assert_eq!(TargetUrl::parse("duckdb:").unwrap().file(), None);
    }

    #[test]
    fn bad_urls_say_what_is_right() {
        for bad in ["", "plain", ":x", "/a/b:c"] {
            assert!(
                TargetUrl::parse(bad)
                    .unwrap_err()
                    .to_string()
                    .contains("ENGINE:PATH"),
                "{bad}"
            );
        }
        let error = TargetUrl::parse("sqlite:x?cache").unwrap_err();
        assert_eq!(error, UrlError::BadSetting("cache".into()));
    }
}
