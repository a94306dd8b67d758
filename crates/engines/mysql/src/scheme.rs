//! The engines: databases of running servers, and servers that dbdyno makes itself.

use std::sync::Arc;

use super::access::{self, Access, SETTINGS};
use super::foreign::FOREIGN;
use super::inspect::inspect;
use super::local::{MARIADB, MYSQL};
use super::session_settings::RESERVED;
use super::source::MySqlSource;
use super::target::{MySqlTarget, asked_of};
use super::{backup, flavour};
use engine::catalogue::Source;
use engine::inspection::Inspection;
use engine::session_settings::{self, SessionSettings};
use engine::{
    Engine, EngineInfo, Footprint, Incomplete, Reach, Result, RowBytes, Target, TargetUrl, Tried,
    TypeNames,
};
use local_server::LocalEngine;

pub const ENGINES: engine::Engines = engine::Engines(&[&MySql, &LOCAL_MARIADB, &LOCAL_MYSQL]);

const TYPE_NAMES: TypeNames = TypeNames {
    moment: "DATETIME(6)",
    bytes: "BLOB",
    text: "CHAR",
    ..TypeNames::USUAL
};

/// Measured on MariaDB 10.11, purge included: transactions of one and of four rows, of 50,000 with texts of 50, 200 and 800 bytes chosen
/// at random. An update logs the text before it as well, so that it can be undone. A transaction has 135 bytes where purge follows many
/// at once, and 500 where it follows each. What is of a second is from loads of 40 to 400 transactions in each.
const FOOTPRINT: Footprint = Footprint {
    transaction_log_bytes: 300.0,
    log_bytes_per_s: 40_000.0,
    insert: RowBytes {
        fixed: 60.0,
        per_byte: 1.0,
    },
    update: RowBytes {
        fixed: 62.0,
        per_byte: 2.0,
    },
    delete: RowBytes {
        fixed: 92.0,
        per_byte: 0.07,
    },
    file: RowBytes {
        fixed: 110.0,
        per_byte: 1.1,
    },
    room_mb: 15.0,
    text_bytes_max: 60_000,
    page_image_bytes: 0.0,
    beyond_range: 1.0,
};

/// A database of a server that runs already.
pub struct MySql;

impl Engine for MySql {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            scheme: "mysql",
            aliases: &["mariadb", "mysql2"],
            title: "MariaDB or MySQL, a running server (client built in)",
            reach: Reach::Network,
            settings: SETTINGS,
            foreign_settings: FOREIGN,
            takes_settings_of_the_server: true,
            password_places: Some("~/.my.cnf or $MYSQL_PWD"),
            type_names: TYPE_NAMES,
            footprint: Some(FOOTPRINT),
            tried: Tried {
                here: "MariaDB 10.11, MySQL 9.7",
                believed: "MariaDB 10.5 to 12, MySQL 8.0 to 9, Aurora, Percona Server",
                ..Tried::NOTHING
            },
            ..EngineInfo::EMBEDDED
        }
    }

    fn version(&self) -> std::result::Result<String, String> {
        Ok("MariaDB 10.5, MySQL 8.0 or later".into())
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
        let (access, session) = asked_of(url)?;
        session_settings::refuse(&session)?;
        Ok(Box::new(MySqlSource::open(access, url.to_string(), false)?))
    }

    fn open(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        let (access, session) = asked_of(url)?;
        let target = MySqlTarget::open(url, access, session, url.others_allowed()?, None)?;
        Ok(Arc::new(target))
    }

    fn open_observed(&self, url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Ok(Arc::new(MySqlTarget::open_observed(url)?))
    }

    /// The path of a URL ends with the database.
    fn place_of_suite(&self, url: &TargetUrl) -> Result<TargetUrl> {
        Ok(url.with_path_end("_check"))
    }

    fn inspect(&self, url: &TargetUrl) -> Result<Inspection> {
        let (access, session) = asked_of(url)?;
        inspect(&access, &session, url.others_allowed()?)
    }
}

const MARIADB_TRIED: Tried = Tried {
    here: "10.11",
    believed: "10.5 to 12",
    ..Tried::NOTHING
};
const MYSQL_TRIED: Tried = Tried {
    here: "9.7",
    believed: "8.0.30 to 9",
    ..Tried::NOTHING
};

/// Servers that dbdyno makes, tunes, restarts and removes.
pub(super) static LOCAL_MARIADB: LocalEngine = LocalEngine {
    kind: &MARIADB,
    scheme: "mariadb+local",
    title: "MariaDB, a local server that dbdyno starts",
    sql_of: Some("mysql"),
    backup_methods: || backup::methods(&flavour::MARIADB),
    open: |url| Ok(Arc::new(MySqlTarget::open_local(&MARIADB, url)?)),
    tried: MARIADB_TRIED,
    ..LOCAL
};

pub(super) static LOCAL_MYSQL: LocalEngine = LocalEngine {
    kind: &MYSQL,
    scheme: "mysql+local",
    title: "MySQL, a local server that dbdyno starts",
    backup_methods: || backup::methods(&flavour::MYSQL),
    open: |url| Ok(Arc::new(MySqlTarget::open_local(&MYSQL, url)?)),
    tried: MYSQL_TRIED,
    ..LOCAL
};

const LOCAL: LocalEngine = LocalEngine {
    kind: &MYSQL,
    scheme: "",
    title: "",
    sql_of: None,
    type_names: TYPE_NAMES,
    tried: Tried::NOTHING,
    cache_setting: |bytes| ("innodb_buffer_pool_size", bytes.to_string()),
    backup_methods: Vec::new,
    open: |url| Ok(Arc::new(MySqlTarget::open_local(&MYSQL, url)?)),
    inspect: |server| {
        let access = Access::local(server.socket_path(), server.superuser());
        inspect(&access, &SessionSettings::new(), true)
    },
};
