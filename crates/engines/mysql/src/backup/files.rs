//! `mariadb-backup`: files are copied while the server works, and its log is replayed into them when they are restored.

use std::path::Path;
use std::time::Duration;

use jiff::civil::DateTime;

use super::super::local::LOG_BYTES;
use super::super::target::MySqlTarget;
use super::pages;
use super::tools::{argument, backed_up, how_to_get};
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};
use local_server::Version;

const TOOL: &str = "mariadb-backup";
/// Memory for the replay of the log: as much as the local server's own pool.
const REPLAY_MEMORY: &str = "--use-memory=256M";

/// "2026-11-25 22:16:54"
const MOMENT_CHARACTERS: usize = 19;
/// The end of the last line of a backup that is whole.
const COMPLETED: &str = " completed OK!";
/// A second more or less is 2 % of it.
const TOLD_MIN: Duration = Duration::from_secs(50);

pub(super) const FILES: Adapter<MySqlTarget> = Adapter {
    about: BackupMethod {
        name: "mariadb-backup",
        how: "mariadb-backup --backup: files and log are copied while the server works, then synchronised; the restore replays the \
              log with --prepare",
        has_channels: true,
        restored_log_bytes: LOG_BYTES,
        ..BackupMethod::SIMPLE
    },
    on: |target| Box::new(Files(target)),
};

struct Files<'t>(&'t MySqlTarget);

impl Files<'_> {
    /// The tool's fault: it has to be of the server's series and not older.
    fn wrong_version(&self) -> Result<Option<String>> {
        let server = self.0.own_server()?;
        let mut command = self.0.program(TOOL)?;
        command.arg("--version");
        let said = run(command)?.said;
        let tool = said.split_once("MariaDB server ");
        let tool = tool.and_then(|(_, version)| Version::find_in(version));
        let served = &server.installation().version;
        let fits = |tool: &Version| tool.0.get(..2) == served.0.get(..2) && tool >= served;
        Ok(match tool {
            Some(tool) if fits(&tool) => None,
            Some(tool) => Some(format!(
                "{TOOL} {tool} does not fit MariaDB {served}; {}",
                how_to_get(server)
            )),
            None => Some(format!("{TOOL} does not tell its version: {}", said.trim())),
        })
    }
}

impl Method for Files<'_> {
    fn lacks(&self) -> Option<String> {
        self.wrong_version()
            .unwrap_or_else(|error| Some(error.message))
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let server = self.0.own_server()?;
        let mut command = self.0.program(TOOL)?;
        command
            .args(["--no-defaults", "--backup"])
            .arg(argument("--target-dir", into))
            .arg(argument("--datadir", server.data_directory()))
            .arg(argument("--socket", &server.socket_path()))
            .arg(format!("--user={}", server.superuser()))
            .arg(format!("--parallel={}", options.channels));
        backed_up(command, into, took)
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        pages::verify(self.0, from)
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        pages::restore(self.0, of, of.from, |data| {
            let mut command = self.0.program(TOOL)?;
            command
                .args(["--no-defaults", "--prepare", REPLAY_MEMORY])
                .arg(argument("--target-dir", data));
            run(command).map(drop)
        })
    }
}

/// How long the tool took by its own clock, which tells whole seconds in front of its lines: known of a backup that is so long
/// that they tell it to 2 %.
fn took(said: &str) -> Option<Duration> {
    let at = |line: &str| -> Option<DateTime> {
        let (_, rest) = line.strip_prefix('[')?.split_once("] ")?;
        rest.get(..MOMENT_CHARACTERS)?.parse().ok()
    };
    let last = said.lines().rev().find(|line| line.ends_with(COMPLETED));
    let ended = last.and_then(at)?;
    let begun = said.lines().find_map(at)?;
    let took = Duration::try_from(ended.duration_since(begun)).ok()?;
    (took >= TOLD_MIN).then_some(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_own_clock_is_read_where_it_tells_enough() {
        let said = |ended: &str| {
            format!(
                "mariadb-backup based on MariaDB server 10.11.19-MariaDB\n[00] 2026-11-25 23:59:40 Connecting to MariaDB server\n\
                 2026-11-25 23:59:41 0 [Note] InnoDB: Starting\n[01] 2026-11-26 00:00:10 Copying ./a.ibd\n[00] {ended}\n"
            )
        };
        let took = |ended: &str| took(&said(ended));
        assert_eq!(
            took("2026-11-26 00:00:41 completed OK!"),
            Some(Duration::from_secs(61))
        );
        // Whole seconds tell too little of it.
        assert_eq!(took("2026-11-26 00:00:29 completed OK!"), None);
        assert_eq!(took("2026-11-26 00:01:00 Copying"), None);
        assert_eq!(super::took(""), None);
    }
}
