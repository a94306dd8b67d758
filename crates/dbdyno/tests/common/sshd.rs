//! A real ssh server on this machine with its own keys and configuration, run by an ordinary user.

use std::fs::{self, Permissions};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A user whose shell permits a login.
struct User {
    name: String,
    uid: u32,
    gid: u32,
}

/// The server; stopped when dropped.
pub struct Sshd {
    child: Child,
    directory: tempfile::TempDir,
    port: u16,
    user: User,
}

impl Sshd {
    pub fn start() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("dbdyno-sshd-")
            .tempdir()
            .unwrap();
        let user = user();
        let path = directory.path();
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        for key in ["host_key", "user_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(path.join(key))
                .status();
            assert!(made.unwrap().success(), "run scripts/get-sshd.sh");
        }
        fs::copy(path.join("user_key.pub"), path.join("authorized")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let at = |name: &str| path.join(name).display().to_string();
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\n\
             PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\n\
             KbdInteractiveAuthentication no\nLogLevel ERROR\n",
            at("host_key"),
            at("authorized"),
        );
        fs::write(path.join("sshd_config"), settings).unwrap();
        let client = format!(
            "Host *\nIdentityFile \"{}\"\nIdentitiesOnly yes\nUserKnownHostsFile \"{}\"\n\
             GlobalKnownHostsFile /dev/null\nStrictHostKeyChecking accept-new\nLogLevel ERROR\n",
            at("user_key"),
            at("known"),
        );
        fs::write(path.join("ssh_config"), client).unwrap();
        let wrapper = format!("#!/bin/sh\nexec ssh -F \"{}\" \"$@\"\n", at("ssh_config"));
        fs::write(path.join("ssh"), wrapper).unwrap();
        fs::set_permissions(path.join("ssh"), Permissions::from_mode(0o755)).unwrap();
        for name in ["host_key", "authorized"] {
            chown(path.join(name), Some(user.uid), Some(user.gid)).unwrap();
        }
        let mut sshd = Self {
            child: spawn(path, &user),
            directory,
            port,
            user,
        };
        sshd.wait();
        sshd
    }

    fn wait(&mut self) {
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "sshd ended: {ended:?}");
        }
        panic!("sshd does not listen");
    }

    pub fn url(&self) -> String {
        format!("ssh://{}@127.0.0.1:{}", self.user.name, self.port)
    }

    /// The client with the keys, for `$DBDYNO_SSH`.
    pub fn client(&self) -> PathBuf {
        self.directory.path().join("ssh")
    }

    /// Kills the server's processes of open connections, like a network failure.
    pub fn cut(&self) -> usize {
        let ended = descendants(self.child.id());
        for pid in &ended {
            // SAFETY: the process descends from the server that this test started.
            unsafe { libc::kill(*pid as libc::pid_t, libc::SIGKILL) };
        }
        ended.len()
    }

    /// Stops the server, so that further logins fail.
    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.cut();
        self.stop();
    }
}

fn descendants(parent: u32) -> Vec<u32> {
    let mut of: Vec<(u32, u32)> = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        let above = after
            .split_whitespace()
            .nth(1)
            .and_then(|word| word.parse().ok());
        of.extend(pid.zip(above));
    }
    let mut found = vec![parent];
    let mut at = 0;
    while at < found.len() {
        let above = found[at];
        found.extend(of.iter().filter(|(_, p)| *p == above).map(|(pid, _)| *pid));
        at += 1;
    }
    found.split_off(1)
}

/// Starts the program of the system or of `scripts/get-sshd.sh`.
fn spawn(directory: &Path, user: &User) -> Child {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cache"));
    let unpacked = cache.join("dbdyno/sshd");
    let system = Path::new("/usr/sbin/sshd");
    let mut command = if system.exists() {
        Command::new(system)
    } else {
        assert!(
            unpacked.join("usr/sbin/sshd").exists(),
            "the tests need an ssh server: run scripts/get-sshd.sh"
        );
        // The ordinary user cannot run it from a cache below /root.
        let program = directory.join("sshd");
        // Another process copies it: a program that this process has open for writing, or that a child of another test has inherited open,
        // cannot be started.
        let copied = Command::new("cp")
            .arg(unpacked.join("usr/sbin/sshd"))
            .arg(&program)
            .status();
        assert!(copied.unwrap().success());
        let libraries = fs::read_dir(unpacked.join("usr/lib")).unwrap().flatten();
        for library in libraries.filter_map(|entry| fs::read_dir(entry.path()).ok()) {
            for file in library
                .flatten()
                .filter(|f| f.file_name().to_string_lossy().contains(".so"))
            {
                fs::copy(file.path(), directory.join(file.file_name())).unwrap();
            }
        }
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", directory);
        command
    };
    // SAFETY: the call only reads the process's credentials.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(user.uid).gid(user.gid);
    }
    command
        .args(["-D", "-e", "-f"])
        .arg(directory.join("sshd_config"))
        .stdin(Stdio::null())
        .stderr(fs::File::create(directory.join("log")).unwrap())
        .spawn()
        .unwrap()
}

/// This user, or for root the first other one with a shell.
fn user() -> User {
    // SAFETY: the call only reads the process's credentials.
    let own = unsafe { libc::geteuid() };
    let text = fs::read_to_string("/etc/passwd").unwrap();
    let users = text.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let shell = fields.get(6)?;
        let uid = fields[2].parse().ok()?;
        let fits = match own {
            0 => uid != 0 && uid < 65_000 && shell.ends_with("/bash") && Path::new(shell).exists(),
            own => uid == own,
        };
        fits.then(|| User {
            name: fields[0].to_owned(),
            uid,
            gid: fields[3].parse().unwrap_or(uid),
        })
    });
    let mut users: Vec<User> = users.collect();
    assert!(
        !users.is_empty(),
        "no ordinary user of this machine has a shell to log on with"
    );
    users.remove(0)
}
