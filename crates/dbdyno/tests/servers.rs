//! Servers that stop, are full, refuse logins, or have an unexpected configuration: one clear sentence, the right exit status, and every
//! finished point stored.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../engines/tests/servers/certificates.rs"]
mod certificates;
#[path = "servers/device.rs"]
mod device;
#[path = "common/disk.rs"]
mod disk;
#[path = "servers/in_the_middle.rs"]
mod in_the_middle;
#[path = "servers/mariadb.rs"]
mod mariadb;
#[path = "common/mysql.rs"]
mod mysql;
#[path = "../../engines/tests/servers/networked.rs"]
mod networked;
#[path = "servers/observed.rs"]
mod observed;
#[path = "servers/observed_again.rs"]
mod observed_again;
#[path = "servers/observed_texts.rs"]
mod observed_texts;
#[path = "../../engines/tests/servers/pgbouncer.rs"]
mod pgbouncer;
#[path = "servers/pooler.rs"]
mod pooler;
#[path = "common/postgres.rs"]
mod postgres;
#[path = "common/stopped.rs"]
mod stopped;
#[path = "servers/tls.rs"]
mod tls;
#[path = "servers/tuning.rs"]
mod tuning;
#[path = "servers/twin.rs"]
mod twin;
#[path = "servers/update.rs"]
mod update;

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::words;
use common::{Ended, Workspace, points};
use in_the_middle::{InTheMiddle, SHORT, kill};
use local_server::LocalServer;
use postgres::{psql, server, url, url_of};
use testing::Says;

/// The long run with both of its jobs reading, and the process of one of them. One query finds both, because on a busy machine the point
/// may end between two queries.
fn begin(server: &LocalServer) -> (InTheMiddle, i32) {
    let reading = "SELECT min(pid) FROM pg_stat_activity WHERE application_name = 'dbdyno' \
                   AND query LIKE '%dbdyno_small%' AND query LIKE '%id = $1%' HAVING count(*) = 2";
    let mut reader = None;
    let run = InTheMiddle::begin(&url(server, "dbdyno"), || {
        reader = psql(server, reading).parse().ok();
        reader.is_some()
    });
    (run, reader.unwrap())
}

/// The short plan with a different test.
fn only(test: &str) -> String {
    let tests = "\"T132\", \"T611\", \"T211\", \"T311\", \"T421\"";
    SHORT.replace(tests, &format!("\"{test}\""))
}

fn refuses_jobs_beyond_connections(url: &str) {
    let workspace = Workspace::new();
    let plan = only("T611").replace("jobs = [2]", "jobs = [1, 64, 4]");
    let plan = workspace.file("plan.toml", &plan);
    let ended = workspace.ends(2, &["run", &plan, "--target", url]);
    let sentence = ended.sentence();
    sentence.says("T611 with 64 jobs needs 65 sessions");
    sentence.says("max_connections is 20");
}

/// Every job changes the same few rows in a different order, so that they deadlock; the server aborts one of them, which retries.
fn retries_and_counts_deadlocks(url: &str, sql: &str) {
    let workspace = Workspace::new();
    let library = workspace.library();
    std::fs::write(library.join("T716.sql"), sql).unwrap();
    let plan = only("T716").replace("jobs = [2]", "jobs = [4]");
    let plan = workspace.file("plan.toml", &plan.replace("0.3", "2"));
    let ended = workspace.dbdyno(&words(
        "run {} --target {} --set {}",
        &[&plan, url, &format!("library={}", library.display())],
    ));
    let run = workspace.export("last");
    let point = &points(&run)[0];
    assert_eq!(ended.status, 0, "{} {}", ended.stderr, point["reasons"]);
    assert!(point["retries"].as_f64().unwrap() > 0.0, "{point}");
    assert_eq!(point["errors"].as_f64(), Some(0.0));
    assert!(point["rows"].as_f64().unwrap() > 0.0);
    point["notes"].to_string().says("retried after a conflict");
}

