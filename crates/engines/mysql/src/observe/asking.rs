//! The connection of an observer, and what is asked on it.

use super::super::access::Access;
use super::super::client::Client;
use super::super::flavour::Flavour;
use super::super::overrides::set_up;
use super::super::watch::threads;
use engine::Result;

/// A name in every question of an observer, so that neither it nor another one takes it for somebody's statement.
pub(super) const OWN: &str = "dbdyno_observe";

/// An observer's session cannot write and never waits for long.
const STATEMENT_S_MAX: f64 = 10.0;

/// A session of an observer; it is in no database.
pub(crate) fn connect(access: &Access, flavour: Flavour) -> Result<Client> {
    let mut client = access.connect_to_server()?;
    let (limit, units) = flavour.statement_limit;
    client.run(&format!(
        "{}; SET SESSION lock_wait_timeout = 1, {limit} = {}; SET SESSION TRANSACTION READ ONLY",
        set_up(flavour, false, false),
        STATEMENT_S_MAX * units
    ))?;
    Ok(client)
}

/// A connection, and how much was asked on it.
pub(super) struct Asking {
    pub client: Client,
    /// Statements on this connection and on those before it.
    pub asked: u64,
    /// Its thread, when it is one of this machine.
    pub thread: Option<u32>,
    pub flavour: Flavour,
}

impl Asking {
    pub fn open(access: &Access, flavour: Flavour, asked: u64) -> Result<Self> {
        let mut client = connect(access, flavour)?;
        Ok(Self {
            thread: threads::own(&mut client),
            client,
            asked,
            flavour,
        })
    }

    /// The rows of a query. An error names what was asked.
    pub fn rows(&mut self, what: &str, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.asked += 1;
        self.client.read_about(what, sql)
    }
}
