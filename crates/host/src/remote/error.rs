//! Errors of reaching and sampling another machine.

use super::SshAddress;
use crate::Untrusted;

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error(
        "the ssh client \"{program}\" cannot be started ({cause}); install it, or name another in $DBDYNO_SSH"
    )]
    NoClient {
        program: String,
        cause: std::io::Error,
    },
    #[error("the ssh client {program} is not started: {cause}; or name one in $DBDYNO_SSH")]
    Untrusted { program: String, cause: Untrusted },
    #[error("{address} cannot be reached ({cause}); check that `ssh {}` logs in without asking for \
             anything", command(.address))]
    Unreachable { address: SshAddress, cause: String },
    #[error("{0} cannot be sampled: it does not show the processor counters of a Linux /proc")]
    NoCounters(SshAddress),
    #[error(
        "the files of {address} cannot be stored in the temporary directory ({cause}); free space there, or set TMPDIR"
    )]
    NoRoom {
        address: SshAddress,
        cause: std::io::Error,
    },
    #[error(
        "\"{0}\" is not the name of a block device; give the kernel's name, such as sda or nvme0n1"
    )]
    BadDevice(String),
}

fn command(address: &SshAddress) -> String {
    match address.port {
        Some(port) => format!("-p {port} {}", address.destination()),
        None => address.destination(),
    }
}
