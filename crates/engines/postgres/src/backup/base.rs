//! `pg_basebackup`: the server's own programs verify the backup, and another local server restores it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::super::target::PostgresTarget;
use super::tools::statement;
use engine::backup::run;
use engine::backup_adapter::Adapter;
use engine::failed;
use engine::file_snapshot::copy;
use engine::{BackedUp, BackupMethod, BackupOptions, Method, RestoreOptions, Restored, Result};

/// How the files are packed.
struct Packing {
    /// Ending of the archives' names; empty for plain files.
    end: &'static str,
    /// The arguments, where `{level}` stands for the level.
    arguments: &'static [&'static str],
    usual_level: u32,
    unpack: &'static str,
    /// The first version that can, and what it has to be built with.
    needs: Option<(u32, &'static str)>,
}

const FILES: Packing = Packing {
    end: "",
    arguments: &["--format=plain"],
    usual_level: 0,
    unpack: "",
    needs: None,
};
const ARCHIVE: Packing = Packing {
    end: ".tar",
    arguments: &["--format=tar"],
    unpack: "--no-auto-compress",
    ..FILES
};
const GZIP: Packing = Packing {
    end: ".tar.gz",
    arguments: &["--format=tar", "--gzip", "--compress={level}"],
    usual_level: 1,
    unpack: "--gzip",
    needs: None,
};
const LZ4: Packing = Packing {
    end: ".tar.lz4",
    arguments: &["--format=tar", "--compress=server-lz4:level={level}"],
    usual_level: 1,
    unpack: "--use-compress-program=lz4",
    needs: Some((15, "--with-lz4")),
};
const ZSTD: Packing = Packing {
    end: ".tar.zst",
    arguments: &["--format=tar", "--compress=server-zstd:level={level}"],
    usual_level: 1,
    unpack: "--use-compress-program=zstd",
    needs: Some((15, "--with-zstd")),
};

const WITHOUT_LEVELS: BackupMethod = BackupMethod {
    name: "basebackup-plain",
    how: "pg_basebackup: plain files, the WAL streamed in parallel, synchronised",
    has_rate: true,
    ..BackupMethod::SIMPLE
};
pub(super) const PLAIN: Adapter<PostgresTarget> = Adapter {
    about: WITHOUT_LEVELS,
    on: |target| Box::new(Base(target, &FILES)),
};
pub(super) const TAR: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "basebackup-tar",
        how: "pg_basebackup: tar, the WAL streamed in parallel, synchronised",
        ..WITHOUT_LEVELS
    },
    on: |target| Box::new(Base(target, &ARCHIVE)),
};
pub(super) const TAR_GZIP: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "basebackup-tar-gzip",
        how: "pg_basebackup: tar compressed by the client (gzip, level 1 if not said), the WAL streamed in parallel, synchronised",
        levels: Some((1, 9)),
        ..WITHOUT_LEVELS
    },
    on: |target| Box::new(Base(target, &GZIP)),
};
pub(super) const SERVER_LZ4: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "basebackup-server-lz4",
        how: "pg_basebackup: tar compressed by the server (lz4, level 1 if not said), the WAL streamed in parallel, synchronised",
        levels: Some((1, 12)),
        ..WITHOUT_LEVELS
    },
    on: |target| Box::new(Base(target, &LZ4)),
};
pub(super) const SERVER_ZSTD: Adapter<PostgresTarget> = Adapter {
    about: BackupMethod {
        name: "basebackup-server-zstd",
        how: "pg_basebackup: tar compressed by the server (zstd, level 1 if not said), the WAL streamed in parallel, synchronised",
        levels: Some((1, 22)),
        ..WITHOUT_LEVELS
    },
    on: |target| Box::new(Base(target, &ZSTD)),
};

struct Base<'t>(&'t PostgresTarget, &'static Packing);

