//! A disk that fills: a small tmpfs, or a limit on file sizes, which gives the same errors as a quota.

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
    /// A tmpfs, or a limit if mounting is not permitted.
    pub fn small(workspace: &Workspace, bytes: u64) -> Self {
        let mut disk = Self::limited(workspace, bytes);
        disk.mounted = disk.mount(&format!("size={bytes}"));
        if !disk.mounted {
            println!("no tmpfs may be mounted here: a limit on the size of files stands for it");
        }
        disk
    }

    /// A file system on a block device that bypasses the page cache and passes writes on to the device below its file; an error if this
    /// machine has none.
    pub fn on_a_device(workspace: &Workspace, bytes: u64) -> Result<Self, String> {
        let image = workspace.path("disk.image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(bytes).unwrap();
        let mut disk = Self::limited(workspace, bytes);
        let mut attach = Command::new("losetup");
        attach.args(["--find", "--show", "--direct-io=on"]);
        let device = output_of(attach.arg(&image))?;
        let device = device.trim();
        // Lazy initialisation would write at any later time.
        let options = "lazy_itable_init=0,lazy_journal_init=0";
        let mut make = Command::new("mkfs.ext4");
        make.args(["-q", "-F", "-m", "0", "-E", options, device]);
        let mut mount = Command::new("mount");
        mount.arg(device).arg(&disk.directory);
        let made = output_of(&mut make).and_then(|_| output_of(&mut mount));
        // The kernel keeps the device until the unmount.
        let detached = output_of(Command::new("losetup").args(["-d", device]));
        made.and(detached)?;
        disk.mounted = true;
        Ok(disk)
    }

    /// True for a file system, false for a limit.
    pub fn is_mounted(&self) -> bool {
        self.mounted
    }

    /// A directory with a limit on the size of each file.
    pub fn limited(workspace: &Workspace, bytes: u64) -> Self {
        let directory = workspace.path("disk");
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
    pub fn dbdyno(&self, workspace: &Workspace, arguments: &[&str]) -> Ended {
        let mut command = workspace.command(arguments);
        if !self.mounted {
            limit_file_size(&mut command, self.bytes);
        }
        Ended::of(command.output().unwrap())
    }

    #[track_caller]
    pub fn ends(&self, status: i32, workspace: &Workspace, arguments: &[&str]) -> Ended {
        let ended = self.dbdyno(workspace, arguments);
        assert_eq!(ended.status, status, "{}", ended.stderr);
        ended
    }

    /// Enlarges the disk; a limit applies only to [`Disk::dbdyno`].
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
            // The unmount is lazy, because a process of a failed test may still have a file open.
            let done = Command::new("umount")
                .arg("-l")
                .arg(&self.directory)
                .status();
            assert!(done.is_ok_and(|status| status.success()) || std::thread::panicking());
        }
    }
}

fn output_of(command: &mut Command) -> Result<String, String> {
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
