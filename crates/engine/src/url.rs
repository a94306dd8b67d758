//! Targets are named by URLs: `SCHEME:PATH[?KEY=VALUE&…]` for files and local servers,
//! `SCHEME://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?KEY=VALUE&…]` for servers.

mod address;
mod foreign;
mod key_values;
mod percent;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use archive::Purpose;

use crate::TargetError;
pub use address::Partial;
pub use address::port_of;
pub use address::{Address, Password};
pub use foreign::{Foreign, Meaning, translate};
use percent::{decode_where_escaped, encode_where_needed};

/// Begins the keys that put files apart from the data.
pub const PLACE: &str = "place.";

/// A parsed target URL. Nothing is opened yet.
///
/// Its text, for messages and archives, never has the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl {
    /// Kind of database, e.g. "sqlite".
    pub scheme: String,
    /// Path of the database, empty means in memory; for a server everything up to the question mark,
    /// without the password.
    pub path: String,
    /// Settings after the question mark.
    pub settings: BTreeMap<String, String>,
    /// The password that stood in the URL of a server.
    pub password: Option<Password>,
    /// The engine whose SQL in the library it executes, where that is another one's.
    pub sql_of: Option<&'static str>,
}

/// Errors of a URL that are known without touching the target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error(
        "target \"{0}\" has no scheme; write it as ENGINE:PATH, for example sqlite:/data/bench.db"
    )]
    NoScheme(String),
    /// The scheme is not an engine.
    #[error("unknown engine \"{scheme}\"{hint}")]
    UnknownEngine {
        scheme: String,
        /// ` (did you mean "…"?)` or nothing.
        hint: String,
    },
    /// The end of the password is ambiguous.
    #[error(
        "the password in a target URL contains @ and ?, so its end is ambiguous; write them as %40 and %3F"
    )]
    OddPassword,
    /// The password is a setting, which would be archived.
    #[error(
        "a target URL has the password before the host, not as {0}=; write ENGINE://USER:PASSWORD@HOST, or leave it out and \
         put it into the client's password file"
    )]
    PasswordSetting(String),
    /// A setting is not KEY=VALUE.
    #[error(
        "\"{0}\" in a target URL is not KEY=VALUE; settings follow the first ?, so write a ? in a path as %3F"
    )]
    BadSetting(String),
    /// A token of a cloud provider was pasted behind the question mark, where it would be archived in pieces.
    #[error(
        "the target's URL contains a signed token (X-Amz-…); leave it out of the URL and put it into $PGPASSWORD or $MYSQL_PWD"
    )]
    Token,
    /// A setting of another client that has no meaning here; its value is not shown.
    #[error("{0} in the target's URL: {1}")]
    ForeignSetting(String, String),
    /// The place of a server is not one.
    #[error(
        "\"{url}\" does not name a server: {what}; write it as ENGINE://USER@HOST[:PORT]/DATABASE"
    )]
    BadAddress {
        /// The URL, without its password.
        url: String,
        what: String,
    },
    /// The value of a setting is none that the engine knows.
    #[error("{0}")]
    BadValue(String),
    /// The engine knows no such setting.
    #[error("engine {engine} has no setting \"{key}\"; its settings are {known}")]
    UnknownSetting {
        engine: &'static str,
        key: String,
        known: String,
    },
}

