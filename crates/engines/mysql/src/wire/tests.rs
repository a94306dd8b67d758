//! Conversations without a server: ways of logging in that the server here does not have, and servers
//! that do not keep to the protocol.

mod hostile;

use super::packet::{Inbox, Outbox};
use super::{Event, Login, Wire, WireError, WireResult};
use engine::Value;
use net::stream::Buffers;

const SCRAMBLE: &[u8; 20] = b"0123456789abcdefghij";

/// The other side: puts packets together and takes them apart.
struct Script {
    wire: Wire,
    sequence: u8,
}

impl Script {
    /// Begins with the greeting of a MySQL 8 server that wants caching_sha2_password.
    fn greeted(is_private: bool) -> Self {
        let mut script = Self::new(false, is_private);
        assert_eq!(script.say(&greeting()), Ok(None));
        script
    }

    fn new(with_tls: bool, is_private: bool) -> Self {
        let login = Login {
            user: "u".into(),
            password: b"secret".to_vec(),
            database: Some("d".into()),
            with_tls,
            may_lack_tls: false,
            is_private,
        };
        Self {
            wire: Wire::new(login),
            sequence: 0,
        }
    }

    /// The server says one packet; what the client makes of it.
    fn say(&mut self, payload: &[u8]) -> WireResult<Option<Event>> {
        let mut outbox = Outbox::new();
        outbox.begin(self.sequence).extend_from_slice(payload);
        outbox.end().unwrap();
        let bytes = outbox.pending();
        self.wire.room()[..bytes.len()].copy_from_slice(bytes);
        self.wire.filled(bytes.len());
        self.wire.next_event()
    }

    fn hear(&mut self) -> Vec<Vec<u8>> {
        let mut inbox = Inbox::new();
        let bytes = self.wire.pending().to_vec();
        inbox.room()[..bytes.len()].copy_from_slice(&bytes);
        inbox.filled(bytes.len());
        self.wire.wrote(bytes.len());
        let mut packets = Vec::new();
        while let Some(packet) = inbox.next().unwrap() {
            self.sequence = packet.answer_sequence;
            packets.push(inbox.slice(packet.payload).to_vec());
        }
        packets
    }

    fn connected() -> Self {
        let mut script = Self::greeted(true);
        script.hear();
        assert_eq!(script.say(OK), Ok(Some(Event::Connected)));
        script.sequence = 1;
        script
    }
}

const OK: &[u8] = b"\0\0\0\x02\0\0\0";

