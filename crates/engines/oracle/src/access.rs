//! How the server is reached: place, user, password and wallet.

use std::time::Duration;

use engine::inspection::Protection;
use engine::open_sessions::Owner;
use engine::{Incomplete, Password, Result, TargetError, TargetUrl};
#[cfg(feature = "driver")]
use oracledb::Config;

const PORT_DEFAULT: u16 = 1521;
/// Of TLS, as the listeners of managed services have it.
const PORT_OF_TLS: u16 = 2484;
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(20);
/// Statements that a session keeps open; a server's `open_cursors` is 300 unless somebody set it.
const STATEMENTS_KEPT: usize = 100;

pub(super) const SETTINGS: &[(&str, &str)] = &[
    (
        "others",
        "allow: measure although other sessions are active (default refuse)",
    ),
    ("protocol", "tcp (default) or tcps, which is TLS"),
    (
        "wallet_location",
        "directory of ewallet.pem, for TLS; its password is in $ORACLE_WALLET_PASSWORD",
    ),
    (
        "server",
        "dedicated, shared or pooled (default the service's)",
    ),
    ("instance_name", "one instance of a cluster"),
    (
        "connect_timeout",
        "seconds until a listener must answer (default 20)",
    ),
    (
        "tablespace",
        "tablespace of dbdyno's tables (default the user's)",
    ),
];

/// Everything that a connection needs.
#[derive(Debug, Clone)]
pub(super) struct Access {
    pub user: String,
    pub host: String,
    pub port: u16,
    pub service: String,
    pub owner: Owner,
    pub tablespace: Option<String>,
    is_tls: bool,
    password: Option<Password>,
    wallet_location: Option<String>,
    wallet_password: Option<Password>,
    server: Option<String>,
    instance: Option<String>,
    pub connect_timeout: Duration,
}

impl Access {
    /// Takes a URL apart. The password is the URL's or that of `$ORACLE_PASSWORD`.
    pub fn from_url(url: &TargetUrl) -> Result<Self> {
        let address = url
            .address()
            .map_err(|e| TargetError::statement(e.to_string()))?;
        let is_tls = match setting(url, "protocol") {
            None | Some("tcp") => false,
            Some("tcps") => true,
            Some(other) => return Err(wrong(url, "protocol", other, "tcp or tcps")),
        };
        let server = setting(url, "server").map(str::to_ascii_uppercase);
        if let Some(other) = server.as_deref()
            && !["DEDICATED", "SHARED", "POOLED"].contains(&other)
        {
            return Err(wrong(url, "server", other, "dedicated, shared or pooled"));
        }
        let connect_timeout = match setting(url, "connect_timeout") {
            None => CONNECT_TIMEOUT_DEFAULT,
            Some(text) => match text.parse() {
                Ok(seconds @ 1..=3600) => Duration::from_secs(seconds),
                _ => {
                    return Err(wrong(
                        url,
                        "connect_timeout",
                        text,
                        "a number of seconds from 1 to 3600",
                    ));
                }
            },
        };
        let variable = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
        let password = url.password.clone();
        let access = Self {
            user: address.user,
            host: address.host,
            port: address
                .port
                .unwrap_or(if is_tls { PORT_OF_TLS } else { PORT_DEFAULT }),
            service: address.database,
            owner: Owner::unique(),
            tablespace: setting(url, "tablespace").map(str::to_owned),
            is_tls,
            password: password.or_else(|| variable("ORACLE_PASSWORD").map(Password::new)),
            wallet_location: setting(url, "wallet_location").map(str::to_owned),
            wallet_password: variable("ORACLE_WALLET_PASSWORD").map(Password::new),
            server,
            instance: setting(url, "instance_name").map(str::to_owned),
            connect_timeout,
        };
        access.check(url)?;
        Ok(access)
    }

    /// Names stand in a connect descriptor, where a bracket would end them.
    fn check(&self, url: &TargetUrl) -> Result<()> {
        let is_of_name = |c: char| c.is_alphanumeric() || "-_.$#:".contains(c);
        for (what, name) in [
            ("host", Some(&self.host)),
            ("service", Some(&self.service)),
            ("instance_name", self.instance.as_ref()),
            ("tablespace", self.tablespace.as_ref()),
        ] {
            let Some(name) = name else { continue };
            if name.is_empty() || !name.chars().all(is_of_name) {
                return Err(TargetError::statement(format!(
                    "{what} \"{}\" of {url} cannot be a name of Oracle's; use letters, digits and - _ . $ # alone",
                    name.escape_debug()
                )));
            }
        }
        Ok(())
    }

    /// The place as a sentence has it.
    pub fn place(&self) -> String {
        format!("{}:{}/{}", self.host, self.port, self.service)
    }

