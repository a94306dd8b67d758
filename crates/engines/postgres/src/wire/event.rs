//! Messages of the server.

use super::WireError;
use super::reader::Reader;
use super::server_error::ServerError;

/// One message of the server. What borrows lives until the next call of the wire.
#[derive(Debug, PartialEq)]
pub enum Event<'a> {
    /// A step of the logon, for [`super::Logon`].
    Authentication(Authentication),
    /// A setting that the server reports, e.g. its version.
    Setting {
        name: &'a str,
        value: &'a str,
    },
    /// The number of the server's process, and what a request to cancel its statement has to know.
    Process {
        number: i32,
        secret: u32,
    },
    /// Everything up to a synchronisation was done; the server waits.
    Ready(Transaction),
    Prepared,
    /// Types of the parameters of a described statement.
    ParameterTypes(Numbers<'a>),
    /// Types of the columns of a described statement; none when it returns no rows.
    ColumnTypes(ColumnTypes<'a>),
    Bound,
    Row(Row<'a>),
    Complete(Tag<'a>),
    /// The server takes rows of a COPY.
    CopyIn,
    /// A piece of the rows of a COPY to the client, see [`super::Copied`].
    CopyData(&'a [u8]),
    /// A statement failed; everything up to the next synchronisation is skipped.
    Failed(Box<ServerError>),
    /// Something that needs no answer: notices, notifications, closed statements, the
    /// beginning and the end of a COPY to the client.
    Other,
}

/// A request of the server during the logon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authentication {
    Done,
    Cleartext,
    /// A digest of the password with this salt.
    Md5([u8; 4]),
    Mechanisms(Vec<String>),
    /// The server's part of the mechanism.
    Continue(Vec<u8>),
    Final(Vec<u8>),
    Other(u32),
}

/// State of the transaction when the server waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transaction {
    /// There is none.
    #[default]
    Idle,
    Open,
    /// In one that failed and takes nothing but a rollback.
    Failed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tag<'a>(pub &'a [u8]);

impl Tag<'_> {
    /// Rows that were changed, inserted or returned; 0 if it reports none.
    pub fn rows(self) -> u64 {
        let digits = self.0.rsplit(|b| *b == b' ').next().unwrap_or_default();
        digits.iter().fold(0, |rows: u64, digit| match digit {
            b'0'..=b'9' => rows.wrapping_mul(10) + u64::from(digit - b'0'),
            _ => 0,
        })
    }
}

/// Big-endian numbers of four bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    /// The numbers in their order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0
            .as_chunks::<4>()
            .0
            .iter()
            .map(|n| u32::from_be_bytes(*n))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnTypes<'a>(&'a [u8]);

impl ColumnTypes<'_> {
    /// Types of the columns in their order.
    pub fn types(&self) -> Result<Vec<u32>, WireError> {
        let mut reader = Reader(self.0);
        let mut types = Vec::new();
        while !reader.0.is_empty() {
            reader.text()?;
            reader.take(6)?; // table and column
            types.push(reader.u32()?);
            reader.take(8)?; // length, modifier, format
        }
        Ok(types)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    columns: u16,
    cells: &'a [u8],
}

impl<'a> Row<'a> {
    /// The cells in the order of the columns, null as `None`.
    #[inline]
    pub fn cells(self) -> Cells<'a> {
        Cells {
            left: self.columns,
            rest: self.cells,
        }
    }
}

pub struct Cells<'a> {
    left: u16,
    rest: &'a [u8],
}

impl<'a> Iterator for Cells<'a> {
    type Item = Result<Option<&'a [u8]>, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let cut = || {
            Some(Err(WireError::Malformed(
                "a row shorter than its stated length",
            )))
        };
        let Some((length, rest)) = self.rest.split_first_chunk::<4>() else {
            return cut();
        };
        let length = i32::from_be_bytes(*length);
        if length < 0 {
            self.rest = rest;
            return Some(Ok(None));
        }
        let Some((cell, rest)) = rest.split_at_checked(length as usize) else {
            return cut();
        };
        self.rest = rest;
        Some(Ok(Some(cell)))
    }
}

/// Takes the body of a message apart.
pub(super) fn decode(tag: u8, body: &[u8]) -> Result<Event<'_>, WireError> {
    let mut reader = Reader(body);
    Ok(match tag {
        b'd' => Event::CopyData(body),
        b'D' => Event::Row(Row {
            columns: reader.u16()?,
            cells: reader.0,
        }),
        b'2' => Event::Bound,
        b'C' => Event::Complete(Tag(reader.bytes_to_zero()?)),
        b'Z' => Event::Ready(match body {
            b"I" => Transaction::Idle,
            b"T" => Transaction::Open,
            b"E" => Transaction::Failed,
            _ => return Err(WireError::Malformed("an unknown transaction status")),
        }),
        b'E' => Event::Failed(Box::new(ServerError::decode(&mut reader)?)),
        b'1' => Event::Prepared,
        b't' => {
            reader.take(2)?;
            Event::ParameterTypes(Numbers(reader.0))
        }
        b'T' => {
            reader.take(2)?;
            Event::ColumnTypes(ColumnTypes(reader.0))
        }
        // A statement without rows is described by a message of its own.
        b'n' => Event::ColumnTypes(ColumnTypes(&[])),
        b'I' => Event::Complete(Tag(&[])),
        b'G' => Event::CopyIn,
        b'R' => Event::Authentication(authentication(&mut reader)?),
        b'S' => Event::Setting {
            name: reader.text()?,
            value: reader.text()?,
        },
        b'K' => Event::Process {
            number: reader.u32()? as i32,
            secret: reader.u32()?,
        },
        b'N' | b'A' | b'3' | b's' | b'H' | b'c' => Event::Other,
        _ => return Err(WireError::Malformed("an unknown message type")),
    })
}

fn authentication(reader: &mut Reader<'_>) -> Result<Authentication, WireError> {
    Ok(match reader.u32()? {
        0 => Authentication::Done,
        3 => Authentication::Cleartext,
        5 => Authentication::Md5(
            *reader
                .take(4)?
                .first_chunk()
                .ok_or(WireError::Malformed("a salt that is too short"))?,
        ),
        10 => {
            let mut mechanisms = Vec::new();
            while reader.0.len() > 1 {
                mechanisms.push(reader.text()?.to_owned());
            }
            Authentication::Mechanisms(mechanisms)
        }
        11 => Authentication::Continue(reader.0.to_vec()),
        12 => Authentication::Final(reader.0.to_vec()),
        method => Authentication::Other(method),
    })
}
