//! A server's database as a target.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use archive::{Purpose, RightsMissing, TargetRecord, Unseen};

use super::access::{Access, SETTINGS};
use super::client::Client;
use super::flavour::{Flavour, plain_version};
use super::limits::{Limits, is_read_only};
use super::observe::MySqlActivity;
use super::overrides::set_up_first;
use super::session::{MySqlSession, connect, connect_for_script};
use super::session_settings::{RESERVED, set_settings, try_settings};
use super::source::MySqlSource;
use super::watch::MySqlWatch;
use super::{checkpoint, facts, guard, observe, watch};
use engine::activity::{ONLY_MEASURED, ONLY_OBSERVED};
use engine::catalogue::Source;
use engine::inspection::Protection;
use engine::open_sessions;
use engine::session_settings::{self, Replaced, SessionSettings};
use engine::{
    Activity, Backup, Cooled, Counters, Feature, Result, Session, SessionsLeft, Snapshot, Target,
    TargetError, TargetUrl, Wanted, Watch,
};
use local_server::{ControlConnection, LocalServer, ServerKind};

/// Where sessions begin on a server that takes no writes and has no database of dbdyno's.
const NO_DATABASE: &str = "information_schema";

/// Why a server that somebody else started has no methods.
pub(super) const NOT_LOCAL: &str = "backups of MariaDB and MySQL are measured on servers that dbdyno starts itself, because the restored \
     copy needs a server of its own; use mariadb+local: or mysql+local:";

pub(super) struct MySqlTarget {
    url: TargetUrl,
    access: Arc<Access>,
    flavour: Flavour,
    version: String,
    protection: Protection,
    rights_missing: Option<RightsMissing>,
    /// Why the server takes no writes.
    read_only: Option<String>,
    /// Limits of the server that measured sessions lift or bear.
    limits: Limits,
    /// Settings of the server that sessions replace.
    replaced: Vec<Replaced>,
    is_observed: bool,
    compression: AtomicBool,
    /// Settings of the server for the sessions that are measured, as it writes them.
    session: SessionSettings,
    control: ControlConnection<Client>,
    /// True if this target holds the lock on its database, and not another one that is open as long.
    is_locked: bool,
}

impl MySqlTarget {
    /// Starts a server of dbdyno's own, and opens it.
    pub(super) fn open_local(kind: &'static dyn ServerKind, url: &TargetUrl) -> Result<Self> {
        Self::of_server(LocalServer::start_for(kind, url)?, url)
    }

    /// Opens a server of dbdyno's own.
    pub(super) fn of_server(server: LocalServer, url: &TargetUrl) -> Result<Self> {
        let mut access = Access::local(server.socket_path(), server.superuser());
        access.table_directories = server.table_directories();
        // Nobody else can reach it, and the server itself has the settings.
        let session = SessionSettings::new();
        Self::open(url, access, session, true, Some(server))
    }

    /// Connects, refuses what is not ours, and makes the database.
    pub fn open(
        url: &TargetUrl,
        access: Access,
        session: SessionSettings,
        others_allowed: bool,
        server: Option<LocalServer>,
    ) -> Result<Self> {
        let control = ControlConnection::new(server);
        let target = Self::open_with(url, access, others_allowed, (control, true))?;
        target.with_session(&session)
    }

    /// Logs on to look at the server's work: nothing is claimed, made or refused, and the database of the URL need not be there.
    pub fn open_observed(url: &TargetUrl) -> Result<Self> {
        let (access, session) = asked_of(url)?;
        session_settings::refuse(&session)?;
        let (client, flavour, version) = guard::connect(&access)?;
        let protection = client.protection();
        drop(client);
        let mut client = observe::asking::connect(&access, flavour)?;
        let rights_missing = rights_missing(&mut client, false)?;
        Ok(Self {
            url: url.clone(),
            access: Arc::new(access),
            flavour,
            version,
            protection,
            rights_missing,
            read_only: None,
            limits: Limits::default(),
            replaced: Vec::new(),
            is_observed: true,
            compression: AtomicBool::new(false),
            session,
            control: ControlConnection::new(None).holding(client),
            is_locked: false,
        })
    }

