//! What block devices did: written and read.

use rusqlite::{Connection, Row, Transaction, params};
use serde::de::DeserializeOwned;

use super::Result;
use super::rows::rows;
use crate::{DeviceSample, DeviceUse, Purpose, Remark, Requests};

/// No list of a device is longer as JSON: a thousand of the kernel's longest names take half of it.
const LIST_BYTES_MAX: usize = 64 << 10;

pub(super) fn insert(transaction: &Transaction<'_>, id: i64, devices: &[DeviceUse]) -> Result<()> {
    let sql =
        "INSERT INTO device VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let mut insert = transaction.prepare_cached(sql)?;
    for (seq, device) in devices.iter().enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            device.name,
            json(&device.holds),
            json(&device.carries),
            device.elapsed_s,
            device.reads.map(|reads| signed(reads.count)),
            device.reads.map(|reads| reads.mb),
            device.reads.and_then(|reads| reads.await_ms),
            device.writes.map(|writes| signed(writes.count)),
            device.writes.map(|writes| writes.mb),
            device.writes.and_then(|writes| writes.await_ms),
            device.busy_pct,
            device.queue_mean,
        ])?;
    }
    let sql = "INSERT INTO device_sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let mut insert = transaction.prepare_cached(sql)?;
    let numbered = devices.iter().enumerate();
    let samples = numbered.flat_map(|(at, device)| device.samples.iter().map(move |s| (at, s)));
    for (seq, (device, sample)) in samples.enumerate() {
        insert.execute(params![
            id,
            seq as i64,
            device as i64,
            sample.at_s,
            sample.operation,
            signed(sample.requests),
            sample.service_us_mean,
            sample.service_us_p99,
            sample.service_us_max,
        ])?;
    }
    Ok(())
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn json(list: &impl serde::Serialize) -> String {
    serde_json::to_string(list).expect("a list of words cannot fail to become JSON")
}

/// What is there, and what of it could not be understood.
pub(super) fn read(connection: &Connection, id: i64) -> Result<(Vec<DeviceUse>, Vec<Remark>)> {
    let mut problems = Vec::new();
    let sql = "SELECT * FROM device WHERE point_id = ?1 ORDER BY seq";
    let numbered = rows(connection, sql, [id], |row| {
        Ok((row.get::<_, i64>("seq")?, device(row, &mut problems)?))
    })?;
    let (numbers, mut devices): (Vec<_>, Vec<_>) = numbered.into_iter().unzip();
    let mut stray = 0;
    let sql = "SELECT * FROM device_sample WHERE point_id = ?1 ORDER BY seq";
    rows(connection, sql, [id], |row| {
        match numbers.binary_search(&row.get("device")?) {
            Ok(place) => devices[place].samples.push(sample(row)?),
            Err(_) => stray += 1,
        }
        Ok(())
    })?;
    if stray > 0 {
        problems.push(Remark::DeviceSamplesStray { samples: stray });
    }
    Ok((devices, problems))
}

fn device(row: &Row<'_>, problems: &mut Vec<Remark>) -> rusqlite::Result<DeviceUse> {
    let name: String = row.get("name")?;
    let mut problem = |error: String| {
        problems.push(Remark::DeviceUnreadable {
            device: name.clone(),
            error,
        });
    };
    let mut holds: Vec<Purpose> = Vec::new();
    let words: Vec<String> = list(row, "holds", &mut problem)?;
    for word in words {
        match word.parse() {
            Ok(purpose) => holds.push(purpose),
            Err(error) => problem(format!("{error}")),
        }
    }
    Ok(DeviceUse {
        holds,
        carries: list(row, "carries", &mut problem)?,
        elapsed_s: row.get("elapsed_s")?,
        reads: requests(row, ["read_count", "read_mb", "read_await_ms"])?,
        writes: requests(row, ["write_count", "write_mb", "write_await_ms"])?,
        busy_pct: row.get("busy_pct")?,
        queue_mean: row.get("queue_mean")?,
        samples: Vec::new(),
        name,
    })
}

fn requests(row: &Row<'_>, columns: [&str; 3]) -> rusqlite::Result<Option<Requests>> {
    let [count, mb, await_ms] = columns;
    let count: Option<i64> = row.get(count)?;
    let counted: Option<(i64, f64)> = count.zip(row.get(mb)?);
    let await_ms = row.get(await_ms)?;
    Ok(counted.map(|(count, mb)| Requests {
        count: count.cast_unsigned(),
        mb,
        await_ms,
    }))
}

fn sample(row: &Row<'_>) -> rusqlite::Result<DeviceSample> {
    Ok(DeviceSample {
        at_s: row.get("at_s")?,
        operation: row.get("operation")?,
        requests: row.get::<_, i64>("requests")?.cast_unsigned(),
        service_us_mean: row.get("service_us_mean")?,
        service_us_p99: row.get("service_us_p99")?,
        service_us_max: row.get("service_us_max")?,
    })
}

/// A column with a JSON list; when it is none, or longer than any that is written, an empty one, and the reason.
fn list<T: DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
    problem: &mut impl FnMut(String),
) -> rusqlite::Result<Vec<T>> {
    let text = row.get_ref(column)?.as_str()?;
    if text.len() > LIST_BYTES_MAX {
        problem(format!("{column} has {} bytes", text.len()));
        return Ok(Vec::new());
    }
    Ok(serde_json::from_str(text).unwrap_or_else(|error| {
        problem(format!("{column}: {error}"));
        Vec::new()
    }))
}
