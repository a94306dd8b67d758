//! Device activity below a server: request times in every point, and before and after.

use std::process::Command;

use ::postgres::local::PostgresServer;
use local_server::LocalServer;
use serde_json::Value;

use crate::common::{Workspace, points};
use crate::disk::Disk;
use crate::postgres;
use testing::Says;

/// Enough commits for the hundred requests that each point needs, whatever time they take.
const PLAN: &str = "name = \"device\"\nrepeat = 4\n\
    [[step]]\nuse = \"library\"\ntests = [\"T311\"]\njobs = [2]\n";

fn times<'a>(point: &'a Value, operation: &str, phase: &str) -> Option<&'a Value> {
    let all = point["operation_times"].as_array().unwrap();
    let is = |t: &&Value| t["operation"] == operation && t["phase"] == phase;
    all.iter().find(is)
}

#[test]
fn requests_of_every_point_are_reported_and_compared() {
    reported_and_compared(|data| format!("postgres+local:{data}?version=15&shared_buffers=32MB"));
}

#[test]
fn requests_below_mariadb_are_reported_and_compared() {
    reported_and_compared(|data| {
        format!("mariadb+local:{data}?innodb_buffer_pool_size=32M&innodb_log_file_size=32M")
    });
}

/// A server with its data in this directory.
fn reported_and_compared(url: impl Fn(&str) -> String) {
    let workspace = Workspace::new();
    // A separate device is free of the other I/O on the machine's disk.
    let disk = match Disk::on_a_device(&workspace, 600 << 20) {
        Ok(disk) => disk,
        Err(reason) => testing::skip!("{reason}"),
    };
    let device = host::device_of(&disk.path("")).unwrap();
    if let Err(error) = host::block::BlockWatch::open(&[&device]) {
        testing::skip!("{error}");
    }
    let url = url(&disk.path("data").display().to_string());
    let plan = workspace.file("plan.toml", PLAN);
    for name in ["before", "after"] {
        workspace.fine(&["run", &plan, "--target", &url, "--yes", "--name", name]);
    }
    for point in points(&workspace.export("after")) {
        let [whole, inside] = ["whole", "device"].map(|phase| times(point, "write", phase));
        let (whole, inside) = (whole.unwrap(), inside.unwrap());
        assert_eq!(whole["subject"], device.as_str());
        assert!(whole["histogram"].is_string(), "{whole}");
        // Each commit waits for its log.
        assert!(whole["count"].as_u64().unwrap() > 0, "{whole}");
        let mean_us = |of: &Value| of["mean_us"].as_f64().unwrap();
        assert!(mean_us(whole) >= mean_us(inside), "{whole} {inside}");
        let remark = whole["remark"].as_str().unwrap();
        assert!(remark.contains("/proc/diskstats has"), "{remark}");
        let devices = point["devices"].as_array().unwrap();
        let own = devices.iter().find(|own| own["name"] == device.as_str());
        assert_timed_requests_are_all(point, own.unwrap_or_else(|| panic!("{point}")));
    }
    let compared = workspace.json("compare before after --format json");
    let shifts = compared["shifts"].as_array().unwrap();
    let is_write = |s: &&Value| s["operation"] == "write" && s["phase"] == "whole";
    let write = shifts.iter().find(is_write);
    let write = write.unwrap_or_else(|| panic!("{compared}"));
    assert_eq!(write["is_of_database"], true);
    assert_eq!(write["test"], "T311");
    assert_eq!(write["jobs_a"], 2);
    assert!(write["buckets"].as_array().unwrap().len() > 1, "{write}");
    // Four repetitions a side have an interval; runs made in succession have no verdict.
    assert!(write["improvement_pct_low"].is_number(), "{write}");
    assert_eq!(write["verdict"], "inconclusive");
    let page = workspace.path("page.html");
    let written = page.display().to_string();
    workspace.fine(&["report", "after", "--against", "before", "-o", &written]);
    let page = std::fs::read_to_string(page).unwrap();
    page.says_all(&[
        "storage I/O times",
        "T311, 2 sessions",
        "Requests at the device",
    ]);
}

