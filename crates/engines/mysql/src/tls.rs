//! TLS as a URL asks for it, in libpq's words or in those of MySQL's own clients.

use engine::{ErrorKind, Result, TargetError, TargetUrl};
use net::tls::{Said, TlsOptions, Words};

/// TLS options of a URL; `None` is a connection without TLS.
///
/// # Errors
/// When the settings contradict each other, or ask for TLS through a Unix socket.
pub(super) fn from_url(url: &TargetUrl, is_socket: bool) -> Result<Option<TlsOptions>> {
    let said = |key: &str| {
        let value = url.settings.get(key)?.clone();
        let by = key.to_owned();
        Some(Said { by, value })
    };
    let asked = TlsOptions::from_words(&Words {
        mode: said("sslmode"),
        roots: said("sslrootcert"),
        certificate: said("sslcert"),
        key: said("sslkey"),
    })?;
    match asked {
        Some(asked) if is_socket && asked.is_optional => Ok(None),
        Some(_) if is_socket => Err(wrong(
            "dbdyno makes no TLS through a Unix socket: the kernel keeps others out; remove sslmode, or name a host".into(),
        )),
        asked => Ok(asked),
    }
}

fn wrong(message: String) -> TargetError {
    TargetError::new(ErrorKind::Statement, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Option<TlsOptions>> {
        from_url(
            &crate::ENGINES
                .parse(&format!("mysql://u@h/d?{query}"))
                .unwrap(),
            false,
        )
    }

    #[test]
    fn both_spellings_ask_for_the_same() {
        let one = asked("sslmode=verify-full&sslrootcert=/ca").unwrap();
        assert!(one.is_some());
        assert_eq!(one, asked("ssl-mode=VERIFY_IDENTITY&ssl-ca=/ca").unwrap());
        assert_eq!(asked("").unwrap(), None);
        for (query, what) in [
            ("sslmode=other", "sslmode=other is not disable"),
            ("ssl-ca=/ca", "sslrootcert=/ca needs TLS"),
        ] {
            let error = asked(query).unwrap_err();
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
        let error = from_url(&url, true).unwrap_err();
        assert!(error.message.contains("Unix socket"), "{error}");
        let url = crate::ENGINES
            .parse("mysql://u@h/d?socket=/s&sslmode=prefer")
            .unwrap();
        assert_eq!(from_url(&url, true).unwrap(), None);
    }
}
