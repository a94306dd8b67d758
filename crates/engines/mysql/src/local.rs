//! MariaDB and MySQL as throw-away local servers.

mod mariadb;
mod mysql;

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
    Surroundings, Version, ask_all, connections_for, memory_for, newest_first, parse_bytes,
};

pub use mariadb::MARIADB;
pub use mysql::MYSQL;

/// Buffer pool, never more than a quarter of the memory: as much as the other servers are given.
const BUFFER_POOL_BYTES: u64 = 256 << 20;
/// Log: as much as PostgreSQL writes between two checkpoints (its max_wal_size); with the servers' own
/// 96 or 100 MiB a load of a second is a test of flushing.
pub(super) const LOG_BYTES: u64 = 1 << 30;
/// Memory of a session: 0.2 MiB were measured over 200 of them, and sorts take buffers beside.
const MEMORY_PER_SESSION_BYTES: u64 = 1 << 20;
/// Version of the protocol, the first byte that a server says.
const PROTOCOL: u8 = 10;
const GREETING_TIME_MAX: Duration = Duration::from_secs(1);
const SOCKET: &str = "mysqld.sock";
/// Directory below an unpacked tree with the loaders of its programs, which find their libraries by them.
const LOADERS: &str = "usr/lib/loader";

/// File in dbdyno's cache that says why there is no server.
const MISSING: &str = "missing";

const NETWORK: &str = "the server listens on its Unix socket only";

/// Settings that dbdyno decides on both servers.
const RESERVED: &[(&str, &str)] = &[
    ("skip_networking", NETWORK),
    ("bind_address", NETWORK),
    ("port", NETWORK),
    ("extra_port", NETWORK),
    ("mysqlx", NETWORK),
    ("admin_address", NETWORK),
    ("socket", "the socket is in a private directory"),
    ("datadir", "put the directory after the colon of the URL"),
    (
        "basedir",
        "version= and the variable of its programs choose the installation",
    ),
    ("user", "dbdyno chooses the user"),
    ("pid_file", "dbdyno must be able to remove it"),
    ("log_error", "dbdyno reads the log at a fixed place"),
    ("tmpdir", "dbdyno must be able to remove it"),
    ("skip_grant_tables", "logins are part of what is measured"),
];

/// Settings and their values.
type Lines = Vec<(&'static str, String)>;

/// A kind of server whose tables InnoDB keeps.
pub struct InnoDbServer {
    about: &'static ServerAbout,
    /// The program, and the name it has where it stands in for the other kind's.
    programs: &'static [&'static str],
    is_of_kind: fn(&Installation) -> bool,
    /// Files that the program executes, by the paths from its directory.
    executes: &'static [&'static str],
    /// Its directory in dbdyno's cache.
    cached: &'static str,
    /// Settings beside the common ones, and the one with the size of the log.
    defaults: &'static [(&'static str, &'static str)],
    log_setting: &'static str,
    /// Memory of the server without sessions, beside its buffer pool.
    memory_base_bytes: u64,
    initialise: fn(&Layout) -> Command,
    /// Lines of the configuration that follow from where the server and its files lie.
    places: fn(&Layout, &BTreeMap<String, String>) -> Lines,
    version_of_data: fn(&Path) -> Option<Version>,
}

