//! Throw-away servers that listen at a port of this machine as well, with TLS.

#![allow(dead_code, reason = "every test program uses its own part")]

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use local_server::{
    Account, Installation, Layout, LocalServer, Segment, ServerAbout, ServerKind, ServerSpec,
    Surroundings, Version,
};
use mysql::local::InnoDbServer;
use postgres::local::PostgresServer;

use crate::certificates::{Authority, Issued, Valid, write_private};

/// A server with TLS, and the authority that vouches for it and for its clients.
pub struct Networked {
    pub server: LocalServer,
    pub authority: Authority,
    pub port: u16,
    files: tempfile::TempDir,
    account: (u32, u32),
}

/// The name in the certificate that a server begins with, beside "localhost".
pub const ADDRESS: &str = "127.0.0.1";

impl Networked {
    /// PostgreSQL of this version, which lets in by these lines of `pg_hba.conf`, and its owner through the socket.
    pub fn postgres(version: &str, rules: &str) -> Self {
        let files = directory();
        let rules = format!("local all dbdyno trust\n{rules}\n");
        fs::write(files.path().join("pg_hba.conf"), rules).unwrap();
        let at = |name: &str| files.path().join(name).display().to_string();
        let lines = format!(
            "listen_addresses = '{ADDRESS}'\nhba_file = '{}'\nssl = on\nssl_cert_file = '{}'\nssl_key_file = '{}'\n\
             ssl_ca_file = '{}'\npassword_encryption = 'scram-sha-256'\n",
            at("pg_hba.conf"),
            at("server.crt"),
            at("server.key"),
            at("ca.crt"),
        );
        let asked = format!("postgres+local:?version={version}&shared_buffers=16MB");
        Self::start(&PostgresServer, &asked, lines, files, |dir, port| {
            dir.join(format!(".s.PGSQL.{port}"))
        })
    }

    /// MariaDB or MySQL with these lines in its configuration.
    pub fn mysql(kind: &'static InnoDbServer, lines: &str) -> Self {
        Self::mysql_in(kind, directory(), lines)
    }

    /// The same with the plugin for logins with ed25519.
    pub fn mariadb_with_ed25519(lines: &str) -> Self {
        const PLUGIN: &str = "auth_ed25519.so";
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let cache = cache.or(home).unwrap_or_default();
        let places = [
            PathBuf::from("/usr/lib/mysql/plugin"),
            cache.join("dbdyno/mariadb/plugins"),
        ];
        let mut found = places.iter().map(|place| place.join(PLUGIN));
        let Some(found) = found.find(|file| file.is_file()) else {
            testing::lacking("MariaDB's plugin auth_ed25519 (scripts/get-mariadb.sh gets it)");
        };
        // Nobody else looks into root's cache.
        let files = directory();
        fs::copy(found, files.path().join(PLUGIN)).unwrap();
        let place = files.path().display().to_string();
        let lines = format!("plugin_dir = {place}\nplugin_load_add = auth_ed25519\n{lines}");
        Self::mysql_in(&mysql::local::MARIADB, files, &lines)
    }

    fn mysql_in(kind: &'static InnoDbServer, files: tempfile::TempDir, lines: &str) -> Self {
        let at = |name: &str| files.path().join(name).display().to_string();
        let lines = format!(
            "skip_networking = OFF\nbind_address = {ADDRESS}\nssl_cert = {}\nssl_key = {}\nssl_ca = {}\n{lines}\n",
            at("server.crt"),
            at("server.key"),
            at("ca.crt"),
        );
        let asked = "mariadb+local:?innodb_buffer_pool_size=16M&performance_schema=OFF&innodb_flush_method=nosync";
        Self::start(kind, asked, lines, files, |dir, _| {
            mysql::local::MARIADB.socket_path(dir)
        })
    }

