//! Bytes to records and back. Who owns the socket gives the two functions that send and receive; nothing here blocks by
//! itself, so that a blocking session and an event loop use the same.

use std::io::{self, Read, Write};

use rustls::ClientConnection;

use super::error::{TlsError, broken};

/// Room for two of the largest records.
const INCOMING_BYTES: usize = 36 << 10;
/// Longest piece that is encrypted at once: four records.
const PIECE_BYTES_MAX: usize = 64 << 10;

pub struct Records {
    connection: ClientConnection,
    /// Records as they came: `begin..end` is not processed.
    incoming: Box<[u8]>,
    begin: usize,
    end: usize,
    /// Records to be sent, of which so many bytes went.
    outgoing: Vec<u8>,
    sent: usize,
    /// Bytes of the writer that are encrypted, and that it does not know of, because not all of them went.
    untold: usize,
}

impl Records {
    pub(super) fn new(connection: ClientConnection) -> Self {
        Self {
            connection,
            incoming: vec![0; INCOMING_BYTES].into(),
            begin: 0,
            end: 0,
            outgoing: Vec::new(),
            sent: 0,
            untold: 0,
        }
    }

    pub(super) fn connection(&self) -> &ClientConnection {
        &self.connection
    }

    pub(super) fn shake_hands(
        &mut self,
        mut send: impl FnMut(&[u8]) -> io::Result<usize>,
        mut receive: impl FnMut(&mut [u8]) -> io::Result<usize>,
        host: &str,
    ) -> Result<(), TlsError> {
        while self.connection.is_handshaking() {
            self.flush(&mut send)?;
            if self.connection.wants_read()
                && let Err(error) = self.process(&mut receive)?
            {
                // The alert gives the server the reason; that nobody hears it changes nothing.
                let _ = self.flush(&mut send);
                return Err(TlsError::of(&error, host));
            }
        }
        Ok(self.flush(&mut send)?)
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
        loop {
            match self.connection.reader().read(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
            self.process(&mut receive)?.map_err(|e| broken(&e))?;
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
            self.untold = self.connection.writer().write(piece)?;
        }
        self.flush(&mut send)?;
        Ok(std::mem::take(&mut self.untold).min(from.len()))
    }

    /// Says goodbye, so that the server can tell the end from a cut.
    pub fn close(&mut self, mut send: impl FnMut(&[u8]) -> io::Result<usize>) {
        self.connection.send_close_notify();
        // A goodbye that does not get through is none.
        let _ = self.flush(&mut send);
    }

    /// Processes more of what has come, or receives something.
    #[inline]
    fn process(
        &mut self,
        receive: &mut impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Result<(), rustls::Error>> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, receive(&mut self.incoming)?);
            if self.end == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the TLS connection was cut off: its end was not announced",
                ));
            }
        }
        let mut come = &self.incoming[self.begin..self.end];
        self.begin += self.connection.read_tls(&mut come)?;
        Ok(self.connection.process_new_packets().map(drop))
    }

    #[inline]
    fn flush(&mut self, send: &mut impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        loop {
            while self.sent < self.outgoing.len() {
                match send(&self.outgoing[self.sent..])? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    bytes => self.sent += bytes,
                }
            }
            self.outgoing.clear();
            self.sent = 0;
            if !self.connection.wants_write() {
                return Ok(());
            }
            self.connection.write_tls(&mut self.outgoing)?;
        }
    }
}