impl TargetUrl {
    /// Takes a URL apart, or libpq's `KEY=VALUE …`. `scheme_of` gives the scheme that another client's stands for; `is_file`
    /// says of a scheme and what follows it whether that is the name of a file or directory, which alone may hold what looks
    /// like a password and is none.
    ///
    /// # Errors
    /// When there is no scheme or a setting has no value.
    pub(crate) fn take_apart(
        url: &str,
        of_key_values: Option<&str>,
        scheme_of: impl Fn(&str) -> String,
        is_file: impl Fn(&str, &str) -> bool,
    ) -> Result<Self, UrlError> {
        if let (Some(scheme), Some(settings)) = (of_key_values, key_values::key_values(url)) {
            return Ok(Self::of_key_values(scheme.to_owned(), settings));
        }
        let (jdbc, url) = url.split_at(match url.get(..JDBC.len()) {
            Some(start) if start.eq_ignore_ascii_case(JDBC) => JDBC.len(),
            _ => 0,
        });
        let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '-';
        let (scheme, rest) = url
            .split_once(':')
            .filter(|(s, _)| !s.is_empty() && s.chars().all(is_of_scheme))
            .ok_or_else(|| UrlError::NoScheme(without_secret(url)))?;
        let scheme = scheme_of(scheme);
        let is_file = is_file(&scheme, rest);
        let (path, query) = split_query(rest, is_file);
        let (path, mut password) = if is_file {
            (decode_where_escaped(path), None)
        } else {
            address::without_password(path)
        };
        if password.is_some() && query.contains('@') {
            return Err(UrlError::OddPassword);
        }
        let path = match !jdbc.is_empty() && !is_file && !path.is_empty() && !path.starts_with("//")
        {
            // `jdbc:postgresql:bench` is a database of this machine.
            true => format!("//localhost/{path}"),
            false => path,
        };
        let mut settings = BTreeMap::new();
        for part in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .filter(|(k, _)| !k.is_empty())
                .ok_or_else(|| not_a_setting(part, query))?;
            let key = decode_where_escaped(key);
            if key.to_ascii_lowercase().starts_with("x-amz-") {
                return Err(UrlError::Token);
            }
            if is_file && is_password(&key) {
                return Err(UrlError::PasswordSetting(key));
            } else if is_password(&key) {
                password = Some(Password::of_url(value));
            } else {
                settings.insert(key, decode_where_escaped(value));
            }
        }
        Ok(Self {
            scheme,
            path,
            settings,
            password: password.filter(|password| !password.expose().is_empty()),
            sql_of: None,
        })
    }

    /// A URL from its own text, as records have it.
    ///
    /// # Errors
    /// When the text is no such one.
    pub fn read_back(text: &str) -> Result<Self, UrlError> {
        Self::take_apart(text, None, str::to_owned, |_, rest| !rest.starts_with("//"))
    }

    fn of_key_values(scheme: String, mut settings: BTreeMap<String, String>) -> Self {
        Self {
            scheme,
            path: String::new(),
            password: settings.remove("password").map(Password::new),
            settings,
            sql_of: None,
        }
    }

    /// The file or directory of an engine whose URLs name one; `None` where nothing is named.
    pub fn place(&self) -> Option<PathBuf> {
        (!self.path.is_empty()).then(|| PathBuf::from(&self.path))
    }

    /// The directory that `place.KEY` names for files of a kind.
    ///
    /// # Errors
    /// When it is not an absolute path, or the database is in memory.
    pub fn apart(&self, of: Purpose) -> crate::Result<Option<PathBuf>> {
        let key = of.name();
        let Some(value) = self.settings.get(&format!("{PLACE}{key}")) else {
            return Ok(None);
        };
        if self.path.is_empty() {
            return Err(TargetError::statement(format!(
                "{self} has no files to put apart; name a file after the colon"
            )));
        }
        absolute(key, value).map(Some)
    }

    /// The same without its file or directory, and without directories apart from that.
    pub fn in_new_directory(&self) -> Self {
        let is_not_place = |(key, _): &(String, String)| !key.starts_with(PLACE);
        Self {
            path: String::new(),
            settings: self
                .settings
                .clone()
                .into_iter()
                .filter(is_not_place)
                .collect(),
            ..self.clone()
        }
    }

    /// The same at another file.
    pub fn with_path(self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self
        }
    }

    /// True if other sessions may be active on a running server.
    ///
    /// # Errors
    /// When the setting says neither.
    pub fn others_allowed(&self) -> crate::Result<bool> {
        match self.settings.get("others").map(String::as_str) {
            None | Some("refuse") => Ok(false),
            Some("allow") => Ok(true),
            Some(other) => Err(TargetError::statement(format!(
                "others={other} is neither allow nor refuse"
            ))),
        }
    }

    /// The same with this behind the name of its file or database.
    pub fn with_path_end(&self, end: &str) -> Self {
        Self {
            path: format!("{}{end}", self.path),
            ..self.clone()
        }
    }

    /// Name of the engine in the library's files: the scheme without the `+local` of servers that
    /// dbdyno starts itself, or the level of lifted tables.
    pub fn engine(&self) -> &str {
        self.sql_of.unwrap_or(self.family())
    }

    /// Its databases' name in the settings of studies: the scheme without the `+local`.
    pub fn family(&self) -> &str {
        self.scheme.split('+').next().unwrap_or(&self.scheme)
    }

    /// Where the server is and who logs on.
    ///
    /// # Errors
    /// When there is no user, host or database, or the port is none.
    pub fn address(&self) -> Result<Address, UrlError> {
        Address::parse(&self.path).map_err(|what| UrlError::BadAddress {
            url: self.to_string(),
            what,
        })
    }
}

