//! TLS options of a URL or the environment, in the words of libpq (`verify-full`) and of MySQL's clients
//! (`VERIFY_IDENTITY`).

use std::path::PathBuf;

use engine::{Result, TargetError, TargetUrl};

/// The word that names the authorities that this machine trusts.
const SYSTEM: &str = "system";

/// The value of a setting, and what it was written as: a key of the URL or a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// For example "sslmode" or "$PGSSLMODE".
    pub by: String,
    pub value: String,
}

impl Said {
    pub fn in_url(url: &TargetUrl, key: &str) -> Option<Self> {
        let value = url.settings.get(key)?.clone();
        let by = key.to_owned();
        Some(Self { by, value })
    }
}

#[derive(Debug, Default)]
struct Words {
    mode: Option<Said>,
    roots: Option<Said>,
    certificate: Option<Said>,
    key: Option<Said>,
}

/// How far the server has to prove who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Not at all: whoever answers is believed.
    Nothing,
    /// Its certificate comes from an authority that is trusted.
    Authority,
    /// The certificate is for the host of the URL, too.
    Name,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Roots {
    System,
    File(PathBuf),
}

/// A connection with TLS, as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsOptions {
    pub check: Check,
    pub is_optional: bool,
    /// There whenever something is checked.
    pub roots: Option<Roots>,
    /// The client's certificate and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl TlsOptions {
    /// Options of a URL, and by their keys of `variable` where it has none; `None` is a connection without TLS. The default is
    /// that of libpq and of MySQL's clients: TLS where the server has it.
    ///
    /// # Errors
    /// When they contradict each other, or ask for TLS through a Unix socket.
    pub fn from_url(
        url: &TargetUrl,
        is_socket: bool,
        variable: impl Fn(&str) -> Option<Said>,
    ) -> Result<Option<Self>> {
        let said = |key: &str| Said::in_url(url, key).or_else(|| variable(key));
        let asked = Self::from_words(&Words {
            mode: said("sslmode"),
            roots: said("sslrootcert"),
            certificate: said("sslcert"),
            key: said("sslkey"),
        })?;
        match asked {
            Some(asked) if is_socket && asked.is_optional => Ok(None),
            Some(_) if is_socket => Err(TargetError::statement(
                "dbdyno makes no TLS through a Unix socket: the kernel keeps others out; remove sslmode, or name a host",
            )),
            asked => Ok(asked),
        }
    }

    fn from_words(words: &Words) -> Result<Option<Self>> {
        let Some(mode) = &words.mode else {
            unchecked_roots(words)?;
            return Self::preferred(words).map(Some);
        };
        let is_file = words.roots.as_ref().is_some_and(|r| r.value != SYSTEM);
        let check = match mode.value.to_ascii_lowercase().replace('_', "-").as_str() {
            "disable" | "disabled" => return without_tls(words).map(|()| None),
            // As libpq: who names authorities wants them asked.
            "require" | "required" if is_file => Check::Authority,
            "require" | "required" => Check::Nothing,
            "verify-ca" => Check::Authority,
            "verify-full" | "verify-identity" => Check::Name,
            "allow" | "prefer" | "preferred" => return Self::preferred(words).map(Some),
            _ => {
                return Err(TargetError::statement(format!(
                    "{}={} is not disable, prefer, require, verify-ca or verify-full",
                    mode.by,
                    mode.value.escape_debug()
                )));
            }
        };
        Ok(Some(Self {
            check,
            is_optional: false,
            roots: roots(check, mode, words.roots.as_ref())?,
            own: own(words)?,
        }))
    }

    fn preferred(words: &Words) -> Result<Self> {
        Ok(Self {
            check: Check::Nothing,
            is_optional: true,
            roots: None,
            own: own(words)?,
        })
    }
}

fn roots(check: Check, mode: &Said, said: Option<&Said>) -> Result<Option<Roots>> {
    match said {
        None if check == Check::Nothing => Ok(None),
        None => Err(TargetError::statement(format!(
            "{}={} needs the certificate authorities that you trust: add sslrootcert=FILE (PEM), or sslrootcert=system for \
             those of this machine",
            mode.by, mode.value
        ))),
        // Anybody can get a certificate from one of them, for a name of their own.
        Some(said) if said.value == SYSTEM && check != Check::Name => {
            Err(TargetError::statement(format!(
                "{}={} does not check the server's name, without which the authorities of this machine prove nothing; use \
             verify-full with {}=system",
                mode.by, mode.value, said.by
            )))
        }
        Some(said) if said.value == SYSTEM => Ok(Some(Roots::System)),
        Some(said) => Ok(Some(Roots::File(PathBuf::from(&said.value)))),
    }
}

