//! Which servers are believed to be who they say.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

use super::asked::Check;
use super::end_point::public_key;

/// Checks as much of a server's certificate as was asked for, and always that the server has its key.
#[derive(Debug)]
pub(super) struct Trust {
    provider: Arc<CryptoProvider>,
    check: Check,
    /// There whenever something is checked.
    chain: Option<Arc<WebPkiServerVerifier>>,
    /// The trusted certificates themselves: one may be that of the server.
    roots: Vec<CertificateDer<'static>>,
}

impl Trust {
    /// Trusts whoever has a certificate from one of `roots`.
    ///
    /// # Errors
    /// When none of them can be used.
    pub fn new(
        provider: Arc<CryptoProvider>,
        check: Check,
        roots: Vec<CertificateDer<'static>>,
    ) -> Result<Self, String> {
        let chain = match check {
            Check::Nothing => None,
            Check::Authority | Check::Name => {
                let mut store = RootCertStore::empty();
                store.add_parsable_certificates(roots.iter().cloned());
                let chain =
                    WebPkiServerVerifier::builder_with_provider(store.into(), provider.clone());
                Some(chain.build().map_err(|e| e.to_string())?)
            }
        };
        Ok(Self {
            provider,
            check,
            chain,
            roots,
        })
    }

    /// True if the server's own certificate, of an authority's kind as `openssl req -x509` makes it, is in the list.
    fn is_listed(&self, error: &Error, certificate: &CertificateDer<'_>) -> bool {
        // Its dates are looked at before its kind.
        matches!(error, Error::InvalidCertificate(CertificateError::Other(OtherError(why)))
            if why.to_string() == CA_AS_SERVER)
            && self.roots.iter().any(|root| root == certificate)
    }
}

impl Trust {
    /// True if the server has the key of the certificate that it shows. Nothing else of the certificate is read, so that one of
    /// version 1, or with an odd extension, does where nobody asked for a check; a login may be bound to it all the same.
    fn has_key(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let unreadable = || Error::InvalidCertificate(CertificateError::BadEncoding);
        let (algorithm, key) = public_key(certificate).ok_or_else(unreadable)?;
        let mapping = self.provider.signature_verification_algorithms.mapping;
        let mut of_scheme = mapping
            .iter()
            .filter(|(scheme, _)| *scheme == signature.scheme);
        let is_valid = of_scheme.any(|(_, verifiers)| {
            let mut fitting = verifiers
                .iter()
                .filter(|verifier| verifier.public_key_alg_id().as_ref() == algorithm);
            fitting.any(|v| {
                v.verify_signature(key, message, signature.signature())
                    .is_ok()
            })
        });
        if is_valid {
            Ok(HandshakeSignatureValid::assertion())
        } else {
            Err(Error::InvalidCertificate(CertificateError::BadSignature))
        }
    }
}

/// Webpki's name for a server whose certificate may sign others.
const CA_AS_SERVER: &str = "CaUsedAsEndEntity";

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        // The name is checked behind everything else.
        match chain.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.check == Check::Authority => Ok(ServerCertVerified::assertion()),
            Err(error) if self.is_listed(&error, certificate) => {
                if self.check == Check::Name {
                    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.chain.is_none() {
            return self.has_key(message, certificate, signature);
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.chain.is_none() {
            return self.has_key(message, certificate, signature);
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
