//! pgBackRest: processes that copy at once, compression, and a repository in which the log is archived.
//!
//! The tool reads the files of the server and runs as its user. The server archives its log while a backup is measured, by
//! settings that go with its next restart; they are not kept with the data.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use host::trusted;

use super::super::local::PORT;
use super::super::target::PostgresTarget;
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::failed;
use engine::file_snapshot::copy;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};
use local_server::Version;

const PROGRAM: &str = "/usr/bin/pgbackrest";
const HOW_TO_GET: &str =
    "run `make postgres`, or install it (on Debian: apt-get install pgbackrest)";
/// Sizes of the buffer that it takes; 1 MiB is its usual one.
const BUFFERS_KIB: (u32, u32) = (16, 16_384);
const STANZA: &str = "--stanza=dbdyno";
/// The first versions of the tool that know a version of the server, newest first.
const KNOWN_SINCE: &[(u32, [u32; 2])] =
    &[(18, [2, 55]), (17, [2, 54]), (16, [2, 48]), (15, [2, 41])];
/// In front of the milliseconds that a command took by the tool's own clock.
const TOOK: &str = "backup command end: completed successfully (";
/// Settings by which a server archives; who has set them has an archive of his own.
const OF_ARCHIVING: [&str; 3] = ["archive_mode", "archive_command", "archive_library"];

const WITHOUT_COMPRESSION: BackupMethod = BackupMethod {
    name: "pgbackrest-none",
    how: "pgBackRest: full backup without compression, the log archived; channels are processes (process-max)",
    has_channels: true,
    buffers_kib: Some(BUFFERS_KIB),
    log_archive: Some("archive"),
    ..BackupMethod::SIMPLE
};
pub(super) const NONE: Adapter<PostgresTarget> = Adapter {
    about: WITHOUT_COMPRESSION,
    on: |target| Box::new(Rest(target, "none")),
};
pub(super) const LZ4: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "pgbackrest-lz4",
        how: "pgBackRest: full backup compressed with lz4 (level 1 if not said), the log archived; channels are processes (process-max)",
        levels: Some((1, 12)),
        ..WITHOUT_COMPRESSION
    },
    on: |target| Box::new(Rest(target, "lz4")),
};
pub(super) const ZST: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "pgbackrest-zst",
        how: "pgBackRest: full backup compressed with zstd (level 3 if not said), the log archived; channels are processes (process-max)",
        levels: Some((1, 22)),
        ..WITHOUT_COMPRESSION
    },
    on: |target| Box::new(Rest(target, "zst")),
};

/// On a target, with a kind of compression.
struct Rest<'t>(&'t PostgresTarget, &'static str);

impl Rest<'_> {
    /// The tool with the options of all its commands.
    fn tool(&self, repository: &Path) -> Result<Command> {
        let server = self.0.own_server()?;
        let mut command = Command::new(PROGRAM);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C")
            .args(self.arguments(repository))
            .arg("--log-level-console=info");
        server.run_as_its_user(&mut command);
        Ok(command)
    }

    /// Common arguments. Nothing of the machine's own pgBackRest is read or written.
    fn arguments(&self, repository: &Path) -> Vec<String> {
        vec![
            "--no-config".to_owned(),
            STANZA.to_owned(),
            format!("--repo1-path={}", repository.display()),
            "--log-level-file=off".to_owned(),
        ]
    }

    /// For the commands that work on data.
    fn of_data(&self, data: &Path) -> Result<Vec<String>> {
        let own = self.0.own_server()?.socket_directory().display();
        Ok(vec![
            format!("--lock-path={own}"),
            format!("--pg1-path={}", data.display()),
        ])
    }

    /// For the commands that write files into the repository.
    fn compression(&self, options: BackupOptions) -> Vec<String> {
        let mut arguments = vec![format!("--compress-type={}", self.1)];
        arguments.extend(
            options
                .variant
                .level
                .map(|level| format!("--compress-level={level}")),
        );
        arguments
    }

    /// For the commands that ask the server.
    fn of_server(&self) -> Result<Vec<String>> {
        let server = self.0.own_server()?;
        let mut arguments = self.of_data(server.data_directory())?;
        arguments.extend([
            format!("--pg1-socket-path={}", server.socket_directory().display()),
            format!("--pg1-port={PORT}"),
            format!("--pg1-user={}", server.superuser()),
        ]);
        Ok(arguments)
    }

    /// The fault of the tool or of the server's settings.
    fn obstacle(&self) -> Result<Option<String>> {
        if let Err(error) = trusted(Path::new(PROGRAM)) {
            return Ok(Some(format!(
                "pgBackRest is missing ({error}); {HOW_TO_GET}"
            )));
        }
        let mut command = Command::new(PROGRAM);
        command.arg("version").env_clear();
        let said = run(command)?.said;
        let Some(tool) = Version::find_in(&said) else {
            return Ok(Some(format!(
                "pgBackRest does not tell its version: {}",
                said.trim()
            )));
        };
        let major = self.0.major();
        let known = KNOWN_SINCE.iter().find(|(server, _)| major >= *server);
        if let Some((_, since)) = known.filter(|(_, since)| tool.0.as_slice() < since.as_slice()) {
            return Ok(Some(format!(
                "pgBackRest {tool} does not know PostgreSQL {major}; install version {}.{} or later, or use an older server \
                 (version=… in the URL)",
                since[0], since[1]
            )));
        }
        let settings = self.0.own_server()?.settings();
        let own = OF_ARCHIVING.iter().find(|key| settings.contains_key(**key));
        Ok(own.map(|key| {
            format!("the URL sets {key}, and pgBackRest needs an archive of its own; leave it out")
        }))
    }
}

