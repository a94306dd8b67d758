//! A server, or somebody on the way, that sends what it likes: every conversation ends in events or an error, within
//! bounded memory.

use testing::{Source, each_seed, peak_bytes};

use super::super::{Event, Login, PACKET_BYTES_MAX, Wire, WireResult};
use super::{OK, greeting};
use engine::Value;
use net::stream::Buffers;

/// The largest packet, in a buffer that doubles, and the little that a conversation takes besides.
const MEMORY_BYTES_MAX: usize = (2 * PACKET_BYTES_MAX) + (1 << 20);

#[derive(Clone, Copy)]
enum Talk {
    Query,
    Prepare,
    Execute,
    Upload,
}

fn column(type_id: u8) -> Vec<u8> {
    let mut column = b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x14\0\0\0".to_vec();
    column.push(type_id);
    column.extend([0; 5]);
    column
}

/// A server's packets from its greeting to the last row, each with its sequence number.
fn conversation(talk: Talk) -> Vec<(u8, Vec<u8>)> {
    const END: &[u8] = b"\xfe\0\0\x02\0\0\0";
    const PREPARED: &[u8] = b"\0\x01\0\0\0\x03\0\x01\0\0\0\0";
    // A number, a text, a moment.
    let columns = [column(8), column(0xfd), column(12)];
    let mut packets = vec![(0, greeting()), (2, OK.to_vec())];
    let prepared = [PREPARED.to_vec(), column(8)]
        .into_iter()
        .chain(columns.clone());
    let head = [vec![3]].into_iter().chain(columns);
    let answer: Vec<Vec<u8>> = match talk {
        Talk::Query => {
            let rows = [
                b"\x017\x03abc\x132026-01-02 03:04:05".to_vec(),
                b"\xfb\xfb\xfb".to_vec(),
            ];
            head.chain(rows).chain([END.to_vec()]).collect()
        }
        Talk::Prepare => prepared.collect(),
        Talk::Execute => {
            let row = b"\0\0\x07\0\0\0\0\0\0\0\x03abc\x07\xea\x07\x01\x02\x03\x04\x05".to_vec();
            packets.extend(
                prepared
                    .enumerate()
                    .map(|(n, packet)| (n as u8 + 1, packet)),
            );
            head.chain([row, END.to_vec()]).collect()
        }
        Talk::Upload => vec![b"\xfbfile".to_vec(), OK.to_vec()],
    };
    packets.extend(
        answer
            .into_iter()
            .enumerate()
            .map(|(n, packet)| (n as u8 + 1, packet)),
    );
    packets
}

fn framed(packets: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (sequence, packet) in packets {
        bytes.extend(&(packet.len() as u32).to_le_bytes()[..3]);
        bytes.push(*sequence);
        bytes.extend(packet);
    }
    bytes
}

/// Everything that a session does with what comes, until the first error or the end; how many rows there were.
fn hear(bytes: &[u8], talk: Talk, piece: usize) -> WireResult<u32> {
    let mut wire = Wire::new(Login {
        user: "u".into(),
        password: b"secret".to_vec(),
        database: Some("d".into()),
        with_tls: false,
        may_lack_tls: false,
        is_private: true,
    });
    let mut rows = 0;
    let mut rest = bytes;
    while !rest.is_empty() {
        let room = wire.room();
        let fit = room.len().min(rest.len()).min(piece);
        room[..fit].copy_from_slice(&rest[..fit]);
        wire.filled(fit);
        rest = &rest[fit..];
        while let Some(event) = wire.next_event()? {
            match event {
                Event::Connected => match talk {
                    Talk::Query => wire.query("SELECT 1")?,
                    Talk::Prepare | Talk::Execute => wire.prepare("SELECT ?")?,
                    Talk::Upload => wire.query_with_upload("LOAD DATA")?,
                },
                Event::Prepared(id) => {
                    let parameters = vec![Value::Int(5); wire.parameters(id)];
                    if matches!(talk, Talk::Execute) {
                        wire.execute(id, &parameters)?;
                    }
                }
                Event::Row => {
                    rows += 1;
                    wire.row().for_each(|_, _| ())?;
                }
                Event::Upload => {
                    wire.upload().extend(b"1\t2\n");
                    wire.end_upload_packet()?;
                    wire.end_upload()?;
                }
                Event::Secure => wire.secured()?,
                Event::Finished(_) => {}
                Event::Failed(error) => drop(error.to_string()),
            }
            let pending = wire.pending().len();
            wire.wrote(pending);
        }
    }
    Ok(rows)
}

/// Packets left out, doubled and in another order, some bytes within them changed, then bytes anywhere.
fn changed(source: &mut Source, mut packets: Vec<(u8, Vec<u8>)>) -> Vec<u8> {
    for _ in 0..source.below(3) {
        let (at, from) = (source.below(packets.len()), source.below(packets.len()));
        match source.below(4) {
            0 => packets[at].1 = packets[from].1.clone(),
            1 => packets.insert(at, packets[from].clone()),
            // The length in front of it stays right: what is changed is reached.
            _ => source.mutate(&mut packets[at].1),
        }
    }
    let mut bytes = framed(&packets);
    if source.below(2) == 0 {
        source.mutate(&mut bytes);
    }
    bytes
}

#[test]
fn whole_conversations_are_understood() {
    for (talk, rows) in [
        (Talk::Query, 2),
        (Talk::Prepare, 0),
        (Talk::Execute, 1),
        (Talk::Upload, 0),
    ] {
        let bytes = framed(&conversation(talk));
        for piece in [1, 7, bytes.len()] {
            assert_eq!(hear(&bytes, talk, piece), Ok(rows));
        }
    }
}

#[test]
fn whatever_the_server_says_is_an_event_or_an_error() {
    let mut understood = 0;
    each_seed(20_000, |source| {
        let talk = *source.pick(&[Talk::Query, Talk::Prepare, Talk::Execute, Talk::Upload]);
        let bytes = changed(source, conversation(talk));
        let piece = *source.pick(&[1, 7, 4096]);
        let (heard, taken) = peak_bytes(|| hear(&bytes, talk, piece));
        assert!(taken <= MEMORY_BYTES_MAX, "{taken} bytes");
        understood += u32::from(heard.is_ok());
    });
    assert!(
        understood > 0,
        "no changed conversation is understood: all is refused at its begin"
    );
}
