//! Bytes to records and back. Who owns the socket gives the two functions that send and receive; nothing here blocks by
//! itself, so that a blocking session and an event loop use the same.

use std::io;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::unbuffered::{
    ConnectionState, EncodeError, EncryptError, InsufficientSizeError, UnbufferedStatus,
};

use super::error::{TlsError, broken};

/// Room for two of the largest records.
const INCOMING_BYTES: usize = 36 << 10;
/// A handshake message may have 64 KiB, and is taken whole.
const INCOMING_BYTES_MAX: usize = 128 << 10;
/// Longest piece that is encrypted at once: four records.
const PIECE_BYTES_MAX: usize = 64 << 10;
/// Bytes of a record beyond its content, and of a message that may have to go first.
const OVERHEAD_BYTES: usize = 256;
/// No record has more content.
const RECORD_BYTES_MAX: usize = 16 << 10;

pub struct Records {
    connection: UnbufferedClientConnection,
    incoming: Incoming,
    outgoing: Outgoing,
    plain: Plain,
    /// Bytes of the writer that are encrypted, and that it does not know of, because not all of them went.
    untold: usize,
    /// The server said that nothing more comes.
    is_closed: bool,
}

/// Records as they came: `begin..end` is not processed.
struct Incoming {
    bytes: Vec<u8>,
    begin: usize,
    end: usize,
}

/// Records to be sent: `sent..filled` still has to go.
struct Outgoing {
    bytes: Vec<u8>,
    sent: usize,
    filled: usize,
}

/// Content that came and did not fit into what the reader gave.
#[derive(Default)]
struct Plain {
    bytes: Vec<u8>,
    taken: usize,
}

impl Records {
    pub(super) fn new(connection: UnbufferedClientConnection) -> Self {
        Self {
            connection,
            incoming: Incoming {
                bytes: vec![0; INCOMING_BYTES],
                begin: 0,
                end: 0,
            },
            outgoing: Outgoing {
                bytes: vec![0; 1 << 10],
                sent: 0,
                filled: 0,
            },
            plain: Plain::default(),
            untold: 0,
            is_closed: false,
        }
    }

    pub(super) fn connection(&self) -> &UnbufferedClientConnection {
        &self.connection
    }

    pub(super) fn shake_hands(
        &mut self,
        mut send: impl FnMut(&[u8]) -> io::Result<usize>,
        mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
        host: &str,
    ) -> Result<(), TlsError> {
        loop {
            let mut nobody = Reader {
                into: &mut [],
                count: 0,
            };
            let ready = match self.step(&mut nobody) {
                Ok(ready) => ready,
                Err(error) => {
                    // The alert gives the server the reason; that nobody hears it changes nothing.
                    let _ = self.step(&mut nobody);
                    let _ = self.outgoing.flush(&mut send);
                    return Err(TlsError::of(&error, host));
                }
            };
            match ready {
                Step::Again => {}
                Step::Traffic => {
                    while !self.outgoing.is_empty() {
                        self.outgoing.flush(&mut send)?;
                    }
                    return Ok(());
                }
                Step::Blocked => {
                    self.outgoing.flush(&mut send)?;
                    self.incoming.receive(&mut receive)?;
                }
            }
        }
    }

    /// Reads what has come; 0 is the end that the server announced.
    ///
    /// # Errors
    /// Those of `receive`, an end that the server did not announce, and records that are not the server's.
    #[inline]
    pub fn read(
        &mut self,
        into: &mut [u8],
        mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if !self.plain.is_empty() {
            return Ok(self.plain.take(into));
        }
        loop {
            let mut reader = Reader { into, count: 0 };
            let count = loop {
                let step = self.step(&mut reader).map_err(|e| broken(&e))?;
                let is_full = !self.plain.is_empty() || reader.count == reader.into.len();
                if is_full || !matches!(step, Step::Again) {
                    break reader.count;
                }
            };
            if count > 0 || self.is_closed {
                return Ok(count);
            }
            self.incoming.receive(&mut receive)?;
        }
    }

