//! The engines: databases of running servers, and servers that dbdyno makes itself.

use std::sync::Arc;

use super::backup;
use super::defaults;
use super::endpoint::{Endpoint, own_schema};
use super::foreign::FOREIGN;
use super::inspect::inspect;
use super::local::PostgresServer;
use super::set_up::{SETTINGS, SetUp};
use super::source::PostgresSource;
use super::target::PostgresTarget;
use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::session_settings;
use engine::{
    Engine, EngineInfo, Footprint, Incomplete, Reach, Result, RowBytes, Target, TargetUrl, Tried,
    TypeNames,
};
use local_server::LocalEngine;

pub const ENGINES: engine::Engines = engine::Engines(&[&Postgres, &LOCAL]);

const TYPE_NAMES: TypeNames = TypeNames {
    moment: "TIMESTAMP",
    bytes: "BYTEA",
    text: "VARCHAR",
    ..TypeNames::USUAL
};

/// Measured on PostgreSQL 15 without page images: transactions of one and of four rows, of 50,000 with texts of 50, 200 and 800 bytes
/// chosen at random. An update is in between one that finds room in its page, and one that does not and gets entries in indexes. Texts that do
/// not fit into a quarter of a page are kept as rows of another table.
const FOOTPRINT: Footprint = Footprint {
    transaction_log_bytes: 34.0,
    log_bytes_per_s: 0.0,
    insert: RowBytes {
        fixed: 146.0,
        per_byte: 1.0,
    },
    update: RowBytes {
        fixed: 140.0,
        per_byte: 1.0,
    },
    delete: RowBytes {
        fixed: 55.0,
        per_byte: 0.0,
    },
    file: RowBytes {
        fixed: 50.0,
        per_byte: 1.1,
    },
    room_mb: 0.0,
    text_bytes_max: 1900,
    page_image_bytes: 8192.0,
    beyond_range: 0.0,
};

/// A database of a server that runs already.
pub struct Postgres;

impl Engine for Postgres {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "postgres",
            aliases: &["postgresql", "postgis", "pgsql", "pg"],
            title: "PostgreSQL, a running server (client built in)",
            reach: Reach::Network,
            settings: SETTINGS,
            foreign_settings: FOREIGN,
            takes_settings_of_the_server: true,
            reads_key_values: true,
            password_places: Some("~/.pgpass or $PGPASSWORD"),
            has_question_mark_operators: true,
            type_names: TYPE_NAMES,
            footprint: Some(FOOTPRINT),
            tried: TRIED,
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        Ok("12 or later".into())
    }

    fn complete(&self, url: &mut Incomplete<'_>) -> std::result::Result<(), String> {
        defaults::complete(url)
    }

    fn check(&self, url: &TargetUrl) -> Result<()> {
        Endpoint::check(url)?;
        SetUp::from_url(url).map(|_| ())
    }

    fn open_source(&self, url: &TargetUrl) -> Result<Box<dyn Source>> {
        session_settings::refuse(&SetUp::from_url(url)?.session)?;
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

    fn open_observed(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Ok(Arc::new(PostgresTarget::open_observed(url)?))
    }

    fn place_of_suite(&self, url: &TargetUrl) -> Result<TargetUrl> {
        let mut url = url.clone();
        let schema = format!("{}_check", own_schema(&url)?);
        url.settings.insert("schema".into(), schema);
        Ok(url)
    }

    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        inspect(&Endpoint::from_url(url)?, &SetUp::from_url(url)?)
    }
}

const TRIED: Tried = Tried {
    here: "15, 16, 18",
    believed: "12 to 19, Aurora, Neon",
    ..Tried::NOTHING
};

/// A server that dbdyno makes, tunes, restarts and removes.
pub(super) static LOCAL: LocalEngine = LocalEngine {
    kind: &PostgresServer,
    scheme: "postgres+local",
    title: "PostgreSQL, a local server that dbdyno starts",
    sql_of: None,
    type_names: TYPE_NAMES,
    tried: TRIED,
    cache_setting: |bytes| ("shared_buffers", format!("{}kB", bytes / 1024)),
    backup_methods: backup::methods,
    open: |url| Ok(Arc::new(PostgresTarget::open_local(url)?)),
    inspect: |server| {
        let endpoint = Endpoint::local(server.socket_path(), server.superuser());
        inspect(&endpoint, &SetUp::alone())
    },
};
