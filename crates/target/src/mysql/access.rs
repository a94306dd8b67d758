//! How the server is reached: place, user and password.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::client::Place;
use super::tls;
use super::wire::Login;
use crate::open_sessions::Owner;
use crate::tls::{Asked, TlsClient};
use crate::{ErrorKind, Password, Result, TargetError, TargetUrl};

/// The port that MySQL has registered.
const PORT_DEFAULT: u16 = 3306;
/// Settings of a URL of a running server.
pub(super) const SETTINGS: &[(&str, &str)] = &[
    (
        "socket",
        "absolute path of the server's Unix socket, instead of host and port",
    ),
    (
        "others",
        "allow: measure although other sessions are active (default refuse)",
    ),
    (
        "sslmode",
        "TLS: disable (default), require, verify-ca or verify-full; or ssl-mode in MySQL's words",
    ),
    (
        "sslrootcert",
        "file of trusted certificate authorities (PEM), or system; or ssl-ca",
    ),
    (
        "sslcert",
        "file of the client's certificate (PEM); or ssl-cert",
    ),
    ("sslkey", "file of its private key (PEM); or ssl-key"),
];
/// dbdyno's own database on a local server.
const DATABASE: &str = "dbdyno";
/// An option file is short.
const OPTION_FILE_BYTES_MAX: u64 = 1 << 20;

/// Everything that a connection needs.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub place: Place,
    pub user: String,
    /// The database that is dbdyno's own.
    pub database: String,
    pub password: Option<Password>,
    /// Whose sessions are opened with it.
    pub owner: Owner,
    /// How TLS is made, where it is asked for and its files were read.
    pub tls: Option<TlsClient>,
    tls_asked: Option<Asked>,
    /// Directories of tables that lie apart from the data, by their names.
    pub table_directories: BTreeMap<String, PathBuf>,
}

impl Access {
    /// Takes a URL apart. The password is the URL's, that of `$MYSQL_PWD`, or that of the section
    /// `[client]` of `~/.my.cnf`, in this order.
    ///
    /// # Errors
    /// When the URL names no server, or the option file may be read by others.
    pub fn from_url(url: &TargetUrl) -> Result<Self> {
        let wrong = |message: String| TargetError::new(ErrorKind::Statement, message);
        let address = url.address().map_err(|e| wrong(e.to_string()))?;
        refuse_odd_name(&address.database)?;
        let place = match url.settings.get("socket") {
            Some(path) if path.starts_with('/') => Place::Socket(PathBuf::from(path)),
            Some(path) => {
                return Err(wrong(format!(
                    "setting socket={path} of {url} is not an absolute path; write the full path of the server's socket"
                )));
            }
            None if address.host.starts_with('/') => Place::Socket(PathBuf::from(&address.host)),
            None => Place::Network(address.host, address.port.unwrap_or(PORT_DEFAULT)),
        };
        let tls_asked = tls::from_url(url, matches!(place, Place::Socket(_)))?;
        Ok(Self {
            place,
            user: address.user,
            database: address.database,
            password: url.password.clone(),
            owner: Owner::new(),
            tls: None,
            tls_asked,
            table_directories: BTreeMap::new(),
        })
    }

    /// The superuser of a server that dbdyno started, through its socket.
    pub fn local(socket: PathBuf, user: &str) -> Self {
        Self {
            place: Place::Socket(socket),
            user: user.to_owned(),
            database: DATABASE.to_owned(),
            password: None,
            owner: Owner::new(),
            tls: None,
            tls_asked: None,
            table_directories: BTreeMap::new(),
        }
    }

    /// Reads what the URL refers to: certificates, and a password where it has none itself.
    ///
    /// # Errors
    /// When a file cannot be used, or the option file may be read by others.
    pub fn read_files(&mut self) -> Result<()> {
        let asked = self.tls_asked.as_ref();
        self.tls = asked
            .map(|asked| TlsClient::new(asked, None, false))
            .transpose()?;
        self.find_password()
    }

    fn find_password(&mut self) -> Result<()> {
        if self.password.is_some() {
            return Ok(());
        }
        if let Some(password) = std::env::var_os("MYSQL_PWD") {
            self.password = password.to_str().map(Password::new);
            return Ok(());
        }
        if let Some(home) = std::env::var_os("HOME") {
            self.password = password_in_file(&Path::new(&home).join(".my.cnf"))?;
        }
        Ok(())
    }

