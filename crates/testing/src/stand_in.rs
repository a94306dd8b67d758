//! The stand-in for Oracle: a server that speaks its wire protocol in front of PostgreSQL. What passes on it has run on that protocol,
//! and never on Oracle.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Shared, lacking};

static SERVER: Shared<Arc<StandIn>> = Shared::new();

/// A server that goes with the tests of a program.
pub struct StandIn {
    process: Child,
    address: String,
    /// Connection string of the PostgreSQL that has the data.
    pub postgres: String,
    users: AtomicU32,
}

impl StandIn {
    /// The URL of a user, whose schema is no other test's.
    pub fn new_url(&self) -> String {
        let number = self.users.fetch_add(1, Ordering::Relaxed);
        self.url_of(&format!("test{number}"))
    }

    /// The URL of a user by name; its password is "secret".
    pub fn url_of(&self, user: &str) -> String {
        format!("oracle://{user}:secret@{}", self.address)
    }
}

/// The server of this program's tests. Where it is missing the calling test is skipped, with the reason that
/// `scripts/get-oracle-stand-in.sh` has found.
///
/// # Panics
/// Where it is missing, or does not start.
pub fn oracle_stand_in() -> Arc<StandIn> {
    SERVER.get("stand-in", || Arc::new(start()))
}

fn start() -> StandIn {
    if let Some(why) = missing() {
        lacking(&format!("no stand-in for Oracle: {why}"));
    }
    let mut process = Command::new("python3")
        .arg(script())
        .arg("--until-eof")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("scripts/get-oracle-stand-in.sh has found python3");
    let output = process.stdout.take().expect("the output is piped");
    let mut lines = BufReader::new(output).lines();
    let mut line = || lines.next().and_then(Result::ok).unwrap_or_default();
    let (url, postgres) = (line(), line());
    let Some((_, address)) = url.split_once('@') else {
        panic!(
            "the stand-in for Oracle did not start: {:?}",
            process.wait()
        );
    };
    StandIn {
        address: address.to_owned(),
        process,
        postgres,
        users: AtomicU32::new(0),
    }
}

/// The program that starts it, of the clone in whose folders the tests run.
fn script() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let mut scripts = here
        .ancestors()
        .map(|folder| folder.join("scripts/oracle-stand-in.py"));
    scripts
        .find(|script| script.exists())
        .expect("the tests run in a clone")
}

/// Why there is none; `None` where it was found to work.
fn missing() -> Option<String> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    let folder = cache.or_else(home)?.join("dbdyno/oracle-stand-in");
    if let Ok(why) = std::fs::read_to_string(folder.join("missing")) {
        return Some(why.trim().to_owned());
    }
    let mut found = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let works = found.any(|entry| entry.path().join("works").exists());
    (!works).then(|| "run scripts/get-oracle-stand-in.sh".into())
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // The end of its input ends it, with the PostgreSQL that it has started.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
