//! Inspects a server without creating, setting or locking anything.

use super::connection::Connection;
use super::endpoint::Endpoint;
use super::guard::{self, LOCKED, STANDBY, WEAK_LOGIN_WORDS, one};
use super::overrides::OF_SESSIONS;
use super::set_up::SetUp;
use super::settings::settings;
use super::target::{RULES, lacks};
use super::version::VERSION_OF_FLUSH;
use super::version::major;
use engine::inspection::{ClockOffset, Gap, Inspection, OwnPlace, PlaceState, Right, RoundTrip};
use engine::{Result, TargetError, Value};

/// The first version with a role that may run CHECKPOINT.
const VERSION_OF_CHECKPOINT: u32 = 15;

/// Logs on as a run would and looks around.
pub(super) fn inspect(endpoint: &Endpoint, set_up: &SetUp) -> Result<Inspection> {
    let (mut connection, inherited) = Connection::open_first(endpoint, OF_SESSIONS)?;
    let connection = &mut connection;
    let major = major(connection.version())?;
    let mut found = Inspection {
        engine: "PostgreSQL".into(),
        version: connection.version().to_owned(),
        protection: Some(connection.protection()),
        rules: RULES,
        ..Inspection::default()
    };
    if connection.is_weak_logon() {
        found.notes.push(WEAK_LOGIN_WORDS.into());
    }
    if connection.is_pooled() {
        found.pooler = Some(
            "a pooler in session mode stands in between; every figure includes its time".into(),
        );
    } else {
        found.sessions_left = guard::sessions_left(connection)?;
    }
    found.round_trip = Some(round_trip(connection)?);
    found.clock = clock(connection)?;
    found.settings = settings(connection)?;
    let role = Role::of(connection, major, &endpoint.schema)?;
    found.user = Some(role.user.clone());
    found.replaced = inherited.replaced;
    found.read_only = match one(connection, "SELECT pg_is_in_recovery()::text", &[])?.as_str() {
        "true" => Some(STANDBY.into()),
        _ => inherited.read_only.filter(|_| !set_up.writes_anyway),
    };
    if found.read_only.is_none() {
        found.place = Some(place(&mut found, connection, endpoint)?);
        let triggers = guard::event_triggers(connection)?;
        if !triggers.is_empty() {
            found.notes.push(format!(
                "event triggers run where dbdyno creates tables ({}); a run tries first whether tables stay its own",
                triggers.join(", ")
            ));
        }
    }
    found.rights = role.rights(major, found.read_only.is_some(), set_up.others_allowed);
    if role.is_superuser && major >= VERSION_OF_CHECKPOINT {
        found.notes.push(role.advice());
    }
    if !set_up.others_allowed {
        let alone = guard::refuse_others(connection);
        found.refuse(alone)?;
    }
    if guard::is_locked(connection)? {
        found.obstacles.push(LOCKED.into());
    }
    if !set_up.session.is_empty() {
        // They end with this connection.
        let taken = connection.try_settings(&set_up.session);
        found.refuse(taken)?;
    }
    found.data = data_directory(connection)?;
    gaps(&mut found, connection, major)?;
    Ok(found)
}

fn round_trip(connection: &mut Connection) -> Result<RoundTrip> {
    let prepared = connection.prepare("SELECT 1")?;
    RoundTrip::measure(|| connection.texts_of(&prepared, "SELECT 1", &[]).map(drop))
}

fn clock(connection: &mut Connection) -> Result<Option<ClockOffset>> {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint::text";
    let mut prepared = connection.prepare(sql)?;
    prepared.columns.fill(0);
    ClockOffset::measure(|| {
        let rows = connection.texts_of(&prepared, sql, &[])?;
        let cell = rows.into_iter().flatten().flatten().next();
        Ok(cell.and_then(|text| text.parse().ok()))
    })
}

/// The schema of dbdyno's tables; somebody else's is an obstacle.
fn place(
    found: &mut Inspection,
    connection: &mut Connection,
    endpoint: &Endpoint,
) -> Result<OwnPlace> {
    let is_there = guard::is_there_and_own(connection, &endpoint.schema);
    let state = match found.refuse(is_there)? {
        Some(true) => PlaceState::MadeByDbdyno,
        Some(false) => PlaceState::Absent,
        None => PlaceState::Foreign,
    };
    Ok(OwnPlace {
        name: format!("schema \"{}\"", endpoint.schema),
        state,
    })
}

fn data_directory(connection: &mut Connection) -> Result<Option<String>> {
    let sql = "SELECT setting FROM pg_settings WHERE name = 'data_directory'";
    let rows = connection.texts(sql, &[])?;
    Ok(rows.into_iter().flatten().flatten().next())
}

