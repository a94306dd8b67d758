//! Packets: a header of four bytes (length and sequence number) and a payload of less than 16 MiB;
//! longer ones are continued in the next packet.

use std::ops::Range;

use super::{PACKET_BYTES_MAX, WireError, WireResult};

const HEADER_BYTES: usize = 4;
/// A payload of this length is continued in the next packet.
const PART_BYTES_MAX: usize = 0xff_ffff;
/// A buffer's size at first: many rows of a scan in one read.
const BUFFER_BYTES: usize = 64 << 10;
/// Free room that a read is given at least.
const ROOM_BYTES_MIN: usize = 16 << 10;

/// Packets on their way out.
#[derive(Debug)]
pub struct Outbox {
    bytes: Vec<u8>,
    written: usize,
    open: Option<Open>,
    /// From here on nothing may be written yet.
    held_from: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    start: usize,
    sequence: u8,
}

impl Outbox {
    pub fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(BUFFER_BYTES),
            written: 0,
            open: None,
            held_from: None,
        }
    }

    /// Where the next packet will begin.
    #[inline]
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Keeps back everything from a position on, or nothing any more.
    #[inline]
    pub fn hold(&mut self, from: Option<usize>) {
        self.held_from = from;
    }

    /// From where on packets are kept back.
    #[inline]
    pub fn held_from(&self) -> Option<usize> {
        self.held_from
    }

    /// Forgets what is kept back.
    pub fn drop_held(&mut self) {
        if let Some(from) = self.held_from.take() {
            self.bytes.truncate(from);
            self.clear_if_written();
        }
    }

    /// Forgets everything that was not written.
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.written, self.open, self.held_from) = (0, None, None);
    }

    /// Begins a packet, whose payload is then appended to what is returned.
    pub fn begin(&mut self, sequence: u8) -> &mut Vec<u8> {
        debug_assert!(self.open.is_none(), "one packet is put together at a time");
        self.open = Some(Open {
            start: self.bytes.len(),
            sequence,
        });
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        &mut self.bytes
    }

    /// The payload of the packet that was begun, to be appended to.
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Length so far of the packet that was begun; `None` when there is none.
    pub fn open_bytes(&self) -> Option<usize> {
        self.open.map(|o| self.bytes.len() - o.start - HEADER_BYTES)
    }

    /// Ends the packet that was begun; gives the sequence number of the next.
    pub fn end(&mut self) -> WireResult<u8> {
        let Some(Open { start, sequence }) = self.open.take() else {
            return Ok(0);
        };
        let length = self.bytes.len() - start - HEADER_BYTES;
        if length > PACKET_BYTES_MAX {
            self.bytes.truncate(start);
            return Err(WireError::TooLarge(length));
        }
        if length >= PART_BYTES_MAX {
            return Ok(self.split(start, sequence));
        }
        self.put_header(start, length, sequence);
        Ok(sequence.wrapping_add(1))
    }

    /// Cuts a long payload into its parts; the last one is shorter than the others, maybe empty.
    fn split(&mut self, start: usize, mut sequence: u8) -> u8 {
        let payload = self.bytes.split_off(start + HEADER_BYTES);
        self.bytes.truncate(start);
        let parts = payload.len() / PART_BYTES_MAX + 1;
        for part in 0..parts {
            let from = part * PART_BYTES_MAX;
            let to = payload.len().min(from + PART_BYTES_MAX);
            let at = self.bytes.len();
            self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
            self.put_header(at, to - from, sequence);
            self.bytes.extend_from_slice(&payload[from..to]);
            sequence = sequence.wrapping_add(1);
        }
        sequence
    }

    fn put_header(&mut self, at: usize, length: usize, sequence: u8) {
        let length = (length as u32).to_le_bytes();
        let header = [length[0], length[1], length[2], sequence];
        self.bytes[at..at + HEADER_BYTES].copy_from_slice(&header);
    }

    pub fn pending(&self) -> &[u8] {
        let end = self.open.map_or(self.bytes.len(), |open| open.start);
        let end = self.held_from.unwrap_or(end);
        &self.bytes[self.written..end]
    }

    /// Notes that the first `count` pending bytes were written.
    pub fn wrote(&mut self, count: usize) {
        self.written += count;
        self.clear_if_written();
    }

    fn clear_if_written(&mut self) {
        if self.open.is_none() && self.written >= self.bytes.len() {
            self.bytes.clear();
            self.written = 0;
        }
    }
}

/// Packets on their way in.
#[derive(Debug)]
pub struct Inbox {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that the packet at the start needs as a whole, as far as is known.
    wanted: usize,
}

/// A whole packet in the inbox.
#[derive(Debug, Clone)]
pub struct Packet {
    pub payload: Range<usize>,
    /// Sequence number that an answer to it has.
    pub answer_sequence: u8,
}

impl Inbox {
    pub fn new() -> Self {
        Self {
            bytes: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            wanted: HEADER_BYTES,
        }
    }