/// Each transaction writes 1 MB of data with its log, sorts some 2 MB in temporary files, and brings the data to their device.
const BUSY: &str = "name = \"busy\"\npipeline = \"off\"\n\
    [setup]\nwhen = \"point\"\nsql = \"CREATE TABLE dbdyno_rows (n int, filler text)\"\n\
    [teardown]\nsql = \"DROP TABLE IF EXISTS dbdyno_rows\"\n\
    [[transaction]]\nname = \"busy\"\nautocommit = true\n\
    [[transaction.statement]]\nrows = 1000\n\
    sql = \"INSERT INTO dbdyno_rows SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 1000) n\"\n\
    [[transaction.statement]]\nrows = 1\n\
    sql = \"SELECT count(*) FROM (SELECT repeat(md5(n::text), 30) t FROM generate_series(1, 2000) n ORDER BY 1 OFFSET 1) s\"\n\
    [[transaction.statement]]\nsql = \"CHECKPOINT\"\n";
const BUSY_PLAN: &str = "name = \"places\"\nsample_ms = 500\n\
    [[step]]\nuse = \"script\"\nscript = \"busy.toml\"\njobs = [1]\nmode = \"time\"\nseconds = 6.0\n";

/// A server with its log and its temporary files on separate disks.
fn spread(data: &Disk, log: &Disk, temporary: &Disk) -> LocalServer {
    let workspace = data.path("data");
    let url = format!(
        "postgres+local:{}?version=15&work_mem=64kB",
        workspace.display()
    );
    let start = || LocalServer::start_for(&PostgresServer, &engines::parse(&url).unwrap()).unwrap();
    let server = start();
    let workspace = server.data_directory().to_owned();
    let space = temporary.path("space");
    std::fs::create_dir(&space).unwrap();
    let owned = Command::new("chown")
        .arg(server.os_user())
        .arg(&space)
        .status();
    assert!(owned.unwrap().success());
    let sql = format!(
        "CREATE TABLESPACE apart LOCATION '{}'; ALTER SYSTEM SET temp_tablespaces = 'apart';",
        space.display()
    );
    postgres::psql(&server, &sql);
    drop(server);
    let moved = log.path("wal");
    let wal = workspace.join("pg_wal");
    let copied = Command::new("cp").arg("-a").args([&wal, &moved]).status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(&wal).unwrap();
    std::os::unix::fs::symlink(&moved, &wal).unwrap();
    start()
}

/// Most flushes that the kernel merges into one, as many as sessions that may request one.
const JOINED_MAX: u32 = 8;

fn holding<'p>(point: &'p Value, purpose: &str) -> &'p Value {
    let mut devices = point["devices"].as_array().unwrap().iter();
    let is = |device: &&Value| {
        device["holds"]
            .as_array()
            .unwrap()
            .contains(&purpose.into())
    };
    devices.find(is).unwrap_or_else(|| panic!("{point}"))
}

#[test]
fn data_log_and_temporary_files_have_a_row_each() {
    let places = [Workspace::new(), Workspace::new(), Workspace::new()];
    let mut disks = Vec::new();
    for workspace in &places {
        match Disk::on_a_device(workspace, 600 << 20) {
            Ok(disk) => disks.push(disk),
            Err(reason) => testing::skip!("{reason}"),
        }
    }
    let [data, log, temporary] = &disks[..] else {
        unreachable!("one for each place")
    };
    // Otherwise temporary files would be deleted before their write-back.
    let synchronous = Command::new("mount")
        .args(["-o", "remount,sync"])
        .arg(temporary.path(""))
        .status();
    assert!(synchronous.unwrap().success());
    let server = spread(data, log, temporary);
    let workspace = &places[0];
    workspace.file("busy.toml", BUSY);
    let plan = workspace.file("places.toml", BUSY_PLAN);
    let url = postgres::url(&server, server.superuser());
    workspace.fine(&["run", &plan, "--target", &url, "--yes", "--name", "places"]);
    let exported = workspace.export("places");
    let point = &points(&exported)[0];
    let transactions = point["operations"].as_f64().unwrap();
    for (purpose, disk, least_mb, most_mb) in [
        ("data", data, 0.9, 7.0),
        ("log", log, 0.9, 7.0),
        ("temporary", temporary, 1.2, 15.0),
    ] {
        let device = holding(point, purpose);
        let name = device["name"].as_str().unwrap();
        assert_eq!(name, host::device_of(&disk.path("")).unwrap(), "{purpose}");
        assert_eq!(device["holds"].as_array().unwrap().len(), 1, "{device}");
        let written_mb = device["writes"]["mb"].as_f64().unwrap() / transactions;
        assert!(
            (least_mb..most_mb).contains(&written_mb),
            "{purpose}: {written_mb} MB a transaction"
        );
        assert_timed_requests_are_all(point, device);
    }
    assert_account_agrees(point, transactions);
    // The files of all three lie on one device below them.
    let below = host::device_of(&workspace.path("")).unwrap();
    let devices = point["devices"].as_array().unwrap();
    let lower = devices
        .iter()
        .find(|device| device["name"] == below.as_str());
    let lower = lower.unwrap_or_else(|| panic!("{point}"));
    assert_eq!(lower["carries"].as_array().unwrap().len(), 3, "{lower}");
    assert!(lower["holds"].as_array().unwrap().is_empty(), "{lower}");
    // The figures of the point are the sums over data and log.
    let sum_mb: f64 = ["data", "log"]
        .map(|purpose| holding(point, purpose)["writes"]["mb"].as_f64().unwrap())
        .iter()
        .sum();
    let elapsed_s = holding(point, "data")["elapsed_s"].as_f64().unwrap();
    let figure = point["write_mb_per_s"].as_f64().unwrap();
    assert!(
        (figure * elapsed_s / sum_mb - 1.0).abs() < 1e-6,
        "{figure} {sum_mb}"
    );
    let page = workspace.path("page.html");
    workspace.fine(&["report", "places", "-o", &page.display().to_string()]);
    let page = std::fs::read_to_string(page).unwrap();
    page.says_all(&["temporary", "Whose I/O", &below]);
}

