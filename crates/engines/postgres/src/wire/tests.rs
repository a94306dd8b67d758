//! The wire without a server: bytes in, events out.

mod hostile;

use super::*;
use engine::{Fetched, Value};
use net::stream::Buffers;

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut message = vec![tag];
    message.extend((body.len() as u32 + 4).to_be_bytes());
    message.extend(body);
    message
}

fn row(cells: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = (cells.len() as u16).to_be_bytes().to_vec();
    for cell in cells {
        match cell {
            None => body.extend((-1i32).to_be_bytes()),
            Some(bytes) => {
                body.extend((bytes.len() as u32).to_be_bytes());
                body.extend(*bytes);
            }
        }
    }
    message(b'D', &body)
}

/// Feeds as much as there is space for, and gives the rest.
fn receive<'b>(wire: &mut Wire, bytes: &'b [u8]) -> &'b [u8] {
    let space = wire.room();
    let (fit, rest) = bytes.split_at(space.len().min(bytes.len()));
    space[..fit.len()].copy_from_slice(fit);
    wire.filled(fit.len());
    rest
}

/// Feeds `bytes` in pieces of `piece` and gives what `read` makes of the events.
fn fed<T>(bytes: &[u8], piece: usize, read: impl Fn(&Event<'_>) -> T) -> Vec<T> {
    let mut wire = Wire::default();
    let mut seen = Vec::new();
    for piece in bytes.chunks(piece) {
        let mut rest = piece;
        while !rest.is_empty() {
            rest = receive(&mut wire, rest);
        }
        while let Some(event) = wire.next_event().unwrap() {
            seen.push(read(&event));
        }
    }
    seen
}

#[test]
fn events_do_not_depend_on_how_the_bytes_arrive() {
    let mut bytes = message(b'2', b"");
    bytes.extend(row(&[Some(&7i64.to_be_bytes()), None, Some(b"abc")]));
    bytes.extend(row(&[Some(&[0; 8]), Some(&vec![b'x'; 300_000]), Some(b"")]));
    bytes.extend(message(b'C', b"SELECT 2\0"));
    bytes.extend(message(b'Z', b"T"));
    let whole = fed(&bytes, bytes.len(), |event| format!("{event:?}"));
    assert_eq!(whole.len(), 5);
    for piece in [1, 2, 5, 7, 4096, 100_000] {
        assert_eq!(
            fed(&bytes, piece, |event| format!("{event:?}")),
            whole,
            "in pieces of {piece}"
        );
    }
}

#[test]
fn rows_become_a_digest() {
    let columns = [20, 25, 23];
    let cells = row(&[
        Some(&7i64.to_be_bytes()),
        Some(b"abc"),
        Some(&(-2i32).to_be_bytes()),
    ]);
    let found = fed(&cells, 3, |event| {
        let mut fetched = Fetched::default();
        if let Event::Row(row) = event {
            add_row(&mut fetched, &columns, *row).unwrap();
        }
        fetched
    });
    let mut right = Fetched { rows: 1, digest: 0 };
    right.add_int(0, 7);
    right.add_text(1, b"abc");
    right.add_int(2, -2);
    assert_eq!(found, [right]);
}

#[test]
fn damaged_messages_are_refused() {
    for bytes in [
        vec![b'Z', 0, 0, 0, 3],
        message(b'Z', b"?"),
        message(b'!', b""),
        message(b'C', b"no end"),
        message(b'D', b"\0"),
        vec![b'D', 0xff, 0xff, 0xff, 0xff],
    ] {
        let mut wire = Wire::default();
        wire.room()[..bytes.len()].copy_from_slice(&bytes);
        wire.filled(bytes.len());
        assert!(wire.next_event().is_err(), "{bytes:?}");
    }
    let short = row(&[Some(b"abcd")]);
    let cut = message(b'D', &short[5..short.len() - 1]);
    let broken = fed(&cut, 100, |event| match event {
        Event::Row(row) => add_row(&mut Fetched::default(), &[25], *row).is_err(),
        _ => false,
    });
    assert_eq!(broken, [true]);
}

#[test]
fn an_execution_that_cannot_be_encoded_leaves_the_output_as_it_was() {
    let mut wire = Wire::default();
    let statement = Prepared {
        name: "s1".into(),
        parameters: vec![23],
        columns: vec![20],
    };
    wire.execute(&statement, &[Value::Int(1)]).unwrap();
    let before = wire.pending().to_vec();
    let error = wire.execute(&statement, &[]).unwrap_err();
    assert_eq!(error, RequestError::Parameters { takes: 1, got: 0 });
    let error = wire
        .execute(&statement, &[Value::Int(1 << 40)])
        .unwrap_err();
    assert_eq!(error, RequestError::Range(1 << 40));
    assert!(wire.query("SELECT 1\0").is_err());
    assert!(wire.prepare("s2", "SELECT 1\0").is_err());
    assert_eq!(wire.pending(), before);
    wire.wrote(3);
    assert_eq!(wire.pending(), &before[3..]);
}

#[test]
fn errors_of_the_server_keep_their_state() {
    let body = b"SFEHLER\0VERROR\0C40001\0Mcould not serialize\0Dtwo writers.\0\0";
    let said = fed(&message(b'E', body), 9, |event| match event {
        Event::Failed(error) => (error.is_retryable(), error.is_fatal(), error.to_string()),
        other => panic!("{other:?}"),
    });
    let text = "could not serialize (two writers) [40001]".to_owned();
    assert_eq!(said, [(true, false, text)]);
}

#[test]
fn a_server_that_leaves_its_proof_out_is_not_believed() {
    let password = engine::Password::new("secret");
    let mut wire = Wire::default();
    let mut logon = Logon::new("me", Some(&password), Channel::default());
    let offered = Authentication::Mechanisms(vec!["SCRAM-SHA-256".into()]);
    assert!(!logon.answer(&mut wire, offered).unwrap());
    assert!(wire.pending().starts_with(b"p"));
    let error = logon.answer(&mut wire, Authentication::Done).unwrap_err();
    assert!(matches!(error, LogonError::Proof(_)), "{error}");
    // Without a password the user learns where to put it.
    let error =
        Logon::new("me", None, Channel::default()).answer(&mut wire, Authentication::Md5([0; 4]));
    assert_eq!(error, Err(LogonError::NoPassword));
    let error =
        Logon::new("me", None, Channel::default()).answer(&mut wire, Authentication::Other(7));
    assert!(error.unwrap_err().to_string().contains("GSSAPI"));
}

#[test]
fn a_login_says_what_it_is_bound_to() {
    const BOTH: &[&str] = &["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"];
    let password = engine::Password::new("secret");
    let first = |offered: &[&str], end_point: bool, binding| {
        let channel = Channel {
            is_private: false,
            end_point: end_point.then(|| vec![7; 32]),
            binding,
        };
        let mut wire = Wire::default();
        let mut logon = Logon::new("me", Some(&password), channel);
        let offered = offered.iter().map(|name| (*name).to_owned()).collect();
        let answered = logon.answer(&mut wire, Authentication::Mechanisms(offered));
        answered.map(|_| String::from_utf8_lossy(wire.pending()).into_owned())
    };
    let plus = first(BOTH, true, Binding::Possible).unwrap();
    assert!(plus.contains("SCRAM-SHA-256-PLUS\0") && plus.contains("p=tls-server-end-point,,"));
    // Offered and not used: no TLS, a certificate without a digest, or not wanted.
    for (end_point, binding) in [(false, Binding::Possible), (true, Binding::Never)] {
        let plain = first(BOTH, end_point, binding).unwrap();
        assert!(plain.contains("SCRAM-SHA-256\0") && plain.contains("n,,"));
    }
    // Somebody may have taken the offer away; the server is told that it was not seen.
    let stripped = first(&BOTH[1..], true, Binding::Possible).unwrap();
    assert!(stripped.contains("SCRAM-SHA-256\0") && stripped.contains("y,,"));
    for (offered, end_point) in [(BOTH, false), (&BOTH[1..], true)] {
        let error = first(offered, end_point, Binding::Required).unwrap_err();
        assert!(matches!(error, LogonError::Unbound(_)), "{error}");
    }
}

#[test]
fn who_must_be_bound_is_let_in_by_nothing_else() {
    let password = engine::Password::new("secret");
    for request in [
        Authentication::Done,
        Authentication::Cleartext,
        Authentication::Md5([0; 4]),
    ] {
        let channel = Channel {
            is_private: true,
            end_point: Some(vec![7; 32]),
            binding: Binding::Required,
        };
        let mut wire = Wire::default();
        let error = Logon::new("me", Some(&password), channel).answer(&mut wire, request);
        assert!(matches!(error, Err(LogonError::Unbound(_))), "{error:?}");
        assert!(wire.pending().is_empty());
    }
}

#[test]
fn the_password_itself_goes_to_the_server_alone() {
    let password = engine::Password::new("secret");
    for is_private in [false, true] {
        let channel = Channel {
            is_private,
            ..Channel::default()
        };
        let mut wire = Wire::default();
        let mut logon = Logon::new("me", Some(&password), channel);
        let digest = logon.answer(&mut wire, Authentication::Md5([0; 4]));
        assert_eq!((digest, logon.is_weak()), (Ok(false), !is_private));
        wire.discard_output();
        let clear = logon.answer(&mut wire, Authentication::Cleartext);
        let sent = String::from_utf8_lossy(wire.pending()).contains("secret");
        assert_eq!((clear.is_ok(), sent), (is_private, is_private), "{clear:?}");
    }
}

/// Against the digits that the server itself sends for these numbers.
#[test]
fn decimals_and_moments_of_a_copy_are_in_the_binary_form() {
    let cases: [(i64, u8, &[u16]); 6] = [
        (0, 2, &[0, 0, 0, 2]),
        (-1000, 2, &[1, 0, 0x4000, 2, 10]),
        (1, 4, &[1, 0xffff, 0, 4, 1]),
        (30_000_050, 2, &[3, 1, 0, 2, 30, 0, 5000]),
        (5_000_000, 2, &[1, 1, 0, 2, 5]),
        (i64::MAX, 0, &[5, 4, 0, 0, 922, 3372, 368, 5477, 5807]),
    ];
    for (unscaled, places, words) in cases {
        let value = Value::Decimal { unscaled, places };
        let right: Vec<u8> = words.iter().flat_map(|w| w.to_be_bytes()).collect();
        assert_eq!(copied(value, 1700), right, "{value:?}");
    }
    let day_before = (-86_400_000_000_i64).to_be_bytes();
    assert_eq!(copied(Value::Moment(946_598_400_000_000), 1114), day_before);
    assert_eq!(copied(Value::Date(10_956), 1082), [255; 4]);
    let mut wire = Wire::default();
    let too_long = Value::Decimal {
        unscaled: 1,
        places: 5,
    };
    wire.copy_rows(|message| message.put(&[1700], &[too_long]))
        .unwrap_err();
    wire.copy_rows(|message| message.put(&[1700], &[Value::Null]))
        .unwrap();
    assert_eq!(wire.pending(), b"d\0\0\0\x0a\0\x01\xff\xff\xff\xff");
}

/// The cell of a row of one column.
fn copied(value: Value<'_>, oid: u32) -> Vec<u8> {
    let mut wire = Wire::default();
    wire.copy_rows(|message| message.put(&[oid], &[value]))
        .unwrap();
    wire.pending()[11..].to_vec()
}