    /// Room for the next read. What was taken out before is overwritten.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let needed = self.wanted.max(self.end - self.start + ROOM_BYTES_MIN);
        if self.bytes.len() - self.start < needed {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.bytes.len() < needed {
                // Doubled, so that a long packet is not copied at every read; `wanted` is bounded.
                let room = needed.max(2 * self.bytes.len());
                self.bytes.resize(room, 0);
            }
        }
        &mut self.bytes[self.end..]
    }

    /// Notes that a read filled `count` bytes of the room.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub fn slice(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }

    /// Takes the next whole packet out; `None` when more bytes are needed. Its bytes stay where they
    /// are until [`Inbox::room`] is asked for.
    #[inline]
    pub fn next(&mut self) -> WireResult<Option<Packet>> {
        let Some((length, sequence)) = self.header(self.start) else {
            self.wanted = HEADER_BYTES;
            return Ok(None);
        };
        if length == PART_BYTES_MAX {
            return self.next_long();
        }
        let from = self.start + HEADER_BYTES;
        let to = from + length;
        if to > self.end {
            self.wanted = HEADER_BYTES + length;
            return Ok(None);
        }
        self.start = to;
        Ok(Some(Packet {
            payload: from..to,
            answer_sequence: sequence.wrapping_add(1),
        }))
    }

    #[inline]
    fn header(&self, at: usize) -> Option<(usize, u8)> {
        let header = self.bytes[..self.end].get(at..at + HEADER_BYTES)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        Some((length as usize, header[3]))
    }

    /// A packet of several parts: waits for all of them and closes the gaps of their headers.
    fn next_long(&mut self) -> WireResult<Option<Packet>> {
        let mut at = self.start;
        let mut total = 0;
        let sequence = loop {
            let Some((length, sequence)) = self.header(at) else {
                self.wanted = at + HEADER_BYTES - self.start;
                return Ok(None);
            };
            total += length;
            if total > PACKET_BYTES_MAX {
                return Err(WireError::TooLarge(total));
            }
            at += HEADER_BYTES + length;
            if at > self.end {
                self.wanted = at - self.start;
                return Ok(None);
            }
            if length < PART_BYTES_MAX {
                break sequence;
            }
        };
        let payload = self.start + HEADER_BYTES;
        let mut from = payload;
        let mut to = payload;
        while from < at {
            let length = self
                .header(from - HEADER_BYTES)
                .map_or(0, |(length, _)| length);
            self.bytes.copy_within(from..from + length, to);
            to += length;
            from += length + HEADER_BYTES;
        }
        self.start = at;
        Ok(Some(Packet {
            payload: payload..payload + total,
            answer_sequence: sequence.wrapping_add(1),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moves everything from one to the other in pieces of `step` bytes.
    fn carry(outbox: &mut Outbox, inbox: &mut Inbox, step: usize) -> Vec<Vec<u8>> {
        let mut got = Vec::new();
        loop {
            while let Some(packet) = inbox.next().unwrap() {
                got.push(inbox.slice(packet.payload).to_vec());
            }
            let pending = outbox.pending();
            if pending.is_empty() {
                return got;
            }
            let room = inbox.room();
            let count = step.min(pending.len()).min(room.len());
            room[..count].copy_from_slice(&pending[..count]);
            inbox.filled(count);
            outbox.wrote(count);
        }
    }

    #[test]
    fn packets_arrive_whole_however_they_are_cut() {
        for step in [1, 3, 4096, 1 << 20] {
            let (mut outbox, mut inbox) = (Outbox::new(), Inbox::new());
            let payloads = [vec![1; 5], Vec::new(), vec![2; 200_000], vec![3; 1]];
            for payload in &payloads {
                outbox.begin(0).extend_from_slice(payload);
                outbox.end().unwrap();
            }
            assert!(carry(&mut outbox, &mut inbox, step) == payloads);
        }
    }

    #[test]
    fn long_packets_are_parted_and_joined() {
        for length in [
            PART_BYTES_MAX - 1,
            PART_BYTES_MAX,
            PART_BYTES_MAX + 1,
            2 * PART_BYTES_MAX + 7,
        ] {
            let (mut outbox, mut inbox) = (Outbox::new(), Inbox::new());
            let payload: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            outbox.begin(0).extend_from_slice(&payload);
            let next = outbox.end().unwrap();
            assert_eq!(usize::from(next), length / PART_BYTES_MAX + 1);
            outbox.begin(0).push(9);
            outbox.end().unwrap();
            let got = carry(&mut outbox, &mut inbox, 1 << 20);
            assert!(got.len() == 2 && got[0] == payload && got[1] == [9]);
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let mut outbox = Outbox::new();
        outbox.begin(0).resize(PACKET_BYTES_MAX + 5, 0);
        assert!(outbox.end().is_err());
        assert!(outbox.pending().is_empty());
    }
}
