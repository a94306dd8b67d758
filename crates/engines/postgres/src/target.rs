//! A database of a running or a local server as a target.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use archive::{Purpose, TargetRecord};

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::guard::{self, Facts};
use super::local::PostgresServer;
use super::observe::PostgresActivity;
use super::observe::asking::OF_OBSERVERS;
use super::overrides::OF_SESSIONS;
use super::processes::postmaster;
use super::session::PostgresSession;
use super::set_up::{SetUp, THREADS_MAX, threads_sql};
use super::settings::settings;
use super::source::PostgresSource;
use super::table_spaces::{OF_INDEXES, TableSpaces};
use super::version::VERSION_OF_FLUSH;
use super::watch::PostgresWatch;
use engine::activity::{ONLY_MEASURED, ONLY_OBSERVED};
use engine::catalogue::Source;
use engine::{
    Activity, Backup, Cooled, Counters, Feature, Result, Session, SessionsLeft, Snapshot, Target,
    TargetError, TargetUrl, Wanted, Watch,
};
use engine::{open_sessions, session_settings};
use local_server::{ControlConnection, LocalServer};

pub(super) const RULES: &str = include_str!("rules.toml");

/// Why a server that somebody else started has no methods.
pub(super) const NOT_LOCAL: &str = "backups of PostgreSQL are measured on servers that dbdyno starts itself, because the restored \
     copy needs a server of its own; use postgres+local:";

pub(super) struct PostgresTarget {
    scheme: &'static str,
    url: String,
    endpoint: Endpoint,
    set_up: SetUp,
    facts: Facts,
    version: String,
    threads: AtomicU32,
    spaces: Arc<TableSpaces>,
    control: ControlConnection<Connection>,
}

impl PostgresTarget {
    /// Starts a server of dbdyno's own, and opens it.
    pub(super) fn open_local(url: &TargetUrl) -> Result<Self> {
        Self::of_server(LocalServer::start_for(&PostgresServer, url)?, url)
    }

    fn of_server(server: LocalServer, url: &TargetUrl) -> Result<Self> {
        let endpoint = Endpoint::local(server.socket_path(), server.superuser());
        Self::open(
            "postgres+local",
            url.to_string(),
            endpoint,
            SetUp::alone(),
            Some(server),
        )
    }

    /// Opens a server of dbdyno's own that was loaded with what another one said of its tables. The register knows tables by
    /// numbers, which they got anew.
    pub(super) fn open_loaded(server: LocalServer, url: &TargetUrl) -> Result<Self> {
        let endpoint = Endpoint::local(server.socket_path(), server.superuser());
        let mut connection = Connection::open(&endpoint, OF_SESSIONS)?;
        guard::enter_anew(&mut connection, &endpoint.schema)?;
        drop(connection);
        Self::of_server(server, url)
    }

    /// Logs on, and makes sure that the database may be used.
    pub(super) fn open(
        scheme: &'static str,
        url: String,
        endpoint: Endpoint,
        set_up: SetUp,
        server: Option<LocalServer>,
    ) -> Result<Self> {
        let (mut connection, inherited) = Connection::open_first(&endpoint, OF_SESSIONS)?;
        let facts = guard::claim(&mut connection, inherited, &set_up)?;
        let control = (connection, ControlConnection::new(server));
        Self::claimed(scheme, url, endpoint, (set_up, facts), control)
    }

    /// Logs on to look at the server's work: nothing is claimed, made or refused.
    pub(super) fn open_observed(url: &TargetUrl) -> Result<Self> {
        let set_up = SetUp::from_url(url)?;
        session_settings::refuse(&set_up.session)?;
        let endpoint = Endpoint::from_url(url)?;
        let mut connection = Connection::open(&endpoint, OF_OBSERVERS)?;
        let mut facts = guard::see(&mut connection, false)?;
        facts.is_observed = true;
        Ok(Self {
            scheme: "postgres",
            url: url.to_string(),
            endpoint,
            version: connection.version().to_owned(),
            threads: AtomicU32::new(1),
            set_up,
            facts,
            spaces: Arc::default(),
            control: ControlConnection::new(None).holding(connection),
        })
    }

