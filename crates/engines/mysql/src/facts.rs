//! Settings and counters of the server.

use std::collections::BTreeMap;

use super::client::Client;
use super::flavour::Flavour;
use engine::value::SessionLimit;
use engine::{Counters, Result, SessionsLeft};

/// Told in any case; what a server does not have is left out.
const ALWAYS: &str = "character_set_server collation_server innodb_buffer_pool_size innodb_compression_algorithm innodb_doublewrite \
     innodb_flush_log_at_trx_commit innodb_flush_method innodb_io_capacity innodb_log_buffer_size innodb_log_file_size \
     innodb_page_size innodb_read_io_threads innodb_redo_log_capacity innodb_write_io_threads large_pages local_infile log_bin \
     max_connections performance_schema query_cache_type sync_binlog thread_handling transaction_isolation tx_isolation version \
     version_comment";

/// Where a server keeps its files and who it is: no setting, and other with every local server.
const PLACES: &str = "basedir character_sets_dir datadir hostname innodb_directories lc_messages_dir log_error pid_file plugin_dir \
     secure_file_priv server_uid server_uuid socket tmpdir";
/// Set by the server itself, or by dbdyno's own checkpoints.
const OURS: &str = "innodb_log_checkpoint_now timestamp";

/// Settings worth telling: the important ones, and all that somebody set.
pub(super) fn settings(client: &mut Client, flavour: Flavour) -> Result<BTreeMap<String, String>> {
    let always = format!(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})",
        quoted(ALWAYS)
    );
    let mut settings = pairs(client, &always)?;
    match pairs(client, flavour.settings_query) {
        Ok(set) => settings.extend(set),
        Err(error) => {
            settings.insert(
                "(further settings)".into(),
                format!("– the server does not show them: {}", error.message),
            );
        }
    }
    settings.retain(|name, _| {
        let is_left_out = PLACES
            .split(' ')
            .chain(OURS.split(' '))
            .any(|it| it == name);
        !is_left_out && !name.contains("password")
    });
    Ok(settings)
}

fn pairs(client: &mut Client, sql: &str) -> Result<BTreeMap<String, String>> {
    let rows = client.read(sql)?;
    let pair = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter();
        let name = cells.next()??.to_ascii_lowercase();
        Some((name, cells.next()?.unwrap_or_default()))
    };
    Ok(rows.into_iter().filter_map(pair).collect())
}

/// Names that blanks separate, as a list in SQL.
fn quoted(names: &str) -> String {
    format!("'{}'", names.replace(' ', "','"))
}

/// Values of the server's status variables, by their names in lower case; blanks separate `names`.
pub(super) fn status(client: &mut Client, names: &str) -> Result<BTreeMap<String, u64>> {
    let names = quoted(names);
    let rows = pairs(
        client,
        &format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({names})"),
    )?;
    let number = |(name, value): (String, String)| Some((name, value.parse().ok()?));
    Ok(rows.into_iter().filter_map(number).collect())
}

/// One value of a global variable; `None` when the server has no such variable.
pub(super) fn variable(client: &mut Client, name: &str) -> Result<Option<String>> {
    let mut rows = pairs(
        client,
        &format!("SHOW GLOBAL VARIABLES WHERE Variable_name = '{name}'"),
    )?;
    Ok(rows.remove(name))
}

/// When the server was started, RFC 3339 in UTC. It counts its uptime to the second at which the statement began, as it
/// tells the time, so that the difference is the same whenever it is asked.
pub(super) fn running_since(client: &mut Client, flavour: Flavour) -> Result<Option<String>> {
    client.read_one(&format!(
        "SELECT date_format(utc_timestamp() - INTERVAL variable_value SECOND, '%Y-%m-%dT%H:%i:%sZ') \
         FROM {}.global_status WHERE variable_name = 'UPTIME'",
        flavour.status_schema
    ))
}

/// How to raise each limit of sessions.
const RAISE_MOST: &str = "raise it (SET GLOBAL max_connections = N, and in the server's configuration; of a local server in its URL)";
const RAISE_OF_USER: &str =
    "raise it (SET GLOBAL max_user_connections = N, or GRANT … WITH MAX_USER_CONNECTIONS N)";

/// Sessions that the server lets in beside those that are there.
pub(super) fn sessions_left(client: &mut Client) -> Result<Option<SessionsLeft>> {
    let rows = client.read(
        "SELECT @@max_connections, @@max_user_connections, \
         (SELECT count(*) FROM information_schema.processlist \
         WHERE user = substring_index(user(), '@', 1))",
    )?;
    let numbers = rows.into_iter().flatten().map(|cell| cell?.parse().ok());
    let numbers: Option<Vec<u64>> = numbers.collect();
    let connected = status(client, "Threads_connected")?;
    let connected = connected.get("threads_connected").copied();
    let (Some([most, of_user, users]), Some(connected)) = (numbers.as_deref(), connected) else {
        return Ok(None);
    };
    let limits = [
        ("max_connections", RAISE_MOST, *most, connected),
        ("max_user_connections", RAISE_OF_USER, *of_user, *users),
    ];
    // Nothing of a user is no limit.
    let limits = limits.into_iter().filter(|(_, _, most, _)| *most > 0);
    let limits = limits.map(|(name, how_to_raise, most, used)| SessionLimit {
        name,
        how_to_raise,
        most,
        reserved: 0,
        used,
    });
    Ok(SessionsLeft::under(&limits.collect::<Vec<_>>()))
}

/// Bytes of the buffer pool that hold data.
pub(super) fn buffer_pool_bytes(client: &mut Client) -> Result<Option<u64>> {
    const BYTES: &str = "Innodb_buffer_pool_bytes_data";
    let status = status(client, BYTES)?;
    Ok(status.get(&BYTES.to_ascii_lowercase()).copied())
}

/// Most sessions at once since the server began. `None` where somebody set its counters back since (`FLUSH STATUS`).
pub(super) fn sessions_most(client: &mut Client) -> Result<Option<u64>> {
    /// A server begins to count within so many seconds.
    const START_S: u64 = 2;
    let status = status(
        client,
        "Max_used_connections Uptime Uptime_since_flush_status",
    )?;
    let of = |name: &str| status.get(name).copied();
    let all = of("max_used_connections").zip(of("uptime").zip(of("uptime_since_flush_status")));
    let since_begin =
        all.filter(|(_, (up_s, counted_s))| up_s.saturating_sub(*counted_s) <= START_S);
    Ok(since_begin.map(|(most, _)| most))
}

/// Pages asked of the buffer pool and bytes of log made, of the whole server.
///
/// The log sequence number counts the bytes made, written out or not; MySQL before 8.0.30 shows only those written.
pub(super) fn counters(client: &mut Client) -> Result<Counters> {
    const NAMES: &str = "Innodb_buffer_pool_read_requests Innodb_buffer_pool_reads Innodb_lsn_current \
         Innodb_redo_log_current_lsn Innodb_os_log_written";
    let status = status(client, NAMES)?;
    let of = |name: &str| status.get(name).copied();
    Ok(Counters {
        buffer_gets: of("innodb_buffer_pool_read_requests"),
        redo_bytes: of("innodb_lsn_current")
            .or(of("innodb_redo_log_current_lsn"))
            .or(of("innodb_os_log_written")),
        pages_read: of("innodb_buffer_pool_reads"),
    })
}
