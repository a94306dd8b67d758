//! A list of engines, and what a URL means among them: other clients' schemes, settings and defaults.

use std::path::PathBuf;
use std::sync::Arc;

use crate::engine::{Engine, Incomplete, Reach};
use crate::url::{Partial, is_password, port_of, translate};
use crate::{Target, TargetError, TargetUrl, UrlError};

/// Engines by their schemes.
#[derive(Clone, Copy)]
pub struct Engines(pub &'static [&'static dyn Engine]);

impl Engines {
    /// The engine of a scheme.
    pub fn of(self, scheme: &str) -> Option<&'static dyn Engine> {
        self.0.iter().find(|e| e.scheme() == scheme).copied()
    }

    /// The engine of a URL, with its settings and their values checked; touches nothing.
    ///
    /// # Errors
    /// When there is no such engine, or it knows no such setting or value.
    pub fn find(self, url: &TargetUrl) -> Result<&'static dyn Engine, UrlError> {
        let engine = self
            .of(&url.scheme)
            .ok_or_else(|| self.unknown(&url.scheme))?;
        let info = engine.info();
        for key in url.settings.keys() {
            if is_password(key) {
                return Err(UrlError::PasswordSetting(key.clone()));
            }
            let is_known = info.takes_settings_of_the_server
                || info.settings.iter().any(|(known, _)| known == key);
            if !is_known {
                let known: Vec<&str> = info.settings.iter().map(|(k, _)| *k).collect();
                return Err(UrlError::UnknownSetting {
                    engine: engine.scheme(),
                    key: key.clone(),
                    known: known.join(", "),
                });
            }
        }
        engine
            .check(url)
            .map_err(|e| UrlError::BadValue(e.message))?;
        Ok(engine)
    }

    fn unknown(self, scheme: &str) -> UrlError {
        let schemes = self.0.iter().map(|e| e.scheme());
        let nearest = schemes
            .map(|known| (strsim::damerau_levenshtein(known, scheme), known))
            .min()
            .filter(|(distance, _)| *distance <= 3);
        UrlError::UnknownEngine {
            scheme: scheme.to_owned(),
            hint: nearest.map_or(String::new(), |(_, name)| {
                format!(" (did you mean \"{name}\"?)")
            }),
        }
    }

    /// Opens the database that a URL names.
    ///
    /// # Errors
    /// [`UrlError`] as a statement error when the URL is wrong, else what the engine says.
    pub fn open(self, url: &TargetUrl) -> crate::Result<Arc<dyn Target>> {
        self.find_to_open(url)?.open(url)
    }

    /// As [`Engines::find`], for callers that open the database.
    ///
    /// # Errors
    /// [`UrlError`] as a statement error.
    pub fn find_to_open(self, url: &TargetUrl) -> crate::Result<&'static dyn Engine> {
        self.find(url)
            .map_err(|e| TargetError::statement(e.to_string()))
    }

    /// Takes a URL apart, or libpq's `KEY=VALUE …`, and puts in what it leaves out.
    ///
    /// # Errors
    /// When there is no scheme, a setting has no value or no meaning, or a file of defaults cannot be used.
    pub fn parse(self, url: &str) -> Result<TargetUrl, UrlError> {
        self.parse_with_notes(url).map(|(url, _)| url)
    }

    /// The same, with a sentence for each setting that has no effect.
    ///
    /// # Errors
    /// As [`Engines::parse`].
    pub fn parse_with_notes(self, url: &str) -> Result<(TargetUrl, Vec<String>), UrlError> {
        self.parse_in(url, &|name| {
            std::env::var(name).ok().filter(|value| !value.is_empty())
        })
    }

    /// The same URL with another value of a setting.
    ///
    /// # Errors
    /// When it has no meaning.
    pub fn with_setting(
        self,
        mut url: TargetUrl,
        key: &str,
        value: &str,
    ) -> Result<TargetUrl, UrlError> {
        let mut settings = [(key.to_owned(), value.to_owned())].into();
        if let Some(engine) = self.of(&url.scheme) {
            translate(engine.info().foreign_settings, &mut settings)?;
        }
        url.settings.extend(settings);
        Ok(url)
    }

    /// The file or directory the URL names, `None` for a database in memory and for a server.
    pub fn file(self, url: &TargetUrl) -> Option<PathBuf> {
        let reach = self.of(&url.scheme).map(|engine| engine.reach());
        let is_file =
            !url.path.is_empty() && !matches!(reach, Some(Reach::Network | Reach::Replica));
        is_file.then(|| PathBuf::from(&url.path))
    }

    /// The same with environment variables from elsewhere.
    ///
    /// # Errors
    /// As [`Engines::parse`].
    pub fn parse_in(
        self,
        url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(TargetUrl, Vec<String>), UrlError> {
        let of_key_values = self.0.iter().find(|e| e.info().reads_key_values);
        let mut url = TargetUrl::take_apart(
            url,
            of_key_values.map(|engine| engine.scheme()),
            |typed| self.scheme_of(typed),
            |scheme, rest| self.is_file(scheme, rest),
        )?;
        let Some(engine) = self.of(&url.scheme) else {
            return Ok((url, Vec::new()));
        };
        url.sql_of = engine.info().sql_of;
        match engine.reach() {
            Reach::Network => complete(engine, url, variable),
            reach => {
                if reach == Reach::Embedded {
                    url.path = path_of_file(&url.path).to_owned();
                }
                let ignored = translate(engine.info().foreign_settings, &mut url.settings)?;
                Ok((url, ignored))
            }
        }
    }

    /// dbdyno's scheme for another client's: `PostgreSQL`, `mysql2`, `postgresql+psycopg2`, `mariadb+local`.
    fn scheme_of(self, typed: &str) -> String {
        let scheme = typed.to_ascii_lowercase();
        if self.of(&scheme).is_some() {
            return scheme;
        }
        let (family, variant) = scheme.split_once('+').unwrap_or((&scheme, ""));
        let is_named =
            |e: &&&dyn Engine| e.scheme() == family || e.info().aliases.contains(&family);
        match self.0.iter().find(is_named) {
            Some(engine) if variant == "local" => format!("{}+local", engine.scheme()),
            Some(engine) => engine.scheme().to_owned(),
            None => typed.to_owned(),
        }
    }

    fn is_file(self, scheme: &str, rest: &str) -> bool {
        self.of(scheme).is_some_and(|engine| match engine.reach() {
            Reach::Network => false,
            Reach::LocalServer => !rest.starts_with("//"),
            Reach::Nowhere | Reach::Embedded | Reach::Replica => true,
        })
    }
}

