//! Programs that attach, build and mount.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use super::definition::{Definition, FileSystem};
use super::error::LayoutError;

const PATH: &str = "/usr/sbin:/usr/bin:/sbin:/bin";

/// Reports missing programs before anything is created.
pub(super) fn check(definition: &Definition) -> Result<(), LayoutError> {
    let mut needed = vec![
        ("mount", "mount"),
        ("umount", "mount"),
        ("losetup", "mount"),
        ("blkid", "util-linux"),
        ("wipefs", "util-linux"),
    ];
    let file_systems = definition.volumes.iter().map(|volume| volume.file_system);
    needed.extend(file_systems.filter_map(builder));
    let is_missing = |program: &&str| {
        let mut folders = PATH.split(':').map(Path::new);
        !folders.any(|folder| folder.join(program).is_file())
    };
    match needed.iter().find(|(program, _)| is_missing(program)) {
        Some(&(program, package)) => Err(LayoutError::Missing { program, package }),
        None => Ok(()),
    }
}

/// Program that builds a file system, and its package.
pub(super) const fn builder(of: FileSystem) -> Option<(&'static str, &'static str)> {
    match of {
        FileSystem::Ext4 => Some(("mkfs.ext4", "e2fsprogs")),
        FileSystem::Xfs => Some(("mkfs.xfs", "xfsprogs")),
        FileSystem::Btrfs => Some(("mkfs.btrfs", "btrfs-progs")),
        FileSystem::Raw => None,
    }
}

pub(super) fn run(program: &str, arguments: &[impl AsRef<OsStr>]) -> Result<String, LayoutError> {
    let failed = |said: String| LayoutError::Failed {
        program: program.to_owned(),
        said,
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .env("PATH", PATH)
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    // The program ends with this process, because nobody would remove its results.
    host::die_with_parent(&mut command);
    let output = command
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // Some programs print all their options after the error.
    let lines = said.lines().map(str::trim);
    let error_lines = lines.take_while(|line| !line.starts_with("Usage:"));
    let said: Vec<&str> = error_lines.filter(|line| !line.is_empty()).collect();
    Err(failed(if said.is_empty() {
        output.status.to_string()
    } else {
        said.join("; ")
    }))
}