    pub fn protection(&self) -> Protection {
        if self.is_tls {
            Protection::Tls("TLS".into())
        } else {
            Protection::Unencrypted
        }
    }

    /// The driver's configuration; it parses only short connect strings, so a full descriptor is written.
    #[cfg(feature = "driver")]
    pub fn config(&self, timeout: Duration) -> std::result::Result<Config, oracledb::Error> {
        let optional = |key: &str, value: &Option<String>| {
            value
                .as_ref()
                .map_or(String::new(), |value| format!("({key}={value})"))
        };
        let protocol = if self.is_tls { "tcps" } else { "tcp" };
        let descriptor = format!(
            "(DESCRIPTION=(ADDRESS=(PROTOCOL={protocol})(HOST={})(PORT={}))(CONNECT_DATA=(SERVICE_NAME={}){}{}))",
            self.host,
            self.port,
            self.service,
            optional("SERVER", &self.server),
            optional("INSTANCE_NAME", &self.instance),
        );
        // Without a password the driver would refuse, and the server's own words are better known.
        let password = self.password.as_ref().map_or(" ", Password::expose);
        let mut config = Config::default()
            .set_credentials(&self.user, password)
            .set_stmtcachesize(STATEMENTS_KEPT)
            .set_transport_connect_timeout(Some(timeout))
            .set_program("dbdyno")?
            .set_connect_string(&descriptor)?;
        if let Some(location) = &self.wallet_location {
            config = config.set_wallet_location(location);
        }
        if let Some(password) = &self.wallet_password {
            config = config.set_wallet_password(password.expose());
        }
        Ok(config)
    }

    /// A hint about the password where the server refuses it.
    pub fn doubt(&self) -> String {
        match &self.password {
            Some(password) => password.doubt("ORACLE_PASSWORD"),
            None => "; no password was given: set $ORACLE_PASSWORD".into(),
        }
    }

    /// That of the user for a second schema.
    pub fn of_secondary(&self, name: &str) -> Self {
        Self {
            user: format!("{}_{name}", self.user),
            owner: Owner::unique(),
            ..self.clone()
        }
    }

    /// The name of the user's schema, as the server folds it.
    pub fn schema(&self) -> String {
        self.user.to_uppercase()
    }
}

fn setting<'u>(url: &'u TargetUrl, key: &str) -> Option<&'u str> {
    url.settings.get(key).map(String::as_str)
}

fn wrong(url: &TargetUrl, key: &str, value: &str, allowed: &str) -> TargetError {
    TargetError::statement(format!("{key}={value} of {url} is not {allowed}"))
}

/// Fills what a URL leaves out: this machine. Oracle's clients have no usual user.
pub(super) fn complete(url: &mut Incomplete<'_>) -> std::result::Result<(), String> {
    url.place.host.get_or_insert_with(|| "localhost".into());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(url: &str) -> Result<Access> {
        Access::from_url(&crate::ENGINES.parse(url).unwrap())
    }

    #[test]
    fn a_url_names_a_service() {
        let found = access("oracle://bench:p@db1:1522/pdb1").unwrap();
        assert_eq!(found.place(), "db1:1522/pdb1");
        assert_eq!(found.schema(), "BENCH");
        assert!(!format!("{found:?}").contains("\"p\""), "{found:?}");
        assert_eq!(access("oracle://b@h/s").unwrap().port, 1521);
    }

    #[cfg(feature = "driver")]
    #[test]
    fn settings_reach_the_descriptor() {
        let url = "oracle://b@h/s?protocol=tcps&server=pooled&instance_name=i2&wallet_location=/w";
        let found = access(url).unwrap();
        assert_eq!((found.port, found.is_tls), (2484, true));
        let config = found.config(Duration::from_secs(3)).unwrap();
        assert_eq!(config.wallet_location(), Some("/w"));
        let descriptor = config.get_connect_descriptor();
        for part in [
            "(SERVICE_NAME=s)",
            "(PROTOCOL=tcps)",
            "(SERVER=POOLED)",
            "(INSTANCE_NAME=i2)",
        ] {
            let has = descriptor.to_lowercase().contains(&part.to_lowercase());
            assert!(has, "{descriptor}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_can() {
        for (url, says) in [
            ("oracle://b@h/s?protocol=ipc", "is not tcp or tcps"),
            ("oracle://b@h/s?server=none", "dedicated, shared or pooled"),
            ("oracle://b@h/s?connect_timeout=0", "from 1 to 3600"),
            ("oracle://b@h/s)(x", "cannot be a name"),
        ] {
            let message = access(url).unwrap_err().message;
            assert!(message.contains(says), "{url}: {message}");
        }
    }
}