fn gaps(found: &mut Inspection, connection: &mut Connection, major: u32) -> Result<()> {
    let workers = "SELECT least(current_setting('max_parallel_workers')::int, \
                   current_setting('max_worker_processes')::int)::text";
    let workers_max = one(connection, workers, &[])?.parse().unwrap_or(0);
    found.lack(|feature| lacks(workers_max, feature));
    found.lack_what_own_servers_have();
    if major < VERSION_OF_FLUSH {
        found.gaps.push(Gap {
            what: "buffer gets".into(),
            why: format!("the statistics of PostgreSQL {major} are delayed"),
            remedy: Some("measure version 15 or later".into()),
        });
    }
    let sql = "SELECT count(*)::text FROM pg_extension WHERE extname = 'pg_wait_sampling'";
    if one(connection, sql, &[])? == "0" {
        found.gaps.push(Gap {
            what: "waits that the server counts itself".into(),
            why: "the extension pg_wait_sampling is not in this database; pg_stat_activity is sampled instead, less often \
                  with many sessions"
                .into(),
            remedy: Some(
                "set shared_preload_libraries = 'pg_wait_sampling', restart the server, and run CREATE EXTENSION \
                 pg_wait_sampling"
                    .into(),
            ),
        });
    }
    if found
        .settings
        .get("track_io_timing")
        .is_some_and(|v| v == "off")
    {
        found.gaps.push(Gap {
            what: "times of reads and writes of data files".into(),
            why: "track_io_timing is off".into(),
            remedy: Some("set track_io_timing = on".into()),
        });
    }
    Ok(())
}

struct Role {
    /// As it stands in a GRANT.
    user: String,
    database: String,
    is_superuser: bool,
    may_checkpoint: bool,
    sees_activity: bool,
    sees_settings: bool,
    may_create: bool,
    has_schema: bool,
}

impl Role {
    fn of(connection: &mut Connection, major: u32, schema: &str) -> Result<Self> {
        let checkpoint = match major {
            VERSION_OF_CHECKPOINT.. => "pg_has_role(current_user, 'pg_checkpoint', 'USAGE')",
            _ => "false",
        };
        let sql = format!(
            "SELECT quote_ident(current_user), quote_ident(current_database()), rolsuper::text, \
             (rolsuper OR {checkpoint})::text, \
             pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')::text, \
             pg_has_role(current_user, 'pg_read_all_settings', 'USAGE')::text, \
             has_database_privilege(current_database(), 'CREATE')::text, \
             EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)::text \
             FROM pg_roles WHERE rolname = current_user"
        );
        let rows = connection.texts(&sql, &[Value::Text(schema)])?;
        let cells: Vec<String> = rows.into_iter().flatten().flatten().collect();
        let [user, database, flags @ ..] = &cells[..] else {
            return Err(TargetError::unreachable(
                "PostgreSQL: the server does not tell the rights of this user",
            ));
        };
        let flag = |at: usize| flags.get(at).is_some_and(|flag| flag == "true");
        Ok(Self {
            user: user.clone(),
            database: database.clone(),
            is_superuser: flag(0),
            may_checkpoint: flag(1),
            sees_activity: flag(2),
            sees_settings: flag(3),
            may_create: flag(4),
            has_schema: flag(5),
        })
    }

    fn rights(&self, major: u32, is_read_only: bool, others_allowed: bool) -> Vec<Right> {
        let Self { user, database, .. } = self;
        let mut rights = Vec::new();
        if !is_read_only {
            rights.push(Right {
                name: "pg_checkpoint".into(),
                is_held: self.may_checkpoint,
                needed_for: "starting tests in a known state (CHECKPOINT)",
                without: "a run is refused",
                is_required: true,
                grant: match major {
                    VERSION_OF_CHECKPOINT.. => format!("GRANT pg_checkpoint TO {user}"),
                    _ => format!("ALTER ROLE {user} SUPERUSER"),
                },
            });
            rights.push(Right {
                name: "CREATE on the database".into(),
                // An existing schema is dbdyno's or refused.
                is_held: self.may_create || self.has_schema,
                needed_for: "dbdyno's schema",
                without: "a run is refused",
                is_required: true,
                grant: format!("GRANT CREATE ON DATABASE {database} TO {user}"),
            });
        }
        rights.push(Right {
            name: "pg_read_all_stats".into(),
            is_held: self.sees_activity,
            needed_for: "other active sessions, and what the server's own processes wait for",
            without: if others_allowed {
                "these waits are unknown"
            } else {
                "other active sessions are not detected, and these waits are unknown"
            },
            is_required: false,
            grant: format!("GRANT pg_monitor TO {user}"),
        });
        rights.push(Right {
            name: "pg_read_all_settings".into(),
            is_held: self.sees_settings,
            needed_for: "the data directory, and so the device under it",
            without: "the device is unknown unless the platform file or --ssh names it",
            is_required: false,
            grant: format!("GRANT pg_monitor TO {user}"),
        });
        rights
    }

    fn advice(&self) -> String {
        let (user, database) = (&self.user, &self.database);
        format!(
            "{user} is a superuser, which dbdyno does not need; this is enough: CREATE ROLE bench LOGIN PASSWORD '…'; \
             GRANT pg_checkpoint, pg_monitor TO bench; GRANT CREATE ON DATABASE {database} TO bench"
        )
    }
}