impl Method for Base<'_> {
    fn lacks(&self) -> Option<String> {
        let (version, option) = self.1.needs?;
        let major = self.0.major();
        if major < version {
            return Some(format!(
                "PostgreSQL compresses backups in the server from version {version} on, and this is {major}; use such a server \
                 (version=… in the URL)"
            ));
        }
        if let Some(lacking) = not_built_with(self.0, option) {
            return Some(lacking);
        }
        let unpacks = self.1.unpack.rsplit('=').next()?;
        let is_there = Path::new("/usr/bin").join(unpacks).is_file();
        (!is_there).then(|| {
            format!("the program {unpacks} is missing, which unpacks the backup; on Debian: apt-get install {unpacks}")
        })
    }

    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp> {
        let mut command = base_backup(self.0, options, into)?;
        let level = options
            .variant
            .level
            .unwrap_or(self.1.usual_level)
            .to_string();
        let arguments = self.1.arguments.iter();
        command.args(arguments.map(|argument| argument.replace("{level}", &level)));
        Ok(run(command)?.took.into())
    }

    /// Files are verified where they lie; archives where they were unpacked, before a server sees them.
    fn verify(&self, from: &Path) -> Result<Option<String>> {
        match self.1.end {
            "" => verify_files(self.0, from, &from.join(MANIFEST)),
            _ => Ok(None),
        }
    }

    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored> {
        let RestoreOptions { from, into, .. } = *of;
        let server = self.0.own_server()?;
        let begun = Instant::now();
        let data = server.data_inside(into)?;
        match self.1.end {
            "" => copy_files(from, &data)?,
            end => {
                unpack(&from.join(format!("base{end}")), self.1.unpack, &data)?;
                let log = data.join("pg_wal");
                // The server compresses what it reads of its files; the log comes beside.
                match from.join(format!("pg_wal{end}")) {
                    packed if packed.is_file() => unpack(&packed, self.1.unpack, &log)?,
                    _ => unpack(&from.join("pg_wal.tar"), ARCHIVE.unpack, &log)?,
                }
            }
        }
        let manifest = (!self.1.end.is_empty()).then(|| from.join(MANIFEST));
        open(self.0, into, &data, manifest.as_deref(), begun)
    }
}

/// Opens restored files, verified before a server sees them where there is a `manifest` of them.
pub(super) fn open(
    target: &PostgresTarget,
    into: &Path,
    data: &Path,
    manifest: Option<&Path>,
    begun: Instant,
) -> Result<Restored> {
    target.own_server()?.hand_over(into)?;
    copy::sync(into).map_err(|e| failed("cannot synchronise the restored files", &e))?;
    let copy_took = begun.elapsed();
    if let Some(manifest) = manifest
        && let Some(wrong) = verify_files(target, data, manifest)?
    {
        return Err(statement(&wrong));
    }
    let starting = Instant::now();
    Ok(Restored {
        target: target.open_restored(into)?,
        copy_took,
        replay_took: starting.elapsed(),
    })
}

/// PostgreSQL's own list of the files of a backup.
pub(super) const MANIFEST: &str = "backup_manifest";

/// The complaint about a server that was built without something.
pub(super) fn not_built_with(target: &PostgresTarget, option: &str) -> Option<String> {
    let built = target.told("SELECT setting FROM pg_config WHERE name = 'CONFIGURE'");
    built.filter(|built| !built.contains(option)).map(|_| {
        format!(
            "this PostgreSQL {} was built without {option}; use one that has it, such as Debian's (version=… in the URL)",
            target.major()
        )
    })
}

/// Holds the tool to a rate, which it takes in units of 1024 bytes.
pub(super) fn limit_rate(command: &mut Command, options: BackupOptions) {
    let rate = options
        .max_mb_per_s
        .map(|mb| u64::from(mb) * 1_000_000 / 1024);
    command.args(rate.map(|rate| format!("--max-rate={rate}")));
}

/// The tool with the options of all base backups.
pub(super) fn base_backup(
    target: &PostgresTarget,
    options: BackupOptions,
    into: &Path,
) -> Result<Command> {
    let mut command = target.program("pg_basebackup")?;
    command.arg("--pgdata").arg(into).args([
        "--checkpoint=fast",
        "--wal-method=stream",
        "--no-password",
    ]);
    limit_rate(&mut command, options);
    Ok(command)
}

pub(super) fn verify_files(
    target: &PostgresTarget,
    files: &Path,
    manifest: &Path,
) -> Result<Option<String>> {
    let mut command = target.program("pg_verifybackup")?;
    command.arg("--manifest-path").arg(manifest).arg(files);
    Ok(run(command).err().map(|error| error.message))
}

fn copy_files(from: &Path, data: &Path) -> Result<()> {
    let failed = |e| failed(&format!("cannot copy {}", from.display()), &e);
    for entry in fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        copy::copy(&entry.path(), &data.join(entry.file_name())).map_err(failed)?;
    }
    Ok(())
}

fn unpack(archive: &Path, how: &str, into: &Path) -> Result<()> {
    let mut command = Command::new("tar");
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .args(["--extract", how, "--file"])
        .arg(archive)
        .arg("--directory")
        .arg(into);
    run(command).map(|_| ())
}