    /// The same where the lock is held.
    fn claimed(
        scheme: &'static str,
        url: String,
        endpoint: Endpoint,
        (mut set_up, facts): (SetUp, Facts),
        (mut connection, control): (Connection, ControlConnection<Connection>),
    ) -> Result<Self> {
        if facts.read_only.is_none() {
            guard::own_schema(&mut connection, &endpoint.schema)?;
        }
        let spaces = match control.server() {
            Some(server) => TableSpaces::make(&mut connection, server)?,
            None => TableSpaces::default(),
        };
        if !set_up.session.is_empty() {
            // On a connection that goes at once: this one reads the server's own settings.
            let mut trial = Connection::open(&endpoint, OF_SESSIONS)?;
            set_up.session = trial.try_settings(&set_up.session)?;
        }
        Ok(Self {
            scheme,
            url,
            endpoint,
            version: connection.version().to_owned(),
            threads: AtomicU32::new(1),
            set_up,
            facts,
            spaces: Arc::new(spaces),
            control: control.holding(connection),
        })
    }

    /// Places that are not in the data directory; a user who may not see them sees none.
    fn tablespaces(&self) -> Vec<(Purpose, PathBuf)> {
        let sql = "SELECT pg_tablespace_location(oid), spcname::text, \
                   (quote_ident(spcname) = ANY (regexp_split_to_array(current_setting('temp_tablespaces'), ' *, *')))::text \
                   FROM pg_tablespace WHERE pg_tablespace_location(oid) <> '' ORDER BY oid";
        let rows = self.with_control(|control| control.texts(sql, &[]));
        let place = |row: Vec<Option<String>>| match row.as_slice() {
            [Some(path), _, Some(is_temporary)] if is_temporary == "true" => {
                Some((Purpose::Temporary, PathBuf::from(path)))
            }
            [Some(path), Some(name), _] if name == OF_INDEXES => {
                Some((Purpose::Indexes, PathBuf::from(path)))
            }
            [Some(path), ..] => Some((Purpose::Data, PathBuf::from(path))),
            _ => None,
        };
        rows.unwrap_or_default()
            .into_iter()
            .filter_map(place)
            .collect()
    }

    /// The server, where dbdyno started it.
    pub(super) fn local_server(&self) -> Option<&LocalServer> {
        self.control.server()
    }

    /// Restarts the server of dbdyno's own with these settings over its own.
    pub(super) fn restart_with(&self, settings: &[(&str, String)]) -> Result<()> {
        let server = self.control.own_server_to("restart it")?;
        self.control
            .without_sessions(|| server.restart_with(settings))
    }

    pub(super) fn major(&self) -> u32 {
        self.facts.major
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn database(&self) -> &str {
        &self.endpoint.database
    }

    /// The texts of a query on the connection that is no job's.
    pub(super) fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.with_control(|control| control.texts(sql, &[]))
    }

    fn with_control<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T>) -> Result<T> {
        if self.facts.is_observed {
            return self
                .control
                .with(|| self.connect(), |control| self.counted(control, work));
        }
        let connect = || {
            let mut fresh = self.connect()?;
            if !self.control.is_secondary() {
                guard::reclaim(&mut fresh, self.set_up.others_allowed)?;
            }
            if self.facts.read_only.is_none() {
                guard::own_schema(&mut fresh, &self.endpoint.schema)?;
            }
            Ok(fresh)
        };
        self.control.with(connect, work)
    }

    /// Does something while the server's work is observed: the server counts it at once, and not seconds later among that of others.
    fn counted<T>(
        &self,
        control: &mut Connection,
        work: impl FnOnce(&mut Connection) -> Result<T>,
    ) -> Result<T> {
        let done = work(control)?;
        if self.has_current_statistics() {
            control.simple_texts(
                "SELECT /* dbdyno */ pg_stat_force_next_flush() FROM pg_database LIMIT 1",
            )?;
        }
        Ok(done)
    }

    /// One more connection; a local server that has ended gives the reason.
    fn connect(&self) -> Result<Connection> {
        let settings = if self.facts.is_observed {
            OF_OBSERVERS
        } else {
            OF_SESSIONS
        };
        Connection::open(&self.endpoint, settings).map_err(|error| self.control.because(error))
    }

    /// A connection with its settings as a session.
    fn session(&self, mut connection: Connection) -> Result<Box<dyn Session>> {
        // Where nothing can be written, no schema is made, and none is needed.
        if self.facts.read_only.is_none() {
            connection.check_schema(&self.endpoint.schema)?;
        }
        connection.set_settings(&self.set_up.session)?;
        Ok(Box::new(PostgresSession::new(
            connection,
            self.endpoint.schema.clone(),
            self.has_current_statistics(),
            Arc::clone(&self.spaces),
        )))
    }

    fn has_current_statistics(&self) -> bool {
        self.facts.major >= VERSION_OF_FLUSH
    }
}