impl Method for Rest<'_> {
    fn lacks(&self) -> Option<String> {
        self.obstacle().unwrap_or_else(|error| Some(error.message))
    }

    /// The server archives its log into the repository from now on.
    fn prepare(&self, options: BackupOptions, into: &Path) -> Result<()> {
        let server = self.0.own_server()?;
        server.give(into)?;
        let mut words = vec![PROGRAM.to_owned()];
        words.extend(self.arguments(into));
        words.extend(self.compression(options));
        words.extend(self.of_data(server.data_directory())?);
        words.push("archive-push".to_owned());
        // A percent sign is a placeholder of the setting.
        let words = words.iter().map(|word| quoted(word).replace('%', "%%"));
        let command: Vec<String> = words.chain(["%p".to_owned()]).collect();
        self.0.restart_with(&[
            ("archive_mode", "on".to_owned()),
            ("archive_command", command.join(" ")),
        ])?;
        let mut create = self.tool(into)?;
        create.args(self.of_server()?).arg("stanza-create");
        run(create).map(drop)
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let mut command = self.tool(into)?;
        command
            .args(self.of_server()?)
            .args(["--type=full", "--start-fast", "--no-resume"])
            .arg("--no-expire-auto")
            .args(self.compression(options))
            .arg(format!("--process-max={}", options.channels))
            .args(buffer(options))
            .arg("backup");
        let ran = run(command)?;
        Ok(BackedUp {
            programs: ran.took,
            tool_took: took(&ran.said),
        })
    }

    /// Later log is archived at the latest when the server stops.
    fn name_point(&self, name: &str) -> Result<()> {
        let name = name.replace('\'', "''");
        let sql = format!("SELECT pg_create_restore_point('{name}')::text");
        self.0.texts(&sql).map(drop)
    }

    /// The server archives the rest of its log before it ends.
    fn finish(&self) -> Result<()> {
        let switched = self.0.texts("SELECT pg_switch_wal()::text");
        self.0.restart_with(&[])?;
        switched.map(drop)
    }

    fn verify(&self, from: &Path) -> Result<Option<String>> {
        let mut command = self.tool(from)?;
        command.args(["--output=text", "verify"]);
        Ok(match run(command) {
            Err(error) => Some(error.message),
            Ok(ran) => fault(&ran.said),
        })
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let RestoreOptions {
            options,
            point,
            from,
            into,
        } = *of;
        let server = self.0.own_server()?;
        let begun = Instant::now();
        let data = server.data_inside(into)?;
        server.hand_over(into)?;
        let mut command = self.tool(from)?;
        command
            .args(self.of_data(&data)?)
            .arg(format!("--process-max={}", options.channels))
            .args(buffer(options));
        if let Some(point) = point {
            command
                .args(["--type=name", "--target-action=promote"])
                .arg(format!("--target={point}"));
        }
        command.arg("restore");
        run(command)?;
        copy::sync(into).map_err(|e| failed("cannot synchronise the restored files", &e))?;
        let copy_took = begun.elapsed();
        Ok(Restored::since(
            begun,
            copy_took,
            self.0.open_restored(into)?,
        ))
    }
}

/// For the commands that copy files.
fn buffer(options: BackupOptions) -> Option<String> {
    let kib = options.variant.buffer_kib?;
    Some(format!("--buffer-size={kib}KiB"))
}

/// How long the backup took by the tool's own clock.
fn took(said: &str) -> Option<Duration> {
    let (_, rest) = said.split_once(TOOK)?;
    let (number, _) = rest.split_once("ms)")?;
    number.parse().ok().map(Duration::from_millis)
}

/// The fault that `verify` reports with exit status 0.
fn fault(said: &str) -> Option<String> {
    let is_fault = |line: &&str| {
        let counted = [
            "missing: ",
            "checksum invalid: ",
            "size invalid: ",
            "other: ",
        ];
        let numbers = counted.iter().flat_map(|word| line.split(word).skip(1));
        line.contains("status: error")
            || line.contains("ERROR:")
            || numbers
                .filter_map(|rest| rest.split([',', ' ']).next())
                .any(|number| number.parse::<u64>().is_ok_and(|number| number > 0))
    };
    let faults: Vec<&str> = said.lines().map(str::trim).filter(is_fault).collect();
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// A word of a command line of a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}
