//! Users on the order-entry database: the points of a ramp, and the gate's checks of them.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

#[path = "oltp_run/backups.rs"]
mod backups;
mod common;
#[path = "common/mysql.rs"]
mod mysql;
#[path = "common/order_entry.rs"]
mod order_entry;
#[path = "common/postgres.rs"]
mod postgres;

use crate::common::words;
use common::{Workspace, faults, note, points, points_of as of};
use order_entry::{let_work, loaded_server};
use serde_json::Value;
use testing::Says;

/// A load and a ramp after it.
const RAMP: &str = r#"name = "ramp"
sample_ms = 500
primary = ["OLTP.new_orders_per_min"]
[[step]]
use = "oltp"
[step.oltp]
do = "load"
warehouses = 1
[[step]]
use = "oltp"
seconds = 10.0
ramp_up_seconds = 3.0
[step.oltp]
do = "run"
users = "1,2,4,8"
warm_up_max_seconds = 60.0
"#;

/// A short ramp; tests measure nothing, so that a busy machine does no harm.
const SHORT: [&str; 10] = [
    "--set",
    "step.oltp.warehouse_rows=tenth",
    "--set",
    "step.2.seconds=1.0",
    "--set",
    "step.2.ramp_up_seconds=0.2",
    "--set",
    "step.oltp.warm_up_max_seconds=2.0",
    "--set",
    "step.oltp.users=1,2",
];

fn ramp(workspace: &Workspace, url: &str) {
    let plan = workspace.file("ramp.toml", RAMP);
    let mut arguments = vec!["run", &plan, "--target", url, "--yes"];
    arguments.extend(SHORT);
    workspace.fine(&arguments);
}

/// Seconds of warm-up in the notes of a level.
fn warm_up_s(total: &Value) -> Option<f64> {
    let found = note(total, "warmed_up").or_else(|| note(total, "not_warmed_up"));
    found?["took_s"].as_f64()
}

/// A level is six points of the same users; new orders are counted per minute; the database is consistent.
#[test]
fn a_ramp_is_measured_and_checked() {
    let workspace = Workspace::new();
    let server = postgres::server("");
    let url = postgres::url(&server, "dbdyno");
    ramp(&workspace, &url);
    let exported = workspace.export("last");
    for code in ["OLTP-LOAD", "OLTP-BEFORE", "OLTP-AFTER"] {
        let [point] = of(&exported, code)[..] else {
            panic!("one {code}")
        };
        assert_eq!(faults(point), [""; 0], "{code}");
    }
    let kinds = [
        "NEW-ORDER",
        "PAYMENT",
        "ORDER-STATUS",
        "DELIVERY",
        "STOCK-LEVEL",
    ];
    for (level, total) in of(&exported, "OLTP").into_iter().enumerate() {
        assert_eq!(total["jobs"], level as u64 + 1);
        // The warm-up precedes only the first level and lasts at least two rounds of a second; whether it becomes steady depends on the
        // machine.
        let warm_up = warm_up_s(total);
        assert_eq!(warm_up.is_some(), level == 0, "{}", total["notes"]);
        assert!(warm_up.is_none_or(|s| s >= 2.0), "{}", total["notes"]);
        assert_eq!(faults(total), [""; 0]);
        let number = |point: &Value, key: &str| point[key].as_f64().unwrap();
        let sum: f64 = kinds
            .iter()
            .map(|kind| number(of(&exported, kind)[level], "operations"))
            .sum();
        assert_eq!(sum, number(total, "operations"));
        let new_orders = number(of(&exported, "NEW-ORDER")[level], "operations");
        let per_min = number(total, "new_orders_per_min");
        let (per_s, all) = (
            number(total, "operations_per_s"),
            number(total, "operations"),
        );
        assert!(
            (per_min - new_orders / all * per_s * 60.0).abs() < 1e-6,
            "{per_min}"
        );
        // At each edge of the window a connection has a part of an operation.
        let edges = 2.0 * number(total, "jobs");
        assert!((per_s - all).abs() <= edges, "{per_s} {all}");
        assert!(number(total, "round_trips_per_operation") >= 1.0);
        assert!(number(total, "response_us_p99") > 0.0);
    }
    let levels = of(&exported, "OLTP");
    assert_eq!(levels.len(), 2);
    // Constants of a run: rows that are hot in the warm-up and at one level are hot at the next.
    let [first, second] = [levels[0], levels[1]].map(|level| note(level, "oltp_constants"));
    assert!(first.is_some());
    assert_eq!(first, second);
    assert_ne!(levels[0]["seed"], levels[1]["seed"]);
}

