//! Settings and counters of the server.

use std::collections::BTreeMap;

use super::client::Client;
use engine::value::SessionLimit;
use engine::{Counters, ErrorKind, Result, SessionsLeft};

/// Recorded in any case; what a server does not have is left out. Others are recorded where somebody set them.
const ALWAYS: &str = "commit_logging commit_wait compatible cpu_count cursor_sharing db_block_checking db_block_checksum db_block_size \
     db_cache_size db_lost_write_protect disk_asynch_io fast_start_mttr_target filesystemio_options inmemory_force inmemory_query \
     inmemory_size lock_sga log_buffer memory_target open_cursors optimizer_adaptive_plans parallel_degree_policy parallel_max_servers \
     pga_aggregate_target processes resource_limit resource_manager_plan result_cache_mode session_cached_cursors sessions \
     sga_max_size sga_target statistics_level undo_retention use_large_pages";
/// Where a server keeps its files and who it is: no setting.
const PLACES: &str = "audit_file_dest background_dump_dest control_files core_dump_dest db_domain db_name db_unique_name \
     diagnostic_dest dispatchers instance_name local_listener remote_listener service_names spfile user_dump_dest";

/// Values of two columns, by the first in lower case. Without the right to see them there are none, as in a view that is missing.
fn pairs(client: &mut Client, sql: &str) -> Result<Option<BTreeMap<String, String>>> {
    match client.texts(sql) {
        Ok(rows) => Ok(Some(
            rows.into_iter()
                .filter_map(|row| {
                    let mut cells = row.into_iter();
                    Some((
                        cells.next()??.to_lowercase(),
                        cells.next()?.unwrap_or_default(),
                    ))
                })
                .collect(),
        )),
        Err(error) if error.kind == ErrorKind::Statement => Ok(None),
        Err(error) => Err(error),
    }
}

fn quoted(names: &str) -> String {
    let names: Vec<String> = names
        .split_whitespace()
        .map(|name| format!("'{name}'"))
        .collect();
    names.join(", ")
}

/// Settings worth recording: the important ones, and all that somebody set.
pub(super) fn settings(client: &mut Client) -> Result<BTreeMap<String, String>> {
    let found = pairs(
        client,
        &format!(
            "SELECT name, value FROM v$parameter WHERE (name IN ({}) OR isdefault = 'FALSE') AND name NOT IN ({})",
            quoted(ALWAYS),
            quoted(PLACES)
        ),
    )?;
    Ok(found.unwrap_or_else(|| {
        let why = "V$PARAMETER is not shown to this user; GRANT SELECT ON V_$PARAMETER TO the user";
        BTreeMap::from([("(settings)".to_owned(), why.to_owned())])
    }))
}

/// A parameter as the session has it; `None` where there is none, or it is not shown.
pub(super) fn parameter(client: &mut Client, name: &str) -> Result<Option<String>> {
    let name = name.to_lowercase();
    let found = pairs(
        client,
        &format!(
            "SELECT name, value FROM v$parameter WHERE name = {}",
            engine::register::quoted(&name)
        ),
    )?;
    Ok(found.and_then(|mut found| found.remove(&name)))
}

/// Buffers requested from the cache, bytes of redo made and blocks read from files, of the whole instance.
pub(super) fn counters(client: &mut Client) -> Result<Counters> {
    let found = pairs(
        client,
        "SELECT name, value FROM v$sysstat WHERE name IN ('session logical reads', 'redo size', 'physical reads')",
    )?;
    let found = found.unwrap_or_default();
    let of = |name: &str| found.get(name).and_then(|value| value.parse().ok());
    Ok(Counters {
        buffer_gets: of("session logical reads"),
        redo_bytes: of("redo size"),
        pages_read: of("physical reads"),
    })
}

/// When the instance was started, RFC 3339 in UTC.
pub(super) fn running_since(client: &mut Client) -> Result<Option<String>> {
    client.text(
        "SELECT to_char(sys_extract_utc(CAST(startup_time AS TIMESTAMP WITH LOCAL TIME ZONE)), 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') \
         FROM v$instance",
    )
}

/// Further sessions that the server lets in, by its own limits.
pub(super) fn sessions_left(client: &mut Client) -> Result<Option<SessionsLeft>> {
    const RAISE: &str = "raise it (ALTER SYSTEM SET processes = N SCOPE = SPFILE, then restart; sessions follows it)";
    let rows = client.texts(
        "SELECT resource_name, current_utilization, trim(limit_value) FROM v$resource_limit \
         WHERE resource_name IN ('processes', 'sessions')",
    );
    let rows = match rows {
        Ok(rows) => rows,
        Err(error) if error.kind == ErrorKind::Statement => return Ok(None),
        Err(error) => return Err(error),
    };
    let limits: Vec<(String, u64, u64)> = rows
        .into_iter()
        .filter_map(|row| {
            let mut cells = row.into_iter().flatten();
            // UNLIMITED is no limit.
            Some((
                cells.next()?,
                cells.next()?.parse().ok()?,
                cells.next()?.parse().ok()?,
            ))
        })
        .collect();
    let limits: Vec<SessionLimit<'_>> = limits
        .iter()
        .map(|(name, used, most)| SessionLimit {
            name,
            most: *most,
            reserved: 0,
            used: *used,
            how_to_raise: RAISE,
        })
        .collect();
    Ok(SessionsLeft::under(&limits))
}

/// True if the user has a system privilege; `None` where the server does not show them.
pub(super) fn privileges(client: &mut Client) -> Result<Option<Vec<String>>> {
    match client.texts("SELECT privilege FROM session_privs") {
        // Every session has one at least: without any, the server does not show them.
        Ok(rows) => {
            let held: Vec<String> = rows.into_iter().flatten().flatten().collect();
            Ok((!held.is_empty()).then_some(held))
        }
        Err(error) if error.kind == ErrorKind::Statement => Ok(None),
        Err(error) => Err(error),
    }
}