/// Begins the URLs of Java's drivers.
const JDBC: &str = "jdbc:";

/// A piece of a query without a value, which may be that of a password with an & in it.
fn not_a_setting(part: &str, query: &str) -> UrlError {
    let keys = query.split('&').filter_map(|part| part.split_once('='));
    let mut keys = keys.map(|(key, _)| key);
    UrlError::BadSetting(if keys.any(is_password) {
        "…".into()
    } else {
        without_secret(part)
    })
}

/// Parts the settings. A question mark before the @ of a server is the password's, if there is a password.
fn split_query(rest: &str, is_file: bool) -> (&str, &str) {
    let is_user = |text: &str| text.contains(':') || !text.contains(['/', '?']);
    let from = match rest.find('@') {
        Some(at) if rest.starts_with("//") && !is_file && is_user(&rest[2..at]) => at,
        _ => 0,
    };
    match rest[from..].find('?') {
        Some(mark) => (&rest[..from + mark], &rest[from + mark + 1..]),
        None => (rest, ""),
    }
}

/// Keys under which other clients take a password.
const PASSWORD_KEYS: [&str; 5] = ["password", "passwd", "pwd", "pass", "sslpassword"];

pub fn is_password(key: &str) -> bool {
    PASSWORD_KEYS.iter().any(|k| k.eq_ignore_ascii_case(key))
}

/// Where a text that was typed has what may be a password: what stands between user and host of a URL, well formed or
/// not, and the values of settings called so. Rather too much than too little.
pub fn secrets_in(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if let Some(end) = text.iter().rposition(|b| *b == b'@') {
        let slashes = text[..end].windows(2).position(|two| two == b"//");
        let begin = slashes.map_or(0, |at| at + 2);
        let colon = text[begin..end].iter().position(|b| *b == b':');
        found.extend(colon.map(|colon| begin + colon + 1..end));
    }
    let mut rest = 0;
    while let Some(equals) = text[rest..].iter().position(|b| *b == b'=') {
        let equals = rest + equals;
        rest = equals + 1;
        let is_of_key = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        // libpq's form has blanks around the sign, and quotation marks around what has blanks itself.
        let before = text[..equals].trim_ascii_end();
        let key = before.iter().rposition(|b| !is_of_key(b));
        let key = &before[key.map_or(0, |before| before + 1)..];
        if !std::str::from_utf8(key).is_ok_and(is_password) {
            continue;
        }
        rest = text.len() - text[rest..].trim_ascii_start().len();
        let is_quoted = text.get(rest) == Some(&b'\'');
        let ends = |b: &u8| {
            if is_quoted {
                *b == b'\''
            } else {
                matches!(b, b'&' | b' ')
            }
        };
        let begin = rest + usize::from(is_quoted);
        let length = text
            .get(begin..)
            .and_then(|text| text.iter().position(ends));
        let end = length.map_or(text.len(), |length| begin + length);
        if found.iter().all(|other| other.end <= equals) {
            found.push(rest..end);
        }
        rest = end;
    }
    found.retain(|range| !range.is_empty());
    found
}

/// A text that is no URL, without what may be a password in it.
fn without_secret(text: &str) -> String {
    let mut shown = text.to_owned();
    for secret in secrets_in(text.as_bytes()).into_iter().rev() {
        // A password with quotation marks in it ends anywhere.
        let end = if secret.end < text.len() && text.as_bytes()[secret.end] == b'\'' {
            text.len()
        } else {
            secret.end
        };
        shown.replace_range(secret.start..end.min(shown.len()), "…");
    }
    match text.rfind('@') {
        // A part of a text, which may be nothing but a password.
        Some(end) if !text.contains("//") => format!("…{}", &text[end..]),
        _ => shown,
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // That of a server is written as it stands in the URL, and never begins a file's.
        if self.path.starts_with("//") {
            write!(f, "{}:{}", self.scheme, self.path)?
        } else {
            write!(
                f,
                "{}:{}",
                self.scheme,
                encode_where_needed(&self.path, "?")
            )?
        }
        let mut separator = '?';
        for (key, value) in &self.settings {
            write!(f, "{separator}{key}={}", encode_where_needed(value, "&#"))?;
            separator = '&';
        }
        Ok(())
    }
}

/// The directory that `place.KEY` names.
///
/// # Errors
/// When it is not an absolute path.
pub fn absolute(key: &str, value: &str) -> crate::Result<PathBuf> {
    let path = PathBuf::from(value);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(TargetError::statement(format!(
            "{PLACE}{key}={value} is not an absolute path"
        )))
    }
}
