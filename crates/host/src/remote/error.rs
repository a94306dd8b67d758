//! Why another machine cannot be looked at.

use super::SshAddress;

/// Why another machine cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// There is no ssh client, or it cannot be started.
    #[error(
        "the ssh client \"{program}\" cannot be started ({cause}); install it, or name another in $DBDYNO_SSH"
    )]
    NoClient {
        program: String,
        /// What the system said.
        cause: std::io::Error,
    },
    /// It does not let us in, or does not answer.
    #[error("{address} cannot be reached ({cause}); check that `ssh {}` logs on without asking for anything", command(.address))]
    Unreachable {
        /// The machine.
        address: SshAddress,
        /// What the client said.
        cause: String,
    },
    /// It has no `/proc`.
    #[error(
        "{0} does not show the processor counters of a Linux /proc, without which it cannot be sampled"
    )]
    NoCounters(SshAddress),
    /// Its files cannot be kept here.
    #[error(
        "the files of {address} cannot be kept in the temporary directory ({cause}); make room there or set TMPDIR"
    )]
    NoRoom {
        /// The machine.
        address: SshAddress,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A device that no device is called.
    #[error("\"{0}\" is no name of a block device; give the kernel's, such as sda or nvme0n1")]
    BadDevice(String),
}

fn command(address: &SshAddress) -> String {
    match address.port {
        Some(port) => format!("-p {port} {}", address.destination()),
        None => address.destination(),
    }
}
