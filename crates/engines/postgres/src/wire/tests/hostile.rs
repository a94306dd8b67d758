//! A server, or somebody on the way, that sends what it likes: every conversation ends in events or an error, within
//! bounded memory.

use testing::{Source, each_seed, peak_bytes};

use super::super::cell::types;
use super::super::*;
use super::{message, receive};
use engine::catalogue::{Cell, Kind};
use engine::{Fetched, FirstRow, Password};

/// The largest message, in a buffer whose size is a power of two, and the little that a conversation takes besides.
const MEMORY_BYTES_MAX: usize = (2 * MESSAGE_BYTES_MAX) + (1 << 20);
const COLUMNS: [u32; 10] = [
    types::INT8,
    types::TEXT,
    types::NUMERIC,
    types::DATE,
    types::BOOL,
    types::FLOAT4,
    types::FLOAT8,
    types::TIMESTAMP,
    types::INT2,
    types::BPCHAR,
];

fn row(cells: &[&[u8]]) -> Vec<u8> {
    let mut body = (cells.len() as u16).to_be_bytes().to_vec();
    for cell in cells {
        body.extend((cell.len() as u32).to_be_bytes());
        body.extend(*cell);
    }
    body
}

/// A server's messages from logon to the last row: each kind at least once.
fn conversation() -> Vec<Vec<u8>> {
    let numeric = [0, 2, 0, 1, 0x40, 0, 0, 2, 0, 10, 0x13, 0x88];
    let cells: [&[u8]; 10] = [
        &7_i64.to_be_bytes(),
        b"a text",
        &numeric,
        &9000_i32.to_be_bytes(),
        &[1],
        &1.5_f32.to_be_bytes(),
        &2.5_f64.to_be_bytes(),
        &1_i64.to_be_bytes(),
        &3_i16.to_be_bytes(),
        b"padded  ",
    ];
    let mut description = b"\0\x02".to_vec();
    for name in ["a", "b"] {
        description.extend(name.as_bytes());
        description.extend([0; 7]);
        description.extend(types::TEXT.to_be_bytes());
        description.extend([0; 8]);
    }
    [
        (b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0".to_vec()),
        (b'R', b"\0\0\0\x0br=nonce,s=c2FsdA==,i=4096".to_vec()),
        (b'R', b"\0\0\0\x0cv=cHJvb2Y=".to_vec()),
        (b'R', b"\0\0\0\x05salt".to_vec()),
        (b'R', b"\0\0\0\x03".to_vec()),
        (b'R', b"\0\0\0\0".to_vec()),
        (b'S', b"server_version\x0015.1\0".to_vec()),
        (b'K', b"\0\0\0\x01\0\0\0\x02".to_vec()),
        (b'Z', b"I".to_vec()),
        (b'1', vec![]),
        (b't', b"\0\x01\0\0\0\x17".to_vec()),
        (b'T', description),
        (b'n', vec![]),
        (b'2', vec![]),
        (b'D', row(&cells)),
        (b'D', row(&[])),
        (b'C', b"SELECT 2\0".to_vec()),
        (b'N', b"SNOTICE\0Mbeware\0\0".to_vec()),
        (b'E', b"SERROR\0VERROR\0C40001\0Mno\0Dwhy\0\0".to_vec()),
        (b'G', b"\0\0\0".to_vec()),
        (b'H', b"\x01\0\0".to_vec()),
        (
            b'd',
            b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01x".to_vec(),
        ),
        (b'c', vec![]),
        (b'Z', b"T".to_vec()),
    ]
    .into_iter()
    .map(|(tag, body)| message(tag, &body))
    .collect()
}

/// Everything that a session does with what comes, until the first error or the end.
fn hear(bytes: &[u8], piece: usize) -> Result<(), WireError> {
    let password = Password::new("secret");
    let mut logon = Logon::new("me", Some(&password), Channel::default());
    let (mut wire, mut answers) = (Wire::default(), Wire::default());
    let (mut fetched, mut first) = (Fetched::default(), FirstRow::default());
    for piece in bytes.chunks(piece) {
        let mut rest = piece;
        while !rest.is_empty() {
            rest = receive(&mut wire, rest);
            while let Some(event) = wire.next_event()? {
                match event {
                    Event::Row(row) => {
                        let _ = add_row(&mut fetched, &COLUMNS, row);
                        for (cell, oid) in row.cells().zip(COLUMNS) {
                            if let Ok(Some(cell)) = cell {
                                keep_cell(oid, cell, &mut first);
                            }
                        }
                    }
                    Event::ColumnTypes(columns) => drop(columns.types()),
                    Event::ParameterTypes(numbers) => _ = numbers.iter().count(),
                    Event::Complete(tag) => _ = tag.rows(),
                    Event::Authentication(request) => drop(logon.answer(&mut answers, request)),
                    Event::Failed(error) => drop((error.to_string(), error.is_retryable())),
                    _ => {}
                }
            }
        }
    }
    Ok(())
}

/// Messages left out, doubled and in another order, then bytes changed.
fn changed(source: &mut Source, messages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        match source.below(8) {
            0 => {}
            1 => bytes.extend(message.repeat(2)),
            2 => bytes.extend(source.pick(messages)),
            _ => bytes.extend(message),
        }
    }
    source.mutate(&mut bytes);
    bytes
}

