//! TLS between a wire and its socket: what a URL asks for, which servers are trusted, and how bytes become records.

mod asked;
mod client;
mod end_point;
mod error;
#[cfg(test)]
mod hostile;
mod records;
mod trust;

pub use asked::{Said, TlsOptions};
pub use client::{Secured, TlsClient};
pub use error::TlsError;
pub use records::Records;
