//! Channel binding to the server's certificate: "tls-server-end-point" of RFC 5929.

use sha2::{Digest, Sha256, Sha384, Sha512};

/// Algorithms that sign certificates, by the digest that RFC 5929 takes: that of the signature, or SHA-256 in the place
/// of MD5 and SHA-1.
const SHA_256: &[&[u8]] = &[
    // RSA with MD5, SHA-1 and SHA-256; ECDSA with SHA-1 and SHA-256.
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05",
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b",
    b"\x2a\x86\x48\xce\x3d\x04\x01",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x02",
];
const SHA_384: &[&[u8]] = &[
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x03",
];
const SHA_512: &[&[u8]] = &[
    b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d",
    b"\x2a\x86\x48\xce\x3d\x04\x03\x04",
];
const SEQUENCE: u8 = 0x30;
const OBJECT: u8 = 0x06;

/// The digest of a certificate; `None` where the RFC names none for its signature (Ed25519, RSA-PSS).
pub(super) fn end_point(certificate: &[u8]) -> Option<Vec<u8>> {
    let algorithm = signature_algorithm(certificate)?;
    if SHA_256.contains(&algorithm) {
        Some(Sha256::digest(certificate).to_vec())
    } else if SHA_384.contains(&algorithm) {
        Some(Sha384::digest(certificate).to_vec())
    } else if SHA_512.contains(&algorithm) {
        Some(Sha512::digest(certificate).to_vec())
    } else {
        None
    }
}

/// `Certificate ::= SEQUENCE { what is signed, algorithm SEQUENCE { OBJECT IDENTIFIER, … }, signature }`.
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    let (certificate, _) = element(certificate, SEQUENCE)?;
    let (_, rest) = element(certificate, SEQUENCE)?;
    let (algorithm, _) = element(rest, SEQUENCE)?;
    Some(element(algorithm, OBJECT)?.0)
}

/// The algorithm and the bits of a certificate's key, whatever else stands in it: `SubjectPublicKeyInfo` is the sixth element
/// of what is signed, behind a version that only some have.
pub(super) fn public_key(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    const VERSION: u8 = 0xa0;
    const INTEGER: u8 = 0x02;
    const BITS: u8 = 0x03;
    let (certificate, _) = element(certificate, SEQUENCE)?;
    let (signed, _) = element(certificate, SEQUENCE)?;
    let signed = element(signed, VERSION).map_or(signed, |(_, rest)| rest);
    let (_, mut rest) = element(signed, INTEGER)?;
    // Signature, issuer, validity and subject.
    for _ in 0..4 {
        rest = element(rest, SEQUENCE)?.1;
    }
    let (key, _) = element(rest, SEQUENCE)?;
    let (algorithm, key) = element(key, SEQUENCE)?;
    let (&unused, bits) = element(key, BITS)?.0.split_first()?;
    (unused == 0).then_some((algorithm, bits))
}

/// The content of the element at the front, which must have this tag, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&short, rest) = rest.split_first()?;
    let (length, rest) = match short {
        0..=0x7f => (usize::from(short), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(short - 0x80))?;
            let length = digits.iter().fold(0, |n, d| n << 8 | usize::from(*d));
            (length, rest)
        }
        _ => return None,
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A certificate with nothing in it but the algorithm.
    fn signed_by(algorithm: &[u8]) -> Vec<u8> {
        let object = [&[OBJECT, algorithm.len() as u8], algorithm].concat();
        let algorithm = [&[SEQUENCE, object.len() as u8], &object[..]].concat();
        // The signed part is long enough for a length of two bytes.
        let signed = [&[SEQUENCE, 0x81, 200][..], &[7; 200]].concat();
        let body = [signed, algorithm, vec![0x03, 1, 0]].concat();
        let length = (body.len() as u16).to_be_bytes();
        [&[SEQUENCE, 0x82][..], &length, &body].concat()
    }

    #[test]
    fn the_digest_is_that_of_the_signature() {
        for (algorithm, bytes) in [(SHA_256[0], 32), (SHA_256[4], 32), (SHA_384[1], 48)] {
            let digest = end_point(&signed_by(algorithm)).unwrap();
            assert_eq!(digest.len(), bytes);
        }
        assert_eq!(end_point(&signed_by(SHA_512[0])).unwrap().len(), 64);
        let ed25519 = b"\x2b\x65\x70";
        assert_eq!(end_point(&signed_by(ed25519)), None);
    }

    #[test]
    fn damaged_certificates_have_none() {
        let whole = signed_by(SHA_256[2]);
        for cut in 0..whole.len() - 3 {
            assert_eq!(end_point(&whole[..cut]), None, "{cut} bytes");
        }
        assert_eq!(end_point(&[SEQUENCE, 0x85, 1, 1, 1, 1, 1]), None);
        assert_eq!(end_point(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
    }
}