/// A path as SQLite's own URIs and other clients write it. What SQLite and DuckDB themselves call a database in memory would
/// become a file of that name.
fn path_of_file(path: &str) -> &str {
    let path = path.strip_prefix("file:").unwrap_or(path);
    let path = match path.strip_prefix("//") {
        Some(rest) => rest
            .strip_prefix("localhost")
            .filter(|p| p.starts_with('/'))
            .unwrap_or(rest),
        None => path,
    };
    match path {
        ":memory:" | "/:memory:" => "",
        path => path,
    }
}

/// The URL of a server with every part that its clients would find.
fn complete(
    engine: &dyn Engine,
    url: TargetUrl,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(TargetUrl, Vec<String>), UrlError> {
    let bad = |url: &TargetUrl, what| UrlError::BadAddress {
        url: url.to_string(),
        what,
    };
    // A wrong address is reported when it is used.
    let place = Partial::parse(&url.path).ok();
    let mut typed = Incomplete {
        place: place.clone().unwrap_or_default(),
        settings: url.settings.clone(),
        password: url.password.clone(),
        variable,
    };
    if place.is_some() {
        take_place(&mut typed).map_err(|what| bad(&url, what))?;
        engine
            .complete(&mut typed)
            .map_err(|what| bad(&url, what))?;
    }
    let ignored = translate(engine.info().foreign_settings, &mut typed.settings)?;
    let is_as_typed = place.is_none_or(|place| place == typed.place) && !url.path.ends_with('/');
    let path = if is_as_typed {
        url.path
    } else {
        typed.place.to_path()
    };
    let url = TargetUrl {
        scheme: url.scheme,
        path,
        settings: typed.settings,
        password: typed.password,
        sql_of: url.sql_of,
    };
    Ok((url, ignored))
}

/// Settings that are parts of the place, as in `?host=/run/postgresql&user=me`, count before those in front of them.
fn take_place(typed: &mut Incomplete<'_>) -> Result<(), String> {
    let mut take = |key: &str| typed.settings.remove(key).filter(|value| !value.is_empty());
    let (host, address) = (take("host"), take("hostaddr"));
    let database = [take("dbname"), take("database")]
        .into_iter()
        .flatten()
        .next();
    let mut said = Partial {
        user: take("user"),
        port: take("port").map(|text| port_of(&text)).transpose()?,
        database,
        host: None,
    };
    said.host = match (host, address) {
        (Some(host), _) if host.contains(',') => {
            return Err("it names several hosts, and a run measures one server; name one".into());
        }
        (Some(host), Some(address)) if host != address => {
            return Err("it has host and hostaddr; name the server by one of them, as host".into());
        }
        (host, address) => host.or(address),
    };
    said.fill(std::mem::take(&mut typed.place));
    typed.place = said;
    Ok(())
}