    /// The same with settings for its sessions, after a trial.
    fn with_session(mut self, session: &SessionSettings) -> Result<Self> {
        if !session.is_empty() {
            // On a connection that goes at once.
            let mut trial = self.connect()?;
            self.session = try_settings(&mut trial, self.flavour, session)?;
        }
        Ok(self)
    }

    fn open_with(
        url: &TargetUrl,
        mut access: Access,
        others_allowed: bool,
        (control, is_locked): (ControlConnection<Client>, bool),
    ) -> Result<Self> {
        let (mut client, flavour, version) = guard::connect(&access)?;
        let protection = client.protection();
        let mut replaced = set_up_first(&mut client, flavour, access.writes_anyway)?;
        guard::refuse_proxy(&mut client, &access)?;
        if !others_allowed {
            guard::refuse_busy(&mut client, &access)?;
        }
        if is_locked {
            guard::lock(&mut client, &access)?;
        }
        let read_only = match control.server() {
            Some(_) => None,
            None => is_read_only(&mut client, flavour, access.writes_anyway)?,
        };
        let mut limits = Limits::default();
        if read_only.is_none() {
            limits = Limits::of(&mut client, flavour)?;
            guard::own_database(&mut client, &access)?;
        } else if !guard::is_there(&mut client, &access.database)? {
            // Sessions need one to begin in, and this one is everywhere.
            access.database = NO_DATABASE.into();
        }
        replaced.append(&mut limits.replaced);
        let rights_missing = rights_missing(&mut client, others_allowed)?;
        drop(client);
        let target = Self {
            url: url.clone(),
            access: Arc::new(access),
            flavour,
            version,
            protection,
            rights_missing,
            read_only,
            limits,
            replaced,
            is_observed: false,
            compression: AtomicBool::new(false),
            session: SessionSettings::new(),
            control,
            is_locked,
        };
        // Whoever cannot do this can measure nothing that is written: it is said now, not after an hour.
        if target.read_only.is_none() {
            target.checkpoint()?;
        }
        Ok(target)
    }

    fn with_control<T>(&self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        let connect = || {
            let mut fresh = self.connect()?;
            if self.is_locked {
                guard::lock(&mut fresh, &self.access)?;
            }
            Ok(fresh)
        };
        self.control.with(connect, work)
    }

    /// One more connection; a local server that has ended gives the reason.
    fn connect(&self) -> Result<Client> {
        let client = if self.is_observed {
            observe::asking::connect(&self.access, self.flavour)
        } else {
            connect(&self.access)
        };
        client.map_err(|error| self.control.because(error))
    }

    /// A connection with its settings as a session.
    fn session(&self, mut client: Client) -> Result<Box<dyn Session>> {
        set_settings(&mut client, self.flavour, &self.session)?;
        let access = Arc::clone(&self.access);
        let compression = if self.compression() {
            self.flavour.compression_clause
        } else {
            ""
        };
        Ok(Box::new(MySqlSession::new(client, access, compression)))
    }

    pub(super) fn local_server(&self) -> Option<&LocalServer> {
        self.control.server()
    }

    pub(super) fn url(&self) -> &TargetUrl {
        &self.url
    }

    pub(super) fn database(&self) -> &str {
        &self.access.database
    }

    pub(super) fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// The rows of a query on the connection that is no job's.
    pub(super) fn texts(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        self.with_control(|client| client.read(sql))
    }

    /// How the database beside this one is reached.
    fn secondary_access(&self, name: &str) -> Result<Access> {
        let mut access = self.access.as_ref().clone();
        access.database = format!("{}_{name}", access.database);
        Ok(access)
    }
}

/// Access and settings of a running server's URL, with the files that it names.
pub(super) fn asked_of(url: &TargetUrl) -> Result<(Access, SessionSettings)> {
    let mut access = Access::from_url(url)?;
    access.read_files()?;
    let session = session_settings::of_url(url, SETTINGS, RESERVED)?;
    Ok((access, session))
}

