//! Backups of local servers of MariaDB with `mariadb-backup`: files are copied while the server works, and its log is
//! replayed into them when they are restored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use super::local::set_environment;
use super::target::{MySqlTarget, NOT_LOCAL};
use crate::backup::run;
use crate::backup_adapter::{Adapter, bound, described};
use crate::file_snapshot::copy;
use crate::server::{LocalServer, Version, failed};
use crate::{
    BackedUp, Backup, BackupMethod, BackupOptions, ErrorKind, Method, Restored, Result, Target,
    TargetError,
};

const TOOL: &str = "mariadb-backup";
/// Memory for the replay of the log: as much as the local server's own pool.
const REPLAY_MEMORY: &str = "--use-memory=256M";

const SYSTEM_TABLE_SPACE: &str = "ibdata1";
/// Its pages 64 to 191 are the double-write buffer, where copies of pages may be torn.
const AROUND_DOUBLE_WRITES: &[&[&str]] = &[&["--end-page=63"], &["--start-page=192"]];
/// All pages of a file.
const WHOLE: &[&[&str]] = &[&[]];

const ADAPTERS: &[Adapter<MySqlTarget>] = &[Adapter {
    about: BackupMethod {
        name: "mariadb-backup",
        how: "mariadb-backup --backup: files and log are copied while the server works, then synchronised; the restore replays the \
              log with --prepare",
        has_channels: true,
        levels: None,
        has_points: false,
    },
    on: |target| Box::new(Files(target)),
}];

/// The methods of local servers.
pub(super) fn methods() -> Vec<BackupMethod> {
    described(ADAPTERS)
}

impl Backup for MySqlTarget {
    /// The table spaces of the server, which a backup holds together, without undo, temporary tables and free pages.
    fn logical_bytes(&self) -> Result<u64> {
        let sql = "SELECT CAST((SELECT SUM(FILE_SIZE) FROM information_schema.INNODB_SYS_TABLESPACES \
                   WHERE NAME NOT LIKE 'innodb_undo%' AND NAME <> 'innodb_temporary') \
                   - (SELECT SUM(DATA_FREE) FROM information_schema.TABLES WHERE ENGINE = 'InnoDB') AS CHAR)";
        let rows = self.texts(sql)?;
        let bytes = rows.into_iter().flatten().next().flatten();
        bytes
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| statement("the server does not tell the size of its table spaces"))
    }

    fn methods(&self) -> Vec<BackupMethod> {
        methods()
    }

    fn method(&self, name: &str) -> Option<Box<dyn Method + '_>> {
        bound(ADAPTERS, name, self)
    }

    fn check_place(&self, directory: &Path) -> Result<()> {
        self.own_server()?.check_reaches(directory)
    }
}

impl MySqlTarget {
    /// The server, which is dbdyno's own.
    fn own_server(&self) -> Result<&LocalServer> {
        self.local_server()
            .ok_or_else(|| TargetError::new(ErrorKind::Statement, NOT_LOCAL))
    }

    /// A program of the server's installation.
    fn program(&self, name: &str) -> Result<Command> {
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

fn how_to_get(server: &LocalServer) -> String {
    format!(
        "run `make mariadb`, or install the package of the server's version {} (on Debian: apt-get install mariadb-backup)",
        server.version()
    )
}

struct Files<'t>(&'t MySqlTarget);

impl Files<'_> {
    /// What is wrong with the tool, which has to be of the server's series and not older than it.
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
        let ran = run(command)?;
        // The tool leaves that to the system.
        copy::sync(into).map_err(|e| failed("cannot synchronise the backup", &e))?;
        Ok(BackedUp {
            programs_cpu: ran.cpu,
            tool_took: None,
        })
    }

    /// The checksums of all pages.
    fn verify(&self, from: &Path) -> Result<Option<String>> {
        for file in table_spaces(from).map_err(|e| failed("cannot read the backup", &e))? {
            let is_system = (file.file_name()).is_some_and(|name| name == SYSTEM_TABLE_SPACE);
            let parts = match is_system {
                true => AROUND_DOUBLE_WRITES,
                false => WHOLE,
            };
            for pages in parts {
                let mut command = self.0.program("innochecksum")?;
                command.args(*pages).arg(&file);
                if let Err(error) = run(command) {
                    return Ok(Some(error.message));
                }
            }
        }
        Ok(None)
    }

    fn restore(
        &self,
        _options: BackupOptions,
        _point: Option<&str>,
        from: &Path,
        into: &Path,
    ) -> Result<Restored> {
        let server = self.0.own_server()?;
        let begun = Instant::now();
        let data = server.data_inside(into)?;
        let copied = || -> std::io::Result<()> {
            for entry in fs::read_dir(from)? {
                let entry = entry?;
                copy::copy(&entry.path(), &data.join(entry.file_name()))?;
            }
            copy::sync(into)
        };
        copied().map_err(|e| failed(&format!("cannot copy {}", from.display()), &e))?;
        let copy_took = begun.elapsed();
        let mut command = self.0.program(TOOL)?;
        command
            .args(["--no-defaults", "--prepare", REPLAY_MEMORY])
            .arg(argument("--target-dir", &data));
        run(command)?;
        server.hand_over(into)?;
        let url = server.url_of_restored(self.0.url(), into)?;
        let target: Arc<dyn Target> = Arc::new(MySqlTarget::open_local(&url)?);
        Ok(Restored {
            target,
            copy_took,
            replay_took: begun.elapsed().saturating_sub(copy_took),
        })
    }
}

/// The files with pages that bear checksums.
fn table_spaces(backup: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![backup.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() {
                left.push(path);
            } else if name.ends_with(".ibd")
                || name.starts_with("undo")
                || name == SYSTEM_TABLE_SPACE
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn argument(name: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(name);
    argument.push("=");
    argument.push(path);
    argument
}

fn statement(what: &str) -> TargetError {
    TargetError::new(ErrorKind::Statement, format!("MariaDB: {what}"))
}