/// Why a server that starts so many parallel workers at most cannot do something.
pub(super) fn lacks(workers_max: u32, feature: Feature) -> Option<String> {
    match feature {
        Feature::Compression => Some(
            "PostgreSQL only compresses single values above 2 kB, which this test does not have"
                .into(),
        ),
        Feature::ParallelStatement if workers_max == 0 => Some(
            "this server starts no parallel workers (max_parallel_workers or \
             max_worker_processes is 0)"
                .into(),
        ),
        _ => None,
    }
}

impl Target for PostgresTarget {
    fn record(&self) -> TargetRecord {
        let mut recorded = self.with_control(settings).unwrap_or_default();
        if !self.has_current_statistics() {
            let why = format!(
                "buffer gets are unknown: the statistics of PostgreSQL {} are delayed",
                self.facts.major
            );
            recorded.insert("dbdyno.statistics".into(), why);
        }
        self.facts.record(&mut recorded);
        if let Some(server) = self.control.server() {
            recorded.extend(server.about());
        }
        session_settings::record(&self.set_up.session, &mut recorded);
        TargetRecord {
            name: self.scheme.into(),
            url: self.url.clone(),
            engine: "PostgreSQL".into(),
            engine_version: self.version.clone(),
            nodes: 1,
            device: None,
            settings: recorded,
            rights_missing: self.facts.rights_missing.clone(),
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        lacks(self.facts.workers_max, feature)
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        if self.facts.is_observed {
            return Err(TargetError::statement(ONLY_OBSERVED));
        }
        let mut connection = self.connect()?;
        connection.batch(&threads_sql(self.threads()))?;
        self.session(connection)
    }

    fn open_script_session(&self) -> Result<Box<dyn Session>> {
        let opened = Connection::open_for_script(&self.endpoint);
        self.session(opened.map_err(|error| self.control.because(error))?)
    }

    fn data_path(&self) -> Option<&Path> {
        self.control.server().map(LocalServer::data_directory)
    }

    fn server_directory(&self) -> std::result::Result<PathBuf, String> {
        // Without the right there is no row here; asked by name, the server would log an error.
        let sql = "SELECT setting FROM pg_settings WHERE name = 'data_directory'";
        let rows = self.with_control(|control| control.texts(sql, &[]));
        let rows = rows.map_err(|error| error.to_string())?;
        match rows.into_iter().flatten().next().flatten() {
            Some(directory) => Ok(PathBuf::from(directory)),
            None => Err(
                "this user may not see the server's data directory, so its device is unknown; GRANT pg_monitor to the user"
                    .into(),
            ),
        }
    }

    fn storage_paths(&self) -> std::result::Result<Vec<(Purpose, PathBuf)>, String> {
        let data = self.data_directory()?;
        let mut paths = vec![
            (Purpose::Data, data.clone()),
            (Purpose::Log, data.join("pg_wal")),
        ];
        paths.extend(self.tablespaces());
        if paths.iter().all(|(of, _)| *of != Purpose::Temporary) {
            paths.push((Purpose::Temporary, data));
        }
        Ok(paths)
    }

    fn server_process(&self) -> Option<std::result::Result<u32, String>> {
        let find = || self.with_control(|control| Ok(postmaster(control)));
        Some(self.control.process(find))
    }

    fn running_since(&self) -> Option<String> {
        let sql = "SELECT to_char(pg_postmaster_start_time() AT TIME ZONE 'UTC', \
                   'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";
        let cell = |rows: Vec<Vec<Option<String>>>| rows.into_iter().flatten().next().flatten();
        self.control.running_since(|| self.texts(sql).map(cell))
    }

    fn read_only(&self) -> Option<String> {
        self.facts.read_only.clone()
    }

    fn sessions_left(&self) -> Option<SessionsLeft> {
        // A pooler has limits of its own, and holds sessions of the server that it hands out again.
        if self.facts.is_pooled {
            return None;
        }
        self.with_control(guard::sessions_left).ok()?
    }

    fn others_allowed(&self) -> bool {
        // Nobody else can reach a server that is started here.
        self.set_up.others_allowed && self.control.server().is_none()
    }

    fn knock(&self, patience: Duration) -> Result<()> {
        Connection::knock(&self.endpoint, patience)
    }

    fn break_off(&self) {
        open_sessions::break_off_those_of(self.endpoint.owner);
    }

    /// Pages asked of the shared buffers by all sessions of the database, and the growth of the log of
    /// the whole server.
    fn counters(&self) -> Counters {
        // This query would be among them; an observer reads them with all others.
        if self.facts.is_observed {
            return Counters::default();
        }
        let pages = if self.has_current_statistics() {
            "(blks_hit + blks_read)::text, blks_read::text"
        } else {
            "NULL, NULL"
        };
        let sql = format!(
            "SELECT {pages}, CASE WHEN NOT pg_is_in_recovery() \
             THEN pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text END \
             FROM pg_stat_database WHERE datname = current_database()"
        );
        let rows = self.with_control(|control| control.texts(&sql, &[]));
        let Some(row) = rows.ok().and_then(|rows| rows.into_iter().next()) else {
            return Counters::default();
        };
        let number = |at: usize| row.get(at)?.as_ref()?.parse().ok();
        Counters {
            buffer_gets: number(0),
            redo_bytes: number(2),
            pages_read: number(1),
        }
    }

    fn checkpoint(&self) -> Result<()> {
        self.with_control(|control| control.batch("CHECKPOINT"))
    }

    fn cool(&self) -> Result<Cooled> {
        self.control.cool("restart it or drop its page cache")
    }

    fn source(&self) -> Result<Box<dyn Source>> {
        let only = Some(self.endpoint.schema.clone());
        let source = PostgresSource::open(self.endpoint.clone(), self.url.clone(), only)?;
        Ok(Box::new(source.on(self.control.shared_server())))
    }

    fn backup(&self) -> std::result::Result<&dyn Backup, String> {
        self.control.backed_up_server(&[Purpose::Log], NOT_LOCAL)?;
        Ok(self)
    }

    fn secondary_schema(&self, name: &str) -> Result<Arc<dyn Target>> {
        let endpoint = Endpoint {
            schema: format!("{}_{name}", self.endpoint.schema),
            ..self.endpoint.clone()
        };
        let connection = Connection::open(&endpoint, OF_SESSIONS);
        let mut connection = connection.map_err(|error| self.control.because(error))?;
        guard::own_schema(&mut connection, &endpoint.schema)?;
        Ok(Arc::new(Self {
            scheme: self.scheme,
            url: self.url.clone(),
            endpoint,
            set_up: self.set_up.clone(),
            facts: self.facts.clone(),
            version: self.version.clone(),
            threads: AtomicU32::new(1),
            spaces: Arc::clone(&self.spaces),
            control: self.control.of_secondary().holding(connection),
        }))
    }

    fn remove_secondary_schema(&self, name: &str) -> Result<()> {
        let schema = format!("{}_{name}", self.endpoint.schema);
        let mut connection = self.connect()?;
        guard::remove_own_schema(&mut connection, &schema)
    }

    fn companion(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let (endpoint, set_up) = (Endpoint::from_url(url)?, SetUp::from_url(url)?);
        let (mut connection, inherited) = Connection::open_first(&endpoint, OF_SESSIONS)?;
        let facts = guard::look(&mut connection, inherited, &set_up)?;
        let control = (connection, self.control.of_secondary());
        let asked = (set_up, facts);
        let companion = Self::claimed(self.scheme, url.to_string(), endpoint, asked, control)?;
        Ok(Arc::new(companion))
    }

    fn snapshot(&self) -> std::result::Result<&dyn Snapshot, String> {
        self.control.snapshot()
    }

    fn threads(&self) -> u32 {
        self.threads.load(Ordering::Relaxed)
    }

    fn threads_max(&self) -> u32 {
        THREADS_MAX.min(self.facts.workers_max + 1)
    }

    fn set_threads(&self, threads: u32) -> Result<()> {
        if !(1..=self.threads_max()).contains(&threads) {
            return Err(TargetError::statement(format!(
                "PostgreSQL: {threads} processes per statement exceed the server's {} parallel workers plus the \
                 session process; raise max_parallel_workers and max_worker_processes",
                self.facts.workers_max
            )));
        }
        self.threads.store(threads, Ordering::Relaxed);
        Ok(())
    }

    fn watch(&self) -> Result<Option<Box<dyn Watch>>> {
        let is_own_server = self.control.server().is_some();
        let watch = PostgresWatch::open(&self.endpoint, self.facts.major, is_own_server)?;
        Ok(Some(Box::new(watch)))
    }

    fn activity(&self, wanted: Wanted) -> Result<Box<dyn Activity>> {
        if !self.facts.is_observed {
            return Err(TargetError::statement(ONLY_MEASURED));
        }
        let activity = PostgresActivity::open(&self.endpoint, &self.facts, wanted)?;
        Ok(Box::new(activity))
    }

    fn setting_rules(&self) -> &'static str {
        RULES
    }
}
