//! Numbers and strings as the protocol writes them.

use super::{WireError, WireResult};

/// Reads a packet's payload from the front.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    pub fn take(&mut self, count: usize) -> WireResult<&'a [u8]> {
        let (head, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(WireError::Malformed("a truncated packet"))?;
        self.rest = rest;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> WireResult<[u8; N]> {
        let (head, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(WireError::Malformed("a truncated packet"))?;
        self.rest = rest;
        Ok(*head)
    }

    #[inline]
    pub fn u8(&mut self) -> WireResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    #[inline]
    pub fn u16(&mut self) -> WireResult<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    #[inline]
    pub fn u32(&mut self) -> WireResult<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    #[inline]
    pub fn u64(&mut self) -> WireResult<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A number whose first byte says how long it is.
    #[inline]
    pub fn lenenc(&mut self) -> WireResult<u64> {
        match self.u8()? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => Ok(u64::from(self.u16()?)),
            0xfd => {
                let low = u64::from(self.u16()?);
                Ok(low | u64::from(self.u8()?) << 16)
            }
            0xfe => self.u64(),
            _ => Err(WireError::Malformed("an invalid length")),
        }
    }

    #[inline]
    pub fn lenenc_bytes(&mut self) -> WireResult<&'a [u8]> {
        let length = usize::try_from(self.lenenc()?)
            .map_err(|_| WireError::Malformed("a length beyond the end of its packet"))?;
        self.take(length)
    }

    /// Everything up to the next zero byte, or to the end when there is none.
    pub fn until_zero(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|b| *b == 0);
        let (head, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        head
    }
}

/// Writes a number in front of whose bytes stands how many they are.
#[inline]
pub fn put_lenenc(into: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    match number {
        0..=0xfa => into.push(number as u8),
        0xfb..=0xffff => {
            into.push(0xfc);
            into.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            into.push(0xfd);
            into.extend_from_slice(&bytes[..3]);
        }
        _ => {
            into.push(0xfe);
            into.extend_from_slice(&bytes);
        }
    }
}

/// Writes bytes with their length in front.
#[inline]
pub fn put_lenenc_bytes(into: &mut Vec<u8>, bytes: &[u8]) {
    put_lenenc(into, bytes.len() as u64);
    into.extend_from_slice(bytes);
}

/// Writes bytes and a zero byte.
pub fn put_zero_ended(into: &mut Vec<u8>, bytes: &[u8]) {
    into.extend_from_slice(bytes);
    into.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_put() {
        for number in [
            0,
            0xfa,
            0xfb,
            0xffff,
            0x1_0000,
            0xff_ffff,
            0x100_0000,
            u64::MAX,
        ] {
            let mut bytes = Vec::new();
            put_lenenc(&mut bytes, number);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.lenenc().unwrap(), number);
            assert!(reader.rest().is_empty());
        }
    }

    #[test]
    fn what_ends_too_early_is_an_error() {
        assert!(Reader::new(&[5, b'a']).lenenc_bytes().is_err());
        assert!(Reader::new(&[0xfe, 1]).lenenc().is_err());
        assert!(Reader::new(&[0xff]).lenenc().is_err());
        assert!(Reader::new(&[1, 2, 3]).u32().is_err());
        assert_eq!(Reader::new(b"abc").until_zero(), b"abc");
    }
}
