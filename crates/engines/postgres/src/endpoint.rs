//! Where a server is, who logs on, and where the password comes from.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::overrides::READ_ONLY;
use super::set_up::SCHEMA;
use super::tls::TlsSettings;
use super::wire::Binding;
use engine::open_sessions::Owner;
use engine::{Address, Password, Result, TargetError, TargetUrl};
use net::stream::Stream;
use net::tls::TlsClient;

/// The port of a server that gives none.
pub(super) const PORT_DEFAULT: u16 = 5432;
/// The server cuts names off behind 63 bytes; a part is left for what is put behind.
const SCHEMA_BYTES_MAX: usize = 50;
const PASSWORD_FILE_BYTES_MAX: u64 = 1 << 20;

/// Everything that opening a connection needs.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// The socket's file, for a server of this machine.
    pub socket: Option<PathBuf>,
    /// Host name or address, when there is no socket.
    pub host: String,
    pub port: u16,
    pub user: String,
    pub database: String,
    /// The schema in it that is dbdyno's own.
    pub schema: String,
    /// True if sessions write although their role, database or server is set to read only.
    pub writes_anyway: bool,
    /// Password, when one is known.
    pub password: Option<Password>,
    /// Why the file of passwords was not used.
    pub password_file_unused: Option<String>,
    pub owner: Owner,
    /// How TLS is made, where it is asked for.
    pub tls: Option<TlsClient>,
    /// TLS begins without asking the server for it first.
    pub is_tls_direct: bool,
    pub binding: Binding,
}

impl Endpoint {
    /// The endpoint that a URL names, with the password from the URL, the environment or the password
    /// file.
    pub(super) fn from_url(url: &TargetUrl) -> Result<Self> {
        let Address {
            user,
            host,
            port,
            database,
        } = url
            .address()
            .map_err(|e| TargetError::statement(e.to_string()))?;
        let port = port.unwrap_or(PORT_DEFAULT);
        let socket = host
            .starts_with('/')
            .then(|| Path::new(&host).join(format!(".s.PGSQL.{port}")));
        let tls = TlsSettings::from_url(url, socket.is_some())?;
        let mut endpoint = Self {
            socket,
            host,
            port,
            user,
            database,
            schema: own_schema(url)?,
            writes_anyway: url
                .settings
                .get(READ_ONLY)
                .is_some_and(|value| value == "off"),
            password: url.password.clone(),
            password_file_unused: None,
            owner: Owner::unique(),
            tls: tls.client()?,
            is_tls_direct: tls.is_direct,
            binding: tls.binding,
        };
        if endpoint.password.is_none() {
            match std::env::var("PGPASSWORD") {
                Ok(password) if !password.is_empty() => {
                    endpoint.password = Some(Password::new(password));
                }
                _ => endpoint.read_password_file(&password_file(url.settings.get("passfile"))),
            }
        }
        Ok(endpoint)
    }

    /// A server that dbdyno started: through its socket, without a password.
    pub(super) fn local(socket: PathBuf, user: &str) -> Self {
        Self {
            socket: Some(socket),
            host: String::new(),
            port: PORT_DEFAULT,
            user: user.to_owned(),
            database: "postgres".into(),
            schema: SCHEMA.into(),
            writes_anyway: false,
            password: None,
            password_file_unused: None,
            owner: Owner::unique(),
            tls: None,
            is_tls_direct: false,
            binding: Binding::default(),
        }
    }

    /// Knocks at the server, so long at each of its addresses; without TLS.
    pub(super) fn connect(&self, patience: Duration) -> io::Result<Stream> {
        match &self.socket {
            Some(path) => Stream::unix(path),
            None => Stream::tcp(&self.host, self.port, patience),
        }
    }

    /// Settings of the URL that can be wrong without touching the server.
    pub(super) fn check(url: &TargetUrl) -> Result<()> {
        let address = url.address();
        let address = address.map_err(|e| TargetError::statement(e.to_string()))?;
        own_schema(url)?;
        TlsSettings::from_url(url, address.host.starts_with('/')).map(drop)
    }