impl ServerKind for InnoDbServer {
    fn about(&self) -> &'static ServerAbout {
        self.about
    }

    fn find(&self, surroundings: &Surroundings) -> Result<Vec<Installation>> {
        let variable = self.about.variable;
        let surroundings = surroundings.clone().with_named(variable);
        let named = surroundings.named.as_deref();
        let has_program = |d: &Path| self.programs.iter().any(|name| d.join(name).is_file());
        if let Some(named) = named
            && !has_program(named)
        {
            // Named but absent is a mistake to tell, not a reason to measure another server.
            return Err(TargetError::new(
                ErrorKind::NotInstalled,
                format!(
                    "${variable} names {}, which does not contain {}; correct it or unset it",
                    named.display(),
                    self.programs[0]
                ),
            ));
        }
        let mut directories: Vec<PathBuf> = named.map(Path::to_owned).into_iter().collect();
        directories.push(surroundings.root.join("usr/sbin"));
        directories.extend(surroundings.path_directories());
        let cached = surroundings.cache.as_ref().map(|c| c.join(self.cached));
        let cached = cached.iter().flat_map(|parent| newest_first(parent));
        directories.extend(cached.map(|tree| tree.join("usr/sbin")));
        let mut found = ask_all(&directories, self.programs, self.executes, named)?;
        found.retain(self.is_of_kind);
        // The script that gets the server has left the reason.
        let missing = surroundings
            .cache
            .map(|cache| cache.join(self.cached).join(MISSING));
        if found.is_empty()
            && let Some(Ok(why)) = missing.map(std::fs::read_to_string)
        {
            let why = format!("{}: {}", self.about.title, why.trim());
            return Err(TargetError::new(ErrorKind::NotInstalled, why));
        }
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
        let log = format!("{}M", LOG_BYTES >> 20);
        let connections = connections_for(SESSIONS_USUAL);
        let common = [
            // Durability of commits, written out so that nobody has to look it up.
            ("innodb_flush_log_at_trx_commit", "1"),
            ("innodb_doublewrite", "ON"),
            // The binary log, which is for replicas, is off; who switches it on gets a durable one.
            ("sync_binlog", "1"),
            ("innodb_buffer_pool_size", pool.as_str()),
            (self.log_setting, log.as_str()),
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
            // Off by default on MariaDB, and the only source of timed events.
            ("performance_schema", "ON"),
            // The order of bytes: the same on every system, and that of the embedded engines.
            ("character_set_server", "utf8mb4"),
            ("collation_server", "utf8mb4_bin"),
            ("default_time_zone", "+00:00"),
            ("local_infile", "ON"),
            ("skip_name_resolve", "ON"),
        ];
        let all = common.iter().chain(self.defaults);
        all.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn memory_need_bytes(&self, settings: &BTreeMap<String, String>, sessions: u32) -> u64 {
        let pool = settings
            .get("innodb_buffer_pool_size")
            .and_then(|v| size_bytes(v));
        let pool = pool.unwrap_or(BUFFER_POOL_BYTES);
        // The pool's own administration takes an eighth at most.
        self.memory_base_bytes + pool + pool / 8 + u64::from(sessions) * MEMORY_PER_SESSION_BYTES
    }

    fn initialise(&self, layout: &Layout) -> Command {
        (self.initialise)(layout)
    }

    fn configuration(&self, layout: &Layout, settings: &BTreeMap<String, String>) -> String {
        let mut text = String::from("# Created by dbdyno for one run.\n[mysqld]\n");
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
        let places = (self.places)(layout, settings);
        let own: Vec<(&str, String)> = own.into_iter().chain(apart).chain(places).collect();
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
        configured(&layout.installation.server, layout)
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
        let Version(mut numbers) = (self.version_of_data)(data)?;
        // Any server of the same series takes the data.
        numbers.truncate(2);
        Some(Version(numbers))
    }

    fn complaint(&self, log: &str) -> Option<String> {
        let mut errors = sentences(log, "[ERROR] ");
        errors
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
        sentences(log, "[Warning] ")
            .filter(|s| s.contains(" adjusted to ") || s.starts_with("Changed limits"))
            .map(|sentence| format!("the server says: {sentence}"))
            .collect()
    }
}

/// The directory above that of the program.
fn base(installation: &Installation) -> Option<&Path> {
    installation.server.parent()?.parent()
}

/// A program of the installation that reads the configuration of the run.
fn configured(program: &Path, layout: &Layout) -> Command {
    let mut command = Command::new(program);
    command.arg(format!(
        "--defaults-file={}",
        layout.configuration.display()
    ));
    if let Some(base) = base(&layout.installation) {
        command.arg(format!("--basedir={}", base.display()));
    }
    set_environment(&mut command, &layout.installation);
    command
}

/// The sentences of a kind in a log, without what MySQL puts in brackets before them.
fn sentences<'l>(log: &'l str, kind: &str) -> impl Iterator<Item = &'l str> {
    let sentences = log.lines().filter_map(move |line| line.split_once(kind));
    sentences.map(|(_, mut sentence)| {
        while let Some((_, rest)) = sentence
            .strip_prefix('[')
            .and_then(|rest| rest.split_once("] "))
        {
            sentence = rest;
        }
        sentence
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Nothing of dbdyno's environment is a setting of the server; what lies in a tree of its own finds its
/// libraries there, where it has no loaders that know them.
pub(super) fn set_environment(command: &mut Command, installation: &Installation) {
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .env("LC_ALL", "C")
        .env("TZ", "UTC");
    if let Some(root) = &installation.root
        && !root.join(LOADERS).is_dir()
    {
        let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
        let libraries = ["usr/lib", "lib"].map(|d| root.join(d).join(&triplet));
        let libraries = libraries.map(|path| path.display().to_string()).join(":");
        command.env("LD_LIBRARY_PATH", libraries);
    }
}

/// A size as the servers write it.
fn size_bytes(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    match text[digits..].to_ascii_uppercase().as_str() {
        "" => text.parse().ok(),
        unit => parse_bytes(&format!("{}{unit}iB", &text[..digits])),
    }
}
