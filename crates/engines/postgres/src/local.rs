//! PostgreSQL as a throw-away local server.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use archive::Purpose;

use super::table_spaces;
use engine::{ErrorKind, Result, TargetError};
use local_server::{
    Installation, Layout, MAX_CONNECTIONS, SESSIONS_USUAL, Segment, ServerAbout, ServerKind,
    ServerSpec, Signals, Surroundings, Version, ask_all, connections_for, is_zombie, memory_for,
    newest_first,
};

pub struct PostgresServer;

/// A setting that the server knows from a version on.
const WAL_TIMES: &str = "track_wal_io_timing";
const VERSION_OF_WAL_TIMES: u32 = 14;
/// Its socket is alone in its directory, so the number need not be free.
pub const PORT: u16 = 5432;
/// The server's own lock on its data directory.
const LOCK_FILE: &str = "postmaster.pid";
/// Shared buffers, never more than a quarter of the memory: enough for the small tables of the library,
/// little enough for its large ones to be read from the device.
const SHARED_BUFFERS_BYTES: u64 = 256 << 20;
/// Parallel workers that may be asked for; the server's own 8 would quietly give fewer than a test's
/// degree of parallelism says.
const WORKERS_MIN: usize = 64;
/// Memory of the server without sessions, beside its shared buffers.
const MEMORY_BASE_BYTES: u64 = 64 << 20;
/// Memory of a session with prepared statements: 1.6 MiB were measured over 200 of them, and 512 MiB were
/// too little for 133.
const MEMORY_PER_SESSION_BYTES: u64 = 5 << 19;
/// Each session has page tables of its own for the shared buffers: 8 bytes for a page of 4096.
const PAGE_TABLE_SHARE: u64 = 512;

const RESERVED: &[(&str, &str)] = &[
    (
        "listen_addresses",
        "the server listens on its Unix socket only",
    ),
    ("port", "the socket is in a private directory"),
    (
        "unix_socket_directories",
        "the socket is in a private directory",
    ),
    (
        "unix_socket_permissions",
        "nobody else may connect to the server",
    ),
    (
        "data_directory",
        "put the directory after the colon of the URL",
    ),
    ("config_file", "put settings in the URL"),
    ("hba_file", "nobody else may connect to the server"),
    ("ident_file", "nobody else may connect to the server"),
    ("external_pid_file", "dbdyno must be able to remove it"),
    ("logging_collector", "dbdyno reads the log at a fixed place"),
    ("log_destination", "dbdyno reads the log at a fixed place"),
];

