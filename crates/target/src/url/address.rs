//! The place of a server: `//USER[:PASSWORD]@HOST[:PORT]/DATABASE`.

use std::fmt;

/// A password, which no message, log or archive shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Keeps `text` from being shown.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The password itself, for the server alone.
    pub fn expose(&self) -> &str {
        &self.0
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
    /// User of the database.
    pub user: String,
    /// Host name or address; a path is the directory of a Unix socket.
    pub host: String,
    /// Port, when one is given.
    pub port: Option<u16>,
    /// Name of the database.
    pub database: String,
}

impl Address {
    /// Takes `//USER@HOST[:PORT]/DATABASE` apart; says what is wrong otherwise.
    pub(super) fn parse(path: &str) -> Result<Self, String> {
        let place = path
            .strip_prefix("//")
            .ok_or("there is no // after the engine")?;
        let (user, place) = place.rsplit_once('@').ok_or("it has no user")?;
        let (host, database) = place.split_once('/').ok_or("it has no database")?;
        let (host, port) = match host.strip_prefix('[').and_then(|h| h.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None => match host.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (host, None),
            },
        };
        let port = match port {
            None => None,
            Some(text) => match text.parse::<u16>() {
                Ok(number) if number > 0 => Some(number),
                _ => return Err(format!("\"{text}\" is not a port")),
            },
        };
        let address = Self {
            user: decode(user)?,
            host: decode(host)?,
            port,
            database: decode(database)?,
        };
        let parts = [
            (&address.user, "user"),
            (&address.host, "host"),
            (&address.database, "database"),
        ];
        match parts.iter().find(|(text, _)| text.is_empty()) {
            Some((_, what)) => Err(format!("it has no {what}")),
            None => Ok(address),
        }
    }
}

/// Parts a password from the place of a server, so that the place can be shown.
pub(super) fn without_password(path: &str) -> (String, Option<Password>) {
    // Who forgot the slashes has a password all the same.
    let slashes = if path.starts_with("//") { "//" } else { "" };
    let Some((user, place)) = path[slashes.len()..].rsplit_once('@') else {
        return (path.to_owned(), None);
    };
    match user.split_once(':') {
        Some((user, password)) => {
            // What is no valid escape is taken as it stands: a password may hold a per cent sign.
            let password = decode(password).unwrap_or_else(|_| password.to_owned());
            let shown = format!("{slashes}{user}@{place}");
            (shown, Some(Password::new(password)))
        }
        None if slashes.is_empty() => (format!("…@{place}"), Some(Password::new(user))),
        None => (path.to_owned(), None),
    }
}

/// Replaces `%40` and the like by the bytes they stand for.
fn decode(text: &str) -> Result<String, String> {
    let wrong =
        || format!("\"{text}\" contains a % that is not followed by two hexadecimal digits");
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = after.get(..2).ok_or_else(wrong)?;
        let digits = std::str::from_utf8(digits).map_err(|_| wrong())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("\"{text}\" is not UTF-8"))
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
