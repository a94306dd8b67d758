//! TLS as a URL or libpq's variables ask for it.

use super::wire::Binding;
use engine::{Result, TargetError, TargetUrl};
use net::tls::{Said, TlsClient, TlsOptions};

/// The protocol's name within TLS.
const PROTOCOL: &[u8] = b"postgresql";

/// TLS of a target, before any file is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TlsSettings {
    asked: Option<TlsOptions>,
    /// TLS begins at once, without asking the server for it first.
    pub is_direct: bool,
    pub binding: Binding,
}

impl TlsSettings {
    /// Options of the URL, else of libpq's variables. Through a Unix socket (`is_socket`) there is
    /// no TLS: variables do not count there.
    pub fn from_url(url: &TargetUrl, is_socket: bool) -> Result<Self> {
        Self::from(url, is_socket, |name| std::env::var(name).ok())
    }

    fn from(
        url: &TargetUrl,
        is_socket: bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self> {
        let of_variable = |key: &str| {
            let name = format!("PG{}", key.to_ascii_uppercase().replace('_', ""));
            let value = variable(&name).filter(|value| !value.is_empty() && !is_socket)?;
            let by = format!("${name}");
            Some(Said { by, value })
        };
        let asked = TlsOptions::from_url(url, is_socket, of_variable)?;
        let said = |key: &str| Said::in_url(url, key).or_else(|| of_variable(key));
        let negotiation = said("sslnegotiation");
        let is_direct = match negotiation.as_ref().map(|s| (s, s.value.as_str())) {
            None | Some((_, "postgres")) => false,
            Some((_, "direct")) if asked.as_ref().is_some_and(|a| !a.is_optional) => true,
            // A variable is for many servers, also for those without TLS.
            Some((said, "direct")) if said.by.starts_with('$') => false,
            Some((_, "direct")) => {
                return Err(TargetError::statement(
                    "sslnegotiation=direct needs TLS; add sslmode=verify-full",
                ));
            }
            Some((said, other)) => {
                return Err(TargetError::statement(format!(
                    "{}={} is neither postgres nor direct",
                    said.by,
                    other.escape_debug()
                )));
            }
        };
        let binding = said("channel_binding");
        let binding = match binding.as_ref().map(|s| (s, s.value.as_str())) {
            None | Some((_, "prefer")) => Binding::Possible,
            Some((_, "disable")) => Binding::Never,
            Some((_, "require")) if asked.is_some() => Binding::Required,
            Some((said, "require")) => {
                return Err(TargetError::statement(format!(
                    "{}=require binds the login to the server's certificate, which needs TLS; add sslmode=verify-full",
                    said.by
                )));
            }
            Some((said, other)) => {
                return Err(TargetError::statement(format!(
                    "{}={} is not disable, prefer or require",
                    said.by,
                    other.escape_debug()
                )));
            }
        };
        Ok(Self {
            asked,
            is_direct,
            binding,
        })
    }

    /// How connections are made; `None` without TLS.
    pub fn client(&self) -> Result<Option<TlsClient>> {
        let asked = self.asked.as_ref();
        asked
            .map(|asked| TlsClient::new(asked, Some(PROTOCOL), self.is_direct))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(query: &str, variables: &[(&str, &str)]) -> Result<TlsSettings> {
        let url = crate::ENGINES
            .parse(&format!("postgres://u@h/d?{query}"))
            .unwrap();
        read(&url, false, variables)
    }

    fn read(url: &TargetUrl, is_socket: bool, variables: &[(&str, &str)]) -> Result<TlsSettings> {
        TlsSettings::from(url, is_socket, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_url_counts_before_the_variables() {
        let all = [("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", "/ca")];
        let of_variables = settings("", &all).unwrap();
        assert!(of_variables.asked.is_some());
        assert_eq!(
            settings("sslmode=disable", &all).unwrap(),
            TlsSettings::default()
        );
        let nothing = settings("", &[]).unwrap().asked;
        assert!(nothing.is_some_and(|asked| asked.is_optional));
        let error = settings("", &[("PGSSLMODE", "other")]).unwrap_err();
        assert!(error.message.contains("$PGSSLMODE=other"), "{error}");
        let optional = settings("", &[("PGSSLMODE", "prefer")]).unwrap().asked;
        assert!(optional.is_some_and(|asked| asked.is_optional));
        let direct = settings("sslmode=require&sslnegotiation=direct", &[]).unwrap();
        assert!(direct.is_direct);
        let alone = settings("", &[("PGSSLNEGOTIATION", "direct")]).unwrap();
        assert!(!alone.is_direct);
    }

    #[test]
    fn a_socket_has_no_tls() {
        let url = crate::ENGINES.parse("postgres://u@%2Frun/d").unwrap();
        let found = read(&url, true, &[("PGSSLMODE", "verify-full")]).unwrap();
        assert_eq!(found, TlsSettings::default());
        let url = crate::ENGINES
            .parse("postgres://u@%2Frun/d?sslmode=require")
            .unwrap();
        let error = read(&url, true, &[]).unwrap_err();
        assert!(error.message.contains("Unix socket"), "{error}");
    }

    #[test]
    fn what_needs_tls_says_so() {
        for (query, what) in [
            ("sslnegotiation=direct", "needs TLS"),
            ("sslnegotiation=direct&sslmode=prefer", "needs TLS"),
            ("sslnegotiation=other", "neither postgres nor direct"),
            ("sslmode=disable&channel_binding=require", "needs TLS"),
            ("channel_binding=maybe", "not disable, prefer or require"),
            ("sslmode=verify-full", "sslrootcert=FILE"),
        ] {
            let error = settings(query, &[]).unwrap_err();
            assert!(error.message.contains(what), "{query}: {error}");
        }
        let bound = settings("sslmode=require&channel_binding=require", &[]).unwrap();
        assert_eq!(bound.binding, Binding::Required);
    }
}
