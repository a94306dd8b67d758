//! Logins by a signature: the password makes a key, and the key signs the server's random bytes. Who knows what the server
//! keeps can check signatures and make none.

use std::num::NonZeroU32;

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::{Scalar, clamp_integer};
use ring::pbkdf2;
use ring::signature::Ed25519KeyPair;
use sha2::{Digest, Sha512};

use super::{WireError, WireResult};

/// Random bytes of either side.
pub const NONCE_BYTES: usize = 32;
const KEY_BYTES: usize = 32;
/// Salts of the server have 18; nobody needs more.
const SALT_BYTES_MAX: usize = 64;
/// The fewest iterations of the server, which doubles them.
const ITERATIONS_MIN: u32 = 1024;
/// Most times that it may: a million iterations take half a second, and a hostile server may ask for any number.
const DOUBLINGS_MAX: u8 = 10;
const PBKDF2: u8 = b'P';

/// MariaDB's ed25519: the standard's signature, with a password of any length in the place of 32 random bytes.
pub fn ed25519(password: &[u8], message: &[u8]) -> [u8; 64] {
    let hash: [u8; 64] = Sha512::digest(password).into();
    let (secret, prefix) = hash.split_at(32);
    let mut clamped = [0; 32];
    clamped.copy_from_slice(secret);
    let secret = Scalar::from_bytes_mod_order(clamp_integer(clamped));
    let public = EdwardsPoint::mul_base(&secret).compress();
    let nonce = scalar(&[prefix, message]);
    let point = EdwardsPoint::mul_base(&nonce).compress();
    let challenge = scalar(&[point.as_bytes(), public.as_bytes(), message]);
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(point.as_bytes());
    signature[32..].copy_from_slice((nonce + challenge * secret).as_bytes());
    signature
}

fn scalar(parts: &[&[u8]]) -> Scalar {
    let mut hash = Sha512::new();
    parts.iter().for_each(|part| hash.update(part));
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

/// MariaDB's parsec: the random bytes of both sides, signed with a key that is derived from the password as the server
/// says. What is sent are those of this side and the signature.
pub fn parsec(
    password: &[u8],
    derivation: &[u8],
    theirs: &[u8],
    ours: &[u8; NONCE_BYTES],
) -> WireResult<Vec<u8>> {
    let malformed = || WireError::Malformed("an unknown key derivation of parsec");
    let &[PBKDF2, doublings, ref salt @ ..] = derivation else {
        return Err(malformed());
    };
    if doublings > DOUBLINGS_MAX || salt.len() > SALT_BYTES_MAX || theirs.len() != NONCE_BYTES {
        return Err(malformed());
    }
    let iterations = NonZeroU32::new(ITERATIONS_MIN << doublings).ok_or_else(malformed)?;
    let mut seed = [0; KEY_BYTES];
    pbkdf2::derive(
        pbkdf2::PBKDF2_HMAC_SHA512,
        iterations,
        salt,
        password,
        &mut seed,
    );
    let key = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| malformed())?;
    let signature = key.sign(&[theirs, ours].concat());
    Ok([ours, signature.as_ref()].concat())
}

#[cfg(test)]
mod tests {
    use ring::signature::{ED25519, KeyPair, UnparsedPublicKey};

    use super::*;

    fn is_signed(public: &[u8], message: &[u8], signature: &[u8]) -> bool {
        let public = UnparsedPublicKey::new(&ED25519, public);
        public.verify(message, signature).is_ok()
    }

    /// With 32 bytes it is the standard's own signature.
    #[test]
    fn a_password_signs_as_the_standard_says() {
        let password = b"0123456789abcdefghijklmnopqrstuv";
        let standard = Ed25519KeyPair::from_seed_unchecked(password).unwrap();
        for message in [&b"some random bytes"[..], &[0; 32], b""] {
            let own = ed25519(password, message);
            assert_eq!(own, standard.sign(message).as_ref());
            assert!(is_signed(standard.public_key().as_ref(), message, &own));
        }
        assert_ne!(ed25519(b"short", b"x"), ed25519(b"shorter", b"x"));
    }

    #[test]
    fn a_derived_key_signs_the_bytes_of_both() {
        let (theirs, ours) = ([1; NONCE_BYTES], [2; NONCE_BYTES]);
        let derivation = b"P\x00a salt of 18 bytes";
        let answer = parsec(b"secret", derivation, &theirs, &ours).unwrap();
        let (sent, signature) = answer.split_at(NONCE_BYTES);
        assert_eq!(sent, ours);
        // The key by Python's hashlib.pbkdf2_hmac("sha512", b"secret", b"a salt of 18 bytes", 1024, 32).
        let seed = b"\xb7\xf2\x9b\x8b\x0a\x80\xe4\xf2\xd1\xec\x2d\xbb\xa3\xc0\xb9\x75\x51\x66\xa2\xcd\x74\xaf\xc5\x03\x43\x57\x87\x28\x8f\x37\x57\x39";
        let key = Ed25519KeyPair::from_seed_unchecked(seed).unwrap();
        let both = [theirs, ours].concat();
        assert!(is_signed(key.public_key().as_ref(), &both, signature));
        for wrong in [&b""[..], b"P", b"Q\0salt", b"P\x0bsalt", &[b'P'; 200]] {
            let refused = parsec(b"secret", wrong, &theirs, &ours);
            assert!(refused.is_err(), "{wrong:?}");
        }
        assert!(parsec(b"secret", derivation, &theirs[1..], &ours).is_err());
    }
}
