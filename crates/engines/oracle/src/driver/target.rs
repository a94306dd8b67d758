//! A user's schema as a target.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use archive::TargetRecord;

use super::client::Client;
use super::explain::is_unknown_to_stand_in;
use super::guard::{self, Surroundings};
use super::rights::Privileges;
use super::session::OracleSession;
use super::session_settings::{set_settings, try_settings};
use super::source::OracleSource;
use super::watch::OracleWatch;
use super::{facts, overrides};
use crate::access::{Access, SETTINGS};
use crate::foreign::RESERVED;
use engine::catalogue::Source;
use engine::open_sessions;
use engine::session_settings::{self, Replaced, SessionSettings};
use engine::{
    Cooled, Counters, Feature, Result, Session, SessionsLeft, Target, TargetError, TargetUrl, Watch,
};
use local_server::ControlConnection;

pub(super) const RULES: &str = include_str!("../rules.toml");
pub(super) const TITLE: &str = "Oracle Database";
/// More servers of one statement than anybody gives it.
const THREADS_MAX: u32 = 256;

pub(super) struct OracleTarget {
    url: TargetUrl,
    access: Arc<Access>,
    version: String,
    privileges: Privileges,
    read_only: Option<String>,
    replaced: Vec<Replaced>,
    /// Settings of the measured sessions.
    session: SessionSettings,
    control: ControlConnection<Client>,
    threads: AtomicU32,
    /// Holds the lock on the schema while the target lives; `None` where another target holds it.
    _lock: Option<Client>,
}

/// Access and settings of a URL.
pub(super) fn of_url(url: &TargetUrl) -> Result<(Access, SessionSettings)> {
    let access = Access::from_url(url)?;
    let session = session_settings::of_url(url, SETTINGS, RESERVED)?;
    Ok((access, session))
}

pub(super) fn privileges(client: &mut Client, access: &Access) -> Result<Privileges> {
    Ok(Privileges {
        held: facts::privileges(client)?,
        sees_sessions: client.texts("SELECT count(*) FROM v$session").is_ok(),
        user: access.schema(),
    })
}

pub(super) fn lacks(privileges: &Privileges, feature: Feature) -> Option<String> {
    match feature {
        Feature::ColdCache => Some(
            "dbdyno did not start this server and cannot restart it; flush its buffer cache yourself (ALTER SYSTEM FLUSH BUFFER_CACHE)"
                .into(),
        ),
        Feature::Compression => Some(
            "dbdyno does not rewrite the library's statements, and Oracle has no session setting that compresses new tables".into(),
        ),
        Feature::ProceduralLanguage if !privileges.may_create_code() => {
            Some("the user may not create PL/SQL; GRANT CREATE PROCEDURE".into())
        }
        _ => None,
    }
}

impl OracleTarget {
    /// Connects, refuses what is not ours, and makes the register.
    pub(super) fn open(url: &TargetUrl, access: Access, session: SessionSettings) -> Result<Self> {
        let others_allowed = url.others_allowed()?;
        let target = Self::open_with(url, access, others_allowed, true)?;
        target.with_session(&session)
    }

    fn open_with(
        url: &TargetUrl,
        access: Access,
        others_allowed: bool,
        is_locked: bool,
    ) -> Result<Self> {
        let access = Arc::new(access);
        let mut client = Client::connect(&access, false)?;
        let version = client.version();
        guard::refuse_old(&version)?;
        let surroundings = Surroundings::of(&mut client)?;
        surroundings.refuse_root(&access)?;
        let privileges = privileges(&mut client, &access)?;
        if !others_allowed {
            guard::refuse_busy(&mut client, &access)?;
        }
        let read_only = surroundings.read_only();
        let mut lock = None;
        if read_only.is_none() {
            guard::own_schema(&mut client, &access)?;
            lock = is_locked.then(|| guard::lock(&access)).transpose()?;
        }
        Ok(Self {
            url: url.clone(),
            access,
            version,
            privileges,
            read_only,
            replaced: overrides::OVERRIDES
                .iter()
                .map(|of| of.over(None))
                .collect(),
            session: SessionSettings::new(),
            control: ControlConnection::new(None).holding(client),
            threads: AtomicU32::new(1),
            _lock: lock,
        })
    }

    /// The same with settings for its sessions, after a trial.
    fn with_session(mut self, session: &SessionSettings) -> Result<Self> {
        if !session.is_empty() {
            let mut trial = Client::connect(&self.access, false)?;
            self.session = try_settings(&mut trial, session)?;
        }
        Ok(self)
    }

    fn with_control<T>(&self, work: impl FnOnce(&mut Client) -> Result<T>) -> Result<T> {
        self.control
            .with(|| Client::connect(&self.access, false), work)
    }

