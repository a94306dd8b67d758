//! Log of acknowledged transactions, which the driver writes outside of the server.
//!
//! A record is passed to the operating system before its acknowledgement is counted, so that it survives a crash of
//! driver or server. A commit during which the server went away is logged with an unknown outcome.
//!
//! A file is a header and records: kind, acknowledged flag, length of the rest, little-endian numbers, and a CRC-32
//! over all of it. A torn record at the end is recognised and ignored.

mod read;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

pub use read::{Entries, Entry};

use super::initial_rows::DISTRICTS;
use super::mix::Kind;

const MAGIC: &[u8; 8] = b"dbdynoJ1";
const HEADER_BYTES: usize = 40;
/// Kind, acknowledged flag, and two bytes of length.
const FRONT_BYTES: usize = 4;
const CHECK_BYTES: usize = 4;
/// A delivery: warehouse, carrier and ten orders.
const RECORD_BYTES_MAX: usize = FRONT_BYTES + 4 + 1 + 4 * DISTRICTS as usize + CHECK_BYTES;
const ACKNOWLEDGED: u8 = 1;

#[derive(Debug, thiserror::Error)]
pub enum CommitLogError {
    #[error("the log of acknowledged transactions {path} {what}: {error}")]
    File {
        path: PathBuf,
        what: &'static str,
        error: std::io::Error,
    },
    #[error("{0} is not a log of acknowledged transactions of this version of dbdyno")]
    Foreign(PathBuf),
    #[error(
        "the log of acknowledged transactions {path} is damaged at byte {at} and can no longer be used for a check"
    )]
    Damaged { path: PathBuf, at: u64 },
}

/// State of the database at the start of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of the run, as in the marks of its payments.
    pub run: u32,
    pub warehouses: u32,
    pub next_orders: u64,
    pub new_orders: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    NewOrder {
        w: u32,
        d: u8,
        c_id: u16,
        /// 0 if unknown.
        o_id: u32,
    },
    Payment {
        c_w: u32,
        c_d: u8,
        /// 0 if unknown.
        c_id: u16,
        amount_cents: i64,
        user: u32,
        sequence: u32,
    },
    Delivery {
        w: u32,
        carrier: u8,
        /// The order of each district, 0 for none.
        orders: [u32; DISTRICTS as usize],
    },
}

#[derive(Debug)]
pub struct CommitLog {
    file: File,
    path: PathBuf,
}

impl CommitLog {
    /// Creates a log; an existing file is an error.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, CommitLogError> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(|error| wrong(path, "cannot be created", error))?;
        let commit_log = Self {
            file,
            path: path.to_owned(),
        };
        commit_log.write(&header.bytes())?;
        Ok(commit_log)
    }

    /// Appends a record in one write, which the system does not mix with those of other connections.
    ///
    /// # Errors
    /// When the device is full.
    pub fn append(&self, record: &Record, acknowledged: bool) -> Result<(), CommitLogError> {
        let mut bytes = Bytes::default();
        record.encode(acknowledged, &mut bytes);
        self.write(bytes.written())
    }

    fn write(&self, bytes: &[u8]) -> Result<(), CommitLogError> {
        let written = (&self.file).write_all(bytes);
        written.map_err(|error| wrong(&self.path, "cannot be written", error))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Header {
    fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&self.run.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.warehouses.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.next_orders.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.new_orders.to_le_bytes());
        let check = crc32(&bytes[..HEADER_BYTES - CHECK_BYTES]);
        bytes[HEADER_BYTES - CHECK_BYTES..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let mut reader = Reader(&bytes[8..]);
        let header = Self {
            run: reader.u32()?,
            warehouses: reader.u32()?,
            next_orders: reader.u64()?,
            new_orders: reader.u64()?,
        };
        (header.bytes() == *bytes).then_some(header)
    }
}

struct Bytes {
    bytes: [u8; RECORD_BYTES_MAX],
    length: usize,
}

impl Default for Bytes {
    fn default() -> Self {
        Self {
            bytes: [0; RECORD_BYTES_MAX],
            length: 0,
        }
    }
}

impl Bytes {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    fn written(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Record {
    fn encode(&self, acknowledged: bool, into: &mut Bytes) {
        let kind = match self {
            Record::NewOrder { .. } => Kind::NewOrder,
            Record::Payment { .. } => Kind::Payment,
            Record::Delivery { .. } => Kind::Delivery,
        };
        into.put(&[kind as u8, u8::from(acknowledged) * ACKNOWLEDGED, 0, 0]);
        match self {
            Record::NewOrder { w, d, c_id, o_id } => {
                into.put(&w.to_le_bytes());
                into.put(&[*d]);
                into.put(&c_id.to_le_bytes());
                into.put(&o_id.to_le_bytes());
            }
            Record::Payment {
                c_w,
                c_d,
                c_id,
                amount_cents,
                user,
                sequence,
            } => {
                into.put(&c_w.to_le_bytes());
                into.put(&[*c_d]);
                into.put(&c_id.to_le_bytes());
                into.put(&amount_cents.to_le_bytes());
                into.put(&user.to_le_bytes());
                into.put(&sequence.to_le_bytes());
            }
            Record::Delivery { w, carrier, orders } => {
                into.put(&w.to_le_bytes());
                into.put(&[*carrier]);
                orders.iter().for_each(|o| into.put(&o.to_le_bytes()));
            }
        }
        let rest = (into.length - FRONT_BYTES + CHECK_BYTES) as u16;
        into.bytes[2..FRONT_BYTES].copy_from_slice(&rest.to_le_bytes());
        into.put(&crc32(into.written()).to_le_bytes());
    }
}

fn wrong(path: &Path, what: &'static str, error: std::io::Error) -> CommitLogError {
    CommitLogError::File {
        path: path.to_owned(),
        what,
        error,
    }
}

/// CRC-32 of IEEE 802.3, reflected, bytewise.
fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut value, mut bit) = (byte as u32, 0);
            while bit < 8 {
                value = (value >> 1) ^ (0xedb8_8320 * (value & 1));
                bit += 1;
            }
            table[byte] = value;
            byte += 1;
        }
        table
    };
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (crc >> 8) ^ TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize]
    })
}

/// Takes numbers off the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_le_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests;
