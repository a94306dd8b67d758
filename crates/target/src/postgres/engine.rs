//! The engines: databases of running servers, and servers that dbdyno makes itself.

use std::sync::Arc;

use super::endpoint::{Endpoint, own_schema};
use super::local::PostgresServer;
use super::set_up::{SETTINGS, SetUp};
use super::source::PostgresSource;
use super::target::PostgresTarget;
use crate::catalogue::Source;
use crate::engine::{Engine, EngineInfo, Reach};
use crate::server::{self, LocalServer, ServerSpec};
use crate::session_settings::SessionSettings;
use crate::{ErrorKind, Result, Target, TargetError, TargetUrl};

/// A database of a server that runs already.
pub struct Postgres;

impl Engine for Postgres {
    fn scheme(&self) -> &'static str {
        "postgres"
    }

    fn reach(&self) -> Reach {
        Reach::Network
    }

    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "postgres",
            title: "PostgreSQL, a running server (client built in)",
            version: Ok("12 or later".into()),
        }
    }

    fn settings(&self) -> &'static [(&'static str, &'static str)] {
        SETTINGS
    }

    fn takes_settings_of_the_server(&self) -> bool {
        true
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        url.address()
            .map_err(|e| TargetError::new(ErrorKind::Statement, e.to_string()))?;
        own_schema(url)?;
        SetUp::from_url(url).map(|_| ())
    }

    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        let endpoint = Endpoint::from_url(url)?;
        Ok(Box::new(PostgresSource::open(
            endpoint,
            url.to_string(),
            None,
        )?))
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let set_up = SetUp::from_url(url)?;
        let endpoint = Endpoint::from_url(url)?;
        let target = PostgresTarget::open("postgres", url.to_string(), endpoint, set_up, None)?;
        Ok(Arc::new(target))
    }
}

/// A server that dbdyno makes, tunes, restarts and removes.
pub struct LocalPostgres;

impl Engine for LocalPostgres {
    fn scheme(&self) -> &'static str {
        "postgres+local"
    }

    fn reach(&self) -> Reach {
        Reach::LocalServer
    }

    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "postgres+local",
            title: "PostgreSQL, a local server that dbdyno starts",
            version: server::versions(&PostgresServer),
        }
    }

    fn found(&self) -> Vec<String> {
        server::found(&PostgresServer)
    }

    fn settings(&self) -> &'static [(&'static str, &'static str)] {
        server::SETTINGS
    }

    fn takes_settings_of_the_server(&self) -> bool {
        true
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        ServerSpec::from_url(&PostgresServer, url).map(|_| ())
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let spec = ServerSpec::from_url(&PostgresServer, url)?;
        // Nobody else can reach it.
        let set_up = SetUp {
            others_allowed: true,
            // The server itself has them.
            session: SessionSettings::new(),
        };
        let server = LocalServer::start(&PostgresServer, &spec)?;
        let endpoint = Endpoint::local(server.socket_path(), server.superuser());
        let url = url.to_string();
        let target = PostgresTarget::open("postgres+local", url, endpoint, set_up, Some(server))?;
        Ok(Arc::new(target))
    }
}
