//! The two buffers of a connection and the framing of messages.

use bytes::{Buf, BytesMut};

use super::WireError;
use super::event::{Event, decode};
use net::stream::Buffers;

/// The largest message that is read: more than any row of the library, less than would hurt.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// First size of the input buffer: the server sends in pieces of 8 KiB.
const INPUT_BYTES: usize = 16 << 10;
/// Largest piece that is read at once.
const READ_BYTES_MAX: usize = 256 << 10;
/// Tag and length in front of every message.
const HEADER_BYTES: usize = 5;

/// A connection's state between the owner of the socket and the user of the database.
pub struct Wire {
    /// Requests that were not sent yet.
    pub(super) out: BytesMut,
    input: Vec<u8>,
    /// Bytes `begin..end` of the input were received and not taken.
    begin: usize,
    end: usize,
}

impl Default for Wire {
    fn default() -> Self {
        Self {
            out: BytesMut::with_capacity(1 << 10),
            input: vec![0; INPUT_BYTES],
            begin: 0,
            end: 0,
        }
    }
}

impl Buffers for Wire {
    #[inline]
    fn pending(&self) -> &[u8] {
        &self.out
    }

    #[inline]
    fn wrote(&mut self, count: usize) {
        if count == self.out.len() {
            self.out.clear();
        } else {
            self.out.advance(count);
        }
    }

    #[inline]
    fn room(&mut self) -> &mut [u8] {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        let wanted = self.wanted();
        if self.input.len() - self.begin < wanted || self.end == self.input.len() {
            self.input.copy_within(self.begin..self.end, 0);
            self.end -= self.begin;
            self.begin = 0;
            if self.input.len() < wanted {
                self.input.resize(wanted.next_power_of_two(), 0);
            } else if self.end * 2 > self.input.len() && self.input.len() < READ_BYTES_MAX {
                // A long result fills the buffer as fast as it is read.
                self.input.resize(self.input.len() * 2, 0);
            }
        }
        &mut self.input[self.end..]
    }

    #[inline]
    fn filled(&mut self, count: usize) {
        self.end += count;
    }
}

impl Wire {
    /// Forgets requests that were encoded and not sent.
    pub fn discard_output(&mut self) {
        self.out.clear();
    }

    /// Bytes that the message at the front needs in the buffer, at least one more than there are.
    fn wanted(&self) -> usize {
        let there = self.end - self.begin;
        match self.length() {
            Some(length) => length.clamp(there + 1, MESSAGE_BYTES_MAX + HEADER_BYTES),
            None => HEADER_BYTES.max(there + 1),
        }
    }

    /// Length of the message at the front with its tag, when its header has come.
    fn length(&self) -> Option<usize> {
        let header = self.input[self.begin..self.end].first_chunk::<HEADER_BYTES>()?;
        let [_, a, b, c, d] = *header;
        Some(u32::from_be_bytes([a, b, c, d]) as usize + 1)
    }

    /// The next event that has come completely; `None` asks for more bytes.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, WireError> {
        let Some(length) = self.length() else {
            return Ok(None);
        };
        if length < HEADER_BYTES {
            return Err(WireError::Malformed("a message length below four"));
        }
        if length > MESSAGE_BYTES_MAX {
            return Err(WireError::TooLarge(length as u64));
        }
        if self.end - self.begin < length {
            return Ok(None);
        }
        let (from, to) = (self.begin, self.begin + length);
        self.begin = to;
        decode(self.input[from], &self.input[from + HEADER_BYTES..to]).map(Some)
    }
}
