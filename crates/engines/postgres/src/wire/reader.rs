//! A message, read from its front.

use super::WireError;

/// Reads the parts of a message from its front.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn take(&mut self, bytes: usize) -> Result<&'a [u8], WireError> {
        let (front, rest) = self.0.split_at_checked(bytes).ok_or(WireError::Malformed(
            "a message shorter than its stated length",
        ))?;
        self.0 = rest;
        Ok(front)
    }

    pub(super) fn u16(&mut self) -> Result<u16, WireError> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, WireError> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn bytes_to_zero(&mut self) -> Result<&'a [u8], WireError> {
        let end = self.0.iter().position(|b| *b == 0);
        let end = end.ok_or(WireError::Malformed("an unterminated text"))?;
        let text = self.take(end)?;
        self.take(1)?;
        Ok(text)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, WireError> {
        std::str::from_utf8(self.bytes_to_zero()?)
            .map_err(|_| WireError::Malformed("a text that is not UTF-8"))
    }
}