    fn session(&self, for_script: bool) -> Result<Box<dyn Session>> {
        let mut client = Client::connect(&self.access, for_script)?;
        set_settings(&mut client, &self.session)?;
        let threads = self.threads();
        if threads > 1 {
            for what in ["QUERY", "DML", "DDL"] {
                client.begin_with(format!(
                    "ALTER SESSION FORCE PARALLEL {what} PARALLEL {threads}"
                ))?;
            }
        }
        let access = Arc::clone(&self.access);
        Ok(Box::new(OracleSession::new(client, access, threads)))
    }
}

impl Target for OracleTarget {
    fn record(&self) -> TargetRecord {
        let mut settings = self.with_control(facts::settings).unwrap_or_default();
        if let Some(tls) = self.access.protection().tls() {
            settings.insert("dbdyno.tls".into(), tls.to_owned());
        }
        session_settings::record(&self.session, &mut settings);
        session_settings::record_replaced(&self.replaced, &mut settings);
        TargetRecord {
            name: self.url.scheme.clone(),
            url: self.url.to_string(),
            engine: TITLE.into(),
            engine_version: self.version.clone(),
            nodes: 1,
            device: None,
            settings,
            rights_missing: self.privileges.missing(self.others_allowed()),
        }
    }

    fn lacks(&self, feature: Feature) -> Option<String> {
        lacks(&self.privileges, feature)
    }

    fn open_session(&self) -> Result<Box<dyn Session>> {
        self.session(false)
    }

    fn open_script_session(&self) -> Result<Box<dyn Session>> {
        self.session(true)
    }

    fn server_process(&self) -> Option<std::result::Result<u32, String>> {
        let why = "Oracle's processes are not looked for: dbdyno did not start this server";
        Some(Err(why.into()))
    }

    fn running_since(&self) -> Option<String> {
        self.control
            .running_since(|| self.with_control(facts::running_since))
    }

    fn read_only(&self) -> Option<String> {
        self.read_only.clone()
    }

    fn sessions_left(&self) -> Option<SessionsLeft> {
        self.with_control(facts::sessions_left).ok()?
    }

    fn others_allowed(&self) -> bool {
        self.url.others_allowed().unwrap_or(false)
    }

    fn knock(&self, patience: Duration) -> Result<()> {
        Client::connect_within(&self.access, false, patience).map(drop)
    }

    fn break_off(&self) {
        open_sessions::break_off_those_of(self.access.owner);
    }

    fn counters(&self) -> Counters {
        self.with_control(facts::counters).unwrap_or_default()
    }

    /// Without the right, the server writes its blocks when it likes; `check` says so.
    fn checkpoint(&self) -> Result<()> {
        if !self.privileges.may_alter_system() {
            return Ok(());
        }
        match self.with_control(|client| client.run("ALTER SYSTEM CHECKPOINT")) {
            Err(error) if is_unknown_to_stand_in(&error) => Ok(()),
            other => other,
        }
    }

    fn cool(&self) -> Result<Cooled> {
        self.control.cool("restart it or empty its buffer cache")
    }

    fn source(&self) -> Result<Box<dyn Source>> {
        let source = OracleSource::open(Arc::clone(&self.access), self.url.to_string(), true)?;
        Ok(Box::new(source))
    }

    /// A schema is a user: of the same password, with the name behind that of the URL's.
    fn secondary_schema(&self, name: &str) -> Result<Arc<dyn Target>> {
        let access = self.access.of_secondary(name);
        let user = access.schema();
        let secondary = Self::open_with(&self.url, access, true, true).map_err(|error| {
            let advice = format!(
                "; a second schema is the user {user} with the same password and rights, which an administrator makes with CREATE USER"
            );
            TargetError::new(error.kind, error.message + &advice)
        })?;
        Ok(Arc::new(Self {
            session: self.session.clone(),
            ..secondary
        }))
    }

    fn remove_secondary_schema(&self, name: &str) -> Result<()> {
        let access = Arc::new(self.access.of_secondary(name));
        let mut client = Client::connect(&access, false)?;
        guard::remove_own_tables(&mut client, &access)
    }

    fn companion(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let (access, session) = of_url(url)?;
        let companion = Self::open_with(url, access, true, false)?;
        Ok(Arc::new(companion.with_session(&session)?))
    }

    fn threads(&self) -> u32 {
        self.threads.load(Ordering::Relaxed)
    }

    fn threads_max(&self) -> u32 {
        let found = self.with_control(|client| facts::parameter(client, "parallel_max_servers"));
        let most = found.ok().flatten().and_then(|text| text.parse().ok());
        most.unwrap_or(1).clamp(1, THREADS_MAX)
    }

    fn set_threads(&self, threads: u32) -> Result<()> {
        self.threads.store(threads.max(1), Ordering::Relaxed);
        Ok(())
    }

    fn watch(&self) -> Result<Option<Box<dyn Watch>>> {
        Ok(Some(Box::new(OracleWatch::open(&self.access)?)))
    }

    fn setting_rules(&self) -> &'static str {
        RULES
    }
}
