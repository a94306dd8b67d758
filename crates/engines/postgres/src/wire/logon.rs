//! The logon: authentication by password, and what the server demands that dbdyno cannot do.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::frontend;

use super::buffer::Wire;
use super::event::Authentication;
use engine::Password;

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
    /// The password would have to be told to somebody who may not be the server, or to whoever listens on the way.
    #[error(
        "the server requires the clear-text password, which dbdyno sends only through a Unix socket, or through TLS to a \
         server that has proved who it is (sslmode=verify-full or verify-ca); anybody on the way can ask for it, so the \
         password was not sent"
    )]
    InsecureChannel,
    /// A login that is not bound to the server's certificate, where that was required.
    #[error(
        "channel_binding=require, but {0}; use an account with a SCRAM password on a server with TLS, without a pooler or \
         proxy that ends TLS on the way, or channel_binding=prefer"
    )]
    Unbound(&'static str),
}

/// True if a login is bound to the certificate of the server that answers, so that nobody can pass it on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Binding {
    Never,
    #[default]
    Possible,
    Required,
}

/// The way on which a login travels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Channel {
    /// True if nobody can read along and the server has proved who it is: a Unix socket, or TLS with a check.
    pub is_private: bool,
    /// The digest of the server's certificate, where there is TLS and the certificate has one.
    pub end_point: Option<Vec<u8>>,
    pub binding: Binding,
}

/// A logon that is under way.
pub struct Logon<'a> {
    user: &'a str,
    password: Option<&'a Password>,
    channel: Channel,
    scram: Option<ScramSha256>,
    /// True if the server proved that it knows the password, where the method has such a proof.
    proven: bool,
    is_bound: bool,
    /// True if a digest of the password went that can be guessed by whoever read it.
    is_weak: bool,
}

impl<'a> Logon<'a> {
    /// Of `user`, after [`Wire::start_up`].
    pub fn new(user: &'a str, password: Option<&'a Password>, channel: Channel) -> Self {
        Self {
            user,
            password,
            channel,
            scram: None,
            proven: false,
            is_bound: false,
            is_weak: false,
        }
    }

    /// True if a digest of the password that can be guessed went where others may have read it.
    pub fn is_weak(&self) -> bool {
        self.is_weak
    }

    pub fn is_bound(&self) -> bool {
        self.is_bound && self.proven
    }

    /// Answers a request of the server; true when the user is logged on.
    pub fn answer(&mut self, wire: &mut Wire, request: Authentication) -> Result<bool, LogonError> {
        let unsendable = |e: std::io::Error| LogonError::Proof(e.to_string());
        match request {
            Authentication::Done => {
                // Somebody between the two could otherwise leave the proof out.
                if self.scram.is_some() && !self.proven {
                    return Err(LogonError::Proof("it did not prove its identity".into()));
                }
                if self.channel.binding == Binding::Required && !self.is_bound() {
                    return Err(LogonError::Unbound("the server let the user in without it"));
                }
                return Ok(true);
            }
            Authentication::Cleartext | Authentication::Md5(_)
                if self.channel.binding == Binding::Required =>
            {
                return Err(LogonError::Unbound(
                    "the server asks for a password without SCRAM",
                ));
            }
            Authentication::Cleartext if !self.channel.is_private => {
                return Err(LogonError::InsecureChannel);
            }
            Authentication::Cleartext => {
                let password = self.secret()?;
                frontend::password_message(password, &mut wire.out).map_err(unsendable)?;
            }
            Authentication::Md5(salt) => {
                let digest = md5_hash(self.user.as_bytes(), self.secret()?, salt);
                frontend::password_message(digest.as_bytes(), &mut wire.out).map_err(unsendable)?;
                self.is_weak = !self.channel.is_private;
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
        let offers = |name: &str| mechanisms.iter().any(|m| m == name);
        let end_point = match self.channel.binding {
            Binding::Never => None,
            Binding::Possible | Binding::Required => self.channel.end_point.take(),
        };
        let (mechanism, binding) = match end_point {
            Some(end_point) if offers(SCRAM_SHA_256_PLUS) => {
                self.is_bound = true;
                let binding = ChannelBinding::tls_server_end_point(end_point);
                (SCRAM_SHA_256_PLUS, binding)
            }
            _ if self.channel.binding == Binding::Required => {
                return Err(LogonError::Unbound(
                    "the server does not offer SCRAM-SHA-256-PLUS, or its certificate has a signature without a digest",
                ));
            }
            _ if !offers(SCRAM_SHA_256) => return Err(LogonError::Method(mechanisms.join(", "))),
            // A server that did offer it learns from this that somebody took the offer away.
            Some(_) => (SCRAM_SHA_256, ChannelBinding::unrequested()),
            None => (SCRAM_SHA_256, ChannelBinding::unsupported()),
        };
        let scram = ScramSha256::new(self.secret()?, binding);
        frontend::sasl_initial_response(mechanism, scram.message(), &mut wire.out)
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