/// Without a right, views are empty: that is reported, not taken for zero.
fn rights_missing(client: &mut Client, others_allowed: bool) -> Result<Option<RightsMissing>> {
    let grants = client.read("SHOW GRANTS").unwrap_or_default();
    let may_see = grants.iter().flatten().flatten().any(|grant| {
        grant.split_once(" ON *.* ").is_some_and(|(rights, _)| {
            rights.contains("ALL PRIVILEGES") || rights.contains("PROCESS")
        })
    });
    let account = guard::account(client)?;
    let (mut unseen, mut grant) = (Vec::new(), Vec::new());
    if !may_see {
        unseen.extend((!others_allowed).then_some(Unseen::OthersAtWork));
        unseen.push(Unseen::Compression);
        grant.push(format!("GRANT PROCESS ON *.* TO {account}"));
    }
    if watch::is_denied(client) {
        unseen.push(Unseen::DataFileWaits);
        grant.push(format!("GRANT SELECT ON performance_schema.* TO {account}"));
    }
    let grant = grant.join("; ");
    Ok((!unseen.is_empty()).then_some(RightsMissing { unseen, grant }))
}

pub(super) fn lacks(flavour: Flavour, limits: &Limits, feature: Feature) -> Option<String> {
    match feature {
        Feature::KeylessTables => limits.keys.clone(),
        Feature::ParallelStatement => Some(format!(
            "{} runs each statement on one thread",
            flavour.title
        )),
        _ => None,
    }
}

