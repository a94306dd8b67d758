//! MariaDB as a throw-away local server.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use archive::Purpose;

use engine::{ErrorKind, Result, TargetError};
use local_server::{
    Installation, Layout, MAX_CONNECTIONS, SESSIONS_USUAL, ServerAbout, ServerKind, ServerSpec,
    Signals, Surroundings, Version, ask_all, connections_for, memory_for, newest_first,
    parse_bytes,
};

/// How many files hold undo; 0 by default before version 11.
const UNDO_TABLESPACES: &str = "innodb_undo_tablespaces";

pub struct MariaDbServer;

/// Buffer pool, never more than a quarter of the memory: as much as the other servers are given.
const BUFFER_POOL_BYTES: u64 = 256 << 20;
/// Log: as much as PostgreSQL writes between two checkpoints (its max_wal_size); with the server's own
/// 96 MiB a load of a second is a test of flushing.
const LOG_FILE_BYTES: u64 = 1 << 30;
/// Memory of the server without sessions, beside its buffer pool: 216 MiB were measured, most of it the
/// performance schema's.
const MEMORY_BASE_BYTES: u64 = 256 << 20;
/// Memory of a session: 0.2 MiB were measured over 200 of them, and sorts take buffers beside.
const MEMORY_PER_SESSION_BYTES: u64 = 1 << 20;
/// Version of the protocol, the first byte that a server says.
const PROTOCOL: u8 = 10;
const GREETING_TIME_MAX: Duration = Duration::from_secs(1);
const SOCKET: &str = "mysqld.sock";
/// The program, and the name it has where it stands in for MySQL's.
const PROGRAMS: &[&str] = &["mariadbd", "mysqld"];

const RESERVED: &[(&str, &str)] = &[
    (
        "skip_networking",
        "the server listens on its Unix socket only",
    ),
    ("bind_address", "the server listens on its Unix socket only"),
    ("port", "the server listens on its Unix socket only"),
    ("extra_port", "the server listens on its Unix socket only"),
    ("socket", "the socket is in a private directory"),
    ("datadir", "put the directory after the colon of the URL"),
    (
        "basedir",
        "name the directory of its programs in $MYSQL_BIN",
    ),
    ("user", "dbdyno chooses the user"),
    ("pid_file", "dbdyno must be able to remove it"),
    ("log_error", "dbdyno reads the log at a fixed place"),
    ("tmpdir", "dbdyno must be able to remove it"),
    ("skip_grant_tables", "logins are part of what is measured"),
];