#[test]
fn a_whole_conversation_is_understood() {
    let bytes = conversation().concat();
    assert_eq!(hear(&bytes, bytes.len()), Ok(()));
    assert_eq!(hear(&bytes, 1), Ok(()));
}

#[test]
fn whatever_the_server_says_is_an_event_or_an_error() {
    let messages = conversation();
    let mut understood = 0;
    each_seed(20_000, |source| {
        let bytes = changed(source, &messages);
        let piece = *source.pick(&[1, 7, 4096]);
        let (heard, taken) = peak_bytes(|| hear(&bytes, piece));
        assert!(taken <= MEMORY_BYTES_MAX, "{taken} bytes");
        understood += u32::from(heard.is_ok());
    });
    assert!(
        understood > 0,
        "no changed conversation is understood: all is refused at its begin"
    );
}

#[test]
fn a_damaged_copy_is_rows_or_an_error() {
    let kinds = [
        (types::INT8, Kind::Int(64)),
        (types::TEXT, Kind::Text),
        (
            types::NUMERIC,
            Kind::Decimal {
                digits: 20,
                places: 4,
            },
        ),
        (types::DATE, Kind::Date),
        (types::BOOL, Kind::Bool),
        (types::FLOAT8, Kind::Double),
        (types::TIMESTAMP, Kind::Moment),
        (types::BPCHAR, Kind::Text),
    ];
    let numeric = [0, 2, 0, 1, 0x40, 0, 0, 2, 0, 10, 0x13, 0x88];
    let one: [&[u8]; 8] = [
        &7_i64.to_be_bytes(),
        b"a text",
        &numeric,
        &9000_i32.to_be_bytes(),
        &[1],
        &2.5_f64.to_be_bytes(),
        &1_i64.to_be_bytes(),
        b"padded  ",
    ];
    let mut whole = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
    whole.extend([row(&one), row(&one), b"\xff\xff".to_vec()].concat());
    let columns = kinds.map(|(oid, _)| oid);
    let read = |bytes: &[u8]| {
        let mut copied = Copied::new(&columns, kinds.into_iter().map(|(_, kind)| kind))?;
        let mut rows = 0;
        copied.rows(bytes, &mut Vec::new(), |row: &[Cell<'_>]| {
            assert_eq!(row.len(), kinds.len());
            rows += 1;
            Ok::<_, Undecodable>(())
        })?;
        Ok::<_, Undecodable>(rows)
    };
    assert_eq!(read(&whole), Ok(2));
    each_seed(50_000, |source| {
        let mut bytes = whole.clone();
        source.mutate(&mut bytes);
        let (_, taken) = peak_bytes(|| read(&bytes));
        assert!(taken < 1 << 20, "{taken} bytes");
    });
}