#[test]
fn only_an_unchanged_load_is_reused() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    let state = || {
        let exported = workspace.export("last");
        of(&exported, "OLTP-LOAD")[0]["work"]["state"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    workspace.load_order_entry(&url);
    ramp(&workspace, &url);
    assert_eq!(state(), "kept as loaded");
    ramp(&workspace, &url);
    assert_eq!(state(), "reloaded");
    // Two runs of the same ramp are comparable; one repetition each gives no verdict.
    let compared = workspace.fine("compare 1 2 --allow-mismatch").stdout;
    compared.says_all(&[
        "User ramps on sqlite",
        "response p95 at 2 users",
        "inconclusive",
    ]);
    let compared = workspace.json("compare 1 2 --allow-mismatch --format json");
    let ramp = &compared["ramps"][0];
    assert_eq!(ramp["target"], "sqlite");
    let at = |level: usize| &ramp["response_us_at_users"][level];
    assert_eq!((&at(0)["users"], &at(1)["users"]), (&1.into(), &2.into()));
    assert!(at(1)["values_b"][0].as_f64().unwrap() > 0.0, "{ramp}");
    assert_eq!(at(1)["verdict"], "inconclusive");
}

#[test]
fn a_database_broken_before_is_not_measured() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    workspace.load_order_entry(&url);
    change(&workspace, "UPDATE warehouse SET w_ytd = w_ytd + 1");
    let plan = workspace.file(
        "run.toml",
        "name = 'run'\n[[step]]\nuse = 'oltp'\nseconds = 1.0\n[step.oltp]\ndo = 'run'\nusers = 2\n",
    );
    workspace.ends(3, &["run", &plan, "--target", &url, "--yes"]);
    let exported = workspace.export("last");
    assert_eq!(points(&exported).len(), 1);
    let before = of(&exported, "OLTP-BEFORE")[0];
    assert!(
        faults(before)[0].starts_with("condition 1 is violated"),
        "{before}"
    );
    let missing = exported["missing"].to_string();
    assert!(missing.contains("inconsistent before"), "{missing}");
}

#[test]
fn a_database_broken_during_a_level_makes_its_points_invalid() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    workspace.load_order_entry(&url);
    add_trigger(
        &workspace,
        "forger",
        "AFTER INSERT ON history BEGIN
           UPDATE warehouse SET w_ytd = round(w_ytd + 0.01, 2) WHERE w_id = NEW.h_w_id;
         END",
    );
    let plan = workspace.file("ramp.toml", RAMP);
    let mut arguments = vec!["run", &plan, "--target", &url, "--yes"];
    arguments.extend(SHORT);
    workspace.ends(3, &arguments);
    let exported = workspace.export("last");
    for code in ["OLTP", "PAYMENT", "OLTP-AFTER"] {
        let said = faults(of(&exported, code)[0]).join(" ");
        assert!(said.contains("condition 1 is violated"), "{code}: {said}");
    }
    assert_eq!(faults(of(&exported, "OLTP-BEFORE")[0]), [""; 0]);
}

/// A resumed run checks the database first, because it may have changed in the meantime.
#[test]
fn a_database_broken_during_an_interruption_is_found_when_the_run_goes_on() {
    for is_broken in [false, true] {
        let workspace = Workspace::new();
        let url = workspace.url("sqlite", "oltp.db");
        workspace.load_order_entry(&url);
        interrupt_a_ramp(&workspace, &url);
        let finished = of(&workspace.export("cut"), "OLTP").len();
        assert!((1..6).contains(&finished), "{finished}");
        if is_broken {
            change(&workspace, "UPDATE warehouse SET w_ytd = w_ytd + 1");
        }
        let resumed = workspace.dbdyno("run --resume cut");
        let exported = workspace.export("cut");
        let levels = of(&exported, "OLTP");
        let missing = exported["missing"].to_string();
        if is_broken {
            assert_eq!(resumed.status, 3, "{}", resumed.stderr);
            assert_eq!(levels.len(), finished);
            for level in levels {
                let said = faults(level).join(" ");
                said.says("check after the users failed: condition 1");
            }
            assert!(missing.contains("inconsistent before"), "{missing}");
        } else {
            assert_eq!(resumed.status, 0, "{}", resumed.stderr);
            let again = levels.iter().map(|level| {
                let notes = level["notes"].to_string();
                notes.contains("the database was checked again")
            });
            let again: Vec<usize> = (again.enumerate())
                .filter_map(|(at, is_reported)| is_reported.then_some(at))
                .collect();
            assert_eq!((levels.len(), again), (6, vec![finished]));
        }
    }
}