impl ServerKind for MariaDbServer {
    fn about(&self) -> &'static ServerAbout {
        &ServerAbout {
            title: "MariaDB",
            name: "mysql",
            variable: "MYSQL_BIN",
            how_to_get_it: "no server is installed; run `make mariadb`, install one (on Debian: apt-get install \
                            mariadb-server-core), or name the directory of its programs in $MYSQL_BIN",
            accounts: &["mysql"],
            superuser: "root",
            reserved: RESERVED,
            places: &[Purpose::Log, Purpose::Temporary, Purpose::Undo],
            signals: Signals {
                stop: libc::SIGTERM,
                // One process without shared memory: nothing is left behind when it is killed.
                abandon: libc::SIGKILL,
            },
        }
    }

    fn find(&self, surroundings: &Surroundings) -> Result<Vec<Installation>> {
        let surroundings = surroundings.clone().with_named(self.about().variable);
        let mut directories: Vec<PathBuf> = surroundings.named.iter().cloned().collect();
        let has_program = |d: &Path| PROGRAMS.iter().any(|name| d.join(name).is_file());
        if let Some(named) = &surroundings.named
            && !has_program(named)
        {
            // Named but absent is a mistake to tell, not a reason to measure another server.
            return Err(TargetError::new(
                ErrorKind::NotInstalled,
                format!(
                    "$MYSQL_BIN names {}, which does not contain mariadbd; correct it or unset it",
                    named.display()
                ),
            ));
        }
        directories.push(surroundings.root.join("usr/sbin"));
        directories.extend(surroundings.path_directories());
        let cached = surroundings.cache.as_ref().map(|c| c.join("mariadb"));
        let cached = cached.iter().flat_map(|parent| newest_first(parent));
        directories.extend(cached.map(|tree| tree.join("usr/sbin")));
        let mut found = ask_all(&directories, PROGRAMS, &[], surroundings.named.as_deref())?;
        // MySQL's own server is made and set up differently.
        let named = surroundings.named.as_deref();
        found.retain(|i| {
            let is_named = named == Some(&i.directory);
            let may_execute = |path: PathBuf| is_named || host::trusted(&path).is_ok();
            i.title.contains("MariaDB") && installer(i).is_some_and(may_execute)
        });
        for installation in &mut found {
            if !installation.server.starts_with("/usr") {
                installation.root = base(installation)
                    .and_then(Path::parent)
                    .map(Path::to_owned);
            }
        }
        Ok(found)
    }

    fn canonical(&self, key: &str) -> String {
        key.to_ascii_lowercase().replace('-', "_")
    }

    fn defaults(&self, spec: &ServerSpec) -> BTreeMap<String, String> {
        let pool = (BUFFER_POOL_BYTES.min(memory_for(spec) / 4) >> 20).max(8);
        let pool = format!("{pool}M");
        let log = format!("{}M", LOG_FILE_BYTES >> 20);
        let connections = connections_for(SESSIONS_USUAL);
        [
            // Durability of commits, written out so that nobody has to look it up.
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_doublewrite", "ON"),
            // The binary log, which is for replicas, is off by default; who switches it on gets a durable one.
            ("sync_binlog", "1"),
            ("innodb_buffer_pool_size", pool.as_str()),
            ("innodb_log_file_size", log.as_str()),
            // The pool is the only cache, so that its size means what it says.
            ("innodb_flush_method", "O_DIRECT"),
            // A cold start is cold.
            ("innodb_buffer_pool_dump_at_shutdown", "OFF"),
            ("innodb_buffer_pool_load_at_startup", "OFF"),
            (MAX_CONNECTIONS, connections.as_str()),
            // A cap alone: its 16,382 are few where thousands of sessions have theirs.
            ("max_prepared_stmt_count", "1048576"),
            // Sessions that fail are counted by their jobs; a server that blocks its only host helps nobody.
            ("max_connect_errors", "4294967295"),
            // Off by default, and the only source of timed events.
            ("performance_schema", "ON"),
            // The order of bytes: the same on every system, and that of the embedded engines.
            ("character_set_server", "utf8mb4"),
            ("collation_server", "utf8mb4_bin"),
            ("default_time_zone", "+00:00"),
            ("local_infile", "ON"),
            ("skip_name_resolve", "ON"),
            // Tells nobody that it is here, where the plugin is built in.
            ("loose_feedback", "OFF"),
            // Errors go to their sessions; the log stays small.
            ("log_warnings", "1"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
    }

    fn memory_need_bytes(&self, settings: &BTreeMap<String, String>, sessions: u32) -> u64 {
        let pool = settings
            .get("innodb_buffer_pool_size")
            .and_then(|v| size_bytes(v));
        let pool = pool.unwrap_or(BUFFER_POOL_BYTES);
        // The pool's own administration takes an eighth at most.
        MEMORY_BASE_BYTES + pool + pool / 8 + u64::from(sessions) * MEMORY_PER_SESSION_BYTES
    }

    fn initialise(&self, layout: &Layout) -> Command {
        let installation = &layout.installation;
        let fallback = || installation.server.with_file_name("mariadb-install-db");
        let mut command = Command::new(installer(installation).unwrap_or_else(fallback));
        command.arg(format!(
            "--defaults-file={}",
            layout.configuration.display()
        ));
        if let Some(base) = base(installation) {
            command.arg(format!("--basedir={}", base.display()));
        }
        command
            .arg(format!("--datadir={}", layout.data.display()))
            // Only dbdyno's user can enter the socket's directory.
            .arg("--auth-root-authentication-method=normal")
            .args(["--skip-test-db", "--skip-name-resolve"]);
        set_environment(&mut command, installation);
        command
    }

    fn configuration(&self, layout: &Layout, settings: &BTreeMap<String, String>) -> String {
        let mut text = String::from("# Created by dbdyno for one run.\n[mysqld]\n");
        let shown = |path: &Path| path.display().to_string();
        let own = [
            ("skip_networking", "ON".to_owned()),
            ("socket", shown(&self.socket_path(&layout.socket_directory))),
            ("datadir", shown(&layout.data)),
            (
                "pid_file",
                shown(&layout.socket_directory.join("mysqld.pid")),
            ),
            (
                "tmpdir",
                shown(layout.place(Purpose::Temporary).unwrap_or(&layout.data)),
            ),
        ];
        let apart = [
            (Purpose::Log, "innodb_log_group_home_dir"),
            (Purpose::Undo, "innodb_undo_directory"),
        ];
        let apart = apart
            .iter()
            .filter_map(|(of, key)| Some((*key, shown(layout.place(*of)?))));
        // Without table spaces of its own, undo lies with the data.
        let has_undo = layout.place(Purpose::Undo).is_some();
        let undo = (has_undo && !settings.contains_key(UNDO_TABLESPACES))
            .then(|| (UNDO_TABLESPACES, "3".to_owned()));
        let own: Vec<(&str, String)> = own.into_iter().chain(apart).chain(undo).collect();
        let own = own.iter().map(|(k, v)| (*k, v.as_str()));
        let asked = settings.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        for (key, value) in asked.chain(own) {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{key} = \"{value}\"");
        }
        text
    }

    fn serve(&self, layout: &Layout) -> Command {
        let installation = &layout.installation;
        let mut command = Command::new(&installation.server);
        command.arg(format!(
            "--defaults-file={}",
            layout.configuration.display()
        ));
        if let Some(base) = base(installation) {
            command.arg(format!("--basedir={}", base.display()));
        }
        set_environment(&mut command, installation);
        command
    }

    fn reloads_cache(&self, settings: &BTreeMap<String, String>) -> Option<&'static str> {
        let value = settings.get("innodb_buffer_pool_load_at_startup")?;
        matches!(value.to_ascii_lowercase().as_str(), "on" | "1" | "true").then_some(
            "innodb_buffer_pool_load_at_startup is ON, so the server reloads its buffer pool",
        )
    }

    fn socket_path(&self, socket_directory: &Path) -> PathBuf {
        socket_directory.join(SOCKET)
    }

    fn is_ready(&self, layout: &Layout, _pid: u32) -> bool {
        let greeting = || {
            let mut socket = UnixStream::connect(self.socket_path(&layout.socket_directory))?;
            socket.set_read_timeout(Some(GREETING_TIME_MAX))?;
            // A packet's header of four bytes, then the version of the protocol.
            let mut begin = [0_u8; 5];
            socket.read_exact(&mut begin)?;
            std::io::Result::Ok(begin[4])
        };
        greeting().is_ok_and(|version| version == PROTOCOL)
    }

    fn version_of_data(&self, data: &Path) -> Option<Version> {
        let text = std::fs::read_to_string(data.join("mysql_upgrade_info")).ok()?;
        let Version(mut numbers) = Version::find_in(&text)?;
        // Any server of the same series takes the data.
        numbers.truncate(2);
        Some(Version(numbers))
    }

    fn complaint(&self, log: &str) -> Option<String> {
        let errors = log.lines().filter_map(|line| line.split_once("[ERROR] "));
        errors
            .map(|(_, sentence)| sentence)
            .find(|sentence| !sentence.ends_with("Aborting"))
            .map(str::to_owned)
    }

    fn refuses_a_setting(&self, log: &str) -> bool {
        let of_settings = [
            "unknown variable '",
            "unknown option '",
            "ambiguous option '",
            "Error while setting value",
            "Unknown suffix '",
        ];
        let mut errors = log.lines().filter(|line| line.contains("[ERROR] "));
        errors.any(|line| of_settings.iter().any(|words| line.contains(words)))
    }

    fn adjustments(&self, log: &str) -> Vec<String> {
        let warnings = log.lines().filter_map(|line| line.split_once("[Warning] "));
        warnings
            .map(|(_, sentence)| sentence)
            .filter(|s| s.contains(" adjusted to ") || s.starts_with("Changed limits"))
            .map(|sentence| format!("the server says: {sentence}"))
            .collect()
    }
}