    /// The place for messages; without the password.
    pub(super) fn place(&self) -> String {
        match &self.socket {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.host, self.port),
        }
    }

    /// As psql: a file that others can read is not used, which matters only where the server asks for a password.
    fn read_password_file(&mut self, path: &Path) {
        let Some(facts) = fs::metadata(path).ok().filter(|facts| facts.is_file()) else {
            return;
        };
        let unused = if facts.mode() & 0o077 != 0 {
            "is readable by others and is not used; protect it (chmod 600)".into()
        } else if facts.len() > PASSWORD_FILE_BYTES_MAX {
            "is far too large and is not used".into()
        } else {
            match fs::read(path) {
                Ok(text) => {
                    self.password = self.password_in(&String::from_utf8_lossy(&text));
                    return;
                }
                Err(error) => format!("cannot be read: {error}"),
            }
        };
        self.password_file_unused = Some(format!("the password file {} {unused}", path.display()));
    }

    /// The password in a file's text. The file knows servers behind the usual socket as "localhost", others by its directory.
    fn password_in(&self, text: &str) -> Option<Password> {
        let port = self.port.to_string();
        let hosts = [self.host.as_str(), "localhost"];
        let hosts = &hosts[..if self.socket.is_some() { 2 } else { 1 }];
        text.lines().find_map(|line| {
            let of = |host: &&str| password_in(line, [host, &port, &self.database, &self.user]);
            hosts.iter().find_map(of)
        })
    }
}

/// The schema that a URL names, or the usual one. The name goes into statements as it stands.
pub(super) fn own_schema(url: &TargetUrl) -> Result<String> {
    let name = url.settings.get("schema").map_or(SCHEMA, String::as_str);
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let begins = name.bytes().next().is_some_and(|b| !b.is_ascii_digit());
    let is_ours = begins && name.bytes().all(is_plain) && !name.starts_with("pg_");
    if is_ours && name.len() <= SCHEMA_BYTES_MAX {
        return Ok(name.to_owned());
    }
    Err(TargetError::statement(format!(
        "schema={} cannot be dbdyno's schema; use a name of lower-case letters, digits and _, for example {SCHEMA}",
        name.escape_debug()
    )))
}

fn password_file(named: Option<&String>) -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".pgpass"));
    named
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("PGPASSFILE").map(PathBuf::from))
        .or_else(home)
        .unwrap_or_default()
}

/// The password of a line `host:port:database:user:password` that fits what is asked for.
fn password_in(line: &str, asked: [&str; 4]) -> Option<Password> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut plain: Vec<bool> = vec![true];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                plain.push(true);
            }
            '\\' => {
                fields[last].push(letters.next()?);
                plain[last] = false;
            }
            other => fields[last].push(other),
        }
    }
    let fits =
        |(at, asked): (usize, &&str)| fields[at] == **asked || (fields[at] == "*" && plain[at]);
    let all = fields.len() == 5 && asked.iter().enumerate().all(fits);
    all.then(|| Password::new(fields.pop().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const ASKED: [&str; 4] = ["db", "5432", "bench", "me"];

    fn found(line: &str) -> Option<String> {
        password_in(line, ASKED).map(|p| p.expose().to_owned())
    }

    #[test]
    fn lines_of_the_password_file_fit_or_do_not() {
        assert_eq!(
            found("db:5432:bench:me:se:cr\\\\et").as_deref(),
            Some("se:cr\\et")
        );
        assert_eq!(found("*:*:*:me:x").as_deref(), Some("x"));
        assert_eq!(found("\\*:*:*:me:x"), None);
        assert_eq!(found("db:5433:bench:me:x"), None);
        assert_eq!(found("#db:5432:bench:me:x"), None);
        assert_eq!(found("db:5432:bench:me"), None);
    }

    #[test]
    fn a_password_file_that_others_can_read_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pgpass");
        fs::write(&path, "localhost:5432:postgres:me:secret\n").unwrap();
        let read = |path: &Path| {
            let mut endpoint = Endpoint::local("/run/.s.PGSQL.5432".into(), "me");
            endpoint.read_password_file(path);
            let password = endpoint.password.map(|p| p.expose().to_owned());
            (password, endpoint.password_file_unused)
        };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let (password, unused) = read(&path);
        let unused = unused.unwrap();
        assert!(
            password.is_none() && unused.contains("chmod 600") && !unused.contains("secret"),
            "{unused}"
        );
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read(&path), (Some("secret".into()), None));
        fs::write(&path, b"\xe9:x\r\nlocalhost:*:*:me:se\\:cret\r\n").unwrap();
        assert_eq!(read(&path).0.as_deref(), Some("se:cret"));
        for nothing in [Path::new("/nowhere"), Path::new("/dev/null")] {
            assert_eq!(read(nothing), (None, None));
        }
    }
}