fn gives_the_same_answers_abroad(url: &str) {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", SHORT);
    let mut command = workspace.command(&["run", &plan, "--target", url]);
    command.env("TZ", "America/St_Johns");
    command.env("LC_ALL", "tr_TR.UTF-8");
    let ended = Ended::of(command.output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let run = workspace.export("last");
    assert_eq!(points(&run).len(), 5);
    assert!(points(&run).iter().all(|p| p["valid"] == true));
    let begun = run["run"]["started_at"].as_str().unwrap();
    assert!(begun.ends_with('Z'), "{begun}");
}

/// Another session of the server sleeps meanwhile; `is_asleep` says when it does.
fn needs_consent_for_other_sessions(
    url: &str,
    sleeps: &(dyn Fn() -> String + Sync),
    is_asleep: &dyn Fn() -> bool,
) {
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", common::TINY);
    std::thread::scope(|scope| {
        let other = scope.spawn(sleeps);
        while !is_asleep() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let ended = workspace.ends(1, &["run", &plan, "--target", url]);
        ended.sentence().says("other sessions are active");
        workspace.fine(&["run", &plan, "--target", url, "--allow-busy"]);
        assert!(!other.is_finished(), "the other session ended too early");
        other.join().unwrap();
    });
}

/// The answer of a server of this greeting, which says nothing more.
fn greeted(scheme: &str, answers: impl FnOnce(&mut TcpStream) + Send + 'static) -> Ended {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        answers(&mut near);
        // The answer is complete when the other side has closed the connection.
        while let Ok(1..) = near.read(&mut [0; 1024]) {}
    });
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", common::TINY);
    let url = format!("{scheme}://u@127.0.0.1:{port}/d?sslmode=disable");
    workspace.ends(1, &["run", &plan, "--target", &url])
}

/// Neither a file nor the archive nor the output holds the passwords that a test used.
fn passwords_are_not_stored(workspace: &Workspace) {
    let archive = workspace.bytes("archive.dbdyno");
    let holds = |word: &[u8]| archive.windows(word.len()).any(|part| part == word);
    assert!(!holds(b"r1ght-one") && !holds(b"wr0ng-one"));
}

#[test]
fn a_killed_backend_ends_the_run_which_can_be_resumed() {
    let server = server("&restart_after_crash=on");
    let (run, reader) = begin(&server);
    kill(reader);
    let (workspace, sentence) = run.broken();
    assert!(sentence.contains("PostgreSQL"), "{sentence}");
    // The server has restarted by itself; finished points are not measured again.
    let until = Instant::now() + Duration::from_secs(120);
    let resumed = loop {
        let ended = workspace.dbdyno("run --resume long");
        if ended.status == 0 || Instant::now() > until {
            break ended;
        }
        std::thread::sleep(Duration::from_millis(300));
    };
    assert_eq!(resumed.status, 0, "{}", resumed.stderr);
    assert_eq!(points(&workspace.export("long")).len(), 2);
}

#[test]
fn a_killed_server_ends_the_run() {
    let server = server("");
    let (run, _) = begin(&server);
    kill(server.pid().unwrap() as i32);
    let (workspace, sentence) = run.broken();
    assert!(sentence.contains("PostgreSQL"), "{sentence}");
    let ended = workspace.ends(1, "run --resume long");
    ended.sentence().says("cannot reach");
    assert_eq!(points(&workspace.export("long")).len(), 1);
}

#[test]
fn jobs_beyond_the_connections_of_the_server_are_refused_before_the_run() {
    let server = server("&max_connections=20");
    refuses_jobs_beyond_connections(&url(&server, "dbdyno"));
}

#[test]
fn a_wrong_password_is_reported_and_not_stored() {
    let (server, workspace) = (server(""), Workspace::new());
    psql(
        &server,
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE locked LOGIN SUPERUSER PASSWORD 'r1ght-one'",
    );
    let rules = "local all dbdyno trust\nlocal all all scram-sha-256\n";
    std::fs::write(server.data_directory().join("pg_hba.conf"), rules).unwrap();
    psql(&server, "SELECT pg_reload_conf()");
    let plan = workspace.file("plan.toml", common::TINY);
    let url = url(&server, "locked");
    let run = |password: &str| {
        let mut command = workspace.command(&["run", &plan, "--target", &url]);
        Ended::of(command.env("PGPASSWORD", password).output().unwrap())
    };
    let until = Instant::now() + Duration::from_secs(60);
    let mut ended = run("wr0ng-one");
    // A server rereads its rules with a short delay.
    while ended.status == 0 && Instant::now() < until {
        ended = run("wr0ng-one");
    }
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let sentence = ended.sentence();
    assert!(sentence.contains("check the password"), "{sentence}");
    assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("wr0ng"));
    let ended = run("r1ght-one");
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    passwords_are_not_stored(&workspace);
    assert!(!ended.stdout.contains("r1ght-one"));
}

