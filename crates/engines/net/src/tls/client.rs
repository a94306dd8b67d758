//! Shared by all connections of a target: settings, trusted authorities, the client's own certificate.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ProtocolVersion};

use super::asked::{Check, Roots, TlsOptions};
use super::end_point::end_point;
use super::error::{TlsError, no_direct_tls};
use super::records::Records;
use super::trust::Trust;
use engine::{Result, TargetError};

/// Where systems keep the authorities that they trust: Debian, Red Hat, SUSE, Alpine.
const SYSTEM_ROOTS: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// The variable that OpenSSL reads for the same.
const SYSTEM_ROOTS_VARIABLE: &str = "SSL_CERT_FILE";
const FILE_BYTES_MAX: u64 = 4 << 20;

/// How connections with TLS are made; shared by all of a target.
#[derive(Clone)]
pub struct TlsClient {
    config: Arc<ClientConfig>,
    check: Check,
    pub is_optional: bool,
    /// True if a protocol is named within TLS, which the server must confirm.
    must_confirm: bool,
}

impl fmt::Debug for TlsClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TlsClient({:?})", self.check)
    }
}

impl TlsClient {
    /// Reads the files that were named. `protocol` is what is spoken within TLS (ALPN); a server that is asked for TLS
    /// by nothing else (`is_direct`) has to confirm it.
    ///
    /// # Errors
    /// When a file is not there, holds nothing of its kind, or holds a key that others can read.
    pub fn new(asked: &TlsOptions, protocol: Option<&[u8]>, is_direct: bool) -> Result<Self> {
        let roots = match &asked.roots {
            None => Vec::new(),
            Some(roots) => certificates(&place_of(roots)?)?,
        };
        let provider = Arc::new(ring::default_provider());
        let trust = Trust::new(provider.clone(), asked.check, roots)
            .map_err(|why| TargetError::statement(format!("sslrootcert cannot be used: {why}")))?;
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| TargetError::statement(format!("TLS cannot be used: {e}")))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(trust));
        let mut config = match &asked.own {
            None => config.with_no_client_auth(),
            Some((certificate, key)) => {
                let chain = certificates(certificate)?;
                let unfit = |e| {
                    TargetError::statement(format!(
                        "sslcert={} and sslkey={} do not fit together: {e}",
                        certificate.display(),
                        key.display()
                    ))
                };
                (config.with_client_auth_cert(chain, own_key(key)?)).map_err(unfit)?
            }
        };
        // Every session makes the whole handshake, so that the first costs what the others do.
        config.resumption = Resumption::disabled();
        config.alpn_protocols = protocol.map(<[u8]>::to_vec).into_iter().collect();
        Ok(Self {
            config: Arc::new(config),
            check: asked.check,
            is_optional: asked.is_optional,
            must_confirm: is_direct,
        })
    }

    /// True if a server has proved who it is, so that it may get a password.
    pub fn is_verified(&self) -> bool {
        self.check != Check::Nothing
    }

    /// Begins a connection; what is sent and received goes through the two functions.
    ///
    /// # Errors
    /// When the server does not prove what was asked, or the socket breaks.
    pub fn connect(
        &self,
        host: &str,
        send: impl FnMut(&[u8]) -> io::Result<usize>,
        receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> std::result::Result<(Records, Secured), TlsError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            TlsError::Refused(format!(
                "\"{}\" is not a host name that a certificate can be for",
                host.escape_debug()
            ))
        })?;
        let explained = |error| TlsError::of(&error, host);
        let connection = ClientConnection::new(self.config.clone(), name);
        let mut records = Records::new(connection.map_err(explained)?);
        let agreed = records.shake_hands(send, receive, host);
        agreed.map_err(|error| match error {
            // An older server takes what came for a message of its own protocol, and closes.
            TlsError::Socket(e) if self.must_confirm && is_cut(&e) => {
                TlsError::Refused(no_direct_tls())
            }
            other => other,
        })?;
        let connection = records.connection();
        if self.must_confirm && connection.alpn_protocol().is_none() {
            return Err(TlsError::Refused(no_direct_tls()));
        }
        let certificate = connection.peer_certificates().and_then(|all| all.first());
        let secured = Secured {
            is_verified: self.is_verified(),
            end_point: certificate.and_then(|der| end_point(der)),
            version: match connection.protocol_version() {
                Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
                _ => "TLS 1.3",
            },
            cipher: connection
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or_default(),
        };
        Ok((records, secured))
    }
}

fn is_cut(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    )
}

/// Facts about an established connection with TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secured {
    pub is_verified: bool,
    /// Channel binding of a login to the server's certificate, where its signature allows that.
    pub end_point: Option<Vec<u8>>,
    version: &'static str,
    cipher: &'static str,
}

impl fmt::Display for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unverified = if self.is_verified {
            ""
        } else {
            ", server not verified"
        };
        write!(f, "{}, {}{unverified}", self.version, self.cipher)
    }
}

fn place_of(roots: &Roots) -> Result<PathBuf> {
    match roots {
        Roots::File(path) => Ok(path.clone()),
        Roots::System => {
            let named = std::env::var_os(SYSTEM_ROOTS_VARIABLE).map(PathBuf::from);
            let mut usual = SYSTEM_ROOTS.iter().map(PathBuf::from);
            let found = named.or_else(|| usual.find(|path| path.is_file()));
            found.ok_or_else(|| {
                TargetError::statement(format!(
                    "sslrootcert=system: this machine has no list of certificate authorities ({}); install ca-certificates, \
                     or name a file in ${SYSTEM_ROOTS_VARIABLE}",
                    SYSTEM_ROOTS.join(", ")
                ))
            })
        }
    }
}

/// The certificates in a file, at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let text = contents(path)?;
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(all) if !all.is_empty() => Ok(all),
        Ok(_) => Err(unusable(path, "holds no certificate in PEM form")),
        Err(error) => Err(unusable(
            path,
            &format!("is not a file of certificates in PEM form ({error})"),
        )),
    }
}

/// The key in a file, which only its owner may be able to read, or root's group if root owns it.
fn own_key(path: &Path) -> Result<PrivateKeyDer<'static>> {
    let facts = fs::metadata(path).map_err(|e| unusable(path, &format!("cannot be read: {e}")))?;
    let forbidden = if facts.uid() == 0 { 0o027 } else { 0o077 };
    if facts.mode() & forbidden != 0 {
        return Err(unusable(
            path,
            "is a key that others can read or write; protect it (chmod 600)",
        ));
    }
    PrivateKeyDer::from_pem_slice(&contents(path)?).map_err(|error| match error {
        pem::Error::NoItemsFound => unusable(
            path,
            "holds no private key in PEM form that is not encrypted",
        ),
        error => unusable(path, &format!("is not a key in PEM form ({error})")),
    })
}

fn contents(path: &Path) -> Result<Vec<u8>> {
    let facts = fs::metadata(path).map_err(|e| unusable(path, &format!("cannot be read: {e}")))?;
    if !facts.is_file() || facts.len() > FILE_BYTES_MAX {
        return Err(unusable(path, "is not a regular file, or is far too large"));
    }
    fs::read(path).map_err(|e| unusable(path, &format!("cannot be read: {e}")))
}

fn unusable(path: &Path, what: &str) -> TargetError {
    TargetError::statement(format!("{} {what}", path.display()))
}
