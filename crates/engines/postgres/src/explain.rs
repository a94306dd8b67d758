//! Turns the server's errors into what the user can do about them.

use super::wire::{LogonError, RequestError, ServerError};
use engine::inspection::{Protection, WITHOUT_TLS};
use engine::{ErrorKind, TargetError, shortened};

/// An error of the server while `context` was done.
pub(super) fn explain(context: &str, error: &ServerError) -> TargetError {
    let kind = kind_of(error);
    let advice = match (error.code.as_str(), kind) {
        ("53300", _) => "; raise max_connections, close other sessions or use fewer jobs",
        ("53200", _) => "; the server is out of memory: use fewer jobs or a smaller work_mem",
        ("26000", _) => {
            "; a connection pooler has switched the session: connect to the server directly, or through a pool in session mode"
        }
        ("42501", _) => "; grant dbdyno's user this privilege or log in as another user",
        (_, ErrorKind::Full) => "; free some space on the server's disk",
        (_, ErrorKind::Damaged) => "; the database is damaged: choose another one",
        ("57P05", _) => {
            "; idle_session_timeout ended the session: raise it for the role (ALTER ROLE … SET)"
        }
        ("25P03", _) => {
            "; idle_in_transaction_session_timeout ended the session: raise it for the role (ALTER ROLE … SET)"
        }
        ("25P04", _) => {
            "; transaction_timeout ended the session: raise it for the role (ALTER ROLE … SET)"
        }
        ("25006", _) => "; name a role and a server that may write",
        ("57P01" | "57P02", _) => "; the server ended the session: see its log",
        _ => "",
    };
    let context = shortened(context);
    TargetError::new(kind, format!("PostgreSQL: {context}: {error}{advice}"))
}

fn kind_of(error: &ServerError) -> ErrorKind {
    if error.is_retryable() {
        return ErrorKind::Conflict;
    }
    match error.code.as_str() {
        "53100" => ErrorKind::Full,
        "XX001" | "XX002" => ErrorKind::Damaged,
        "22021" | "22P05" => ErrorKind::Untranslatable,
        "55P03" => ErrorKind::Conflict,
        // One statement of many may be too much for the server; the other points can be measured.
        "53300" | "53200" => ErrorKind::Statement,
        "57P01" | "57P02" | "57P03" | "57P05" => ErrorKind::Unreachable,
        code if code.starts_with("08") || code.starts_with("28") || code.starts_with("3D") => {
            ErrorKind::Unreachable
        }
        _ if error.is_fatal() => ErrorKind::Unreachable,
        _ => ErrorKind::Statement,
    }
}

/// A server that let nobody in.
pub(super) fn refused(
    place: &str,
    protection: &Protection,
    is_tls_optional: bool,
    error: &ServerError,
) -> TargetError {
    let mut refusal = explain(&format!("cannot log in to {place}"), error);
    match (error.code.as_str(), protection) {
        ("28P01", _) => refusal.message.push_str(
            "; check the password in the target's URL, $PGPASSWORD or ~/.pgpass",
        ),
        ("28000", Protection::Unencrypted) => refusal.message.push_str(
            "; where pg_hba.conf requires TLS (hostssl), add sslmode=verify-full and sslrootcert=FILE to the target's URL",
        ),
        ("28000", Protection::Tls(_)) if is_tls_optional => refusal.message.push_str(
            "; where pg_hba.conf forbids TLS (hostnossl), add sslmode=disable to the target's URL",
        ),
        _ => {}
    }
    refusal
}

/// A server that is not there.
pub(super) fn unreachable(place: &str, error: &std::io::Error) -> TargetError {
    TargetError::unreachable(format!(
        "cannot reach PostgreSQL at {place}: {error}; check that it is running and listening there"
    ))
}

/// A connection without the TLS that the server promised or that the target's URL requires.
pub(super) fn no_tls(place: &str, is_optional: bool, why: &str) -> TargetError {
    let advice = if is_optional { WITHOUT_TLS } else { "" };
    TargetError::unreachable(format!(
        "PostgreSQL: no TLS connection to {place}: {why}{advice}"
    ))
}

pub(super) fn lost(place: &str, why: &str) -> TargetError {
    TargetError::unreachable(format!(
        "PostgreSQL at {place} closed the connection unexpectedly ({why}): the server or the process of this session \
         has ended; see the server's log"
    ))
}

/// A logon that cannot go on; `unused` says why there is no password from a file.
pub(super) fn no_logon(place: &str, error: &LogonError, unused: Option<&str>) -> TargetError {
    let unused = unused.filter(|_| matches!(error, LogonError::NoPassword));
    let unused = unused.map_or(String::new(), |unused| format!("; {unused}"));
    TargetError::unreachable(format!(
        "PostgreSQL: cannot log in to {place}: {error}{unused}"
    ))
}

impl From<RequestError> for TargetError {
    fn from(error: RequestError) -> Self {
        TargetError::statement(format!("PostgreSQL: {error}"))
    }
}
