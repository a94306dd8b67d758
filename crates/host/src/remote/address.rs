//! Address of a machine that is reached by ssh: `ssh://[USER@]HOST[:PORT]`.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshAddress {
    /// User who logs on; `None` for ssh's default.
    pub user: Option<String>,
    /// Name or address, also one of the user's ssh configuration.
    pub host: String,
    /// Port; `None` for ssh's default.
    pub port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is not an SSH address: {what}; write ssh://USER@HOST[:PORT]")]
pub struct AddressError {
    text: String,
    what: String,
}

impl SshAddress {
    /// Parses `ssh://[USER@]HOST[:PORT]`. Fails if it is not an address. A password is refused: the ssh client would
    /// not take it.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        Self::parts(text).map_err(|what| AddressError {
            text: without_password(text),
            what: what.to_owned(),
        })
    }

    /// Parses an address that may name the block device of the server's data: `ssh://[USER@]HOST[:PORT][?device=NAME]`.
    pub fn parse_with_device(text: &str) -> Result<(Self, Option<String>), AddressError> {
        let Some((address, parameter)) = text.split_once('?') else {
            return Ok((Self::parse(text)?, None));
        };
        let device = parameter
            .strip_prefix("device=")
            .filter(|name| !name.is_empty());
        let device = device.ok_or_else(|| AddressError {
            text: without_password(text),
            what: "its only parameter is ?device=NAME".to_owned(),
        })?;
        Ok((Self::parse(address)?, Some(device.to_owned())))
    }

    fn parts(text: &str) -> Result<Self, &'static str> {
        let address = text
            .strip_prefix("ssh://")
            .ok_or("it does not start with ssh://")?;
        let address = address.strip_suffix('/').unwrap_or(address);
        let (user, target) = match address.rsplit_once('@') {
            Some((user, _)) if user.contains(':') => {
                return Err("it contains a password; ssh logs in with keys");
            }
            Some((user, target)) => (Some(word(user)?), target),
            None => (None, address),
        };
        let (host, port) = match target
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
        {
            Some((host, "")) => (host, None),
            Some((host, port)) => (
                host,
                Some(port.strip_prefix(':').ok_or("its port is invalid")?),
            ),
            None => match target.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (target, None),
            },
        };
        let port = match port.map(str::parse::<u16>) {
            None => None,
            Some(Ok(port)) if port > 0 => Some(port),
            Some(_) => return Err("its port is invalid"),
        };
        Ok(Self {
            user,
            host: word(host)?,
            port,
        })
    }

    pub fn destination(&self) -> String {
        match &self.user {
            Some(user) => format!("{user}@{}", self.host),
            None => self.host.clone(),
        }
    }
}

/// A user or host that neither the ssh client can take for an option nor any shell for more than a word.
fn word(text: &str) -> Result<String, &'static str> {
    let fits = |c: char| c.is_alphanumeric() || "._-%:+".contains(c);
    match text {
        "" => Err("its user or host is empty"),
        _ if text.starts_with('-') => Err("its user or host starts with a hyphen"),
        _ if text.chars().all(fits) => Ok(text.to_owned()),
        _ => Err("its user or host contains characters other than letters, digits and ._-%:+"),
    }
}

fn without_password(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((before, after)) => match before.rsplit_once(':') {
            Some((user, _)) if user.contains("//") && !user.ends_with("ssh") => {
                format!("{user}:…@{after}")
            }
            _ => text.to_owned(),
        },
        None => text.to_owned(),
    }
}

impl fmt::Display for SshAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ssh://")?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        if self.host.contains(':') {
            write!(f, "[{}]", self.host)?
        } else {
            f.write_str(&self.host)?
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_apart_and_together() {
        for text in [
            "ssh://db1",
            "ssh://me@db1.example.com",
            "ssh://me@db1:2222",
            "ssh://me@[fe80::1]:22",
        ] {
            assert_eq!(SshAddress::parse(text).unwrap().to_string(), text);
        }
        let full = SshAddress::parse("ssh://me@db1:2222/").unwrap();
        assert_eq!(
            (full.destination().as_str(), full.port),
            ("me@db1", Some(2222))
        );
    }

    #[test]
    fn an_address_may_name_a_device() {
        let parse = SshAddress::parse_with_device;
        let (address, device) = parse("ssh://me@db1:2222?device=nvme0n1").unwrap();
        assert_eq!(address.to_string(), "ssh://me@db1:2222");
        assert_eq!(device.as_deref(), Some("nvme0n1"));
        assert_eq!(parse("ssh://db1").unwrap().1, None);
        for wrong in [
            "ssh://db1?disk=sda",
            "ssh://db1?device=",
            "ssh://me:secret@db1?",
        ] {
            let message = parse(wrong).unwrap_err().to_string();
            assert!(message.contains("?device=NAME"), "{wrong}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    #[test]
    fn what_ssh_would_misunderstand_is_refused() {
        for (text, what) in [
            ("db1", "ssh://"),
            ("ssh://", "empty"),
            ("ssh://@db1", "empty"),
            ("ssh://-oProxyCommand=x", "hyphen"),
            ("ssh://me@-x", "hyphen"),
            ("ssh://me@db1;reboot", "letters"),
            ("ssh://me@db1:0", "port"),
            ("ssh://me@[::1]x", "port"),
            ("ssh://me:secret@db1", "password"),
        ] {
            let message = SshAddress::parse(text).unwrap_err().to_string();
            assert!(message.contains(what), "{text}: {message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
