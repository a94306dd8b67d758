//! Columns and rows of results, in the binary form of prepared statements and in the text form.

use super::bytes::Reader;
use super::{WireError, WireResult};

/// Numbers of the types, as the protocol has them.
mod type_id {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const NEWDECIMAL: u8 = 246;
}

const FLAG_UNSIGNED: u16 = 1 << 5;
/// The null bitmap of a binary row begins with two bits that mean nothing.
const NULL_BIT_OFFSET: usize = 2;

/// Facts needed to read a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    type_id: u8,
    is_unsigned: bool,
}

impl Column {
    /// Reads a column's definition; its names do not matter.
    pub fn parse(payload: &[u8]) -> WireResult<Self> {
        let mut reader = Reader::new(payload);
        // Catalogue, schema, table and column, the last two twice.
        for _ in 0..6 {
            reader.lenenc_bytes()?;
        }
        let mut fixed = Reader::new(reader.lenenc_bytes()?);
        // Character set and length.
        fixed.take(6)?;
        let type_id = fixed.u8()?;
        Ok(Self {
            type_id,
            is_unsigned: fixed.u16()? & FLAG_UNSIGNED != 0,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    Null,
    /// An integer; unsigned ones above 2^63 wrap.
    Int(i64),
    Double(f64),
    /// Digits with or without a point.
    Decimal(&'a [u8]),
    /// Text or bytes; in the text form of results everything but null.
    Bytes(&'a [u8]),
    /// A date or time, in the form of the protocol.
    Time(&'a [u8]),
}

/// A row that was just received.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    pub(super) payload: &'a [u8],
    pub(super) columns: &'a [Column],
    pub(super) is_binary: bool,
}

impl<'a> Row<'a> {
    /// Hands out every cell with the number of its column, from 0.
    #[inline]
    pub fn for_each(&self, take: impl FnMut(usize, Cell<'a>)) -> WireResult<()> {
        if self.is_binary {
            self.for_each_binary(take)
        } else {
            self.for_each_text(take)
        }
    }

    fn for_each_text(&self, mut take: impl FnMut(usize, Cell<'a>)) -> WireResult<()> {
        let mut reader = Reader::new(self.payload);
        for column in 0..self.columns.len() {
            if reader.rest().first() == Some(&0xfb) {
                reader.take(1)?;
                take(column, Cell::Null);
            } else {
                take(column, Cell::Bytes(reader.lenenc_bytes()?));
            }
        }
        Ok(())
    }

    #[inline]
    fn for_each_binary(&self, mut take: impl FnMut(usize, Cell<'a>)) -> WireResult<()> {
        let mut reader = Reader::new(self.payload);
        reader.take(1)?;
        let nulls = reader.take((self.columns.len() + NULL_BIT_OFFSET).div_ceil(8))?;
        for (index, column) in self.columns.iter().enumerate() {
            let bit = index + NULL_BIT_OFFSET;
            let cell = if nulls[bit / 8] >> (bit % 8) & 1 == 1 {
                Cell::Null
            } else {
                column.read(&mut reader)?
            };
            take(index, cell);
        }
        Ok(())
    }
}

impl Column {
    #[inline]
    fn read<'a>(self, reader: &mut Reader<'a>) -> WireResult<Cell<'a>> {
        Ok(match self.type_id {
            type_id::LONGLONG => Cell::Int(reader.u64()? as i64),
            type_id::LONG | type_id::INT24 => {
                let bits = reader.u32()?;
                Cell::Int(self.pick(i64::from(bits as i32), i64::from(bits)))
            }
            type_id::SHORT | type_id::YEAR => {
                let bits = reader.u16()?;
                Cell::Int(self.pick(i64::from(bits as i16), i64::from(bits)))
            }
            type_id::TINY => {
                let bits = reader.u8()?;
                Cell::Int(self.pick(i64::from(bits as i8), i64::from(bits)))
            }
            type_id::DOUBLE => Cell::Double(f64::from_bits(reader.u64()?)),
            type_id::FLOAT => Cell::Double(f64::from(f32::from_bits(reader.u32()?))),
            type_id::DECIMAL | type_id::NEWDECIMAL => Cell::Decimal(reader.lenenc_bytes()?),
            type_id::NULL => Cell::Null,
            type_id::DATE | type_id::TIME | type_id::DATETIME | type_id::TIMESTAMP => {
                Cell::Time(reader.lenenc_bytes()?)
            }
            // The rest (strings, blobs, bits, enumerations, geometries) is bytes with a length.
            _ => Cell::Bytes(reader.lenenc_bytes()?),
        })
    }

    /// True if its values can be handed out one by one: integers, whole decimals and texts.
    pub fn is_plain(self) -> bool {
        !matches!(
            self.type_id,
            type_id::FLOAT
                | type_id::DOUBLE
                | type_id::DATE
                | type_id::TIME
                | type_id::DATETIME
                | type_id::TIMESTAMP
        )
    }

    #[inline]
    fn pick(self, signed: i64, unsigned: i64) -> i64 {
        if self.is_unsigned { unsigned } else { signed }
    }
}

/// The number of columns is the server's word.
pub fn column_count(count: u64) -> WireResult<u32> {
    if count == 0 || count > super::COLUMNS_MAX {
        return Err(WireError::Malformed(
            "a result with an invalid number of columns",
        ));
    }
    Ok(count as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(type_id: u8, is_unsigned: bool) -> Column {
        Column {
            type_id,
            is_unsigned,
        }
    }

    #[test]
    fn binary_cells_are_read_by_their_type() {
        let columns = [
            column(type_id::TINY, false),
            column(type_id::TINY, true),
            column(type_id::LONG, false),
            column(type_id::LONGLONG, false),
            column(type_id::DOUBLE, false),
            column(type_id::NEWDECIMAL, false),
            column(253, false),
        ];
        // The cell of the fourth column is null: bit 5 of the bitmap.
        let mut payload = vec![0, 1 << 5, 0, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff];
        payload.extend_from_slice(&1.5f64.to_le_bytes());
        payload.extend_from_slice(b"\x0212\x03abc");
        let row = Row {
            payload: &payload,
            columns: &columns,
            is_binary: true,
        };
        let mut cells = Vec::new();
        row.for_each(|_, cell| cells.push(cell)).unwrap();
        let right = [
            Cell::Int(-1),
            Cell::Int(255),
            Cell::Int(-2),
            Cell::Null,
            Cell::Double(1.5),
            Cell::Decimal(b"12"),
            Cell::Bytes(b"abc"),
        ];
        assert_eq!(cells, right);
        let short = Row {
            payload: &payload[..9],
            ..row
        };
        assert!(short.for_each(|_, _| ()).is_err());
    }

    #[test]
    fn text_cells_are_bytes_or_nothing() {
        let columns = [column(type_id::LONG, false), column(253, false)];
        let row = Row {
            payload: b"\x0242\xfb",
            columns: &columns,
            is_binary: false,
        };
        let mut cells = Vec::new();
        row.for_each(|_, cell| cells.push(cell)).unwrap();
        assert_eq!(cells, [Cell::Bytes(b"42"), Cell::Null]);
    }
}
