//! The server's configuration, as it is archived.

use std::collections::BTreeMap;

use super::connection::Connection;
use engine::Result;

/// Always recorded, also where they are the server's defaults, because figures hang on them.
const ALWAYS: &str = "'block_size', 'wal_block_size', 'wal_segment_size', 'data_checksums', \
     'shared_buffers', 'huge_pages', 'huge_pages_status', 'effective_cache_size', 'work_mem', \
     'maintenance_work_mem', 'max_connections', 'wal_level', 'wal_buffers', 'wal_compression', \
     'wal_sync_method', 'max_wal_size', 'min_wal_size', 'checkpoint_timeout', \
     'checkpoint_completion_target', 'synchronous_commit', 'fsync', 'full_page_writes', \
     'max_worker_processes', 'max_parallel_workers', 'max_parallel_workers_per_gather', \
     'max_parallel_maintenance_workers', 'jit', 'autovacuum', 'random_page_cost', \
     'effective_io_concurrency', 'io_method', 'default_toast_compression', 'server_encoding', \
     'lc_collate', 'synchronous_standby_names', 'shared_preload_libraries', 'track_io_timing'";
/// Never recorded: they may hold passwords, keys or places of the owner's.
const NEVER: &str = "'primary_conninfo', 'ssl_passphrase_command', 'archive_command', \
     'restore_command', 'recovery_end_command', 'archive_cleanup_command', 'ldap_password'";

/// Every setting that somebody set, those that matter always, and the server's own description.
/// Settings that dbdyno sets for its sessions are its own and left out.
pub(super) fn settings(connection: &mut Connection) -> Result<BTreeMap<String, String>> {
    let rows = connection.texts(
        &format!(
            "SELECT name, current_setting(name, true) FROM pg_settings WHERE name NOT IN ({NEVER}) \
             AND (name IN ({ALWAYS}) OR source NOT IN ('default', 'override', 'client', 'session')) \
             UNION ALL SELECT 'version', version() \
             UNION ALL SELECT 'lc_collate', datcollate FROM pg_database \
             WHERE datname = current_database()"
        ),
        &[],
    )?;
    let pair = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter().flatten();
        Some((cells.next()?, cells.next()?))
    };
    Ok(rows.into_iter().filter_map(pair).collect())
}
