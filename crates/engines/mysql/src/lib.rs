//! MariaDB and MySQL: servers whose tables InnoDB keeps, reached by a client of our own.
//!
//! Everything lives in a database of its own, which the URL names. Sessions set time zone, SQL mode and
//! character set themselves, so that a server's settings change no answer.

mod access;
mod backup;
mod checkpoint;
mod client;
mod explain;
mod facts;
mod flavour;
mod foreign;
mod guard;
mod inspect;
mod limits;
mod load;
pub mod local;
mod name;
mod observe;
mod option_file;
mod override_tables;
mod overrides;
mod read;
mod rights;
mod scheme;
mod session;
mod session_settings;
mod source;
mod storage;
mod target;
mod watch;
pub mod wire;

pub use scheme::ENGINES;

#[cfg(test)]
#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
