//! Shared by the tests of local servers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::TargetError;
use local_server::{LocalServer, ServerKind, ServerSpec, Surroundings};

pub const KINDS: [&dyn ServerKind; 3] = [
    &postgres::local::PostgresServer,
    &mysql::local::MARIADB,
    &mysql::local::MYSQL,
];

/// All kinds, for tests that hold for every one. MySQL cannot be had everywhere; its own tests are skipped then.
pub fn kinds() -> impl Iterator<Item = &'static dyn ServerKind> {
    let found = KINDS[2].find(&Surroundings::of_process());
    let is_there = found.is_ok_and(|found| !found.is_empty());
    KINDS.into_iter().take(2 + usize::from(is_there))
}

/// A parent of servers' directories of the test's own, on disk, reachable by the servers' users.
pub struct Parent(pub tempfile::TempDir);

impl Parent {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("dbdyno-test-")
            .tempdir_in("/var/tmp")
            .unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o711)).unwrap();
        Self(dir)
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Specification of a URL's part after the scheme, below this parent.
    pub fn spec(&self, kind: &dyn ServerKind, rest: &str) -> Result<ServerSpec, TargetError> {
        let url = engines::parse(&format!("test+local:{rest}")).unwrap();
        Ok(ServerSpec {
            parent_directory: Some(self.path().to_owned()),
            ..ServerSpec::from_url(kind, &url)?
        })
    }

    pub fn start(
        &self,
        kind: &'static dyn ServerKind,
        rest: &str,
    ) -> Result<LocalServer, TargetError> {
        LocalServer::start(kind, &self.spec(kind, rest)?)
    }

    /// The message of a start that must fail.
    pub fn refusal(&self, kind: &'static dyn ServerKind, rest: &str) -> String {
        match self.start(kind, rest) {
            Ok(_) => panic!("{rest} was not refused"),
            Err(error) => error.message,
        }
    }

    /// Directories of servers that are there.
    pub fn runs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).unwrap();
        let paths = entries.map(|e| e.unwrap().path());
        paths.filter(|p| p.join(".dbdyno-owner").exists()).collect()
    }
}

pub fn is_running(pid: u32) -> bool {
    // A zombie has ended.
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

/// User of the operating system that a process runs as.
pub fn uid_of(pid: u32) -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(format!("/proc/{pid}")).unwrap().uid()
}

/// Asks the server with its own client, which is installed with it.
pub fn ask(server: &LocalServer, sql: &str) -> String {
    let output = client(server, sql).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

pub fn answers(server: &LocalServer, sql: &str) -> bool {
    client(server, sql).output().unwrap().status.success()
}

fn client(server: &LocalServer, sql: &str) -> Command {
    let psql = server.program().with_file_name("psql");
    if psql.exists() {
        let mut command = Command::new(psql);
        command.arg("-h").arg(server.socket_directory());
        command.args(["-U", server.superuser(), "-d", "postgres", "-At", "-c", sql]);
        return command;
    }
    let tree = server.program().ancestors().nth(2).unwrap();
    let name = match server.kind().about().name {
        "mariadb" => "bin/mariadb",
        _ => "bin/mysql",
    };
    let mut command = Command::new(tree.join(name));
    command.args(["--no-defaults", "-N", "-B", "-u", server.superuser()]);
    command
        .arg("-S")
        .arg(server.socket_path())
        .args(["-e", sql]);
    command
}

pub fn is_root() -> bool {
    // SAFETY: the call only reads the process's credentials.
    unsafe { libc::geteuid() == 0 }
}
