//! Rows of a result as the cells that every engine hands out.

use super::capi::{RawString, type_id};
use super::explain::explain;
use super::handle::{Answer, Answered, Chunk, Vector};
use engine::catalogue::Cell;
use engine::{Result, TargetError};

/// Hands out all rows of a result.
pub(super) fn hand_out(
    answer: &mut Answer,
    take: &mut dyn FnMut(&[Cell<'_>]) -> Result<()>,
) -> Result<()> {
    while let Some(chunk) = answer.next_chunk() {
        let columns = columns(answer, &chunk)
            .map_err(|message| TargetError::statement(format!("DuckDB: {message}")))?;
        let mut row = Vec::with_capacity(columns.len());
        for at in 0..chunk.rows() {
            row.clear();
            row.extend(columns.iter().map(|column| column.cell(at)));
            take(&row)?;
        }
    }
    match answer.failure() {
        None => Ok(()),
        Some(message) => Err(explain("reading failed", &message)),
    }
}

fn columns<'a>(answer: &mut Answer, chunk: &'a Chunk) -> Answered<Vec<Column<'a>>> {
    (0..chunk.columns())
        .map(|column| {
            let stored = match answer.column_type(column) {
                type_id::DECIMAL => answer.decimal_type(column),
                other => other,
            };
            if is_read(stored) { Ok(Column {
                    stored,
                    rows: chunk.rows(),
                    vector: chunk.vector(column),
                }) } else { Err(format!(
                    "column {} of a table has a type (number {stored} of the C API) that dbdyno does not read",
                    column + 1
                )) }
        })
        .collect()
}

fn is_read(stored: u32) -> bool {
    use type_id::*;
    [
        BOOLEAN,
        TINYINT,
        SMALLINT,
        INTEGER,
        BIGINT,
        UTINYINT,
        USMALLINT,
        UINTEGER,
        UBIGINT,
        HUGEINT,
        FLOAT,
        DOUBLE,
        DATE,
        TIME,
        TIMESTAMP,
        TIMESTAMP_TZ,
        VARCHAR,
        BLOB,
    ]
    .contains(&stored)
}

/// One column of a chunk.
struct Column<'a> {
    stored: u32,
    rows: usize,
    vector: Vector<'a>,
}

impl<'a> Column<'a> {
    #[inline]
    fn cell(&self, row: usize) -> Cell<'a> {
        if !self.vector.is_valid(row) {
            return Cell::Null;
        }
        let (vector, rows) = (&self.vector, self.rows);
        // SAFETY: each type is the one in which DuckDB stores a column of that name, the row is one of the
        // chunk's, and the chunk outlives the cell.
        unsafe {
            match self.stored {
                type_id::VARCHAR | type_id::BLOB => {
                    Cell::Bytes(vector.cells::<RawString>(rows)[row].bytes())
                }
                type_id::BIGINT | type_id::TIME | type_id::TIMESTAMP | type_id::TIMESTAMP_TZ => {
                    Cell::Int(vector.cells::<i64>(rows)[row])
                }
                type_id::INTEGER | type_id::DATE => {
                    Cell::Int(i64::from(vector.cells::<i32>(rows)[row]))
                }
                type_id::SMALLINT => Cell::Int(i64::from(vector.cells::<i16>(rows)[row])),
                type_id::TINYINT => Cell::Int(i64::from(vector.cells::<i8>(rows)[row])),
                type_id::BOOLEAN | type_id::UTINYINT => {
                    Cell::Int(i64::from(vector.cells::<u8>(rows)[row]))
                }
                type_id::USMALLINT => Cell::Int(i64::from(vector.cells::<u16>(rows)[row])),
                type_id::UINTEGER => Cell::Int(i64::from(vector.cells::<u32>(rows)[row])),
                type_id::UBIGINT => Cell::Wide(i128::from(vector.cells::<u64>(rows)[row])),
                type_id::FLOAT => Cell::Double(f64::from(vector.cells::<f32>(rows)[row])),
                type_id::DOUBLE => Cell::Double(vector.cells::<f64>(rows)[row]),
                // A HUGEINT, the only one left of those that are read.
                _ => {
                    let [low, high] = vector.cells::<[u64; 2]>(rows)[row];
                    Cell::Wide((i128::from(high as i64) << 64) | i128::from(low))
                }
            }
        }
    }
}
