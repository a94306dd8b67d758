//! The programmed target as connections for a population.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::Ordering::Relaxed;

use super::stations::Client;
use super::{Mock, Session};
use crate::population::Interrupt;
use crate::{BlockingConnection, Done, Failure, NonblockingClient, NonblockingConnection, Turn};

impl Mock {
    /// Connections for an event loop, each with its own session behind a socket. The number of an operation,
    /// by which failures are programmed, counts those of its connection.
    ///
    /// # Errors
    /// When the kernel has no sockets or threads for them.
    pub fn counters(&self, count: usize) -> io::Result<Vec<Box<dyn NonblockingConnection>>> {
        let clients = self.clients(count)?.into_iter();
        Ok(clients
            .map(|client| Box::new(Served { client, index: 0 }) as Box<dyn NonblockingConnection>)
            .collect())
    }

    /// Connections whose calls block.
    pub fn tellers(&self, count: usize) -> Vec<Box<dyn BlockingConnection>> {
        let sessions = self.plain_sessions(count).into_iter();
        sessions
            .map(|session| Box::new(Blocks { session, index: 0 }) as Box<dyn BlockingConnection>)
            .collect()
    }
}

struct Served {
    client: Client,
    index: u64,
}

impl NonblockingConnection for Served {
    fn descriptor(&self) -> RawFd {
        self.client.descriptor()
    }

    fn begin(&mut self, _user: u32, kind: u8) -> Turn {
        let index = self.index;
        self.index += 1;
        self.client.ask(index, kind)
    }

    fn ready(&mut self) -> Turn {
        self.client.ready()
    }
}

struct Blocks {
    session: Session,
    index: u64,
}

impl BlockingConnection for Blocks {
    fn serve(&mut self, _user: u32, kind: u8) -> Result<Done, Failure> {
        let index = self.index;
        self.index += 1;
        self.session.serve(index, kind)
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let interrupted = std::sync::Arc::clone(&self.session.interrupted);
        Some(Box::new(move || interrupted.store(true, Relaxed)))
    }
}
