//! The logon: authentication by password, and what the server demands that dbdyno cannot do.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::frontend;

use super::buffer::Wire;
use super::event::Authentication;
use crate::Password;

/// Why a logon cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogonError {
    /// The server wants a password and there is none.
    #[error(
        "the server asks for a password; give it in $PGPASSWORD, in ~/.pgpass or in the target's URL"
    )]
    NoPassword,
    /// The server wants something that dbdyno does not speak.
    #[error(
        "the server requires {0}, which dbdyno does not support; require scram-sha-256 or md5 for this user in its pg_hba.conf"
    )]
    Method(String),
    /// The mechanism failed on this side: a server that does not know the password.
    #[error("the server's part of the login is invalid ({0}); check that it is the right server")]
    Proof(String),
}

/// A logon that is under way.
pub struct Logon<'a> {
    user: &'a str,
    password: Option<&'a Password>,
    scram: Option<ScramSha256>,
    /// Whether the server proved that it knows the password, where the method has such a proof.
    proven: bool,
}

impl<'a> Logon<'a> {
    /// Of `user`, after [`Wire::start_up`].
    pub fn new(user: &'a str, password: Option<&'a Password>) -> Self {
        Self {
            user,
            password,
            scram: None,
            proven: false,
        }
    }

    /// Answers a request of the server; true when the user is logged on.
    ///
    /// # Errors
    /// When it cannot be answered.
    pub fn answer(&mut self, wire: &mut Wire, request: Authentication) -> Result<bool, LogonError> {
        let unsendable = |e: std::io::Error| LogonError::Proof(e.to_string());
        match request {
            Authentication::Done => {
                // Somebody between the two could otherwise leave the proof out.
                if self.scram.is_some() && !self.proven {
                    return Err(LogonError::Proof("it did not prove its identity".into()));
                }
                return Ok(true);
            }
            Authentication::Cleartext => {
                let password = self.secret()?;
                frontend::password_message(password, &mut wire.out).map_err(unsendable)?;
            }
            Authentication::Md5(salt) => {
                let digest = md5_hash(self.user.as_bytes(), self.secret()?, salt);
                frontend::password_message(digest.as_bytes(), &mut wire.out).map_err(unsendable)?;
            }
            Authentication::Mechanisms(mechanisms) => self.begin_scram(wire, &mechanisms)?,
            Authentication::Continue(message) => {
                let scram = self.scram.as_mut().ok_or_else(out_of_turn)?;
                scram.update(&message).map_err(unsendable)?;
                frontend::sasl_response(scram.message(), &mut wire.out).map_err(unsendable)?;
            }
            Authentication::Final(message) => {
                let scram = self.scram.as_mut().ok_or_else(out_of_turn)?;
                scram.finish(&message).map_err(unsendable)?;
                self.proven = true;
            }
            Authentication::Other(method) => return Err(LogonError::Method(method_name(method))),
        }
        Ok(false)
    }

    fn begin_scram(&mut self, wire: &mut Wire, mechanisms: &[String]) -> Result<(), LogonError> {
        if !mechanisms.iter().any(|m| m == SCRAM_SHA_256) {
            return Err(LogonError::Method(mechanisms.join(", ")));
        }
        let scram = ScramSha256::new(self.secret()?, ChannelBinding::unsupported());
        frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut wire.out)
            .map_err(|e| LogonError::Proof(e.to_string()))?;
        self.scram = Some(scram);
        Ok(())
    }

    fn secret(&self) -> Result<&'a [u8], LogonError> {
        let password = self.password.ok_or(LogonError::NoPassword)?;
        Ok(password.expose().as_bytes())
    }
}

fn out_of_turn() -> LogonError {
    LogonError::Proof("it continued a mechanism that was not started".into())
}

/// Names of the methods by their number in the protocol.
fn method_name(method: u32) -> String {
    match method {
        2 => "Kerberos".into(),
        6 => "SCM credentials".into(),
        7 | 8 => "GSSAPI".into(),
        9 => "SSPI".into(),
        other => format!("authentication method {other}"),
    }
}
