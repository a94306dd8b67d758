//! Shared by the methods: the server's programs, and another server for restored files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::super::local::set_environment;
use super::super::target::{MySqlTarget, NOT_LOCAL};
use engine::backup::run;
use engine::failed;
use engine::file_snapshot::copy;
use engine::{BackedUp, ErrorKind, Result, TargetError, TargetUrl};
use local_server::LocalServer;

/// Runs a tool that writes a backup, and synchronises what it wrote, which the tool leaves to the system. How long it took by its
/// own clock follows from what it says.
pub(super) fn backed_up(
    command: Command,
    into: &Path,
    took: impl FnOnce(&str) -> Option<Duration>,
) -> Result<BackedUp> {
    let ran = run(command)?;
    copy::sync(into).map_err(|e| failed("cannot synchronise the backup", &e))?;
    Ok(BackedUp {
        programs: ran.took,
        tool_took: took(&ran.said),
    })
}

impl MySqlTarget {
    /// The server, which is dbdyno's own.
    pub(super) fn own_server(&self) -> Result<&LocalServer> {
        self.local_server()
            .ok_or_else(|| TargetError::statement(NOT_LOCAL))
    }

    /// A new server of this one's version, in an empty directory; with its URL.
    pub(super) fn start_new(&self, directory: &Path) -> Result<(LocalServer, TargetUrl)> {
        let own = self.own_server()?;
        own.give(directory)?;
        let url = own.url_of_restored(self.url(), directory)?;
        Ok((LocalServer::start_for(own.kind(), &url)?, url))
    }

    /// A program of the server's installation.
    pub(super) fn program(&self, name: &str) -> Result<Command> {
        let server = self.own_server()?;
        let program = program_of(server, name).ok_or_else(|| {
            TargetError::new(
                ErrorKind::NotInstalled,
                format!("{name} is missing; {}", how_to_get(server)),
            )
        })?;
        let mut command = Command::new(program);
        set_environment(&mut command, server.installation());
        Ok(command)
    }
}

/// The program beside the server, or in the `bin` beside its `sbin`.
fn program_of(server: &LocalServer, name: &str) -> Option<PathBuf> {
    let beside = server.program().with_file_name(name);
    let base = server.program().ancestors().nth(2)?;
    let found = [beside, base.join("bin").join(name)].into_iter();
    found.into_iter().find(|program| program.is_file())
}

pub(super) fn how_to_get(server: &LocalServer) -> String {
    let about = server.kind().about();
    format!(
        "run `make {}`, or install the programs for the server's version {} next to it",
        about.name,
        server.version()
    )
}

pub(super) fn argument(name: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(name);
    argument.push("=");
    argument.push(path);
    argument
}

pub(super) fn statement(what: &str) -> TargetError {
    TargetError::statement(format!("mysql: {what}"))
}