#[test]
fn missing_rights_of_a_user_are_reported() {
    let (server, workspace) = (server(""), Workspace::new());
    psql(
        &server,
        "CREATE ROLE plain LOGIN; GRANT pg_checkpoint TO plain; GRANT CREATE ON DATABASE postgres TO plain",
    );
    let plan = workspace.file("plan.toml", SHORT);
    let ended = workspace.fine(&["run", &plan, "--target", &url(&server, "plain")]);
    let run = workspace.export("last");
    let target = &run["targets"][0];
    assert!(target["device"].is_null(), "{target}");
    let unseen = ["others_at_work", "server_processes", "data_directory"];
    let grant = "GRANT pg_monitor TO plain";
    assert_eq!(
        target["rights_missing"],
        serde_json::json!({ "unseen": unseen, "grant": grant })
    );
    // The terminal shows it once at the start, and every form of the result contains it.
    let occurrences = |text: &str| text.matches(grant).count();
    assert_eq!(occurrences(&ended.stderr), 1, "{}", ended.stderr);
    let markdown = workspace.fine("report last --format md");
    let page = workspace.page("last");
    let section = |id: &str| {
        let (_, begun) = page.split_once(&format!("<section id=\"{id}\"")).unwrap();
        begun.split("</section>").next().unwrap()
    };
    assert_eq!(occurrences(&markdown.stdout), 1);
    assert_eq!(occurrences(section("sure")), 1);
    let verdict = section("verdict");
    assert!(verdict.contains("are hidden from its user"), "{verdict}");
    for point in points(&run) {
        let figures = point;
        assert!(figures["write_iops"].is_null() && figures["cpu_pct_avg"].is_number());
        let notes = point["notes"].to_string();
        assert!(notes.contains("pg_monitor"), "{notes}");
    }
}

#[test]
fn deadlocks_are_tried_again_and_counted() {
    let server = server("&deadlock_timeout=5ms");
    let sql =
        "UPDATE dbdyno_changed SET version = version + 1 WHERE id = 1 + CAST(? AS BIGINT) % 40";
    retries_and_counts_deadlocks(&url(&server, "dbdyno"), sql);
}

#[test]
fn a_server_of_another_country_gives_the_same_answers() {
    let server = server("");
    psql(
        &server,
        "CREATE DATABASE faraway TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu \
         ICU_LOCALE 'tr-TR' LOCALE 'C.UTF-8'",
    );
    psql(
        &server,
        "ALTER DATABASE faraway SET TimeZone = 'Asia/Kathmandu'; \
         ALTER DATABASE faraway SET DateStyle = 'German, DMY'; \
         ALTER DATABASE faraway SET IntervalStyle = 'sql_standard'; \
         ALTER DATABASE faraway SET bytea_output = 'escape'; \
         ALTER DATABASE faraway SET extra_float_digits = -15; \
         ALTER DATABASE faraway SET standard_conforming_strings = off; \
         ALTER DATABASE faraway SET default_transaction_isolation = 'serializable'",
    );
    gives_the_same_answers_abroad(&url_of(&server, "dbdyno", "faraway"));
}

/// The greeting of a server older than any installable one.
#[test]
fn a_server_too_old_is_refused() {
    let ended = greeted("postgres", |near| {
        let _ = near.read(&mut [0; 1024]);
        let parameter = b"server_version\09.6.24\0";
        let mut greeting = b"R\0\0\0\x08\0\0\0\0S".to_vec();
        greeting.extend((parameter.len() as u32 + 4).to_be_bytes());
        greeting.extend(parameter);
        greeting.extend(b"K\0\0\0\x0c\0\0\0\x07\0\0\0\x07Z\0\0\0\x05I");
        let _ = near.write_all(&greeting);
    });
    let sentence = ended.sentence();
    sentence.says_all(&["9.6.24 is too old", "12 or later"]);
}

#[test]
fn servers_with_other_sessions_need_consent() {
    let server = server("");
    let asleep = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(8)%' AND pid <> pg_backend_pid()";
    needs_consent_for_other_sessions(
        &url(&server, "dbdyno"),
        &|| psql(&server, "SELECT pg_sleep(8)"),
        &|| psql(&server, asleep) != "0",
    );
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", common::TINY);
    workspace.ends(2, &["run", &plan, "--target", "sqlite:", "--allow-busy"]);
}

#[test]
fn much_is_written_only_when_agreed() {
    let (server, workspace) = (server(""), Workspace::new());
    let plan = workspace.file(
        "plan.toml",
        &SHORT.replace("[[step]]\n", "[[step]]\nsize = \"published\"\n"),
    );
    let file = workspace.url("sqlite", "bench.db");
    for target in [file.as_str(), &url(&server, "dbdyno"), "postgres+local:"] {
        let ended = workspace.ends(2, &["run", &plan, "--target", target]);
        let sentence = ended.sentence();
        sentence.says_all(&["GB", "--yes"]);
        workspace.ends(2, &["ab", &plan, "--target", target, "--aa"]);
    }
    assert!(!workspace.path("bench.db").exists() && !workspace.archive().exists());
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'";
    assert_eq!(psql(&server, schemas), "0");

    let plan = workspace.file("plan.toml", &only("T611"));
    let small = workspace.fine(&["run", &plan, "--target", &file]);
    small.stderr.says("writes at most 13 MB");
    // A plan that only computes writes nothing and needs no announcement.
    let plan = workspace.file("plan.toml", common::TINY);
    let silent = workspace.fine(&["run", &plan, "--target", "sqlite:"]);
    silent.stderr.omits("writes at most");
}
