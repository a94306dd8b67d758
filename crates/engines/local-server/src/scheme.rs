//! The engine of servers that dbdyno makes, tunes, restarts and removes.

use std::sync::Arc;

use super::spec::sessions_setting;
use super::{Installation, LocalServer, ServerKind, ServerSpec, Surroundings};
use engine::inspection::Inspection;
use engine::{
    BackupMethod, Engine, EngineInfo, Reach, Result, Target, TargetUrl, Tried, TypeNames,
};

/// Settings of every local server, as `dbdyno list engines` shows them.
const SETTINGS: &[(&str, &str)] = &[
    (
        "version",
        "version or version series of an installed server",
    ),
    (
        "memory",
        "memory limit of the server, including its page cache, e.g. 2GiB (default: no limit)",
    ),
    (
        "place.log",
        "directory of the log, apart from the data; likewise place.indexes, place.temporary, place.undo and \
         place.table.NAME where the server can",
    ),
    ("KEY", "any setting of the server"),
];

/// The engine of one kind of server.
pub struct LocalEngine {
    pub kind: &'static dyn ServerKind,
    pub scheme: &'static str,
    pub title: &'static str,
    pub sql_of: Option<&'static str>,
    pub type_names: TypeNames,
    pub tried: Tried,
    /// The setting that makes the cache so large.
    pub cache_setting: fn(u64) -> (&'static str, String),
    pub backup_methods: fn() -> Vec<BackupMethod>,
    pub open: fn(&TargetUrl) -> Result<Arc<dyn Target>>,
    pub inspect: fn(&LocalServer) -> Result<Inspection>,
}

impl LocalEngine {
    fn installations(&self) -> Result<Vec<Installation>> {
        self.kind.find(&Surroundings::of_process())
    }
}

impl Engine for LocalEngine {
    fn info(&self) -> EngineInfo {
        let about = self.kind.about();
        EngineInfo {
            scheme: self.scheme,
            title: self.title,
            sql_of: self.sql_of,
            reach: Reach::LocalServer,
            settings: SETTINGS,
            takes_settings_of_the_server: true,
            places: about.places,
            places_tables: true,
            type_names: self.type_names,
            tried: self.tried,
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        let found = self.installations().map_err(|error| error.message)?;
        let versions: Vec<String> = found.iter().map(|i| i.version.to_string()).collect();
        if versions.is_empty() {
            return Err(self.kind.about().how_to_get_it.to_owned());
        }
        Ok(versions.join(", "))
    }

    fn found(&self) -> Vec<String> {
        let line = |i: &Installation| format!("{} {}", i.version, i.server.display());
        self.installations().iter().flatten().map(line).collect()
    }

    fn cache_setting(&self, bytes: u64) -> Option<(&'static str, String)> {
        Some((self.cache_setting)(bytes))
    }

    fn sessions_setting(&self, sessions: u32) -> Option<(&'static str, String)> {
        sessions_setting(sessions)
    }

    fn memory_need_bytes(&self, url: &TargetUrl, sessions: u32) -> Option<u64> {
        let spec = ServerSpec::from_url(self.kind, url).ok()?;
        let settings = spec.all_settings(self.kind);
        let need = self.kind.memory_need_bytes(&settings, sessions);
        Some(spec.memory_bytes.map_or(need, |limit| limit.min(need)))
    }

    fn backup_methods(&self) -> Vec<BackupMethod> {
        (self.backup_methods)()
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        ServerSpec::from_url(self.kind, url).map(drop)
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        (self.open)(url)
    }

    /// On a server of its own, which goes again: that of a data directory that was given would stay.
    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        let server = LocalServer::start_for(self.kind, &url.in_new_directory())?;
        let found = (self.inspect)(&server)?;
        Ok(found.of_local_server(server.about(), server.program()))
    }
}