    /// The login, with the password in the clear.
    pub fn login(&self) -> Login {
        let password = self.password.as_ref().map_or("", |p| p.expose());
        Login {
            user: self.user.clone(),
            password: password.as_bytes().to_vec(),
            database: Some(self.database.clone()),
            with_tls: self.tls.is_some(),
            is_private: matches!(self.place, Place::Socket(_))
                || self.tls.as_ref().is_some_and(TlsClient::is_verified),
        }
    }
}

/// Whether the URL allows that others are active.
///
/// # Errors
/// When it says something else.
pub(super) fn others_allowed(url: &TargetUrl) -> Result<bool> {
    match url.settings.get("others").map(String::as_str) {
        None | Some("refuse") => Ok(false),
        Some("allow") => Ok(true),
        Some(other) => Err(TargetError::new(
            ErrorKind::Statement,
            format!("others={other} of {url} is neither allow nor refuse"),
        )),
    }
}

/// The name goes into statements, and a server has databases that are its own.
pub(super) fn refuse_odd_name(database: &str) -> Result<()> {
    const BYTES_MAX: usize = 64;
    let is_plain = database
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_servers = ["mysql", "sys", "information_schema", "performance_schema"]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(database));
    if is_plain && !is_servers && database.len() <= BYTES_MAX {
        return Ok(());
    }
    Err(TargetError::new(
        ErrorKind::Statement,
        format!(
            "\"{}\" cannot be dbdyno's database; use a name of letters, digits and _, for example dbdyno",
            database.escape_debug()
        ),
    ))
}

fn password_in_file(path: &Path) -> Result<Option<Password>> {
    let Ok(metadata) = fs::metadata(path) else {
        return Ok(None);
    };
    if !metadata.is_file() || metadata.len() > OPTION_FILE_BYTES_MAX {
        return Ok(None);
    }
    let Ok(text) = fs::read_to_string(path) else {
        return Ok(None);
    };
    let password = password_in(&text);
    if password.is_some() && metadata.permissions().mode() & 0o077 != 0 {
        return Err(TargetError::new(
            ErrorKind::Unreachable,
            format!(
                "{} contains a password and is readable by others; protect it (chmod 600), or give the password in $MYSQL_PWD",
                path.display()
            ),
        ));
    }
    Ok(password)
}

/// The last `password` of the section `[client]` counts, as for the server's own clients.
fn password_in(text: &str) -> Option<Password> {
    let mut is_client = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_client = section.split(']').next() == Some("client");
        } else if is_client
            && let Some((key, value)) = line.split_once('=')
            && key.trim() == "password"
        {
            found = Some(Password::new(unquoted(value.trim())));
        }
    }
    found
}

/// Takes quotation marks off and replaces the escapes that option files know.
fn unquoted(value: &str) -> String {
    let inner = ['"', '\'']
        .iter()
        .find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
    let value = match inner {
        Some(inner) => inner,
        // Outside quotation marks a comment may follow.
        None => value.split(" #").next().unwrap_or(value).trim_end(),
    };
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('s') => text.push(' '),
            Some('\\') | None => text.push('\\'),
            Some(other) => text.extend(['\\', other]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_place() {
        let access = |url: &str| Access::from_url(&TargetUrl::parse(url).unwrap());
        let network = access("mysql://u:p@h:3307/dbdyno").unwrap();
        assert_eq!(network.place, Place::Network("h".into(), 3307));
        assert!(!format!("{network:?}").contains("\"p\""));
        let socket = access("mysql://u@localhost/dbdyno?socket=/run/s").unwrap();
        assert_eq!(socket.place, Place::Socket("/run/s".into()));
        assert!(socket.login().is_private);
        for bad in [
            "mysql://u@h/mysql",
            "mysql://u@h/a-b",
            "mysql://u@h/d?socket=s",
        ] {
            assert!(access(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn option_files_hold_passwords() {
        let text = "[mysqld]\npassword=no\n[client]\nuser=u\npassword = \"a # \\\"b\" \n[other]\npassword=no\n";
        assert_eq!(password_in(text).unwrap().expose(), "a # \\\"b");
        let plain = "[client]\npassword=x\\sy # comment\n";
        assert_eq!(password_in(plain).unwrap().expose(), "x y");
        assert_eq!(password_in("[client]\n#password=x\n"), None);
    }

    #[test]
    fn a_password_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".my.cnf");
        fs::write(&path, "[client]\npassword=hush\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = password_in_file(&path).unwrap_err().to_string();
        assert!(
            error.contains("chmod 600") && !error.contains("hush"),
            "{error}"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(password_in_file(&path).unwrap().unwrap().expose(), "hush");
    }
}
