//! The place of a server: `//USER[:PASSWORD]@HOST[:PORT]/DATABASE`.

use std::fmt;

use super::percent::{decode, encode};

/// A password, which no message, log or archive shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Password {
    text: String,
    was_decoded: bool,
}

impl Password {
    /// Keeps `text` from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            text,
            was_decoded: false,
        }
    }

    /// As it stands in a URL. What is no valid escape is taken as it stands: a password may hold a per cent sign.
    pub(super) fn of_url(text: &str) -> Self {
        let decoded = decode(text).unwrap_or_else(|_| text.to_owned());
        Self {
            was_decoded: decoded != text,
            text: decoded,
        }
    }

    /// The password itself, for the server alone.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// A hint where a server refuses it: a token may have lost its own escapes in the URL.
    pub fn doubt(&self, variable: &str) -> String {
        if self.was_decoded {
            format!(
                "; the URL's password contains %XX, which was decoded: put a password or token that has per cent signs itself \
                 into ${variable}"
            )
        } else {
            String::new()
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(a password)")
    }
}

/// Where a server is and who logs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub user: String,
    /// Host name or address; a path is the directory of a Unix socket.
    pub host: String,
    /// Port, when one is given.
    pub port: Option<u16>,
    pub database: String,
}

/// The same with what a URL leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Partial {
    pub user: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub database: Option<String>,
}

impl Address {
    /// Takes `//USER@HOST[:PORT]/DATABASE` apart; says what is wrong otherwise.
    pub(super) fn parse(path: &str) -> Result<Self, String> {
        let place = Partial::parse(path)?;
        let needed = |part: Option<String>, what| part.ok_or(format!("it has no {what}"));
        Ok(Self {
            user: needed(place.user, "user")?,
            host: needed(place.host, "host")?,
            port: place.port,
            database: needed(place.database, "database")?,
        })
    }
}

impl Partial {
    /// Takes `//[USER@][HOST][:PORT][/DATABASE]` apart, or nothing at all.
    pub fn parse(path: &str) -> Result<Self, String> {
        if path.is_empty() {
            return Ok(Self::default());
        }
        let place = path
            .strip_prefix("//")
            .ok_or("there is no // after the engine")?;
        let (user, place) = match place.rsplit_once('@') {
            Some((user, place)) => (user, place),
            None => ("", place),
        };
        if place.contains('#') {
            return Err("a # ends a URL, and what follows it has no meaning here; leave it out, or write %23 for a # in a name".into());
        }
        let (host, database) = place.split_once('/').unwrap_or((place, ""));
        if host.contains(',') {
            return Err("it names several hosts, and a run measures one server; name one".into());
        }
        let (host, port) = match host.strip_prefix('[') {
            Some(host) => match host.split_once(']') {
                Some((host, "")) => (host, None),
                Some((host, rest)) => (host, Some(rest.strip_prefix(':').ok_or(rest))),
                None => return Err("a bracket is not closed".into()),
            },
            None if host.matches(':').count() > 1 => {
                return Err("an IPv6 address needs brackets, as in [::1]".into());
            }
            None => match host.split_once(':') {
                Some((host, port)) => (host, Some(Ok(port))),
                None => (host, None),
            },
        };
        let port = match port {
            None | Some(Ok("")) => None,
            Some(Ok(text) | Err(text)) => Some(port_of(text)?),
        };
        // A slash behind the database is of a URL that was put together.
        let database = database.strip_suffix('/').unwrap_or(database);
        let part = |text: &str| decode(text).map(|text| (!text.is_empty()).then_some(text));
        Ok(Self {
            user: part(user)?,
            host: part(host)?,
            port,
            database: part(database)?,
        })
    }

    /// Writes it so that [`Partial::parse`] reads it.
    pub fn to_path(&self) -> String {
        let mut path = "//".to_owned();
        if let Some(user) = &self.user {
            path += &format!("{}@", encode(user));
        }
        if let Some(host) = &self.host {
            path += &if host.contains(':') {
                format!("[{}]", host.replace('%', "%25"))
            } else {
                encode(host)
            };
        }
        if let Some(port) = self.port {
            path += &format!(":{port}");
        }
        if let Some(database) = &self.database {
            path += &format!("/{}", encode(database));
        }
        path
    }

    /// Takes over what it lacks.
    pub fn fill(&mut self, other: Self) {
        self.user = self.user.take().or(other.user);
        self.host = self.host.take().or(other.host);
        self.port = self.port.or(other.port);
        self.database = self.database.take().or(other.database);
    }
}

/// A port as it is written.
pub fn port_of(text: &str) -> Result<u16, String> {
    match text.parse::<u16>() {
        Ok(number) if number > 0 => Ok(number),
        _ if text.contains(',') => {
            Err("it names several ports, and a run measures one server; name one".into())
        }
        _ => Err(format!("\"{}\" is not a port", text.escape_debug())),
    }
}

/// Parts a password from the place of a server, so that the place can be shown.
pub(super) fn without_password(path: &str) -> (String, Option<Password>) {
    // Without the slashes it may have a password all the same.
    let slashes = if path.starts_with("//") { "//" } else { "" };
    let Some((user, place)) = path[slashes.len()..].rsplit_once('@') else {
        return (path.to_owned(), None);
    };
    match user.split_once(':') {
        Some((user, password)) => {
            let shown = format!("{slashes}{user}@{place}");
            (shown, Some(Password::of_url(password)))
        }
        None if slashes.is_empty() => (format!("…@{place}"), Some(Password::new(user))),
        None => (path.to_owned(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(path: &str) -> Result<Address, String> {
        Address::parse(path)
    }

    #[test]
    fn places_come_apart() {
        let full = address("//bench@db.example.com:5433/test").unwrap();
        assert_eq!(
            (
                full.user.as_str(),
                full.host.as_str(),
                full.port,
                full.database.as_str()
            ),
            ("bench", "db.example.com", Some(5433), "test")
        );
        assert_eq!(address("//u@h/d").unwrap().port, None);
        let v6 = address("//u@[::1]:5432/d").unwrap();
        assert_eq!((v6.host.as_str(), v6.port), ("::1", Some(5432)));
        let socket = address("//u%40x@%2Frun%2Fpg/d").unwrap();
        assert_eq!(
            (socket.user.as_str(), socket.host.as_str()),
            ("u@x", "/run/pg")
        );
    }

    #[test]
    fn a_wrong_place_says_what_is_missing() {
        for (path, what) in [
            ("u@h/d", "//"),
            ("//h/d", "no user"),
            ("//u@h,i/d", "several hosts"),
            ("//u@h", "no database"),
            ("//u@h/", "no database"),
            ("//u@/d", "no host"),
            ("//@h/d", "no user"),
            ("//u@h:0/d", "not a port"),
            ("//u@h:x/d", "not a port"),
            ("//u%4@h/d", "hexadecimal"),
        ] {
            let wrong = address(path).unwrap_err();
            assert!(wrong.contains(what), "{path}: {wrong}");
        }
    }

    #[test]
    fn a_password_is_parted_and_never_shown() {
        let (shown, password) = without_password("//u:s%40f:t@h:1/d");
        let password = password.unwrap();
        assert_eq!((shown.as_str(), password.expose()), ("//u@h:1/d", "s@f:t"));
        assert!(!format!("{password:?}").contains("s@"));
        assert_eq!(without_password("//u:p@q@h/d").1.unwrap().expose(), "p@q");
        assert_eq!(without_password("//u@h/d"), ("//u@h/d".into(), None));
    }
}
