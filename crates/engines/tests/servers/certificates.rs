//! Certificates for tests: authorities, and what they issue.

#![allow(dead_code, reason = "every test program uses its own part")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SignatureAlgorithm,
    date_time_ymd,
};

/// When a certificate counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Valid {
    Now,
    Before,
    After,
}

pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate, PEM.
    pub certificate: String,
}

/// A certificate with its key, both PEM.
pub struct Issued {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    /// A new one, whose certificate is its own.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = pem("CERTIFICATE", params.self_signed(&key).unwrap().der());
        Self {
            issuer: Issuer::new(params, key),
            certificate,
        }
    }

    /// A certificate for these hosts, or for a user of this name.
    pub fn issue(&self, names: &[&str], valid: Valid) -> Issued {
        self.issue_with(names, valid, &rcgen::PKCS_ECDSA_P256_SHA256)
    }

    /// The same with a key of another kind.
    pub fn issue_with(
        &self,
        names: &[&str],
        valid: Valid,
        kind: &'static SignatureAlgorithm,
    ) -> Issued {
        let key = KeyPair::generate_for(kind).unwrap();
        let params = params(names, valid);
        Issued {
            certificate: pem(
                "CERTIFICATE",
                params.signed_by(&key, &self.issuer).unwrap().der(),
            ),
            key: pem("PRIVATE KEY", key.serialized_der()),
        }
    }
}

/// A certificate that nobody else signed, of an authority's kind, as `openssl req -x509` makes it.
pub fn self_signed(names: &[&str], valid: Valid) -> Issued {
    let mut params = params(names, valid);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    Issued {
        certificate: pem("CERTIFICATE", params.self_signed(&key).unwrap().der()),
        key: pem("PRIVATE KEY", key.serialized_der()),
    }
}

fn pem(what: &str, der: &[u8]) -> String {
    let text = STANDARD.encode(der);
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|from| &text[from..text.len().min(from + 64)])
        .collect();
    format!(
        "-----BEGIN {what}-----\n{}\n-----END {what}-----\n",
        lines.join("\n")
    )
}

fn params(names: &[&str], valid: Valid) -> CertificateParams {
    let all: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(all).unwrap();
    let first = names.first().copied().unwrap_or_default();
    params.distinguished_name.push(DnType::CommonName, first);
    (params.not_before, params.not_after) = match valid {
        Valid::Now => (date_time_ymd(2020, 1, 1), date_time_ymd(4000, 1, 1)),
        Valid::Before => (date_time_ymd(2000, 1, 1), date_time_ymd(2020, 1, 1)),
        Valid::After => (date_time_ymd(3900, 1, 1), date_time_ymd(4000, 1, 1)),
    };
    params
}

/// Writes a text that only `owner` can read.
pub fn write_private(path: &Path, text: &str, owner: Option<(u32, u32)>) -> PathBuf {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    if let Some((user, group)) = owner {
        chown(path, Some(user), Some(group)).unwrap();
    }
    path.to_owned()
}
