//! Reader of a log of acknowledged transactions.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{
    ACKNOWLEDGED, CHECK_BYTES, CommitLogError, FRONT_BYTES, HEADER_BYTES, Header, RECORD_BYTES_MAX,
    Reader, Record, crc32, wrong,
};
use crate::initial_rows::DISTRICTS;
use crate::mix::Kind;

const READ_BYTES: usize = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// False if the outcome of the commit is unknown.
    pub acknowledged: bool,
    pub change: Record,
}

#[derive(Debug)]
pub struct Entries {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    /// Bytes of the buffer that were read, and its offset in the file.
    used: usize,
    begins: u64,
    is_at_end: bool,
    torn: bool,
}

impl Entries {
    /// # Errors
    /// When it cannot be read, or is no log.
    pub fn open(path: &Path) -> Result<(Header, Self), CommitLogError> {
        let file = File::open(path);
        let mut file = file.map_err(|error| wrong(path, "cannot be opened", error))?;
        let mut bytes = [0; HEADER_BYTES];
        let read = file.read_exact(&mut bytes).ok();
        let header = read.and_then(|()| Header::parse(&bytes));
        let header = header.ok_or_else(|| CommitLogError::Foreign(path.to_owned()))?;
        let entries = Self {
            file,
            path: path.to_owned(),
            buffer: Vec::new(),
            used: 0,
            begins: HEADER_BYTES as u64,
            is_at_end: false,
            torn: false,
        };
        Ok((header, entries))
    }

    /// Next record; `None` at the end.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged before its last record.
    pub fn read(&mut self) -> Result<Option<Entry>, CommitLogError> {
        if self.buffer.len() - self.used < RECORD_BYTES_MAX && !self.is_at_end {
            self.fill()?;
        }
        let rest = &self.buffer[self.used..];
        if rest.is_empty() {
            return Ok(None);
        }
        match decode(rest) {
            Some((entry, bytes)) => {
                self.used += bytes;
                Ok(Some(entry))
            }
            // A driver that was killed during a write leaves a partial record and nothing after it.
            None if is_cut(rest) => {
                self.torn = true;
                self.used = self.buffer.len();
                Ok(None)
            }
            None => Err(CommitLogError::Damaged {
                path: self.path.clone(),
                at: self.begins + self.used as u64,
            }),
        }
    }

    /// True if the last record is torn; known once all was read.
    pub fn torn(&self) -> bool {
        self.torn
    }

    fn fill(&mut self) -> Result<(), CommitLogError> {
        self.buffer.drain(..self.used);
        self.begins += self.used as u64;
        self.used = 0;
        let mut part = (&self.file).take(READ_BYTES as u64);
        let read = part.read_to_end(&mut self.buffer);
        let read = read.map_err(|error| wrong(&self.path, "cannot be read", error))?;
        self.is_at_end = read < READ_BYTES;
        Ok(())
    }
}

fn is_cut(bytes: &[u8]) -> bool {
    let Some(length) = bytes.get(2..FRONT_BYTES) else {
        return true;
    };
    let rest = usize::from(u16::from_le_bytes([length[0], length[1]]));
    bytes.len() < FRONT_BYTES + rest && rest <= RECORD_BYTES_MAX
}

/// First record, and its length in bytes.
fn decode(bytes: &[u8]) -> Option<(Entry, usize)> {
    let rest = u16::from_le_bytes([*bytes.get(2)?, *bytes.get(3)?]);
    let end = FRONT_BYTES + usize::from(rest);
    let record = bytes.get(..end)?;
    let body = record.get(FRONT_BYTES..end.checked_sub(CHECK_BYTES)?)?;
    let check = record.last_chunk::<CHECK_BYTES>()?;
    if crc32(&record[..end - CHECK_BYTES]) != u32::from_le_bytes(*check) {
        return None;
    }
    let mut reader = Reader(body);
    let change = match Kind::of(record[0])? {
        Kind::NewOrder => Record::NewOrder {
            w: reader.u32()?,
            d: reader.u8()?,
            c_id: reader.u16()?,
            o_id: reader.u32()?,
        },
        Kind::Payment => Record::Payment {
            c_w: reader.u32()?,
            c_d: reader.u8()?,
            c_id: reader.u16()?,
            amount_cents: reader.u64()? as i64,
            user: reader.u32()?,
            sequence: reader.u32()?,
        },
        Kind::Delivery => {
            let (w, carrier) = (reader.u32()?, reader.u8()?);
            let mut orders = [0; DISTRICTS as usize];
            for order in &mut orders {
                *order = reader.u32()?;
            }
            Record::Delivery { w, carrier, orders }
        }
        Kind::OrderStatus | Kind::StockLevel => return None,
    };
    let acknowledged = record[1] == ACKNOWLEDGED;
    reader.0.is_empty().then_some((
        Entry {
            acknowledged,
            change,
        },
        end,
    ))
}