fn greeting() -> Vec<u8> {
    let mut packet = b"\x0a8.4.2\0\x07\0\0\0".to_vec();
    packet.extend_from_slice(&SCRAMBLE[..8]);
    packet.push(0);
    packet.extend_from_slice(&[0xff, 0xff, 45, 2, 0, 0xff, 0xdf, 21]);
    packet.extend_from_slice(&[0; 10]);
    packet.extend_from_slice(&SCRAMBLE[8..]);
    packet.push(0);
    packet.extend_from_slice(b"caching_sha2_password\0");
    packet
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_remembered_password_is_proven_without_being_sent() {
    let mut script = Script::greeted(false);
    let said = script.hear();
    assert_eq!(said.len(), 1);
    assert!(holds(&said[0], b"u\0\x20") && holds(&said[0], b"d\0caching_sha2_password\0"));
    assert!(!holds(&said[0], b"secret"));
    assert_eq!(script.wire.server().version, "8.4.2");
    assert_eq!(script.say(b"\x01\x03"), Ok(None));
    assert_eq!(script.say(OK), Ok(Some(Event::Connected)));
}

#[test]
fn the_password_itself_goes_through_a_unix_socket_alone() {
    let mut script = Script::greeted(true);
    script.hear();
    assert_eq!(script.say(b"\x01\x04"), Ok(None));
    assert_eq!(script.hear(), [b"secret\0"]);
    assert_eq!(script.say(OK), Ok(Some(Event::Connected)));

    let mut script = Script::greeted(false);
    script.hear();
    assert_eq!(script.say(b"\x01\x04"), Err(WireError::InsecureChannel));
    assert!(script.hear().is_empty());
}

#[test]
fn a_server_may_ask_for_another_way() {
    let mut script = Script::greeted(false);
    script.hear();
    let mut packet = b"\xfemysql_native_password\0".to_vec();
    packet.extend_from_slice(SCRAMBLE);
    packet.push(0);
    assert_eq!(script.say(&packet), Ok(None));
    let said = script.hear();
    assert_eq!(said[0].len(), 20);
    let unknown = script.say(b"\xfedialog\0x\0");
    assert_eq!(unknown, Err(WireError::UnknownPlugin("dialog".into())));
}

#[test]
fn random_bytes_with_zeros_are_signed_whole() {
    let mut script = Script::greeted(false);
    script.hear();
    let mut scramble = [9; 32];
    scramble[3] = 0;
    let ask = [&b"\xfeclient_ed25519\0"[..], &scramble].concat();
    assert_eq!(script.say(&ask), Ok(None));
    let own = super::signed::ed25519(b"secret", &scramble);
    assert_eq!(script.hear(), [own]);
}

/// As MariaDB's documentation tells it; no server of the tests has it.
#[test]
fn a_key_is_derived_as_the_server_says_once() {
    let mut script = Script::greeted(false);
    script.hear();
    let ask = [&b"\xfeparsec\0"[..], &[0; 32]].concat();
    assert_eq!(script.say(&ask), Ok(None));
    assert_eq!(script.hear(), [b""], "the question for the salt");
    let salt = b"P\x00123456789012345678";
    assert_eq!(script.say(salt), Ok(None));
    let said = script.hear();
    let ours = said[0].first_chunk().unwrap();
    let answer = super::signed::parsec(b"secret", salt, &[0; 32], ours);
    assert_eq!(Ok(&said[0]), answer.as_ref());
    assert!(matches!(script.say(salt), Err(WireError::Malformed(_))));
    assert!(script.hear().is_empty());
}

#[test]
fn nobody_is_told_the_password_in_the_clear_who_may_be_somebody_else() {
    let ask = b"\xfemysql_clear_password\0";
    let mut script = Script::greeted(false);
    script.hear();
    assert_eq!(script.say(ask), Err(WireError::InsecureChannel));
    assert!(script.hear().is_empty());
    let mut script = Script::greeted(true);
    script.hear();
    assert_eq!(script.say(ask), Ok(None));
    assert_eq!(script.hear(), [b"secret\0"]);
}

#[test]
fn tls_begins_before_the_user_is_named() {
    let mut script = Script::new(true, false);
    assert_eq!(script.say(&greeting()), Ok(Some(Event::Secure)));
    let asked = script.hear();
    assert_eq!(asked[0].len(), 32, "the first part alone");
    assert_eq!(script.sequence, 2);
    script.wire.secured().unwrap();
    let said = script.hear();
    assert_eq!(said[0][..32], asked[0], "the same again");
    assert!(holds(&said[0], b"u\0\x20"));
    assert_eq!(script.say(OK), Ok(Some(Event::Connected)));
}

#[test]
fn what_comes_in_front_of_tls_is_not_believed() {
    let mut script = Script::new(true, false);
    assert_eq!(script.say(&greeting()), Ok(Some(Event::Secure)));
    script.hear();
    script.wire.room()[..3].copy_from_slice(b"\x07\0\0");
    script.wire.filled(3);
    assert_eq!(script.wire.secured(), Err(WireError::BeforeTls));
    let mut script = Script::new(true, false);
    script.say(&greeting()).unwrap();
    script.hear();
    assert_eq!(script.say(OK), Err(WireError::BeforeTls));
    // A server that is made to say that it has no TLS.
    let mut without = greeting();
    without[21] &= !0x08;
    let mut script = Script::new(true, false);
    assert_eq!(script.say(&without), Err(WireError::NoTls));
    assert!(script.hear().is_empty());
}

#[test]
fn no_debug_text_has_the_password() {
    let script = Script::greeted(false);
    assert!(!format!("{:?}", script.wire).contains("secret"));
}

#[test]
fn a_file_that_nobody_offered_is_not_sent() {
    let mut script = Script::connected();
    script.wire.query("SELECT 1").unwrap();
    script.hear();
    let asked = script.say(b"\xfb/etc/passwd");
    assert!(matches!(asked, Err(WireError::Malformed(_))), "{asked:?}");
    assert!(script.hear().is_empty());
}

#[test]
fn a_statement_goes_from_prepare_to_rows() {
    let mut script = Script::connected();
    script.wire.prepare("SELECT ?").unwrap();
    assert_eq!(script.hear(), [b"\x16SELECT ?"]);
    let column = b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x14\0\0\0\x08\0\0\0\0\0";
    assert_eq!(script.say(b"\0\x01\0\0\0\x01\0\x01\0\0\0\0"), Ok(None));
    assert_eq!(script.say(column), Ok(None));
    let Ok(Some(Event::Prepared(id))) = script.say(column) else {
        panic!("not prepared")
    };
    assert_eq!(script.wire.parameters(id), 1);
    script.wire.execute(id, &[Value::Int(5)]).unwrap();
    script.hear();
    for packet in [&b"\x01"[..], column] {
        assert_eq!(script.say(packet), Ok(None));
    }
    let row = b"\0\0\x05\0\0\0\0\0\0\0";
    assert_eq!(script.say(row), Ok(Some(Event::Row)));
    let mut cells = 0;
    script.wire.row().for_each(|_, _| cells += 1).unwrap();
    assert_eq!(cells, 1);
    let end = script.say(b"\xfe\0\0\x02\0\0\0");
    assert!(matches!(end, Ok(Some(Event::Finished(f))) if !f.more));
}