/// Stops a ramp of six levels after its first.
fn interrupt_a_ramp(workspace: &Workspace, url: &str) {
    let log = std::fs::File::create(workspace.path("log")).unwrap();
    let users = ["--clients", "1..6/1", "--set", "stop=false", "--time", "1"];
    let arguments = ["run", "oltp", "--target", url, "--yes", "--name", "cut"];
    let at_once = ["--ramp-up", "0.2", "--set", "warm_up_max_seconds=0"];
    let arguments = [&arguments[..], &users, &at_once].concat();
    let mut child = workspace.command(&arguments).stderr(log).spawn().unwrap();
    let log = || workspace.text("log");
    while !log().contains("all transactions") {
        assert!(child.try_wait().unwrap().is_none(), "{}", log());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let pid = libc::pid_t::try_from(child.id()).unwrap();
    // SAFETY: the child has not been waited for, so its number is still its own.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGINT) }, 0);
    assert_eq!(child.wait().unwrap().code(), Some(130), "{}", log());
}

#[test]
fn a_database_of_another_size_is_not_measured() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    let loaded = workspace.load_order_entry(&url);
    assert!(
        loaded.stdout.starts_with("1 warehouse is loaded"),
        "{}",
        loaded.stdout
    );
    let ended = let_work(&workspace, &url, &["--warehouses", "5", "--clients", "1,2"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    let sentence = ended.sentence();
    sentence.says_all(&[
        "1 warehouse, a tenth of the rows instead of 5",
        "data load oltp TARGET --replace",
    ]);
    assert_eq!(points(&workspace.export("last")).len(), 0);
}

#[test]
fn bad_wishes_are_refused() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    let refusal = |settings: &[&str]| {
        let plan = workspace.file("ramp.toml", RAMP);
        let mut arguments = vec!["run", &plan, "--target", &url, "--yes"];
        for setting in settings {
            arguments.extend(["--set", setting]);
        }
        let ended = workspace.ends(2, &arguments);
        ended.sentence().to_owned()
    };
    for (setting, expected) in [
        ("step.oltp.users=9..1/2", "does not rise"),
        ("step.oltp.users=many", "FROM..TO/STEP"),
        ("step.oltp.users=4,2", "does not increase"),
        ("step.oltp.limit=p95", "p95=50ms"),
        ("step.oltp.warehouses=0", "between 1 and"),
        ("step.oltp.user=3", "did you mean \"users\"?"),
        ("step.oltp.users=9000", "connections = N"),
        ("step.2.jobs=[1]", "does not apply"),
    ] {
        let sentence = refusal(&[setting]);
        assert!(sentence.contains(expected), "{setting}: {sentence}");
    }
}

fn change(workspace: &Workspace, sql: &str) {
    let connection = rusqlite::Connection::open(workspace.path("oltp.db")).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1, "{sql}");
}

/// Creates a trigger and registers it as dbdyno's, because a foreign trigger would be refused.
fn add_trigger(workspace: &Workspace, name: &str, what: &str) {
    let connection = rusqlite::Connection::open(workspace.path("oltp.db")).unwrap();
    let made = format!("CREATE TRIGGER {name} {what}");
    connection.execute_batch(&made).unwrap();
    let entered = connection.execute(
        "INSERT INTO dbdyno_tables SELECT name, type || ' ' || sql FROM sqlite_schema WHERE name = ?1",
        [name],
    );
    assert_eq!(entered.unwrap(), 1);
}

