//! TLS as a URL asks for it, in libpq's words or in those of MySQL's own clients.

use crate::tls::{Asked, Said, Words};
use crate::{ErrorKind, Result, TargetError, TargetUrl};

/// The keys in both spellings.
const KEYS: [(&str, &str); 4] = [
    ("sslmode", "ssl-mode"),
    ("sslrootcert", "ssl-ca"),
    ("sslcert", "ssl-cert"),
    ("sslkey", "ssl-key"),
];

/// What a URL asks for; `None` is a connection without TLS.
///
/// # Errors
/// When the settings contradict each other, leave open what is measured, or ask for TLS through a Unix socket.
pub(super) fn from_url(url: &TargetUrl, is_socket: bool) -> Result<Option<Asked>> {
    let [mode, roots, certificate, key] = KEYS.map(|(one, other)| said(url, one, other));
    let asked = Asked::from_words(&Words {
        mode: mode?,
        roots: roots?,
        certificate: certificate?,
        key: key?,
    })?;
    if asked.is_some() && is_socket {
        return Err(wrong(
            "dbdyno makes no TLS through a Unix socket: the kernel keeps others out; remove sslmode, or name a host".into(),
        ));
    }
    Ok(asked)
}

fn said(url: &TargetUrl, one: &str, other: &str) -> Result<Option<Said>> {
    let find = |key: &str| {
        let value = url.settings.get(key)?;
        Some(Said {
            by: key.to_owned(),
            value: value.clone(),
        })
    };
    match (find(one), find(other)) {
        (Some(_), Some(_)) => Err(wrong(format!(
            "{one} and {other} mean the same; give one of them"
        ))),
        (found, None) | (None, found) => Ok(found),
    }
}

/// The URL with the one spelling of these keys that the engine lists.
pub(super) fn in_one_spelling(url: &TargetUrl) -> TargetUrl {
    let mut url = url.clone();
    for (one, other) in KEYS {
        if let Some(value) = url.settings.remove(other) {
            url.settings.insert(one.to_owned(), value);
        }
    }
    url
}

fn wrong(message: String) -> TargetError {
    TargetError::new(ErrorKind::Statement, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str) -> Result<Option<Asked>> {
        from_url(
            &TargetUrl::parse(&format!("mysql://u@h/d?{query}")).unwrap(),
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
            ("sslmode=require&ssl-mode=REQUIRED", "mean the same"),
            ("ssl-mode=PREFERRED", "ssl-mode=PREFERRED leaves it"),
            ("ssl-ca=/ca", "ssl-ca=/ca needs TLS"),
        ] {
            let error = asked(query).unwrap_err();
            assert!(error.message.contains(what), "{error}");
        }
    }

    #[test]
    fn a_socket_has_no_tls() {
        let url = TargetUrl::parse("mysql://u@h/d?socket=/s&sslmode=require").unwrap();
        let error = from_url(&url, true).unwrap_err();
        assert!(error.message.contains("Unix socket"), "{error}");
    }
}