/// The directory above that of the program.
fn base(installation: &Installation) -> Option<&Path> {
    installation.server.parent()?.parent()
}

/// The script that makes a data directory, beside the server or in the `bin` beside its `sbin`.
fn installer(installation: &Installation) -> Option<PathBuf> {
    let base = base(installation)?;
    ["bin", "scripts", "sbin"]
        .iter()
        .flat_map(|d| ["mariadb-install-db", "mysql_install_db"].map(|f| base.join(d).join(f)))
        .find(|path| path.is_file())
}

/// Nothing of dbdyno's environment is a setting of the server; what lies in a tree of its own finds its
/// libraries there.
pub(super) fn set_environment(command: &mut Command, installation: &Installation) {
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("LC_ALL", "C")
        .env("TZ", "UTC");
    if let Some(root) = &installation.root {
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let libraries = ["usr/lib", "lib"].map(|d| root.join(d).join(&triplet));
        let libraries = libraries.map(|path| path.display().to_string()).join(":");
        command.env("LD_LIBRARY_PATH", libraries);
    }
}

/// A size as MariaDB writes it.
fn size_bytes(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    match text[digits..].to_ascii_uppercase().as_str() {
        "" => text.parse().ok(),
        unit => parse_bytes(&format!("{}{unit}iB", &text[..digits])),
    }
}
