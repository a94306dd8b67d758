//! How the server is reached: place, user and password.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::client::{Client, Endpoint};
use super::option_file::{self, Options};
use super::wire::Login;
use engine::Incomplete;
use engine::open_sessions::Owner;
use engine::{Password, Result, TargetError, TargetUrl};
use local_server::own_name;
use net::tls::{TlsClient, TlsOptions};

/// The port that MySQL has registered.
const PORT_DEFAULT: u16 = 3306;
/// The setting that names an option file.
const DEFAULTS_FILE: &str = "defaults-file";
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
        "TLS: disable, prefer (default), require, verify-ca or verify-full; or ssl-mode in MySQL's words",
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
    (
        DEFAULTS_FILE,
        "option file with user and password (default ~/.my.cnf)",
    ),
    (
        "tx_read_only",
        "off: write although the server's transactions are read-only by default; or transaction_read_only",
    ),
    ("transaction_read_only", "the same"),
];
/// dbdyno's own database on a local server.
const DATABASE: &str = "dbdyno";

/// Everything that a connection needs.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub place: Endpoint,
    pub user: String,
    /// The database that is dbdyno's own.
    pub database: String,
    pub writes_anyway: bool,
    pub password: Option<Password>,
    option_file: Option<PathBuf>,
    pub owner: Owner,
    /// How TLS is made, where it is asked for and its files were read.
    pub tls: Option<TlsClient>,
    tls_asked: Option<TlsOptions>,
    /// Directories of tables that lie apart from the data, by their names.
    pub table_directories: BTreeMap<String, PathBuf>,
}

impl Access {
    /// Takes a URL apart. The password is the URL's, that of `$MYSQL_PWD`, or that of the option file, in this order.
    pub fn from_url(url: &TargetUrl) -> Result<Self> {
        let wrong = |message: String| TargetError::statement(message);
        let address = url.address().map_err(|e| wrong(e.to_string()))?;
        let place = match url.settings.get("socket") {
            Some(path) if path.starts_with('/') => Endpoint::Socket(PathBuf::from(path)),
            Some(path) => {
                return Err(wrong(format!(
                    "setting socket={path} of {url} is not an absolute path; write the full path of the server's socket"
                )));
            }
            None if address.host.starts_with('/') => Endpoint::Socket(PathBuf::from(&address.host)),
            None => Endpoint::Network(address.host, address.port.unwrap_or(PORT_DEFAULT)),
        };
        let tls_asked = TlsOptions::from_url(url, matches!(place, Endpoint::Socket(_)), |_| None)?;
        Ok(Self {
            place,
            user: address.user,
            database: address.database,
            writes_anyway: writes_anyway(url)?,
            password: url.password.clone(),
            option_file: option_file_of(url.settings.get(DEFAULTS_FILE)),
            owner: Owner::unique(),
            tls: None,
            tls_asked,
            table_directories: BTreeMap::new(),
        })
    }

    /// The superuser of a server that dbdyno started, through its socket.
    pub fn local(socket: PathBuf, user: &str) -> Self {
        Self {
            place: Endpoint::Socket(socket),
            user: user.to_owned(),
            database: DATABASE.to_owned(),
            writes_anyway: false,
            password: None,
            option_file: None,
            owner: Owner::unique(),
            tls: None,
            tls_asked: None,
            table_directories: BTreeMap::new(),
        }
    }

    /// Reads what the URL refers to: certificates, and a password where it has none itself.
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
        if let Some(file) = &self.option_file {
            self.password = Options::read(file)?.password;
        }
        Ok(())
    }

    /// Connects to the server and to none of its databases: dbdyno's need not be there yet.
    pub fn connect_to_server(&self) -> Result<Client> {
        let mut login = self.login();
        login.database = None;
        Client::connect(&self.place, self.tls.as_ref(), login, self.owner)
    }

    /// The login, with the password in the clear.
    pub fn login(&self) -> Login {
        let password = self.password.as_ref().map_or("", |p| p.expose());
        Login {
            user: self.user.clone(),
            password: password.as_bytes().to_vec(),
            database: Some(self.database.clone()),
            with_tls: self.tls.is_some(),
            may_lack_tls: self.tls.as_ref().is_some_and(|tls| tls.is_optional),
            is_private: matches!(self.place, Endpoint::Socket(_))
                || self.tls.as_ref().is_some_and(TlsClient::is_verified),
        }
    }
}

