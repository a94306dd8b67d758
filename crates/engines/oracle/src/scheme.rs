//! The engine: a user's schema on a running server.

use std::sync::Arc;

use super::access::{self, Access, SETTINGS};
use super::foreign::{FOREIGN, RESERVED};
use super::opened;
use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::session_settings;
use engine::{Engine, EngineInfo, Incomplete, Reach, Result, Target, TargetUrl, Tried, TypeNames};

pub const ENGINES: engine::Engines = engine::Engines(&[&Oracle]);

/// A user's schema of a server that runs already.
pub struct Oracle;

impl Engine for Oracle {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "oracle",
            aliases: &["oracledb"],
            title: "Oracle Database, a running server (Oracle's driver built in)",
            tried: Tried {
                on_protocol: "12.2 and later (a stand-in, never Oracle itself)",
                ..Tried::NOTHING
            },
            reach: Reach::Network,
            settings: SETTINGS,
            foreign_settings: FOREIGN,
            takes_settings_of_the_server: true,
            password_places: Some("$ORACLE_PASSWORD"),
            type_names: TypeNames {
                moment: "TIMESTAMP",
                bytes: "RAW(2000)",
                text: "VARCHAR2(4000)",
                octets: "utl_raw.length",
                empty_text_is_null: true,
            },
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        opened::version()
    }

    fn complete(&self, url: &mut Incomplete<'_>) -> std::result::Result<(), String> {
        access::complete(url)
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        Access::from_url(url)?;
        session_settings::of_url(url, SETTINGS, RESERVED)?;
        url.others_allowed().map(drop)
    }

    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        opened::source(url)
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        opened::target(url)
    }

    /// A schema is a user, which only an administrator makes: the suite's tables are in the user's own.
    fn place_of_suite(&self, url: &TargetUrl) -> Result<TargetUrl> {
        Ok(url.clone())
    }

    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        opened::inspection(url)
    }
}