impl ServerKind for PostgresServer {
    fn about(&self) -> &'static ServerAbout {
        &ServerAbout {
            title: "PostgreSQL",
            name: "postgres",
            variable: "PG_BIN",
            how_to_get_it: "no server is installed; run `make postgres`, install one (on Debian: apt-get install postgresql), or \
                            name the directory of its programs in $PG_BIN",
            accounts: &["postgres"],
            superuser: "dbdyno",
            reserved: RESERVED,
            places: &[Purpose::Indexes, Purpose::Log, Purpose::Temporary],
            signals: Signals {
                // "Fast": sessions are ended, then a checkpoint is made.
                stop: libc::SIGINT,
                // "Immediate": no checkpoint, but the shared memory is removed.
                abandon: libc::SIGQUIT,
            },
        }
    }

    fn find(&self, surroundings: &Surroundings) -> Result<Vec<Installation>> {
        let surroundings = surroundings.clone().with_named(self.about().variable);
        let mut directories: Vec<PathBuf> = surroundings.named.iter().cloned().collect();
        if let Some(named) = &surroundings.named
            && !is_complete(named)
        {
            // Named but absent is a mistake to tell, not a reason to measure another server.
            return Err(TargetError::new(
                ErrorKind::NotInstalled,
                format!(
                    "$PG_BIN names {}, which does not contain postgres and initdb; correct it or unset it",
                    named.display()
                ),
            ));
        }
        let bins = |parent: PathBuf| newest_first(&parent).into_iter().map(|d| d.join("bin"));
        directories.extend(bins(surroundings.root.join("usr/lib/postgresql")));
        directories.extend(surroundings.path_directories());
        let cached = surroundings.cache.as_ref().map(|c| c.join("postgres"));
        let cached: Vec<PathBuf> = cached.iter().flat_map(|p| newest_first(p)).collect();
        directories.extend(cached.iter().map(|tree| tree.join("bin")));
        directories.retain(|directory| is_complete(directory));
        let mut found = ask_all(
            &directories,
            &["postgres"],
            &["initdb"],
            surroundings.named.as_deref(),
        )?;
        for installation in &mut found {
            let server = &installation.server;
            // Programs outside the system find their other files from where they lie.
            if !server.starts_with("/usr") {
                let tree = cached.iter().find(|tree| server.starts_with(tree));
                let tree = tree.map(PathBuf::as_path);
                installation.root = tree.or(server.ancestors().nth(2)).map(Path::to_owned);
            }
        }
        Ok(found)
    }

    fn defaults(&self, spec: &ServerSpec) -> BTreeMap<String, String> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from) * 2;
        let workers = workers.max(WORKERS_MIN);
        let shared_buffers_kib = SHARED_BUFFERS_BYTES.min(memory_for(spec) / 4) >> 10;
        let shared_buffers = format!("{shared_buffers_kib}kB");
        let connections = connections_for(SESSIONS_USUAL);
        let workers = workers.to_string();
        let libraries = spec.settings.get("shared_preload_libraries");
        let samples_waits = libraries.is_some_and(|list| list.contains("pg_wait_sampling"));
        [
            // Durability of commits, written out so that nobody has to look it up.
            ("fsync", "on"),
            ("synchronous_commit", "on"),
            ("full_page_writes", "on"),
            ("autovacuum", "on"),
            ("shared_buffers", shared_buffers.as_str()),
            (MAX_CONNECTIONS, connections.as_str()),
            ("max_worker_processes", workers.as_str()),
            ("max_parallel_workers", workers.as_str()),
            // Compiling a query costs more than it brings for most of the library, depends on the build
            // (many have no LLVM), and would make two versions differ by their builds.
            ("jit", "off"),
            // One figure for the time in reads and writes; the clock costs some 25 ns for each.
            ("track_io_timing", "on"),
            (WAL_TIMES, "on"),
            ("timezone", "UTC"),
            ("log_timezone", "UTC"),
            ("lc_messages", "C"),
            // Errors go to their sessions; the log has what concerns the server, and stays small.
            ("log_min_messages", "log"),
            ("log_min_error_statement", "panic"),
        ]
        .into_iter()
        // Counts by statement are not asked for, and make a count for each of them.
        .chain(samples_waits.then_some(("pg_wait_sampling.profile_queries", "off")))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
    }

    fn memory_need_bytes(&self, settings: &BTreeMap<String, String>, sessions: u32) -> u64 {
        let shared = settings.get("shared_buffers").and_then(|v| size_bytes(v));
        let shared = shared.unwrap_or(SHARED_BUFFERS_BYTES);
        let session = MEMORY_PER_SESSION_BYTES + shared / PAGE_TABLE_SHARE;
        MEMORY_BASE_BYTES + shared + u64::from(sessions) * session
    }

    fn initialise(&self, layout: &Layout) -> Command {
        let mut command = Command::new(layout.installation.server.with_file_name("initdb"));
        command
            .arg("--pgdata")
            .arg(&layout.data)
            .arg(format!("--username={}", self.about().superuser))
            // The order of bytes: the same on every system, and that of the embedded engines.
            .args(["--locale=C", "--encoding=UTF8"])
            // Only dbdyno's user can enter the socket's directory.
            .args(["--auth-local=trust", "--auth-host=reject"])
            // PostgreSQL 18 has them by default; so versions compare.
            .arg("--data-checksums")
            // dbdyno syncs once, for all.
            .arg("--no-sync");
        if let Some(log) = layout.place(Purpose::Log) {
            command.arg("--waldir").arg(log);
        }
        clean_environment(&mut command);
        command
    }

    fn configuration(&self, layout: &Layout, settings: &BTreeMap<String, String>) -> String {
        let mut text = String::from("# Created by dbdyno for one run.\n");
        let socket = layout.socket_directory.display().to_string();
        let port = PORT.to_string();
        let own = [
            ("listen_addresses", ""),
            ("port", port.as_str()),
            ("unix_socket_directories", socket.as_str()),
            ("unix_socket_permissions", "0700"),
        ];
        // Until it is there, the server passes over it.
        let temporary = layout.place(Purpose::Temporary);
        let temporary = temporary.map(|_| ("temp_tablespaces", table_spaces::OF_TEMPORARY));
        let asked = settings.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        let is_new = layout.installation.version.0.first() >= Some(&VERSION_OF_WAL_TIMES);
        let asked = asked.filter(|(key, _)| is_new || *key != WAL_TIMES);
        for (key, value) in asked.chain(own).chain(temporary) {
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{key} = '{value}'");
        }
        text
    }

    fn serve(&self, layout: &Layout) -> Command {
        let mut command = Command::new(&layout.installation.server);
        command
            .arg("-D")
            .arg(&layout.data)
            .arg("-c")
            .arg(format!("config_file={}", layout.configuration.display()));
        clean_environment(&mut command);
        command
    }

    fn socket_path(&self, socket_directory: &Path) -> PathBuf {
        socket_directory.join(format!(".s.PGSQL.{PORT}"))
    }

    fn is_ready(&self, layout: &Layout, pid: u32) -> bool {
        let lock = lock_file(&layout.data);
        let line = |number: usize| lock.get(number).map(String::as_str).unwrap_or_default();
        line(0) == pid.to_string() && line(7).trim() == "ready"
    }

    fn version_of_data(&self, data: &Path) -> Option<Version> {
        Version::find_in(&std::fs::read_to_string(data.join("PG_VERSION")).ok()?)
    }

    fn complaint(&self, log: &str) -> Option<String> {
        let has = |mark: &'static str| move |line: &&str| line.contains(mark);
        let last = |mark| log.lines().rev().find(has(mark));
        let mut line = last("FATAL:")
            .or_else(|| last("PANIC:"))
            .or_else(|| last("error:"))?;
        if line.contains("configuration file") && line.ends_with("contains errors") {
            // Which, the first line says.
            line = log.lines().find(has("LOG:")).unwrap_or(line);
        }
        let sentence = [":  ", "error: "]
            .iter()
            .find_map(|mark| Some(line.split_once(mark)?.1))
            .unwrap_or(line);
        let end = sentence.find(" in file \"").unwrap_or(sentence.len());
        Some(sentence[..end].to_owned())
    }

    fn refuses_a_setting(&self, log: &str) -> bool {
        let is_of_settings = |line: &str| {
            line.contains("FATAL:")
                && (line.contains("configuration file") && line.ends_with("contains errors")
                    || line.contains("invalid value for parameter")
                    || line.contains("is outside the valid range for parameter"))
        };
        log.lines().any(is_of_settings)
    }

    fn forget_dead(&self, data: &Path) {
        // A zombie, where nobody waits for it, looks alive to the server, which then does not start.
        let pid = lock_file(data).first().and_then(|line| line.parse().ok());
        if pid.is_some_and(is_zombie) {
            // Otherwise the start fails with the server's own reason.
            let _ = std::fs::remove_file(data.join(LOCK_FILE));
        }
    }

    fn segments(&self, data: &Path) -> Vec<Segment> {
        let lock = lock_file(data);
        let line = lock.get(6).map(String::as_str).unwrap_or_default();
        let mut numbers = line.split_whitespace().map(str::parse::<i64>);
        match (numbers.next(), numbers.next()) {
            // The key is written unsigned, the kernel has it signed.
            (Some(Ok(key)), Some(Ok(id))) => vec![Segment {
                id: id as i32,
                key: key as i32,
            }],
            _ => Vec::new(),
        }
    }
}

