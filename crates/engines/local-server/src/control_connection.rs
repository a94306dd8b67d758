//! The connection of a target that is no job's.

use std::sync::{Arc, Mutex, PoisonError};

use super::LocalServer;
use archive::Purpose;
use engine::{Cooled, ErrorKind, Result, Snapshot, TargetError};

/// One connection that holds the lock on the database and serves for everything that is not a job's, and the server
/// under it, where dbdyno started that.
pub struct ControlConnection<C> {
    /// None while the server rests, and after it was lost.
    connection: Mutex<Option<C>>,
    /// True if it is that of a secondary target: the first one holds the lock, and alone restarts the server.
    is_secondary: bool,
    server: Option<Arc<LocalServer>>,
}

impl<C> ControlConnection<C> {
    pub fn new(server: Option<LocalServer>) -> Self {
        Self {
            connection: Mutex::new(None),
            is_secondary: false,
            server: server.map(Arc::new),
        }
    }

    /// The same with its connection.
    pub fn holding(self, connection: C) -> Self {
        Self {
            connection: Mutex::new(Some(connection)),
            ..self
        }
    }

    /// That of another target in the database or beside it, which leaves the lock to this one.
    pub fn of_secondary(&self) -> Self {
        Self {
            connection: Mutex::new(None),
            is_secondary: true,
            server: self.server.clone(),
        }
    }

    pub fn is_secondary(&self) -> bool {
        self.is_secondary
    }

    /// Does something on the connection; `connect`s it again, lock and all, when the server was restarted or has ended
    /// the session.
    pub fn with<T>(
        &self,
        connect: impl FnOnce() -> Result<C>,
        work: impl FnOnce(&mut C) -> Result<T>,
    ) -> Result<T> {
        let mut held = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut connection = match held.take() {
            Some(connection) => connection,
            None => connect()?,
        };
        match work(&mut connection) {
            Err(error) if error.kind == ErrorKind::Unreachable => Err(self.because(error)),
            outcome => {
                *held = Some(connection);
                outcome
            }
        }
    }

    /// Does something to the server that ends all its sessions; who needs the connection next opens it again.
    pub fn without_sessions<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut held = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *held = None;
        work()
    }

    /// The server, for those who may outlive the connection.
    pub fn shared_server(&self) -> Option<Arc<LocalServer>> {
        self.server.clone()
    }

    /// The server, where dbdyno started it.
    pub fn server(&self) -> Option<&LocalServer> {
        self.server.as_deref()
    }

    /// The server's process; of a server that dbdyno did not start, the one that can be found.
    ///
    /// # Errors
    /// With the reason, where there is none.
    pub fn process(
        &self,
        find: impl FnOnce() -> Result<std::result::Result<u32, String>>,
    ) -> std::result::Result<u32, String> {
        match self.server() {
            Some(server) => server.pid().ok_or_else(|| "the server is stopped".into()),
            None => find().unwrap_or_else(|error| Err(error.message)),
        }
    }

    /// The server, or the sentence for who wants what only a server of ours allows.
    ///
    /// # Errors
    /// That sentence, where dbdyno did not start the server, or another target hangs on it.
    pub fn own_server(&self) -> Result<&LocalServer> {
        self.own_server_to("stop it or copy its files")
    }

    /// The same for who wants something else of it, as it stands behind "cannot".
    ///
    /// # Errors
    /// As [`Self::own_server`].
    pub fn own_server_to(&self, wanted: &str) -> Result<&LocalServer> {
        let foreign = || format!("dbdyno did not start this server and cannot {wanted}");
        let shared = "the server's files and caches also belong to another database of this run";
        match self.server() {
            Some(_) if self.is_secondary => Err(TargetError::statement(shared)),
            Some(server) => Ok(server),
            None => Err(TargetError::statement(foreign())),
        }
    }

    /// The server, where a copy of its data and of what lies apart of these kinds is a whole backup.
    pub fn backed_up_server(
        &self,
        kinds: &[Purpose],
        not_local: &str,
    ) -> std::result::Result<&LocalServer, String> {
        let server = self.server().ok_or(not_local)?;
        let whole = server.keeps_with_its_data_but(kinds);
        whole.map(|()| server).map_err(|error| error.message)
    }

    /// When a server that somebody else started was started, as it reports it.
    pub fn running_since(&self, ask: impl Fn() -> Result<Option<String>>) -> Option<String> {
        if self.server.is_some() {
            return None;
        }
        // The session may have ended with the server's last life; the next one is of this life.
        ask().or_else(|_| ask()).ok()?
    }

    /// Restarts the server with nothing in its memory; `wanted` stands behind "cannot" where that is impossible.
    pub fn cool(&self, wanted: &str) -> Result<Cooled> {
        match self.own_server_to(wanted) {
            Ok(server) => self.without_sessions(|| server.cool()),
            Err(why) => Ok(Cooled::Lukewarm(why.message)),
        }
    }

    /// The reason of a loss, where a local server knows a better one than its connection.
    pub fn because(&self, error: TargetError) -> TargetError {
        let server = self.server();
        let lost = server.filter(|_| error.kind == ErrorKind::Unreachable);
        let reason = lost.and_then(LocalServer::reason_for_loss);
        reason.unwrap_or(error)
    }
}

impl<C: Send> ControlConnection<C> {
    /// The copy of the server's data.
    pub fn snapshot(&self) -> std::result::Result<&dyn Snapshot, String> {
        let server = self.own_server();
        server
            .and_then(|server| server.keeps_with_its_data_but(&[]))
            .map(|()| self as &dyn Snapshot)
            .map_err(|error| error.message)
    }
}

impl<C: Send> Snapshot for ControlConnection<C> {
    fn label(&self) -> Result<Option<String>> {
        self.own_server()?.snapshot_label()
    }

    fn take(&self, label: &str) -> Result<Cooled> {
        let server = self.own_server()?;
        self.without_sessions(|| server.take_snapshot(label))
    }

    fn restore(&self) -> Result<Cooled> {
        let server = self.own_server()?;
        self.without_sessions(|| server.restore_snapshot())
    }

    fn remove(&self) -> Result<()> {
        self.own_server()?.remove_snapshot()
    }
}
