//! Servers of another process, which is then killed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use local_server::ServerKind;

use super::blank::cache_without_blanks;
use super::common::*;

/// Ends at the latest after this, in place of a test that hangs.
const TIME_MAX: Duration = Duration::from_secs(60);

/// The example `local_server`, running.
struct Owner {
    process: Child,
    server: u32,
    run: PathBuf,
}

impl Owner {
    fn start(parent: &Parent, kind: &dyn ServerKind, rest: &str) -> Self {
        let mut command = Command::new(example());
        Self::spawn(&mut command, parent, kind, rest).unwrap()
    }

    fn spawn(
        command: &mut Command,
        parent: &Parent,
        kind: &dyn ServerKind,
        rest: &str,
    ) -> Result<Self, String> {
        let mut process = command
            .args([kind.about().name, rest])
            .env("DBDYNO_SERVER_DIR", parent.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [server, socket, _data] = words[..] else {
            let output = process.wait_with_output().unwrap();
            return Err(String::from_utf8(output.stderr).unwrap());
        };
        Ok(Self {
            process,
            server: server.parse().unwrap(),
            run: Path::new(socket).ancestors().nth(2).unwrap().to_owned(),
        })
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Values of the notes called `key`.
    fn notes(&self, key: &str) -> Vec<String> {
        let text = fs::read_to_string(self.run.join(".dbdyno-owner")).unwrap();
        text.lines()
            .filter_map(|line| Some(line.strip_prefix(key)?.strip_prefix(' ')?.to_owned()))
            .collect()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Built together with the tests.
pub fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test
        .ancestors()
        .nth(2)
        .unwrap()
        .join("examples/local_server");
    assert!(
        path.exists(),
        "there is no {}: build it with cargo build --release -p engines --examples",
        path.display()
    );
    path
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < TIME_MAX, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// True if the kernel still has the segment that a note names.
fn has_segment(note: &str) -> bool {
    let id = note.split(' ').next().unwrap();
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    table
        .lines()
        .any(|line| line.split_whitespace().nth(1) == Some(id))
}

#[test]
fn the_server_dies_with_its_owner_and_the_next_start_cleans_up() {
    for kind in kinds() {
        let parent = Parent::new();
        let rest = if is_root() { "?memory=1GiB" } else { "" };
        let mut owner = Owner::start(&parent, kind, rest);
        let (segments, shared) = (owner.notes("segment"), owner.notes("shared"));
        let groups = owner.notes("group");
        assert_eq!(groups.len(), usize::from(is_root()));
        assert!(groups.iter().all(|group| Path::new(group).is_dir()));

        owner.kill();
        wait_until("the server ends", || !is_running(owner.server));
        assert!(owner.run.exists(), "nobody was there to remove it");

        let server = parent.start(kind, "").unwrap();
        assert_eq!(ask(&server, "SELECT 1"), "1");
        assert_eq!(parent.runs().len(), 1, "only the new one");
        assert!(!owner.run.exists());
        assert!(groups.iter().all(|group| !Path::new(group).exists()));
        assert!(!segments.iter().any(|segment| has_segment(segment)));
        assert!(!shared.iter().any(|file| Path::new(file).exists()));
    }
}

/// Processes with their working directory below `place`.
fn working_below(place: &Path) -> Vec<PathBuf> {
    let links = fs::read_dir("/proc").unwrap().flatten();
    let cwds = links.filter_map(|entry| fs::read_link(entry.path().join("cwd")).ok());
    cwds.filter(|cwd| cwd.starts_with(place)).collect()
}

/// Processes with an open file below `place`.
fn holders_below(place: &Path) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let open = processes.filter_map(|entry| fs::read_dir(entry.path().join("fd")).ok());
    open.filter_map(|files| {
        let mut files = files
            .flatten()
            .filter_map(|file| fs::read_link(file.path()).ok());
        files.find(|file| file.starts_with(place))
    })
    .count()
}

#[test]
fn an_owner_killed_while_it_makes_a_server_leaves_nothing_either() {
    for kind in kinds() {
        // A server is initialised then, and not copied.
        let (parent, cache) = (Parent::new(), cache_without_blanks());
        let given = parent.path().join("given");
        for (delay_ms, rest) in [
            (50, ""),
            (400, ""),
            (800, ""),
            (500, given.to_str().unwrap()),
        ] {
            let mut process = Command::new(example())
                .args([kind.about().name, rest])
                .env("DBDYNO_SERVER_DIR", parent.path())
                .env("XDG_CACHE_HOME", cache.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(delay_ms));
            process.kill().unwrap();
            process.wait().unwrap();
        }
        // A program that they were starting has their locks until it runs, or ends with them: on a busy machine for longer than the
        // next start waits for.
        wait_until("nobody has a file of theirs", || {
            holders_below(parent.path()) == 0
        });
        let server = parent.start(kind, given.to_str().unwrap()).unwrap();
        assert_eq!(ask(&server, "SELECT 1"), "1");
        assert_eq!(parent.runs().len(), 1, "only the new one");
        drop(server);
        assert_eq!(working_below(parent.path()), Vec::<PathBuf>::new());
        assert!(parent.runs().is_empty());
    }
}

/// Files of shared memory that processes working below `place` have mapped.
fn shared_memory_below(place: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        if fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(place)) {
            let maps = fs::read_to_string(entry.path().join("maps")).unwrap_or_default();
            let paths = maps
                .lines()
                .filter_map(|line| Some(&line[line.find("/dev/shm/")?..]));
            files.extend(paths.map(PathBuf::from));
        }
    }
    files
}

#[test]
fn shared_memory_of_a_killed_server_is_removed() {
    let kind = KINDS[0];
    let parent = Parent::new();
    let mut owner = Owner::start(&parent, kind, "");
    let (segments, shared) = (owner.notes("segment"), owner.notes("shared"));
    assert!(segments.iter().all(|segment| has_segment(segment)));
    assert_eq!((segments.len(), shared.len()), (1, 1));
    // Beside what was noted there are segments that its sessions made, at the latest now.
    let mapped = || shared_memory_below(&owner.run);
    wait_until("a session makes a segment", || mapped().len() > 1);
    let mapped = mapped();
    // Killed, it removes nothing itself.
    // SAFETY: the call touches no memory; the process is a server of this test.
    assert_eq!(unsafe { libc::kill(owner.server as i32, libc::SIGKILL) }, 0);
    owner.kill();
    wait_until("the server ends", || !is_running(owner.server));

    drop(parent.start(kind, "").unwrap());
    assert!(!segments.iter().any(|segment| has_segment(segment)));
    let left: Vec<&PathBuf> = mapped.iter().filter(|file| file.exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(parent.runs().is_empty());
}

#[test]
fn a_server_whose_owner_lives_is_left_alone() {
    for kind in kinds() {
        let parent = Parent::new();
        let mut owner = Owner::start(&parent, kind, "");
        drop(parent.start(kind, "").unwrap());
        assert!(is_running(owner.server));
        assert_eq!(parent.runs(), [owner.run.clone()]);
        // The end of its input lets it end in order.
        drop(owner.process.stdin.take());
        assert!(owner.process.wait().unwrap().success());
        assert!(!is_running(owner.server));
        assert!(parent.runs().is_empty());
    }
}

#[test]
fn data_that_was_given_survives_a_killed_owner() {
    for kind in kinds() {
        let parent = Parent::new();
        let given = parent.path().join("given");
        let rest = given.to_str().unwrap();
        let server = parent.start(kind, rest).unwrap();
        ask(
            &server,
            "CREATE SCHEMA s; CREATE TABLE s.t (a INT); INSERT INTO s.t VALUES (7)",
        );
        drop(server);
        let mut owner = Owner::start(&parent, kind, rest);
        owner.kill();
        // At once: the next start itself makes sure that the old server is gone.
        let server = parent.start(kind, rest).unwrap();
        assert!(!is_running(owner.server));
        assert_eq!(ask(&server, "SELECT a FROM s.t"), "7");
    }
}

#[test]
fn an_ordinary_user_runs_servers_as_itself() {
    if !is_root() {
        // Then every other test is this one.
        let parent = Parent::new();
        let server = parent.start(KINDS[0], "").unwrap();
        // SAFETY: the call only reads the process's credentials.
        assert_eq!(uid_of(server.pid().unwrap()), unsafe { libc::geteuid() });
        return;
    }
    const UID: u32 = 65_534;
    // That user has no cache, where MySQL would be.
    for kind in kinds().take(2) {
        let parent = Parent::new();
        chown(parent.path(), Some(UID), Some(UID)).unwrap();
        // Where that user reaches it.
        let program = parent.path().join("local_server");
        fs::copy(example(), &program).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let as_user = || {
            let mut command = Command::new("setpriv");
            let uid = format!("--reuid={UID}");
            command.args([uid, format!("--regid={UID}")]);
            command.arg("--clear-groups").arg(&program);
            command.current_dir("/").env("HOME", "/nonexistent");
            command
        };
        let mut owner = Owner::spawn(&mut as_user(), &parent, kind, "").unwrap();
        assert_eq!(uid_of(owner.server), UID);
        drop(owner.process.stdin.take());
        assert!(owner.process.wait().unwrap().success());
        assert!(parent.runs().is_empty());

        let refused = Owner::spawn(&mut as_user(), &parent, kind, "?memory=1GiB");
        let message = refused.err().unwrap();
        assert!(message.contains("run dbdyno as root"), "{message}");
        assert!(parent.runs().is_empty());
    }
}