/// A database that acknowledges payments and forgets them is detected without a log and without conditions: the tables are compared with
/// the driver's own count.
#[test]
fn a_database_that_drops_acknowledged_rows_is_invalid() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    workspace.load_order_entry(&url);
    let users = ["--clients", "2", "--time", "0.5"];
    let ended = let_work(
        &workspace,
        &url,
        &[&users[..], &["--name", "sound"]].concat(),
    );
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    add_trigger(
        &workspace,
        "swallow",
        "AFTER INSERT ON history BEGIN DELETE FROM history WHERE rowid = NEW.rowid; END",
    );
    let ended = let_work(
        &workspace,
        &url,
        &[&users[..], &["--name", "swallowed"]].concat(),
    );
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    let exported = workspace.export("swallowed");
    let reasons = of(&exported, "OLTP")[0]["reasons"].as_array().unwrap();
    let reason = &reasons[0];
    assert_eq!(reason["code"], "counted_not_found", "{reasons:?}");
    assert_eq!(reason["what"], "payments");
    assert_eq!(reason["found"], 0);
    assert!(reason["counted"].as_u64() > Some(0), "{reason}");
}

#[test]
fn acknowledged_transactions_are_compared_with_the_tables() {
    let workspace = Workspace::new();
    let url = workspace.url("sqlite", "oltp.db");
    workspace.load_order_entry(&url);
    let users = |status: i32| {
        let more = ["--clients", "2", "--time", "1", "--set", "journal=true"];
        let ended = let_work(&workspace, &url, &more);
        assert_eq!(ended.status, status, "{}", ended.stderr);
        of(&workspace.export("last"), "OLTP")[0].clone()
    };
    let journals = || {
        let directory = workspace.archive().parent().unwrap().to_owned();
        let names = std::fs::read_dir(directory).unwrap();
        names
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "journal"))
            .collect::<Vec<_>>()
    };
    let sound = users(0);
    assert_eq!(faults(&sound), [""; 0]);
    sound["notes"]
        .to_string()
        .says("all acknowledged transactions");
    sound["notes"].to_string().says("was not checked");
    assert!(journals().is_empty());

    add_trigger(
        &workspace,
        "thief",
        "AFTER INSERT ON history WHEN NEW.rowid % 7 = 0 BEGIN
           DELETE FROM history WHERE rowid = NEW.rowid;
         END",
    );
    let robbed = users(3);
    let said = faults(&robbed).join(" ");
    said.says_all(&["payments: ", "the log is kept at"]);
    let [journal] = &journals()[..] else {
        panic!("one journal is kept")
    };
    let arguments = words(
        "data check oltp --target {} --journal {}",
        &[&url, journal.to_str().unwrap()],
    );
    let reconciled = workspace.ends(3, &arguments);
    reconciled.stdout.says("payments: ");
}

