//! A prepared statement and how an execution of it is written.

use super::bytes::put_lenenc_bytes;
use super::row::Column;
use super::short::Short;
use engine::Value;

const COM_STMT_EXECUTE: u8 = 0x17;
const NO_CURSOR: u8 = 0;
/// Types of parameters: number and a flag for unsigned, which is never set.
const TYPE_LONGLONG: [u8; 2] = [8, 0];
const TYPE_TEXT: [u8; 2] = [253, 0];
const TYPE_BLOB: [u8; 2] = [252, 0];
const TYPE_DECIMAL: [u8; 2] = [246, 0];

#[derive(Debug)]
pub struct Prepared {
    /// The server's number for it.
    pub id: u32,
    pub parameters: u16,
    /// Columns of its last result.
    pub columns: Vec<Column>,
    /// Types of the parameters as the server last got them.
    types: Vec<u8>,
}

impl Prepared {
    pub fn new(id: u32, parameters: u16, columns: u16) -> Self {
        Self {
            id,
            parameters,
            columns: Vec::with_capacity(usize::from(columns)),
            types: Vec::with_capacity(2 * usize::from(parameters)),
        }
    }

    /// The last execution does not reach the server, which then has not learnt its types.
    pub fn not_sent(&mut self) {
        self.types.clear();
    }

    /// Writes an execution. `parameters` are as many as the statement takes.
    #[inline]
    pub fn put_execution(&mut self, parameters: &[Value<'_>], into: &mut Vec<u8>) {
        into.push(COM_STMT_EXECUTE);
        into.extend_from_slice(&self.id.to_le_bytes());
        into.push(NO_CURSOR);
        // Executions, of which there is always one.
        into.extend_from_slice(&1u32.to_le_bytes());
        if parameters.is_empty() {
            return;
        }
        put_nulls(parameters, into);
        let types = parameters.iter().flat_map(type_of);
        if types.clone().eq(self.types.iter().copied()) {
            into.push(0);
        } else {
            self.types.clear();
            self.types.extend(types);
            into.push(1);
            into.extend_from_slice(&self.types);
        }
        for parameter in parameters {
            match parameter {
                Value::Int(n) => into.extend_from_slice(&n.to_le_bytes()),
                Value::Text(text) => put_lenenc_bytes(into, text.as_bytes()),
                Value::Blob(bytes) => put_lenenc_bytes(into, bytes),
                // It stands in the bitmap alone.
                Value::Null => {}
                Value::Decimal { unscaled, places } => {
                    put_lenenc_bytes(into, Short::decimal(*unscaled, *places).bytes());
                }
                Value::Moment(us) => put_lenenc_bytes(into, Short::moment(*us).bytes()),
                Value::Date(days) => put_lenenc_bytes(into, Short::date(*days).bytes()),
            }
        }
    }
}

/// A bit for every parameter, set where it is null.
#[inline]
fn put_nulls(parameters: &[Value<'_>], into: &mut Vec<u8>) {
    let bitmap = into.len();
    into.resize(bitmap + parameters.len().div_ceil(8), 0);
    for (at, parameter) in parameters.iter().enumerate() {
        if *parameter == Value::Null {
            into[bitmap + at / 8] |= 1 << (at % 8);
        }
    }
}

fn type_of(value: &Value<'_>) -> [u8; 2] {
    match value {
        Value::Int(_) => TYPE_LONGLONG,
        // A moment is written out, which the server understands for every type of time.
        Value::Text(_) | Value::Null | Value::Moment(_) | Value::Date(_) => TYPE_TEXT,
        Value::Blob(_) => TYPE_BLOB,
        Value::Decimal { .. } => TYPE_DECIMAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_sent_only_when_they_change() {
        let mut statement = Prepared::new(7, 2, 0);
        let mut bytes = Vec::new();
        statement.put_execution(&[Value::Int(-1), Value::Text("ab")], &mut bytes);
        let right =
            b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01\x08\0\xfd\0\xff\xff\xff\xff\xff\xff\xff\xff\x02ab";
        assert_eq!(bytes, right);
        bytes.clear();
        statement.put_execution(&[Value::Int(1), Value::Text("c")], &mut bytes);
        assert_eq!(bytes[10..12], [0, 0]);
        bytes.clear();
        statement.put_execution(&[Value::Int(1), Value::Blob(b"c")], &mut bytes);
        assert_eq!(bytes[10..16], [0, 1, 8, 0, 252, 0]);
    }

    #[test]
    fn nulls_decimals_and_moments() {
        let mut statement = Prepared::new(7, 3, 0);
        let mut bytes = Vec::new();
        let decimal = Value::Decimal {
            unscaled: -5,
            places: 2,
        };
        statement.put_execution(&[Value::Null, decimal, Value::Moment(0)], &mut bytes);
        assert_eq!(bytes[10..12], [1, 1]);
        assert_eq!(bytes[18..], *b"\x05-0.05\x131970-01-01 00:00:00");
    }
}
