//! Brings what is in the log to the data files, and proves it.
//!
//! MariaDB has a command that returns when the checkpoint has reached the end of the log. The proof is
//! the server's own: the log sequence number of its last checkpoint is at least what the log had reached
//! before the command, so that every change up to then is in the data files, which were synced.
//! Servers without the command are made to write all dirty pages and watched until there are none.

use std::time::{Duration, Instant};

use super::client::Client;
use super::facts;
use engine::{Result, TargetError};

/// Writing a whole buffer pool to a slow device takes minutes.
const TIME_MAX: Duration = Duration::from_secs(1800);
const POLL: Duration = Duration::from_millis(5);
/// A checkpoint writes a record of its own behind what it covers.
const RECORD_BYTES_MAX: u64 = 64;

const LSN_NOW: &str = "innodb_lsn_current";
const LSN_CHECKPOINT: &str = "innodb_lsn_last_checkpoint";
/// MySQL 8.0.30 and newer.
const MYSQL_LSN_NOW: &str = "innodb_redo_log_current_lsn";
const MYSQL_LSN_CHECKPOINT: &str = "innodb_redo_log_checkpoint_lsn";
const PAGES_DIRTY: &str = "innodb_buffer_pool_pages_dirty";

pub(super) fn checkpoint(client: &mut Client) -> Result<()> {
    let has_command = facts::variable(client, "innodb_log_checkpoint_now")?.is_some();
    if has_command {
        let reached = lsn(client)?.map(|l| l.now);
        client
            .run("SET GLOBAL innodb_log_checkpoint_now = ON")
            .map_err(|e| may_not(client, e))?;
        prove(client, reached)
    } else {
        flush_all(client)
    }
}

struct Lsn {
    now: u64,
    checkpoint: u64,
}

/// `None` where the server does not tell.
fn lsn(client: &mut Client) -> Result<Option<Lsn>> {
    let names = [LSN_NOW, LSN_CHECKPOINT, MYSQL_LSN_NOW, MYSQL_LSN_CHECKPOINT];
    let status = facts::status(client, &names.join(" "))?;
    let of = |a: &str, b: &str| status.get(a).or(status.get(b)).copied();
    Ok(of(LSN_NOW, MYSQL_LSN_NOW)
        .zip(of(LSN_CHECKPOINT, MYSQL_LSN_CHECKPOINT))
        .map(|(now, checkpoint)| Lsn { now, checkpoint }))
}

fn prove(client: &mut Client, reached: Option<u64>) -> Result<()> {
    let after = lsn(client)?;
    match (reached, after) {
        (Some(reached), Some(after)) if after.checkpoint + RECORD_BYTES_MAX < reached => {
            Err(TargetError::statement(format!(
                "mysql: the checkpoint stopped at log position {} instead of {reached}",
                after.checkpoint
            )))
        }
        _ => Ok(()),
    }
}

/// Sets the limits of dirty pages to nothing, waits until there are none, and sets them back.
fn flush_all(client: &mut Client) -> Result<()> {
    const LIMITS: [&str; 2] = [
        "innodb_max_dirty_pages_pct_lwm",
        "innodb_max_dirty_pages_pct",
    ];
    let mut before = Vec::new();
    for name in LIMITS {
        before.push(facts::variable(client, name)?.unwrap_or_default());
    }
    for name in LIMITS {
        client
            .run(&format!("SET GLOBAL {name} = 0"))
            .map_err(|e| may_not(client, e))?;
    }
    let outcome = wait_until_clean(client);
    // In the other order: the low water mark must not lie above the limit.
    for (name, value) in LIMITS.iter().zip(&before).rev() {
        client.run(&format!("SET GLOBAL {name} = {value}"))?;
    }
    outcome
}

fn wait_until_clean(client: &mut Client) -> Result<()> {
    let begin = Instant::now();
    loop {
        let status = facts::status(client, PAGES_DIRTY)?;
        match status.get(PAGES_DIRTY) {
            Some(0) => return Ok(()),
            Some(dirty) if begin.elapsed() > TIME_MAX => {
                return Err(TargetError::statement(format!(
                    "mysql: {dirty} dirty pages remain after {} s; check whether another client writes",
                    TIME_MAX.as_secs()
                )));
            }
            Some(_) => std::thread::sleep(POLL),
            None => {
                return Err(TargetError::statement(
                    "mysql: the server does not report its dirty pages, so a checkpoint cannot be verified",
                ));
            }
        }
    }
}

/// Without the right to set global variables nothing can be brought to the data files.
fn may_not(client: &mut Client, error: TargetError) -> TargetError {
    if !error.message.contains("(error 1227,") {
        return error;
    }
    let user = client.read_one("SELECT current_user()").ok().flatten();
    TargetError::unreachable(format!(
        "mysql: the user {} may not set global variables, which dbdyno needs to trigger checkpoints; grant {}",
        user.unwrap_or_default(),
        client.flavour().checkpoint_right()
    ))
}