/// The process of a user in the middle of a transaction. The server itself searches for it, because on a busy machine a level may end
/// between two client programs.
fn user_at_work(server: &local_server::LocalServer) -> String {
    const LOOK: &str = "CREATE FUNCTION pg_temp.at_work() RETURNS int LANGUAGE plpgsql AS $$ DECLARE user_at_work int; BEGIN \
        FOR look IN 1..6000 LOOP \
          PERFORM pg_stat_clear_snapshot(); \
          SELECT pid INTO user_at_work FROM pg_stat_activity \
            WHERE application_name = 'dbdyno' AND state <> 'idle' AND query LIKE '%district%' LIMIT 1; \
          EXIT WHEN FOUND; \
          PERFORM pg_sleep(0.005); \
        END LOOP; \
        RETURN user_at_work; END $$";
    let output = std::process::Command::new(server.program().with_file_name("psql"))
        .args(words(
            "-X -q -A -t -d postgres -U {} -h",
            &[server.superuser()],
        ))
        .arg(server.socket_directory())
        .args(["-c", LOOK, "-c", "SELECT pg_temp.at_work()"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_server_restarted_during_a_run_ends_it_and_it_can_be_resumed() {
    let workspace = Workspace::new();
    let (server, url) = loaded_server(&workspace, "&restart_after_crash=on", "tenth");
    let log = std::fs::File::create(workspace.path("log")).unwrap();
    let arguments = words(
        "run oltp --target {} --yes --clients 2,3 --time 3 --ramp-up 0.2 --set warm_up_max_seconds=0 --set \
        check=light --name {}",
        &[&url, "broken off"],
    );
    let mut child = workspace
        .command(&arguments)
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let log = || workspace.text("log");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !log().contains("all transactions") {
        assert!(
            std::time::Instant::now() < until,
            "no level was finished: {}",
            log()
        );
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // The user belongs to the second level: those of the first have ended their transactions.
    let is_killed = || {
        let victim = user_at_work(&server).parse().unwrap();
        // SAFETY: the number is that of a process of this test's server, or of none: its session may have ended by now.
        unsafe { libc::kill(victim, libc::SIGKILL) == 0 }
    };
    assert!((0..3).any(|_| is_killed()), "{}", log());
    assert_eq!(child.wait().unwrap().code(), Some(1), "{}", log());
    let sentence = log().lines().last().unwrap().to_owned();
    sentence.says_all(&["7 of 14 points are kept", "--resume"]);
    let resumed = loop {
        let ended = workspace.dbdyno(&["run", "--resume", "broken off"]);
        // The server is unreachable until it has restarted.
        if ended.status != 1 || std::time::Instant::now() > until {
            break ended;
        }
        std::thread::sleep(std::time::Duration::from_millis(300));
    };
    assert_eq!(resumed.status, 0, "{}", resumed.stderr);
    let exported = workspace.export("broken off");
    assert_eq!(points(&exported).len(), 14);
    let [before, after] = of(&exported, "OLTP")[..] else {
        panic!("two levels")
    };
    let said = |level: &Value, words: &str| level["notes"].to_string().contains(words);
    assert!(
        said(before, "the server has been running since 2")
            && said(after, "the server has been running since 2")
    );
    assert!(
        !said(before, "checked again") && said(after, "checked again"),
        "{after}"
    );
    for code in ["OLTP-BEFORE", "OLTP", "OLTP-AFTER"] {
        for point in of(&exported, code) {
            assert_eq!(faults(point), [""; 0], "{code}");
        }
    }
}

/// Every rate meets an hour, so that the search finds the highest of all, doubled ten times; none meets a microsecond, which is reported
/// for the whole level at once, and not searched again for each kind of transaction.
#[test]
fn the_highest_rate_that_holds_is_searched() {
    let workspace = Workspace::new();
    // A full warehouse, so that the search need not restore it.
    let (server, url) = loaded_server(&workspace, "&fsync=off", "full");
    let orders = || -> u64 {
        let sql = "SELECT count(*) FROM dbdyno.orders";
        postgres::psql(&server, sql).parse().unwrap()
    };
    let before = orders();
    let search = |slo: &str, name: &str, status: i32| {
        let more = words(
            "--clients 8 --set connections=4 --time 0.4 --rate 40 --find-rate {} --name {}",
            &[slo, name],
        );
        let ended = let_work(&workspace, &url, &more);
        assert_eq!(ended.status, status, "{}", ended.stderr);
        workspace.export(name)
    };
    let found = search("p90=3600s", "found", 0);
    let total = of(&found, "OLTP")[0];
    let notes = total["notes"].to_string();
    // The first rate is randomised by up to half a bracket; the highest is fixed.
    notes.says_all(&[
        "40960.0 arrivals/s meet p90=3600s, every higher rate tried met it too",
        "rates tried: ",
        "40960.0/s met it in 2 of 2",
    ]);
    let first = notes.split_once("rates tried: ").unwrap().1;
    let first: f64 = first.split_once("/s").unwrap().0.parse().unwrap();
    assert!((first / 40.0).ln().abs() < 0.025, "{first}");
    // The number of orders depends on the machine; the reported number is that in the tables.
    let after = orders();
    let grew = note(total, "search_grew");
    assert_eq!(grew.is_some(), after as f64 > 1.1 * before as f64);
    if let Some(grew) = grew {
        let found = ["orders_before", "orders_after"].map(|key| grew[key].as_u64());
        assert_eq!(found, [Some(before), Some(after)]);
    }
    assert!(total["operations_per_s"].as_f64() > Some(0.0), "{total}");

    let none = search("p50=1us", "none", 3);
    assert_eq!(points(&none).len(), 6);
    for point in points(&none) {
        let said = faults(point).join(" ");
        assert!(said.contains("no rate was found that meets p50"), "{said}");
    }
}
