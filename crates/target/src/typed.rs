//! What is typed for a target, in the form that everything else uses: other clients' schemes, settings and defaults.

use std::path::PathBuf;

use crate::engine::{Engine, Incomplete, Reach};
use crate::engines::engines;
use crate::url::{Partial, port_of, translate};
use crate::{TargetUrl, UrlError};

/// What depends on where the databases of a scheme are.
impl TargetUrl {
    /// Takes a URL apart, or libpq's `KEY=VALUE …`, and puts in what it leaves out.
    ///
    /// # Errors
    /// When there is no scheme, a setting has no value or no meaning, or a file of defaults cannot be used.
    pub fn parse(url: &str) -> Result<Self, UrlError> {
        Self::parse_with_notes(url).map(|(url, _)| url)
    }

    /// The same, with a sentence for each setting that has no effect.
    ///
    /// # Errors
    /// As [`TargetUrl::parse`].
    pub fn parse_with_notes(url: &str) -> Result<(Self, Vec<String>), UrlError> {
        parse_in(url, &|name| {
            std::env::var(name).ok().filter(|value| !value.is_empty())
        })
    }

    /// The same URL with another value of a setting.
    ///
    /// # Errors
    /// When it has no meaning.
    pub fn with_setting(mut self, key: &str, value: &str) -> Result<Self, UrlError> {
        let mut settings = [(key.to_owned(), value.to_owned())].into();
        if let Some(engine) = engine_of(&self.scheme) {
            translate(engine.foreign_settings(), &mut settings)?;
        }
        self.settings.extend(settings);
        Ok(self)
    }

    /// The file or directory the URL names, `None` for a database in memory and for a server.
    pub fn file(&self) -> Option<PathBuf> {
        let is_file = !self.path.is_empty()
            && !matches!(reach(&self.scheme), Some(Reach::Network | Reach::Replica));
        is_file.then(|| PathBuf::from(&self.path))
    }
}

fn parse_in(
    url: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(TargetUrl, Vec<String>), UrlError> {
    let mut url = TargetUrl::take_apart(url, scheme_of, is_file)?;
    let Some(engine) = engine_of(&url.scheme) else {
        return Ok((url, Vec::new()));
    };
    match engine.reach() {
        Reach::Network => complete(engine, url, variable),
        reach => {
            if reach == Reach::Embedded {
                url.path = path_of_file(&url.path).to_owned();
            }
            let ignored = translate(engine.foreign_settings(), &mut url.settings)?;
            Ok((url, ignored))
        }
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
    // What is wrong in the place is said when it is used.
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
    let ignored = translate(engine.foreign_settings(), &mut typed.settings)?;
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

/// dbdyno's scheme for another client's: `PostgreSQL`, `mysql2`, `postgresql+psycopg2`, `mariadb+local`.
fn scheme_of(typed: &str) -> String {
    let scheme = typed.to_ascii_lowercase();
    if engine_of(&scheme).is_some() {
        return scheme;
    }
    let (family, variant) = scheme.split_once('+').unwrap_or((&scheme, ""));
    let is_named = |e: &&&dyn Engine| e.scheme() == family || e.aliases().contains(&family);
    match engines().iter().find(is_named) {
        Some(engine) if variant == "local" => format!("{}+local", engine.scheme()),
        Some(engine) => engine.scheme().to_owned(),
        None => typed.to_owned(),
    }
}

fn engine_of(scheme: &str) -> Option<&'static dyn Engine> {
    engines().iter().find(|e| e.scheme() == scheme).copied()
}

fn reach(scheme: &str) -> Option<Reach> {
    engine_of(scheme).map(|engine| engine.reach())
}

fn is_file(scheme: &str, rest: &str) -> bool {
    reach(scheme).is_some_and(|reach| match reach {
        Reach::Network => false,
        Reach::LocalServer => !rest.starts_with("//"),
        Reach::Nowhere | Reach::Embedded | Reach::Replica => true,
    })
}

#[cfg(test)]
mod tests;