    /// Writes; gives the number of bytes that have gone. What went in part is finished by the next call, which is to be
    /// given the same bytes again, and more behind them if there are any.
    ///
    /// # Errors
    /// Those of `send`.
    #[inline]
    pub fn write(
        &mut self,
        from: &[u8],
        mut send: impl FnMut(&[u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.untold == 0 {
            let piece = &from[..from.len().min(PIECE_BYTES_MAX)];
            self.encrypt(piece)?;
            self.untold = piece.len();
        }
        self.outgoing.flush(&mut send)?;
        Ok(std::mem::take(&mut self.untold).min(from.len()))
    }

    /// Says goodbye, so that the server can tell the end from a cut.
    pub fn close(&mut self, mut send: impl FnMut(&[u8]) -> io::Result<usize>) {
        let Self {
            connection,
            incoming,
            outgoing,
            ..
        } = self;
        let status = connection.process_tls_records(incoming.unprocessed());
        if let Ok(ConnectionState::WriteTraffic(mut traffic)) = status.state {
            // A goodbye that does not get through is none.
            let _ = outgoing.put(OVERHEAD_BYTES, |room| {
                traffic
                    .queue_close_notify(room)
                    .map_err(|e| needed(&e).ok_or(e))
            });
            let _ = outgoing.flush(&mut send);
        }
    }

    /// Encrypts a piece behind what is still to be sent. What has come meanwhile is kept for the reader.
    fn encrypt(&mut self, piece: &[u8]) -> io::Result<()> {
        loop {
            let Self {
                connection,
                incoming,
                outgoing,
                ..
            } = self;
            let UnbufferedStatus { discard, state } =
                connection.process_tls_records(incoming.unprocessed());
            if let Ok(ConnectionState::WriteTraffic(mut traffic)) = state {
                let records = piece.len() / RECORD_BYTES_MAX + 1;
                let room = piece.len() + records * OVERHEAD_BYTES;
                let put = outgoing.put(room, |room| {
                    traffic
                        .encrypt(piece, room)
                        .map_err(|e| needed(&e).ok_or(e))
                });
                incoming.discard(discard);
                return put.map_err(|e| io::Error::other(format!("TLS: {e}")));
            }
            let mut nobody = Reader {
                into: &mut [],
                count: 0,
            };
            let step = take(
                state,
                outgoing,
                &mut self.plain,
                &mut self.is_closed,
                &mut nobody,
            );
            incoming.discard(discard);
            match step.map_err(|e| broken(&e))? {
                Step::Again => {}
                Step::Traffic | Step::Blocked => {
                    return Err(io::Error::other("TLS: nothing can be sent at this time"));
                }
            }
        }
    }

    /// Processes what has come, up to the next thing that is there for somebody.
    #[inline]
    fn step(&mut self, reader: &mut Reader<'_>) -> Result<Step, rustls::Error> {
        let UnbufferedStatus { discard, state } = self
            .connection
            .process_tls_records(self.incoming.unprocessed());
        let step = take(
            state,
            &mut self.outgoing,
            &mut self.plain,
            &mut self.is_closed,
            reader,
        );
        self.incoming.discard(discard);
        step
    }
}

enum Step {
    Again,
    /// Nothing: all that has come is processed.
    Traffic,
    Blocked,
}

struct Reader<'a> {
    into: &'a mut [u8],
    count: usize,
}

#[inline]
fn take(
    state: Result<ConnectionState<'_, '_, ClientConnectionData>, rustls::Error>,
    outgoing: &mut Outgoing,
    plain: &mut Plain,
    is_closed: &mut bool,
    reader: &mut Reader<'_>,
) -> Result<Step, rustls::Error> {
    match state? {
        ConnectionState::ReadTraffic(mut traffic) => {
            while let Some(record) = traffic.next_record() {
                let payload = record?.payload;
                let room = &mut reader.into[reader.count..];
                let (fits, rest) = payload.split_at(payload.len().min(room.len()));
                room[..fits.len()].copy_from_slice(fits);
                reader.count += fits.len();
                plain.bytes.extend_from_slice(rest);
            }
            Ok(Step::Again)
        }
        ConnectionState::EncodeTlsData(mut data) => {
            let put = outgoing.put(OVERHEAD_BYTES, |room| {
                data.encode(room).map_err(|e| match e {
                    EncodeError::InsufficientSize(InsufficientSizeError { required_size }) => {
                        Ok(required_size)
                    }
                    other => Err(other),
                })
            });
            put.map_err(|e| rustls::Error::General(e.to_string()))?;
            Ok(Step::Again)
        }
        ConnectionState::TransmitTlsData(data) => {
            // It is in the buffer, which is sent before anything else.
            data.done();
            Ok(Step::Again)
        }
        ConnectionState::PeerClosed | ConnectionState::Closed => {
            *is_closed = true;
            Ok(Step::Traffic)
        }
        ConnectionState::WriteTraffic(_) => Ok(Step::Traffic),
        ConnectionState::BlockedHandshake => Ok(Step::Blocked),
        other => Err(rustls::Error::General(format!(
            "an unexpected state: {other:?}"
        ))),
    }
}

/// The room that an encryption lacks, where that is what is wrong with it.
fn needed(error: &EncryptError) -> Option<usize> {
    match error {
        EncryptError::InsufficientSize(InsufficientSizeError { required_size }) => {
            Some(*required_size)
        }
        EncryptError::EncryptExhausted => None,
    }
}

impl Incoming {
    fn unprocessed(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..self.end]
    }

