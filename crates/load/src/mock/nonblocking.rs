//! The programmed target over sockets, for event loops: a small server thread for each client, and in virtual time
//! events of the clock that answer.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use super::{Mock, Session};
use crate::clock::{Clock, VirtualClock};
use crate::{Done, Failure, NonblockingClient, Request, Turn};

/// Most bytes of an answer: a kind, a number, and text.
const ANSWER_BYTES: usize = 128;
const REQUEST_BYTES: usize = 9;
const HEAD_BYTES: usize = 13;

impl Mock {
    /// Sessions of one target over sockets. They do what those of [`Mock::sessions`] do; instead of a panic, the
    /// connection breaks. Fails if the kernel lacks sockets or threads.
    pub fn nonblocking(&self, count: usize) -> io::Result<Vec<Box<dyn NonblockingClient>>> {
        let clients = self.clients(count)?.into_iter();
        Ok(clients
            .map(|client| Box::new(client) as Box<dyn NonblockingClient>)
            .collect())
    }

    pub(super) fn clients(&self, count: usize) -> io::Result<Vec<Client>> {
        self.plain_sessions(count)
            .into_iter()
            .map(|session| {
                let (near, far) = UnixStream::pair()?;
                near.set_nonblocking(true)?;
                let server = match &session.mock.clock {
                    Clock::Virtual(clock) => Server::Events {
                        clock: Arc::clone(clock),
                        session: Box::new(session),
                        far: Some(Arc::new(far)),
                    },
                    Clock::Monotonic | Clock::Alternating { .. } => {
                        std::thread::Builder::new().spawn(move || serve(session, far))?;
                        Server::Thread
                    }
                };
                Ok(Client {
                    server,
                    socket: near,
                    answer: [0; ANSWER_BYTES],
                    came: 0,
                })
            })
            .collect()
    }
}

fn serve(mut session: Session, mut socket: UnixStream) {
    crate::clock::sharpen_timers();
    let mut request = [0; REQUEST_BYTES];
    while socket.read_exact(&mut request).is_ok() {
        let [kind, index @ ..] = request;
        let result = session.serve(u64::from_le_bytes(index), kind);
        if socket.write_all(&encode(&result)).is_err() {
            return;
        }
    }
}

fn encode(result: &Result<Done, Failure>) -> [u8; ANSWER_BYTES] {
    let mut answer = [0; ANSWER_BYTES];
    let (kind, text) = match result {
        Ok(done) => {
            answer[1..9].copy_from_slice(&done.rows.to_le_bytes());
            answer[9..HEAD_BYTES].copy_from_slice(&done.retries.to_le_bytes());
            (if done.rolled_back { b'r' } else { b'd' }, "")
        }
        Err(Failure::Operation(message)) => (b'o', message.as_str()),
        Err(Failure::Fatal(message)) => (b'f', message.as_str()),
        Err(Failure::Exhausted) => (b'x', ""),
    };
    answer[0] = kind;
    let length = text.len().min(ANSWER_BYTES - HEAD_BYTES);
    answer[HEAD_BYTES..HEAD_BYTES + length].copy_from_slice(&text.as_bytes()[..length]);
    answer
}

fn decode(answer: &[u8; ANSWER_BYTES]) -> Result<Done, Failure> {
    let [kind, rest @ ..] = answer;
    let (rows, rest) = rest.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let (retries, text) = rest.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let text = || {
        let text = String::from_utf8_lossy(text);
        text.trim_end_matches('\0').to_owned()
    };
    match kind {
        b'd' | b'r' => Ok(Done {
            rows: u64::from_le_bytes(*rows),
            retries: u32::from_le_bytes(*retries),
            rolled_back: *kind == b'r',
        }),
        b'o' => Err(Failure::Operation(text())),
        b'x' => Err(Failure::Exhausted),
        _ => Err(Failure::Fatal(text())),
    }
}

enum Server {
    Thread,
    Events {
        clock: Arc<VirtualClock>,
        session: Box<Session>,
        far: Option<Arc<UnixStream>>,
    },
}

impl Server {
    /// In virtual time, schedules the answer; if the mock is programmed to panic, the connection breaks.
    fn schedule_answer(&mut self, index: u64, kind: u8) {
        let Server::Events {
            clock,
            session,
            far,
        } = self
        else {
            return;
        };
        if session.mock.panic_at == Some(index) {
            *far = None;
        }
        let Some(far) = far.clone() else {
            return;
        };
        let (end_ns, result) = session.answer(index, kind);
        let answer = encode(&result);
        clock.at_ns(end_ns, move || {
            // A client that has gone does not want the answer any more.
            let _ = (&*far).write_all(&answer);
        });
    }
}

pub(super) struct Client {
    server: Server,
    socket: UnixStream,
    answer: [u8; ANSWER_BYTES],
    came: usize,
}

impl Client {
    pub(super) fn ask(&mut self, index: u64, kind: u8) -> Turn {
        self.came = 0;
        if let Server::Events { .. } = self.server {
            self.server.schedule_answer(index, kind);
            return Turn::Reading;
        }
        let mut request = [kind; REQUEST_BYTES];
        request[1..].copy_from_slice(&index.to_le_bytes());
        // A request this short always fits into an empty socket.
        match self.socket.write_all(&request) {
            Ok(()) => Turn::Reading,
            Err(error) => fatal(&error),
        }
    }
}

impl NonblockingClient for Client {
    fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn begin(&mut self, request: Request) -> Turn {
        self.ask(request.index, request.kind)
    }

    fn ready(&mut self) -> Turn {
        loop {
            match self.socket.read(&mut self.answer[self.came..]) {
                Ok(0) => return fatal(&io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.came += bytes,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Turn::Reading,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return fatal(&error),
            }
            if self.came == ANSWER_BYTES {
                return Turn::Finished(decode(&self.answer));
            }
        }
    }
}

fn fatal(error: &io::Error) -> Turn {
    let message = format!("the mock's connection broke: {error}");
    Turn::Finished(Err(Failure::Fatal(message)))
}