fn is_complete(bin: &Path) -> bool {
    bin.join("postgres").is_file() && bin.join("initdb").is_file()
}

/// Nothing of dbdyno's environment is a setting of the server.
fn clean_environment(command: &mut Command) {
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .env("TZ", "UTC");
}

/// Lines of the server's own lock file: process, …, shared memory (6), state (7).
fn lock_file(data: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(data.join(LOCK_FILE)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A size as PostgreSQL writes it; a bare number is of blocks.
fn size_bytes(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "" => 8 << 10,
        "B" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Programs that say a version and can do nothing else.
    fn install(bin: &Path, version: &str) {
        fs::create_dir_all(bin).unwrap();
        for name in ["postgres", "initdb"] {
            let text = format!("#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n");
            fs::write(bin.join(name), text).unwrap();
            fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
    }

    #[test]
    fn the_named_server_comes_first_then_the_systems_then_the_path_then_the_cache() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        install(&root.join("usr/lib/postgresql/9.6/bin"), "9.6.24");
        install(&root.join("usr/lib/postgresql/15/bin"), "15.18 (Debian)");
        install(&root.join("local/bin"), "17.2");
        install(&root.join("cache/postgres/18.6.3/pg/bin"), "18.6");
        let linked = root.join("cache/postgres/18.6.3/bin");
        std::os::unix::fs::symlink("pg/bin", linked).unwrap();
        install(&root.join("mine"), "19devel");
        // Without initdb it is none that could be made.
        fs::create_dir_all(root.join("usr/lib/postgresql/14/bin")).unwrap();
        fs::write(root.join("usr/lib/postgresql/14/bin/postgres"), "").unwrap();

        let mut here = Surroundings {
            root: root.clone(),
            named: Some(root.join("mine")),
            path: Some(root.join("local/bin").into()),
            cache: Some(root.join("cache")),
        };
        let found = PostgresServer.find(&here).unwrap();
        let versions: Vec<String> = found.iter().map(|i| i.version.to_string()).collect();
        assert_eq!(versions, ["19", "15.18", "9.6.24", "17.2", "18.6"]);
        assert_eq!(found[4].root, Some(root.join("cache/postgres/18.6.3")));

        here.named = Some(root.join("nowhere"));
        let message = PostgresServer.find(&here).unwrap_err().message;
        assert!(message.contains("$PG_BIN names"), "{message}");
        here.named = None;
        here.root = root.join("empty");
        here.path = None;
        here.cache = None;
        assert_eq!(PostgresServer.find(&here).unwrap(), []);
    }

    #[test]
    fn a_server_that_others_can_replace_is_not_executed_unless_named() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let bin = root.join("bin");
        install(&bin, "17.2");
        let executed = root.join("executed");
        let script = format!(
            "#!/bin/sh\ntouch {}\necho postgres 17.2\n",
            executed.display()
        );
        fs::write(bin.join("postgres"), script).unwrap();
        let mut here = Surroundings {
            root: root.join("empty"),
            path: Some(bin.clone().into()),
            ..Surroundings::default()
        };
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for (path, bad, good) in [
            (bin.clone(), 0o777, 0o755),
            (bin.join("postgres"), 0o757, 0o755),
            (bin.join("initdb"), 0o757, 0o755),
        ] {
            mode(&path, bad);
            let error = PostgresServer.find(&here).unwrap_err();
            assert!(error.message.contains("other users can write"), "{error}");
            assert!(!executed.exists(), "{error}");
            mode(&path, good);
        }
        mode(&bin, 0o777);
        here.named = Some(bin.clone());
        here.path = None;
        assert_eq!(PostgresServer.find(&here).unwrap().len(), 1);
        assert!(executed.exists());
    }

    #[test]
    fn the_servers_own_sentence_is_taken_from_its_log() {
        let complaint = |log| PostgresServer.complaint(log).unwrap();
        let setting = "2026-11-21 05:00:00.000 UTC [1] LOG:  unrecognized configuration parameter \
            \"a\" in file \"/x/server.conf\" line 2\n2026-11-21 05:00:00.000 UTC [1] FATAL:  \
            configuration file \"/x/server.conf\" contains errors\n";
        assert_eq!(
            complaint(setting),
            "unrecognized configuration parameter \"a\""
        );
        let initdb =
            "creating subdirectories ... initdb: error: could not create file: No space left";
        assert_eq!(complaint(initdb), "could not create file: No space left");
        assert_eq!(PostgresServer.complaint("LOG:  all is well\n"), None);
    }

    #[test]
    fn memory_for_many_sessions_is_foreseen() {
        let settings = BTreeMap::from([("shared_buffers".to_owned(), "128MB".to_owned())]);
        let need = |sessions| PostgresServer.memory_need_bytes(&settings, sessions) >> 20;
        // The group of 512 MiB that killed a server at 133 sessions.
        assert!(
            need(133) > 512 && need(100) < 512,
            "{} {}",
            need(133),
            need(100)
        );
    }

    /// An old server refuses to start with a setting that it does not know.
    #[test]
    fn an_old_server_gets_no_setting_that_it_does_not_know() {
        let settings = BTreeMap::from([(WAL_TIMES.to_owned(), "on".to_owned())]);
        for (version, is_set) in [(vec![13, 23], false), (vec![14, 0], true)] {
            let layout = Layout {
                installation: Installation {
                    version: Version(version),
                    title: String::new(),
                    server: PathBuf::new(),
                    directory: PathBuf::new(),
                    root: None,
                },
                data: PathBuf::new(),
                places: BTreeMap::new(),
                socket_directory: PathBuf::new(),
                configuration: PathBuf::new(),
                run: PathBuf::new(),
            };
            let text = PostgresServer.configuration(&layout, &settings);
            assert_eq!(text.contains(WAL_TIMES), is_set, "{text}");
        }
    }
}