    #[inline]
    fn discard(&mut self, bytes: usize) {
        self.begin += bytes;
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
    }

    #[inline]
    fn receive(
        &mut self,
        receive: &mut impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<()> {
        // A whole record fits behind what is there.
        if self.bytes.len() - self.end < RECORD_BYTES_MAX + OVERHEAD_BYTES {
            self.make_room()?;
        }
        match receive(&mut self.bytes[self.end..])? {
            0 => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the TLS connection was cut off: its end was not announced",
            )),
            bytes => {
                self.end += bytes;
                Ok(())
            }
        }
    }

    fn make_room(&mut self) -> io::Result<()> {
        self.bytes.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        if self.bytes.len() - self.end >= RECORD_BYTES_MAX + OVERHEAD_BYTES {
            return Ok(());
        }
        if self.bytes.len() >= INCOMING_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server sent a TLS message that is too long",
            ));
        }
        self.bytes.resize(INCOMING_BYTES_MAX, 0);
        Ok(())
    }
}

impl Outgoing {
    fn is_empty(&self) -> bool {
        self.sent == self.filled
    }

    /// Appends what `put` writes into the room that it is given, of `bytes` or of as many as it asks for.
    #[inline]
    fn put<E>(
        &mut self,
        bytes: usize,
        mut put: impl FnMut(&mut [u8]) -> Result<usize, Result<usize, E>>,
    ) -> Result<(), E> {
        let mut wanted = bytes;
        loop {
            if self.bytes.len() < self.filled + wanted {
                self.bytes.resize(self.filled + wanted, 0);
            }
            match put(&mut self.bytes[self.filled..]) {
                Ok(bytes) => {
                    self.filled += bytes;
                    return Ok(());
                }
                Err(Ok(more)) => wanted = more.max(wanted + 1),
                Err(Err(error)) => return Err(error),
            }
        }
    }

    #[inline]
    fn flush(&mut self, send: &mut impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        while !self.is_empty() {
            match send(&self.bytes[self.sent..self.filled])? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                bytes => self.sent += bytes,
            }
        }
        (self.sent, self.filled) = (0, 0);
        Ok(())
    }
}

impl Plain {
    fn is_empty(&self) -> bool {
        self.taken == self.bytes.len()
    }

    fn take(&mut self, into: &mut [u8]) -> usize {
        let rest = &self.bytes[self.taken..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.taken += count;
        if self.is_empty() {
            self.bytes.clear();
            self.taken = 0;
        }
        count
    }
}
