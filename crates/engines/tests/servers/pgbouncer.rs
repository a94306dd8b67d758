//! PgBouncer in front of a throw-away server.

#![allow(dead_code, reason = "every test program uses its own part")]

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use local_server::LocalServer;

/// The end of its socket's name, where nothing else is said.
pub const PORT: u16 = 6432;

/// A pooler that goes with this value.
pub struct Pooler {
    process: Child,
    directory: tempfile::TempDir,
}

impl Pooler {
    /// One that listens on a socket of its own, with more lines for its section `[pgbouncer]`.
    pub fn before(server: &LocalServer, settings: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("log");
        let file = directory.path().join("pgbouncer.ini");
        let text = format!(
            "[databases]\npostgres = host={} dbname=postgres user={}\n[pgbouncer]\nlisten_addr =\n\
             unix_socket_dir = {}\nauth_type = any\nlogfile = {}\n{settings}\n",
            server.socket_directory().display(),
            server.superuser(),
            directory.path().display(),
            log.display(),
        );
        fs::write(&file, text).unwrap();
        // It refuses to be the superuser, and the server's socket is its owner's.
        let owner = fs::metadata(server.socket_directory()).unwrap();
        let (user, group) = (owner.uid(), owner.gid());
        let is_other = user != fs::metadata("/proc/self").unwrap().uid();
        let program = if is_other {
            reachable(&program(), directory.path())
        } else {
            program()
        };
        chown(directory.path(), Some(user), Some(group)).unwrap();
        let mut command = Command::new(program);
        command
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if is_other {
            command.uid(user).gid(group);
        }
        let process = command.spawn().expect("scripts/get-pgbouncer.sh gets it");
        let mut pooler = Self { process, directory };
        let until = Instant::now() + Duration::from_secs(60);
        let said = || fs::read_to_string(&log).unwrap_or_default();
        while !said().contains("process up") {
            let ended = pooler.process.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < until,
                "{ended:?} {}",
                said()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        pooler
    }

    pub fn socket_directory(&self) -> &Path {
        self.directory.path()
    }

    /// URL of the server's first database through it.
    pub fn url(&self, settings: &str) -> String {
        let directory = self.directory.path().display().to_string();
        let host = directory.replace('/', "%2F");
        format!("postgres://dbdyno@{host}:{PORT}/postgres{settings}")
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program where another user can run it: nobody else looks into root's cache.
fn reachable(program: &Path, directory: &Path) -> PathBuf {
    let unpacked = program.ancestors().nth(2).unwrap();
    if !unpacked.ends_with("dbdyno/pgbouncer") {
        return program.to_owned();
    }
    let copied = Command::new("cp")
        .arg("-R")
        .args([unpacked, directory])
        .status();
    assert!(copied.unwrap().success());
    directory.join("pgbouncer/bin/pgbouncer")
}

/// `$PGBOUNCER`, or where `scripts/get-pgbouncer.sh` and packages put it.
fn program() -> PathBuf {
    if let Some(named) = std::env::var_os("PGBOUNCER") {
        return named.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let unpacked = cache
        .or(home)
        .map(|c| c.join("dbdyno/pgbouncer/bin/pgbouncer"));
    let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].map(PathBuf::from);
    let found = places
        .into_iter()
        .chain(unpacked)
        .find(|path| path.is_file());
    found.expect("scripts/get-pgbouncer.sh gets PgBouncer")
}