fn own(words: &Words) -> Result<Option<(PathBuf, PathBuf)>> {
    match (&words.certificate, &words.key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some((
            PathBuf::from(&certificate.value),
            PathBuf::from(&key.value),
        ))),
        (Some(one), None) | (None, Some(one)) => Err(TargetError::statement(format!(
            "{}={} names one half of a client certificate; give both sslcert and sslkey",
            one.by, one.value
        ))),
    }
}

/// Without TLS nothing else of a URL may ask for it. Variables are for many servers, and do not.
fn without_tls(words: &Words) -> Result<()> {
    let all = [&words.roots, &words.certificate, &words.key];
    refuse(&all, "needs TLS, which is off")
}

/// Authorities that nobody asks prove nothing.
fn unchecked_roots(words: &Words) -> Result<()> {
    refuse(&[&words.roots], "is not checked without sslmode")
}

fn refuse(settings: &[&Option<Said>], why: &str) -> Result<()> {
    let mut of_url = settings.iter().filter_map(|said| said.as_ref());
    match of_url.find(|said| !said.by.starts_with('$')) {
        None => Ok(()),
        Some(said) => Err(TargetError::statement(format!(
            "{}={} {why}; add sslmode=verify-full",
            said.by, said.value
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(by: &str, value: &str) -> Option<Said> {
        (!value.is_empty()).then(|| Said {
            by: by.into(),
            value: value.into(),
        })
    }

    fn asked(mode: &str, roots: &str) -> Result<Option<TlsOptions>> {
        TlsOptions::from_words(&Words {
            mode: said("sslmode", mode),
            roots: said("sslrootcert", roots),
            ..Words::default()
        })
    }

    #[test]
    fn both_vocabularies_mean_the_same() {
        for (mode, check) in [
            ("verify-full", Check::Name),
            ("VERIFY_IDENTITY", Check::Name),
            ("verify-ca", Check::Authority),
            ("VERIFY_CA", Check::Authority),
            ("REQUIRED", Check::Authority),
            ("require", Check::Authority),
        ] {
            let found = asked(mode, "/ca").unwrap().unwrap();
            assert_eq!(found.check, check, "{mode}");
            assert_eq!(found.roots, Some(Roots::File("/ca".into())));
        }
        let unchecked = asked("require", "").unwrap().unwrap();
        assert_eq!((unchecked.check, unchecked.roots), (Check::Nothing, None));
        for optional in ["", "prefer", "allow", "PREFERRED"] {
            let found = asked(optional, "").unwrap().unwrap();
            assert_eq!((found.check, found.is_optional), (Check::Nothing, true));
        }
        for off in ["disable", "DISABLED"] {
            assert_eq!(asked(off, "").unwrap(), None, "{off}");
        }
    }

    #[test]
    fn what_would_not_protect_is_refused_with_the_reason() {
        for (mode, roots, what) in [
            ("maybe", "", "is not disable"),
            ("verify-full", "", "sslrootcert=FILE"),
            ("verify-ca", "", "sslrootcert=system"),
            ("verify-ca", "system", "verify-full"),
            ("require", "system", "verify-full"),
            ("disable", "/ca", "TLS, which is off"),
            ("", "/ca", "not checked without sslmode"),
            ("", "system", "add sslmode=verify-full"),
        ] {
            let error = asked(mode, roots).unwrap_err().message;
            assert!(error.contains(what), "{mode} {roots}: {error}");
        }
    }

    #[test]
    fn a_client_certificate_has_a_key() {
        let words = |certificate: &str, key: &str| Words {
            mode: said("sslmode", "require"),
            certificate: said("sslcert", certificate),
            key: said("sslkey", key),
            ..Words::default()
        };
        let both = TlsOptions::from_words(&words("/c", "/k")).unwrap().unwrap();
        assert_eq!(both.own, Some(("/c".into(), "/k".into())));
        for half in [words("/c", ""), words("", "/k")] {
            let error = TlsOptions::from_words(&half).unwrap_err().message;
            assert!(error.contains("both sslcert and sslkey"), "{error}");
        }
    }

    #[test]
    fn variables_alone_check_nothing() {
        let words = Words {
            roots: said("$PGSSLROOTCERT", "/ca"),
            ..Words::default()
        };
        let found = TlsOptions::from_words(&words).unwrap().unwrap();
        assert_eq!((found.check, found.roots), (Check::Nothing, None));
        assert!(found.is_optional);
    }
}