impl Target for MySqlTarget {
    fn record(&self) -> TargetRecord {
        let mut settings = self
            .with_control(|client| facts::settings(client, self.flavour))
            .unwrap_or_default();
        if let Some(server) = self.control.server() {
            settings.extend(server.about());
        }
        if let Some(tls) = self.protection.tls() {
            settings.insert("dbdyno.tls".into(), tls.to_owned());
        }
        session_settings::record(&self.session, &mut settings);
        session_settings::record_replaced(&self.replaced, &mut settings);
        TargetRecord {
            name: self.url.scheme.clone(),
            url: self.url.to_string(),
            engine: self.flavour.title.into(),
            engine_version: plain_version(&self.version),
            nodes: 1,
            device: None,
            settings,
            rights_missing: self.rights_missing.clone(),
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        lacks(self.flavour, &self.limits, feature)
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        if self.is_observed {
            return Err(TargetError::statement(ONLY_OBSERVED));
        }
        let mut client = self.connect()?;
        let mut more = self.limits.assignments.clone();
        let compressed = self.compression();
        if let Some(setting) = self.flavour.compression_setting {
            more.push(format!("SESSION {setting} = {}", u8::from(compressed)));
        }
        if !more.is_empty() {
            client.run(&format!("SET {}", more.join(", ")))?;
        }
        self.session(client)
    }

    fn open_script_session(&self) -> Result<Box<dyn Session>> {
        let client = connect_for_script(&self.access);
        self.session(client.map_err(|error| self.control.because(error))?)
    }

    fn data_path(&self) -> Option<&Path> {
        self.control.server().map(LocalServer::data_directory)
    }

    fn server_directory(&self) -> std::result::Result<PathBuf, String> {
        match self.with_control(|client| facts::variable(client, "datadir")) {
            Ok(Some(directory)) => Ok(PathBuf::from(directory)),
            _ => Err("the server does not show its data directory".into()),
        }
    }

    fn storage_paths(&self) -> std::result::Result<Vec<(Purpose, PathBuf)>, String> {
        let data = self.data_directory()?;
        let mut paths = vec![(Purpose::Data, data.clone())];
        for (purpose, name) in [
            (Purpose::Log, "innodb_log_group_home_dir"),
            (Purpose::Undo, "innodb_undo_directory"),
            (Purpose::Temporary, "tmpdir"),
        ] {
            let told = self.with_control(|client| facts::variable(client, name));
            let told = told.ok().flatten().unwrap_or_default();
            // Relative ones are below the data; several directories for temporary files are used in turn.
            let places = told.split(':').filter(|place| !place.is_empty());
            paths.extend(places.map(|place| (purpose, data.join(place))));
        }
        let tables = self.access.table_directories.values();
        paths.extend(tables.map(|place| (Purpose::Data, place.clone())));
        Ok(paths)
    }

    fn server_process(&self) -> Option<std::result::Result<u32, String>> {
        let find = || self.with_control(|client| Ok(watch::server_process(client)));
        Some(self.control.process(find))
    }

    fn running_since(&self) -> Option<String> {
        let ask = || self.with_control(|client| facts::running_since(client, self.flavour));
        self.control.running_since(ask)
    }

    fn read_only(&self) -> Option<String> {
        self.read_only.clone()
    }

    fn sessions_left(&self) -> Option<SessionsLeft> {
        self.with_control(facts::sessions_left).ok()?
    }

    fn cache_in_processes_bytes(&self) -> Option<u64> {
        self.with_control(facts::buffer_pool_bytes).ok()?
    }

    fn sessions_kept(&self) -> Option<u64> {
        self.with_control(facts::sessions_most).ok()?
    }

    fn others_allowed(&self) -> bool {
        self.url.others_allowed().unwrap_or(false)
    }

    fn knock(&self, patience: Duration) -> Result<()> {
        let access = &self.access;
        let (tls, login) = (access.tls.as_ref(), access.login());
        Client::connect_within(&access.place, tls, login, access.owner, patience).map(drop)
    }

    fn break_off(&self) {
        open_sessions::break_off_those_of(self.access.owner);
    }

    fn counters(&self) -> Counters {
        // An observer reads them with all others.
        if self.is_observed {
            return Counters::default();
        }
        self.with_control(facts::counters).unwrap_or_default()
    }

    fn checkpoint(&self) -> Result<()> {
        self.with_control(checkpoint::checkpoint)
    }

    fn cool(&self) -> Result<Cooled> {
        self.control.cool("restart it or empty its buffer pool")
    }

    fn source(&self) -> Result<Box<dyn Source>> {
        let access = self.access.as_ref().clone();
        let source = MySqlSource::open(access, self.url.to_string(), true)?;
        Ok(Box::new(source.on(self.control.shared_server())))
    }

    fn secondary_schema(&self, name: &str) -> Result<Arc<dyn Target>> {
        let access = self.secondary_access(name)?;
        // Other sessions were checked when this target was opened.
        let control = self.control.of_secondary();
        let secondary = Self::open_with(&self.url, access, true, (control, true))?;
        Ok(Arc::new(Self {
            session: self.session.clone(),
            ..secondary
        }))
    }

    fn remove_secondary_schema(&self, name: &str) -> Result<()> {
        let mut client = self.connect()?;
        guard::remove_own_database(&mut client, &self.secondary_access(name)?)
    }

    fn companion(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let (access, session) = asked_of(url)?;
        let control = self.control.of_secondary();
        let companion = Self::open_with(url, access, true, (control, false))?;
        Ok(Arc::new(companion.with_session(&session)?))
    }

    fn snapshot(&self) -> std::result::Result<&dyn Snapshot, String> {
        self.control.snapshot()
    }

    fn backup(&self) -> std::result::Result<&dyn Backup, String> {
        let files = [Purpose::Log, Purpose::Temporary, Purpose::Undo];
        self.control.backed_up_server(&files, NOT_LOCAL)?;
        Ok(self)
    }

    fn compression(&self) -> bool {
        self.compression.load(Ordering::Relaxed)
    }

    fn set_compression(&self, compressed: bool) -> Result<()> {
        self.compression.store(compressed, Ordering::Relaxed);
        Ok(())
    }

    fn watch(&self) -> Result<Option<Box<dyn Watch>>> {
        Ok(Some(Box::new(MySqlWatch::open(&self.access)?)))
    }

    fn activity(&self, wanted: Wanted) -> Result<Box<dyn Activity>> {
        if !self.is_observed {
            return Err(TargetError::statement(ONLY_MEASURED));
        }
        let rights_missing = self.rights_missing.clone();
        let own = self.with_control(|client| Ok(client.connection()))?;
        let activity =
            MySqlActivity::open(&self.access, self.flavour, rights_missing, wanted, own)?;
        Ok(Box::new(activity))
    }

    fn setting_rules(&self) -> &'static str {
        self.flavour.rules
    }

    fn storage_of(&self, table: &str) -> Result<BTreeMap<String, u64>> {
        self.with_control(|client| super::storage::storage_of(client, &self.access.database, table))
    }
}
