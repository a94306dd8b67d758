//! The first words of both sides: who the server is, who the client is and what both can do.

use super::auth::{Plugin, SCRAMBLE_BYTES};
use super::bytes::{Reader, put_lenenc_bytes, put_zero_ended};
use super::{PACKET_BYTES_MAX, WireError, WireResult};

/// Capability flags; the upper half is MariaDB's own.
pub mod capability {
    /// Set by MySQL; a MariaDB server leaves it out to say that the upper half is there.
    pub const MYSQL: u64 = 1;
    /// An UPDATE counts the rows that it found, as everywhere else, not those that it made different.
    pub const FOUND_ROWS: u64 = 1 << 1;
    pub const CONNECT_WITH_DB: u64 = 1 << 3;
    pub const LOCAL_FILES: u64 = 1 << 7;
    /// TLS begins behind the first part of the client's answer.
    pub const TLS: u64 = 1 << 11;
    pub const PROTOCOL_41: u64 = 1 << 9;
    pub const TRANSACTIONS: u64 = 1 << 13;
    pub const SECURE_CONNECTION: u64 = 1 << 15;
    pub const MULTI_STATEMENTS: u64 = 1 << 16;
    pub const MULTI_RESULTS: u64 = 1 << 17;
    pub const PS_MULTI_RESULTS: u64 = 1 << 18;
    pub const PLUGIN_AUTH: u64 = 1 << 19;
    pub const PLUGIN_AUTH_LENENC: u64 = 1 << 21;
    /// A result ends with an OK packet, and no packet stands between columns and rows.
    pub const DEPRECATE_EOF: u64 = 1 << 24;
    /// MariaDB 10.6: the columns of a prepared statement are sent again only when they changed.
    pub const CACHE_METADATA: u64 = 1 << 36;
}
use capability as can;

/// Without these nothing works.
const NEEDED: u64 =
    can::PROTOCOL_41 | can::SECURE_CONNECTION | can::PLUGIN_AUTH | can::DEPRECATE_EOF;
const WANTED: u64 = NEEDED
    | can::FOUND_ROWS
    | can::LOCAL_FILES
    | can::TRANSACTIONS
    | can::MULTI_STATEMENTS
    | can::MULTI_RESULTS
    | can::PS_MULTI_RESULTS
    | can::PLUGIN_AUTH_LENENC
    | can::CACHE_METADATA;
/// utf8mb4_bin; the session names its character set once more.
const CHARACTER_SET: u8 = 46;
/// The only version of the protocol in use.
const PROTOCOL: u8 = 10;
/// MariaDB puts this in front of its version for old replicas.
const VERSION_PREFIX: &str = "5.5.5-";
const VERSION_BYTES_MAX: usize = 256;

#[derive(Clone)]
pub struct Login {
    pub user: String,
    /// Password; empty for none.
    pub password: Vec<u8>,
    pub database: Option<String>,
    /// True if TLS is to begin before anything is said of this.
    pub with_tls: bool,
    pub may_lack_tls: bool,
    /// True if nobody can read along and the server has proved who it is, at the time of the login: a Unix socket, or TLS
    /// with a check.
    pub is_private: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Server {
    /// Version as it says it, without the prefix for old replicas.
    pub version: String,
    /// Number of the connection, which KILL takes.
    pub connection: u32,
    pub(super) capabilities: u64,
}

impl Server {
    pub(super) fn can(&self, capability: u64) -> bool {
        self.capabilities & capability != 0
    }
}

#[derive(Debug)]
pub struct Greeting {
    pub server: Server,
    pub scramble: Vec<u8>,
    pub plugin: Plugin,
    pub offers_tls: bool,
}

impl Greeting {
    pub fn parse(payload: &[u8]) -> WireResult<Self> {
        let mut reader = Reader::new(payload);
        if reader.u8()? != PROTOCOL {
            return Err(WireError::Malformed("an unsupported protocol version"));
        }
        let version = reader.until_zero();
        let version = String::from_utf8_lossy(&version[..version.len().min(VERSION_BYTES_MAX)]);
        let version = version.strip_prefix(VERSION_PREFIX).unwrap_or(&version);
        let connection = reader.u32()?;
        let mut scramble = reader.take(8)?.to_vec();
        reader.take(1)?;
        let mut offered = u64::from(reader.u16()?);
        let _character_set = reader.u8()?;
        let _status = reader.u16()?;
        offered |= u64::from(reader.u16()?) << 16;
        let scramble_bytes = reader.u8()?;
        reader.take(6)?;
        let upper = reader.u32()?;
        if offered & can::MYSQL == 0 {
            offered |= u64::from(upper) << 32;
        }
        if offered & NEEDED != NEEDED {
            return Err(WireError::TooOld("results without EOF packets"));
        }
        let second = usize::from(scramble_bytes).saturating_sub(8).max(13);
        let second = reader.take(second.min(reader.rest().len()))?;
        scramble.extend_from_slice(second);
        scramble.truncate(SCRAMBLE_BYTES);
        let plugin = reader.until_zero();
        Ok(Self {
            server: Server {
                version: version.to_owned(),
                connection,
                capabilities: offered & WANTED,
            },
            scramble,
            offers_tls: offered & can::TLS != 0,
            // The server's default need not be this user's method.
            plugin: Plugin::named(plugin)
                .ok()
                .filter(|plugin| plugin.can_begin())
                .unwrap_or(Plugin::NativePassword),
        })
    }

    /// Writes the part of the answer that asks for TLS.
    pub fn ask_for_tls(&mut self, login: &Login, into: &mut Vec<u8>) {
        self.server.capabilities |= can::TLS;
        self.put_capabilities(login, into);
    }

    /// Writes the answer; leaves in the server what both can do.
    pub fn answer(&mut self, login: &Login, into: &mut Vec<u8>) {
        self.put_capabilities(login, into);
        put_zero_ended(into, login.user.as_bytes());
        let proof = self.plugin.proof(&login.password, &self.scramble);
        // A proof has at most 32 bytes, whose length is written alike in both ways.
        put_lenenc_bytes(into, &proof);
        if let Some(database) = &login.database {
            put_zero_ended(into, database.as_bytes());
        }
        put_zero_ended(into, self.plugin.name().as_bytes());
    }
    /// Common capabilities, the longest packet and the character set.
    fn put_capabilities(&mut self, login: &Login, into: &mut Vec<u8>) {
        let mut agreed = self.server.capabilities;
        if login.database.is_some() {
            agreed |= can::CONNECT_WITH_DB;
        }
        // Only a MariaDB server, which has the upper half, reads it.
        let is_mariadb = agreed >> 32 != 0;
        if !is_mariadb {
            agreed |= can::MYSQL;
        }
        self.server.capabilities = agreed;
        into.extend_from_slice(&(agreed as u32).to_le_bytes());
        into.extend_from_slice(&(PACKET_BYTES_MAX as u32).to_le_bytes());
        into.push(CHARACTER_SET);
        into.extend_from_slice(&[0; 19]);
        into.extend_from_slice(&((agreed >> 32) as u32).to_le_bytes());
    }
}
