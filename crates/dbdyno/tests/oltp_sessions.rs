//! More users than a server admits.
#![allow(clippy::unwrap_used)] // helpers of tests are tests

use std::os::unix::fs::MetadataExt;
use std::process::Command;

mod common;
#[path = "common/order_entry.rs"]
mod order_entry;
#[path = "common/postgres.rs"]
mod postgres;

use crate::common::words;
use common::{Workspace, faults, points_of as of};
use order_entry::{let_work, loaded_server};
use serde_json::Value;
use testing::Says;

#[test]
fn users_beyond_the_connections_of_the_server_are_refused_before_the_ramp() {
    let workspace = Workspace::new();
    let (_server, url) = loaded_server(&workspace, "&max_connections=20", "tenth");
    let ended = let_work(&workspace, &url, &["--clients", "1,64,65", "--time", "0.5"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    let sentence = ended.sentence();
    sentence.says_all(&[
        "OLTP with 65 users",
        "needs 66 sessions",
        "max_connections is 20",
        "connections = N",
    ]);
    assert_eq!(
        workspace.dbdyno("report last").status,
        2,
        "nothing was entered"
    );
    let shared = words(
        "--clients 64 --set connections=8 --time 0.5 --name shared",
        &[],
    );
    let ended = let_work(&workspace, &url, &shared);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let exported = workspace.export("shared");
    assert_eq!(faults(of(&exported, "OLTP")[0]), [""; 0]);
}

/// Connections that others take between the check and a level cost that level: every point of it has the reason, once, and the level before
/// is measured.
#[test]
fn connections_that_others_take_cost_their_level() {
    let workspace = Workspace::new();
    let (server, url) = loaded_server(&workspace, "&max_connections=20", "tenth");
    let log = std::fs::File::create(workspace.path("log")).unwrap();
    let levels = [
        "--clients",
        "1,14",
        "--time",
        "4",
        "--set",
        "warm_up_max_seconds=0",
    ];
    let command = words("run oltp --target {} --yes --set stop=false", &[&url]);
    let arguments = [
        &command[..],
        &levels,
        &["--set", "check=light", "--name", "cut"],
    ]
    .concat();
    let mut child = workspace
        .command(&arguments)
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let log = || workspace.text("log");
    while !log().contains("consistency before") {
        assert!(child.try_wait().unwrap().is_none(), "{}", log());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The first level has begun; these sessions stay until the second one has ended.
    let others: Vec<_> = (0..12).map(|_| postgres::idle(&server)).collect();
    assert_eq!(child.wait().unwrap().code(), Some(3), "{}", log());
    drop(others);
    let exported = workspace.export("cut");
    for code in ["OLTP", "NEW-ORDER", "STOCK-LEVEL"] {
        let [few, many] = of(&exported, code)[..] else {
            panic!("two levels of {code}")
        };
        assert_eq!(faults(few), [""; 0], "{code}");
        let said = faults(many).join(" ");
        assert!(
            said.contains("53300") && said.contains("max_connections"),
            "{code}: {said}"
        );
    }
}

/// A server started for a run has room for more sessions than usual. The memory per session is reported, except for a few sessions, where
/// other memory of the server dominates.
#[test]
fn a_local_server_has_a_session_for_each_of_its_users() {
    let workspace = Workspace::new();
    let plan = "name = 'many'\nsample_ms = 250\n\
        [validity]\ndriver_pct_max = 100.0\ndriver_thread_pct_max = 100.0\nlate_starts_pct_max = 100.0\n\
        stall_pct_max = 100.0\nwaiting_pct_max = 100.0\n\
        [[step]]\nuse = 'oltp'\n[step.oltp]\ndo = 'load'\nwarehouses = 1\nwarehouse_rows = 'tenth'\n\
        [[step]]\nuse = 'oltp'\nseconds = 0.5\n[step.oltp]\ndo = 'run'\nusers = 8\ncheck = 'none'\n\
        [[step]]\nuse = 'oltp'\nseconds = 1\n[step.oltp]\ndo = 'run'\nusers = 520\npauses = true\ncheck = 'none'\n";
    let url = "postgres+local:?version=15&shared_buffers=32MB&fsync=off";
    let plan = workspace.file("plan.toml", plan);
    let ended = workspace.dbdyno(&["run", &plan, "--target", url, "--yes", "--name", "many"]);
    // A second is shorter than the cycle of a user with pauses; there is no other fault.
    assert_eq!(ended.status, 3, "{}", ended.stderr);
    assert!(ended.stderr.contains("1 of 13 points"), "{}", ended.stderr);
    let exported = workspace.export("many");
    let opened = exported["targets"][0]["url"].as_str().unwrap();
    assert!(opened.contains("max_connections=584"), "{opened}");
    let [few, many] = of(&exported, "OLTP")[..] else {
        panic!("two levels")
    };
    assert_eq!(few["session_memory_mb"], Value::Null);
    // A process with the statements of five transactions.
    let session_mb = many["session_memory_mb"].as_f64().unwrap();
    assert!((0.3..20.0).contains(&session_mb), "{session_mb} MB");
}

/// A threaded server keeps the memory of closed sessions: after a level, fewer users would seem to take all of it, and in a second run the
/// present ones none. For both only the reason is reported.
#[test]
fn memory_that_earlier_sessions_left_in_a_server_is_not_shared_out() {
    let workspace = Workspace::new();
    let level = "[[step]]\nuse = 'oltp'\nseconds = 0.5\n[step.oltp]\ndo = 'run'\npauses = true\ncheck = 'none'\nusers =";
    let plan = format!(
        "name = 'falls'\nsample_ms = 250\n\
        [validity]\ndriver_pct_max = 100.0\ndriver_thread_pct_max = 100.0\nlate_starts_pct_max = 100.0\n\
        stall_pct_max = 100.0\nwaiting_pct_max = 100.0\n\
        [[step]]\nuse = 'oltp'\n[step.oltp]\ndo = 'load'\nwarehouses = 1\nwarehouse_rows = 'tenth'\n{level} 200\n{level} 100\n"
    );
    let url = "mariadb+local:?innodb_flush_method=nosync";
    let plan = workspace.file("plan.toml", &plan);
    let ended = workspace.dbdyno(&["run", &plan, "--target", url, "--yes", "--name", "falls"]);
    // The validity of the level is irrelevant, because users with pauses may do nothing in half a second.
    assert!(ended.stderr.contains("100 users"), "{}", ended.stderr);
    let exported = workspace.export("falls");
    let [first, fewer] = of(&exported, "OLTP")[..] else {
        panic!("two levels")
    };
    let session_mb = first["session_memory_mb"].as_f64().unwrap();
    assert!((0.1..20.0).contains(&session_mb), "{session_mb} MB");
    assert_eq!(fewer["session_memory_mb"], Value::Null);
    let notes = fewer["notes"].to_string();
    notes.says("keeps the memory of closed sessions");
}

/// With a limit of 500 files either side has room for its 150 users, but not both at once: two alternating servers are refused before they
/// are loaded.
#[test]
fn sides_that_take_turns_share_the_files_of_the_driver() {
    let workspace = Workspace::new();
    let plan = "name = 'both'\n[[step]]\nuse = 'oltp'\n[step.oltp]\ndo = 'load'\nwarehouses = 1\nwarehouse_rows = 'tenth'\n\
        [[step]]\nuse = 'oltp'\nseconds = 4\nramp_up_seconds = 0.1\n[step.oltp]\ndo = 'run'\nusers = 150\npauses = false\n";
    let plan = workspace.file("plan.toml", plan);
    let url = "postgres+local:?shared_buffers=32MB&fsync=off";
    let command = ["ab", &plan, "--target", url, "--b", "target.work_mem=8MB"];
    let how = ["--interleave", "100ms", "--repeat", "6", "--yes"];
    let dbdyno = workspace.command(&[&command[..], &how].concat());
    // Root could raise the limit again with a right that is dropped here.
    let as_root: &[&str] = match std::fs::metadata("/proc/self").unwrap().uid() {
        0 => &["setpriv", "--bounding-set=-sys_resource"],
        _ => &["env"],
    };
    let mut limited = Command::new(as_root[0]);
    limited.args(&as_root[1..]);
    limited.args(["sh", "-c", "ulimit -n 500; exec \"$0\" \"$@\""]);
    limited.arg(dbdyno.get_program()).args(dbdyno.get_args());
    let variables = dbdyno.get_envs();
    limited.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    limited.current_dir(dbdyno.get_current_dir().unwrap());
    let ended = limited.output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(2), "{said}");
    said.says_all(&[
        "needs 302 sessions (151 of them the other side's)",
        "allows it 500",
    ]);
}
