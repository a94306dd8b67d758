//! Proofs of a password that do not show it.

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::{WireError, WireResult, signed};

/// Length of the server's random bytes.
pub const SCRAMBLE_BYTES: usize = 20;

/// A way of logging in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plugin {
    /// SHA-1, every version of both servers.
    NativePassword,
    /// SHA-256 with a cache in the server, the default of MySQL 8.
    CachingSha2,
    /// The server asks the kernel who is at the other end of the Unix socket.
    UnixSocket,
    /// A signature with the password as the key; MariaDB.
    Ed25519,
    /// A signature with a key that is derived as the server says next; MariaDB 11.6.
    Parsec,
    /// The password itself, for servers that ask somebody else about it.
    Cleartext,
}

impl Plugin {
    /// The way called `name`.
    pub fn named(name: &[u8]) -> WireResult<Self> {
        match name {
            b"mysql_native_password" => Ok(Self::NativePassword),
            b"caching_sha2_password" => Ok(Self::CachingSha2),
            b"client_ed25519" => Ok(Self::Ed25519),
            b"parsec" => Ok(Self::Parsec),
            b"mysql_clear_password" => Ok(Self::Cleartext),
            b"auth_socket" | b"unix_socket" => Ok(Self::UnixSocket),
            other => Err(WireError::UnknownPlugin(
                String::from_utf8_lossy(&other[..other.len().min(64)])
                    .escape_debug()
                    .to_string(),
            )),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::NativePassword => "mysql_native_password",
            Self::CachingSha2 => "caching_sha2_password",
            Self::UnixSocket => "auth_socket",
            Self::Ed25519 => "client_ed25519",
            Self::Parsec => "parsec",
            Self::Cleartext => "mysql_clear_password",
        }
    }

    /// True if the first answer to a greeting can use it: the others need the server to ask for them.
    pub fn can_begin(self) -> bool {
        match self {
            Self::NativePassword | Self::CachingSha2 | Self::UnixSocket => true,
            Self::Ed25519 | Self::Parsec | Self::Cleartext => false,
        }
    }

    /// The random bytes of the server in what it sends to change to this way. Older ways end them with a zero.
    pub fn scramble(self, data: &[u8]) -> &[u8] {
        match self {
            Self::Ed25519 | Self::Parsec => &data[..data.len().min(signed::NONCE_BYTES)],
            _ => data.split(|byte| *byte == 0).next().unwrap_or_default(),
        }
    }

    /// Proof of `password` that does not reveal it; empty for none.
    pub fn proof(self, password: &[u8], scramble: &[u8]) -> Vec<u8> {
        if password.is_empty() && self != Self::Ed25519 {
            return Vec::new();
        }
        match self {
            Self::Ed25519 => signed::ed25519(password, scramble).to_vec(),
            // Nothing asks for what to derive the key with.
            Self::Parsec => Vec::new(),
            Self::NativePassword => native(password, scramble),
            Self::CachingSha2 => caching_sha2(password, scramble),
            Self::UnixSocket | Self::Cleartext => Vec::new(),
        }
    }
}

fn native(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let salted = Sha1::new()
        .chain_update(scramble)
        .chain_update(twice)
        .finalize();
    xor(&once, &salted)
}

fn caching_sha2(password: &[u8], scramble: &[u8]) -> Vec<u8> {
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let salted = Sha256::new()
        .chain_update(twice)
        .chain_update(scramble)
        .finalize();
    xor(&once, &salted)
}

fn xor(a: &[u8], b: &[u8]) -> Vec<u8> {
    a.iter().zip(b).map(|(a, b)| a ^ b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    #[test]
    fn proofs_are_those_of_the_protocol() {
        // Computed with Python's hashlib from the formulas of the servers' documentation.
        let scramble = b"0123456789abcdefghij";
        assert_eq!(
            hex(&Plugin::NativePassword.proof(b"secret", scramble)),
            "f5cac3f3b3df2133feb57db682c71e6ed433a988"
        );
        assert_eq!(
            hex(&Plugin::CachingSha2.proof(b"secret", scramble)),
            "7e4adda2f2d5ef09b4147518becb0cee2939376203650a8c2bb2815959364bd0"
        );
        assert!(Plugin::NativePassword.proof(b"", scramble).is_empty());
    }

    #[test]
    fn an_unknown_way_is_named() {
        let error = Plugin::named(b"auth_gssapi_client")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("auth_gssapi_client") && error.contains("unix_socket"),
            "{error}"
        );
    }
}
