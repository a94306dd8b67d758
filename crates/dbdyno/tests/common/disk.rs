//! A disk that fills: a small tmpfs, or a limit on the size of files, which answers as a quota does.

#![allow(dead_code, reason = "every test file uses its own part")]

use std::path::PathBuf;
use std::process::Command;

use crate::common::{Ended, Workspace};

pub struct Disk {
    directory: PathBuf,
    bytes: u64,
    mounted: bool,
}

impl Disk {
    /// A tmpfs; where none may be mounted, a limit stands for it.
    pub fn small(place: &Workspace, bytes: u64) -> Self {
        let mut disk = Self::limited(place, bytes);
        disk.mounted = disk.mount(&format!("size={bytes}"));
        if !disk.mounted {
            println!("no tmpfs may be mounted here: a limit on the size of files stands for it");
        }
        disk
    }

    /// A file system on a block device, which takes writes past the page cache and hands each on at once to the device under
    /// its file; or why this machine has none.
    pub fn on_a_device(place: &Workspace, bytes: u64) -> Result<Self, String> {
        let image = place.path("disk.image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(bytes).unwrap();
        let mut disk = Self::limited(place, bytes);
        let mut attach = Command::new("losetup");
        attach.args(["--find", "--show", "--direct-io=on"]);
        let device = told(attach.arg(&image))?;
        let device = device.trim();
        // Nothing is written later that nobody asked for.
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        let mut make = Command::new("mkfs.ext4");
        make.args(["-q", "-F", "-m", "0", "-E", options, device]);
        let mut mount = Command::new("mount");
        mount.arg(device).arg(&disk.directory);
        let made = told(&mut make).and_then(|_| told(&mut mount));
        // While it is mounted the kernel keeps the device, and drops it afterwards.
        let detached = told(Command::new("losetup").args(["-d", device]));
        made.and(detached)?;
        disk.mounted = true;
        Ok(disk)
    }

    /// Whether it is a disk, and no limit in place of one.
    pub fn is_mounted(&self) -> bool {
        self.mounted
    }

    /// A directory in which no file may become larger.
    pub fn limited(place: &Workspace, bytes: u64) -> Self {
        let directory = place.path("disk");
        std::fs::create_dir(&directory).unwrap();
        Self {
            directory,
            bytes,
            mounted: false,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Runs the command while the disk is small.
    pub fn dbdyno(&self, place: &Workspace, arguments: &[&str]) -> Ended {
        let mut command = place.command(arguments);
        if !self.mounted {
            limit_file_size(&mut command, self.bytes);
        }
        Ended::of(command.output().unwrap())
    }

    /// Makes room; a limit holds for [`Disk::dbdyno`] alone.
    pub fn grow(&self, bytes: u64) {
        if self.mounted {
            assert!(self.mount(&format!("remount,size={bytes}")));
        }
    }

    fn mount(&self, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]);
        let done = mount.arg(&self.directory).output();
        done.is_ok_and(|output| output.status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.mounted {
            // Lazily, because a process that a failed test left may still have a file open.
            let done = Command::new("umount")
                .arg("-l")
                .arg(&self.directory)
                .status();
            assert!(done.is_ok_and(|status| status.success()) || std::thread::panicking());
        }
    }
}

/// What a command prints, or why it failed.
fn told(command: &mut Command) -> Result<String, String> {
    let done = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        ))
    }
}

fn limit_file_size(command: &mut Command, bytes: u64) {
    use std::os::unix::process::CommandExt;
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: setrlimit is async-signal-safe and reads a struct that the closure owns.
    unsafe {
        command.pre_exec(move || match libc::setrlimit(libc::RLIMIT_FSIZE, &limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
}