/// The engine's account of its I/O matches the transactions, by purpose, and reached its device.
fn assert_account_agrees(point: &Value, transactions: f64) {
    let account = |purpose: &str, operation: &str| {
        let mut account = point["engine_io"].as_array().unwrap().iter();
        let own = account.find(|io| io["purpose"] == purpose && io["operation"] == operation);
        own.unwrap_or_else(|| panic!("{point}"))
    };
    let written_mb = |purpose: &str| account(purpose, "write")["mb"].as_f64().unwrap();
    // Each transaction logs its 1 MB, and full pages after the previous checkpoint. The first may have logged before the engine's counters
    // were read.
    assert!(transactions >= 2.0, "too few to tell: {transactions}");
    let log_mb = written_mb("log");
    assert!(
        (0.9 * (transactions - 1.0)..5.0 * transactions).contains(&log_mb),
        "{transactions} transactions: {}",
        point["engine_io"]
    );
    // Flushed bytes are on the device; the windows of the two counters may differ slightly.
    let device_mb = holding(point, "log")["writes"]["mb"].as_f64().unwrap();
    assert!(log_mb <= device_mb * 1.05 + 1.0, "{log_mb} {device_mb}");
    // Each transaction spills the 2 MB that it sorts, and some merge them once more. The server reports it up to a second late.
    let spilled_mb = written_mb("temporary");
    assert!(
        (0.5 * (transactions - 1.0)..8.0 * (transactions + 1.0)).contains(&spilled_mb),
        "{transactions} transactions: {}",
        point["engine_io"]
    );
    let data = written_mb("data") / transactions;
    assert!(data < 4.0, "{data} MB");
    let reads = account("temporary", "read");
    assert!(reads["mb"].is_null() && reads["unknown"] == "not_counted");
}

/// Requests timed by the kernel are those that it counted, in total and by interval.
fn assert_timed_requests_are_all(point: &Value, device: &Value) {
    if let Err(error) = host::block::BlockWatch::open(&[device["name"].as_str().unwrap()]) {
        println!("not held against timed requests: {error}");
        return;
    }
    let all = point["operation_times"].as_array().unwrap();
    let timed = |operation: &str| {
        let is = |t: &&Value| {
            t["subject"] == device["name"] && t["operation"] == operation && t["phase"] == "whole"
        };
        let count = |t: &Value| t["count"].as_u64().unwrap();
        all.iter().find(is).map_or(0, count)
    };
    let in_intervals = |operation: &str| -> u64 {
        let samples = device["samples"].as_array().unwrap().iter();
        let own = samples.filter(|sample| sample["operation"] == operation);
        own.map(|sample| sample["requests"].as_u64().unwrap()).sum()
    };
    let [reads, writes] = ["reads", "writes"].map(|kind| device[kind]["count"].as_u64().unwrap());
    let some = |count: u64| 2 + count / 100;
    assert!(timed("read").abs_diff(reads) <= some(reads), "{device}");
    // The counters include a separately requested flush in the writes, whether merged or not; the kernel times those that reached the
    // device.
    let least = timed("write");
    let most = least + timed("flush") * u64::from(JOINED_MAX);
    assert!(
        least <= writes + some(writes) && writes <= most + some(writes),
        "{least} … {most}: {device}"
    );
    for operation in ["read", "write", "flush"] {
        assert_eq!(
            in_intervals(operation),
            timed(operation),
            "{operation}: {device}"
        );
    }
}