    fn start(
        of: &'static dyn ServerKind,
        asked: &str,
        lines: String,
        files: tempfile::TempDir,
        socket: fn(&Path, u16) -> PathBuf,
    ) -> Self {
        let account = Account::for_server(of.about().accounts).unwrap();
        let port = TcpListener::bind((ADDRESS, 0))
            .and_then(|listener| listener.local_addr())
            .unwrap()
            .port();
        let authority = Authority::new("the authority of a test");
        fs::write(files.path().join("ca.crt"), &authority.certificate).unwrap();
        let owner = (account.uid, account.gid);
        put_certificate(
            files.path(),
            owner,
            &authority.issue(&["localhost", ADDRESS], Valid::Now),
        );
        let kind = Box::leak(Box::new(Kind {
            of,
            port,
            lines: format!("{lines}port = {port}\n"),
            socket,
        }));
        let url = engines::parse(asked).unwrap();
        let spec = ServerSpec::from_url(kind, &url).unwrap();
        Self {
            server: installed(LocalServer::start(kind, &spec)),
            authority,
            port,
            files,
            account: owner,
        }
    }

    pub fn roots(&self) -> PathBuf {
        self.files.path().join("ca.crt")
    }

    /// A file of this test, for what a client has.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.files.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The same that only its owner can read.
    pub fn private(&self, name: &str, text: &str) -> PathBuf {
        write_private(&self.files.path().join(name), text, None)
    }

    /// Another certificate for the server, which it takes at its next start.
    pub fn show(&self, issued: &Issued) {
        put_certificate(self.files.path(), self.account, issued);
        self.server.restart().unwrap();
    }
}

fn put_certificate(directory: &Path, owner: (u32, u32), issued: &Issued) {
    fs::write(directory.join("server.crt"), &issued.certificate).unwrap();
    write_private(&directory.join("server.key"), &issued.key, Some(owner));
}

/// Ends the test where there is no such server on this machine.
pub fn installed<T>(started: engine::Result<T>) -> T {
    match started {
        Ok(server) => server,
        Err(error) if error.kind == engine::ErrorKind::NotInstalled => {
            testing::lacking(&error.message)
        }
        Err(error) => panic!("{error}"),
    }
}

/// A directory that the server's user can enter.
pub fn directory() -> tempfile::TempDir {
    let directory = tempfile::Builder::new()
        .prefix("dbdyno-test-")
        .tempdir_in("/var/tmp")
        .unwrap();
    fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o711)).unwrap();
    directory
}

/// A kind of server with more lines in its configuration.
struct Kind {
    of: &'static dyn ServerKind,
    port: u16,
    lines: String,
    socket: fn(&Path, u16) -> PathBuf,
}

impl ServerKind for Kind {
    fn configuration(&self, layout: &Layout, settings: &BTreeMap<String, String>) -> String {
        // The last line about a setting counts.
        self.of.configuration(layout, settings) + &self.lines
    }

    fn socket_path(&self, socket_directory: &Path) -> PathBuf {
        (self.socket)(socket_directory, self.port)
    }

    fn about(&self) -> &'static ServerAbout {
        self.of.about()
    }

    fn find(&self, surroundings: &Surroundings) -> engine::Result<Vec<Installation>> {
        self.of.find(surroundings)
    }

    fn canonical(&self, key: &str) -> String {
        self.of.canonical(key)
    }

    fn defaults(&self, spec: &ServerSpec) -> BTreeMap<String, String> {
        self.of.defaults(spec)
    }

    fn memory_need_bytes(&self, settings: &BTreeMap<String, String>, sessions: u32) -> u64 {
        self.of.memory_need_bytes(settings, sessions)
    }

    fn initialise(&self, layout: &Layout) -> Command {
        self.of.initialise(layout)
    }

    fn serve(&self, layout: &Layout) -> Command {
        self.of.serve(layout)
    }

    fn is_ready(&self, layout: &Layout, pid: u32) -> bool {
        self.of.is_ready(layout, pid)
    }

    fn version_of_data(&self, data: &Path) -> Option<Version> {
        self.of.version_of_data(data)
    }

    fn complaint(&self, log: &str) -> Option<String> {
        self.of.complaint(log)
    }

    fn refuses_a_setting(&self, log: &str) -> bool {
        self.of.refuses_a_setting(log)
    }

    fn adjustments(&self, log: &str) -> Vec<String> {
        self.of.adjustments(log)
    }

    fn forget_dead(&self, data: &Path) {
        self.of.forget_dead(data);
    }

    fn segments(&self, data: &Path) -> Vec<Segment> {
        self.of.segments(data)
    }
}
