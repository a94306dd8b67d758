//! Why a connection with TLS did not come about, in sentences.

use std::io;

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, OtherError};

/// Why there is no connection with TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("the TLS handshake failed: {0}")]
    Socket(io::Error),
    /// The server is not who it should be, or speaks something else.
    #[error("{0}")]
    Refused(String),
}

impl From<io::Error> for TlsError {
    fn from(error: io::Error) -> Self {
        Self::Socket(error)
    }
}

impl TlsError {
    /// An error of rustls about the server at `host`, as a sentence.
    pub(super) fn of(error: &Error, host: &str) -> Self {
        Self::Refused(sentence(error, host))
    }
}

fn sentence(error: &Error, host: &str) -> String {
    match error {
        Error::InvalidCertificate(certificate) => of_certificate(certificate, host),
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the server sent something other than TLS, or somebody on the way did; check host and port".into()
        }
        Error::InvalidMessage(_) => format!("the server's TLS cannot be read ({error})"),
        Error::PeerIncompatible(_) => {
            format!("the server and dbdyno have no TLS version or cipher in common ({error}); TLS 1.2 or later is needed")
        }
        Error::NoApplicationProtocol => no_direct_tls(),
        other => format!("the TLS handshake failed: {other}"),
    }
}

/// A server that agreed to no protocol within TLS.
pub(super) fn no_direct_tls() -> String {
    "the server does not confirm that it speaks PostgreSQL's protocol within TLS, which sslnegotiation=direct needs \
     (PostgreSQL 17 or later); use sslnegotiation=postgres"
        .into()
}

fn of_certificate(error: &CertificateError, host: &str) -> String {
    use CertificateError as Wrong;
    match error {
        Wrong::Expired | Wrong::ExpiredContext { .. } => {
            "the server's certificate has expired; have it renewed, and check the clock of this machine".into()
        }
        Wrong::NotValidYet | Wrong::NotValidYetContext { .. } => {
            "the server's certificate is not valid yet; check the clocks of both machines".into()
        }
        Wrong::NotValidForNameContext { presented, .. } if !presented.is_empty() => format!(
            "the server's certificate is not for \"{host}\" but for {}; use a name that it is for, or sslmode=verify-ca, \
             which accepts every server of that authority",
            names(presented)
        ),
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => format!(
            "the server's certificate is not for \"{host}\" (it has no subjectAltName; a common name does not count); have \
             one issued for that name, or use sslmode=verify-ca, which accepts every server of that authority"
        ),
        Wrong::UnknownIssuer => {
            "the server's certificate is not from an authority in sslrootcert; check that file, and that it is the right \
             server"
                .into()
        }
        Wrong::BadSignature => {
            "the server's certificate is not signed by the authority that it names; check sslrootcert, and that it is the \
             right server"
                .into()
        }
        Wrong::Revoked => "the server's certificate was revoked".into(),
        Wrong::Other(OtherError(why)) if why.to_string() == OF_VERSION_1 => {
            "the server's certificate is of version 1, which has no extensions and cannot be checked here; make one of version \
             3 for the server (openssl x509 -req … -extfile with subjectAltName=DNS:HOST; or openssl req -x509 -addext \
             subjectAltName=DNS:HOST), or use sslmode=require, which checks no certificate"
                .into()
        }
        Wrong::Other(OtherError(why)) => format!("the server's certificate cannot be used ({why})"),
        other => format!("the server's certificate cannot be used ({other})"),
    }
}

const OF_VERSION_1: &str = "UnsupportedCertVersion";

/// The first few of the names in a certificate, as they are: `DnsName("db1")`.
fn names(presented: &[String]) -> String {
    const NAMES_MAX: usize = 4;
    const CHARACTERS_MAX: usize = 100;
    let short = |name: &String| -> String { name.chars().take(CHARACTERS_MAX).collect() };
    let shown: Vec<String> = presented.iter().take(NAMES_MAX).map(short).collect();
    let more = if presented.len() > NAMES_MAX {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", shown.join(", ").escape_debug())
}

fn of_alert(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::CertificateRequired => {
            "the server requires a client certificate; give sslcert and sslkey".into()
        }
        AlertDescription::BadCertificate
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::CertificateRevoked
        | AlertDescription::CertificateExpired
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnknownCA
        | AlertDescription::DecryptError
        | AlertDescription::AccessDenied => format!(
            "the server refused dbdyno's client certificate ({alert:?}); check sslcert and sslkey, and which authority the \
             server trusts"
        ),
        AlertDescription::NoApplicationProtocol => no_direct_tls(),
        AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure => format!(
            "the server found no TLS version or cipher in common with dbdyno ({alert:?}); TLS 1.2 or later is needed"
        ),
        other => format!("the server ended the TLS connection ({other:?})"),
    }
}

/// An error within an established connection, for its reader or writer.
pub(super) fn broken(error: &Error) -> io::Error {
    let why = match error {
        Error::AlertReceived(alert) => of_alert(*alert),
        other => format!("TLS: {other}"),
    };
    io::Error::new(io::ErrorKind::InvalidData, why)
}