fn option_file_of(named: Option<&String>) -> Option<PathBuf> {
    named.map(PathBuf::from).or_else(option_file::usual)
}

/// Fills what a URL leaves out: the user as the server's own clients find it, and this machine.
pub(super) fn complete(url: &mut Incomplete<'_>) -> std::result::Result<(), String> {
    if url.place.user.is_none() {
        let file = option_file_of(url.settings.get(DEFAULTS_FILE));
        let options = file.map(|file| Options::read(&file)).transpose();
        let options = options.map_err(|error| error.message)?;
        url.place.user = options.and_then(|options| options.user).or_else(own_name);
    }
    url.place.host.get_or_insert_with(|| "localhost".into());
    Ok(())
}

fn writes_anyway(url: &TargetUrl) -> Result<bool> {
    let keys = ["tx_read_only", "transaction_read_only"];
    let mut values = keys.iter().filter_map(|key| url.settings.get(*key));
    match values
        .next()
        .map(|value| value.to_ascii_lowercase())
        .as_deref()
    {
        None => Ok(false),
        Some("off" | "0") => Ok(true),
        Some(other) => Err(TargetError::statement(format!(
            "tx_read_only={other} of {url} is not off; to forbid writing, set it on the server"
        ))),
    }
}

/// Refuses to make tables in a database that is the server's own.
pub(super) fn refuse_servers_own(database: &str) -> Result<()> {
    let is_servers = ["mysql", "sys", "information_schema", "performance_schema"]
        .iter()
        .any(|own| own.eq_ignore_ascii_case(database));
    if is_servers {
        Err(TargetError::foreign(format!(
            "\"{database}\" is the server's own database, and dbdyno makes no tables in it; name another one at the end of \
             the URL, for example dbdyno"
        )))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_place() {
        let access = |url: &str| Access::from_url(&crate::ENGINES.parse(url).unwrap());
        let network = access("mysql://u:p@h:3307/dbdyno").unwrap();
        assert_eq!(network.place, Endpoint::Network("h".into(), 3307));
        assert!(!format!("{network:?}").contains("\"p\""));
        let socket = access("mysql://u@localhost/dbdyno?socket=/run/s").unwrap();
        assert_eq!(socket.place, Endpoint::Socket("/run/s".into()));
        assert!(socket.login().is_private);
        assert_eq!(access("mysql://u@h/my-shop").unwrap().database, "my-shop");
        assert!(access("mysql://u@h/d?socket=s").is_err());
    }

    fn options(query: &str) -> Result<Option<TlsOptions>> {
        let url = crate::ENGINES.parse(&format!("mysql://u@h/d?{query}"));
        TlsOptions::from_url(&url.unwrap(), false, |_| None)
    }

    #[test]
    fn both_spellings_ask_for_the_same() {
        let one = options("sslmode=verify-full&sslrootcert=/ca").unwrap();
        assert!(one.is_some());
        assert_eq!(one, options("ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca").unwrap());
        assert_eq!(options("useSSL=false").unwrap(), None);
        assert_eq!(options("").unwrap(), options("ssl-mode=PREFERRED").unwrap());
        for (query, what) in [
            ("sslmode=other", "sslmode=other is not disable"),
            ("ssl-ca=/ca", "sslrootcert=/ca is not checked"),
        ] {
            let error = options(query).unwrap_err();
            assert!(error.message.contains(what), "{error}");
        }
        let two = "mysql://u@h/d?sslmode=require&ssl-mode=DISABLED";
        let error = crate::ENGINES.parse(two).unwrap_err().to_string();
        assert!(error.contains("give one of them"), "{error}");
    }

    #[test]
    fn a_socket_has_no_tls() {
        let url = crate::ENGINES
            .parse("mysql://u@h/d?socket=/s&sslmode=require")
            .unwrap();
        let error = TlsOptions::from_url(&url, true, |_| None).unwrap_err();
        assert!(error.message.contains("Unix socket"), "{error}");
        let url = crate::ENGINES.parse("mysql://u@h/d?socket=/s").unwrap();
        assert_eq!(TlsOptions::from_url(&url, true, |_| None).unwrap(), None);
    }
}
