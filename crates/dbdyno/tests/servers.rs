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
#[path = "servers/tutorial.rs"]
mod tutorial;
#[path = "servers/twin.rs"]
mod twin;
#[path = "servers/update.rs"]
mod update;

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use common::{Ended, Workspace, points};
use in_the_middle::{InTheMiddle, SHORT, kill};
use local_server::LocalServer;
use postgres::{psql, server, url, url_of};

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
        let ended = workspace.dbdyno(&["run", "--resume", "long"]);
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
    let ended = workspace.dbdyno(&["run", "--resume", "long"]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    assert!(
        ended.sentence().contains("cannot reach"),
        "{}",
        ended.stderr
    );
    assert_eq!(points(&workspace.export("long")).len(), 1);
}

#[test]
fn jobs_beyond_the_connections_of_the_server_are_refused_before_the_run() {
    let server = server("&max_connections=20");
    let workspace = Workspace::new();
    let plan = workspace.file(
        "plan.toml",
        &SHORT.replace("jobs = [2]", "jobs = [1, 64, 4]").replace(
            "\"T132\", \"T611\", \"T211\", \"T311\", \"T421\"",
            "\"T611\"",
        ),
    );
    let ended = workspace.dbdyno(&["run", &plan, "--target", &url(&server, "dbdyno")]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    let sentence = ended.sentence();
    assert!(
        sentence.contains("T611 with 64 jobs needs 65 sessions")
            && sentence.contains("max_connections is 20"),
        "{sentence}"
    );
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
    let archive = std::fs::read(workspace.archive()).unwrap();
    let holds = |word: &[u8]| archive.windows(word.len()).any(|part| part == word);
    assert!(!holds(b"r1ght-one") && !holds(b"wr0ng-one"));
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
    let ended = workspace.dbdyno(&["run", &plan, "--target", &url(&server, "plain")]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
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
    let markdown = workspace.fine(&["export", "last", "--format", "markdown"]);
    workspace.fine(&["report", "last", "-o", "page.html"]);
    let page = std::fs::read_to_string(workspace.path("page.html")).unwrap();
    let section = |id: &str| {
        let (_, begun) = page.split_once(&format!("<section id=\"{id}\"")).unwrap();
        begun.split("</section>").next().unwrap()
    };
    assert_eq!(
        (occurrences(&markdown.stdout), occurrences(section("sure"))),
        (1, 1)
    );
    let verdict = section("verdict");
    assert!(verdict.contains("Valid, with cautions"), "{verdict}");
    for point in points(&run) {
        let figures = point;
        assert!(figures["write_iops"].is_null() && figures["cpu_pct_avg"].is_number());
        let notes = point["notes"].to_string();
        assert!(notes.contains("pg_monitor"), "{notes}");
    }
}

/// Every job changes the same few rows in a different order, so that they deadlock; the server aborts one of them, which retries.
#[test]
fn deadlocks_are_tried_again_and_counted() {
    let (server, workspace) = (server("&deadlock_timeout=5ms"), Workspace::new());
    let library = workspace.library();
    let sql =
        "UPDATE dbdyno_changed SET version = version + 1 WHERE id = 1 + CAST(? AS BIGINT) % 40";
    std::fs::write(library.join("T716.sql"), sql).unwrap();
    let plan = workspace.file(
        "plan.toml",
        &SHORT
            .replace(
                "\"T132\", \"T611\", \"T211\", \"T311\", \"T421\"",
                "\"T716\"",
            )
            .replace("jobs = [2]", "jobs = [4]")
            .replace("0.3", "2"),
    );
    let library = library.to_str().unwrap();
    let url = url(&server, "dbdyno");
    let ended = workspace.dbdyno(&["run", &plan, "--target", &url, "--library", library]);
    let run = workspace.export("last");
    let point = &points(&run)[0];
    assert_eq!(ended.status, 0, "{} {}", ended.stderr, point["reasons"]);
    let figures = point;
    assert!(figures["retries"].as_f64().unwrap() > 0.0, "{figures}");
    assert_eq!(figures["errors"].as_f64(), Some(0.0));
    assert!(figures["rows"].as_f64().unwrap() > 0.0);
    let notes = point["notes"].to_string();
    assert!(notes.contains("retried after a conflict"), "{notes}");
}

#[test]
fn a_server_of_another_country_gives_the_same_answers() {
    let (server, workspace) = (server(""), Workspace::new());
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
    let plan = workspace.file("plan.toml", SHORT);
    let url = url_of(&server, "dbdyno", "faraway");
    let mut command = workspace.command(&["run", &plan, "--target", &url]);
    let ended = Ended::of(
        command
            .env("TZ", "America/St_Johns")
            .env("LC_ALL", "tr_TR.UTF-8")
            .output()
            .unwrap(),
    );
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let run = workspace.export("last");
    assert_eq!(points(&run).len(), 5);
    assert!(points(&run).iter().all(|p| p["valid"] == true));
    assert!(
        run["run"]["started_at"].as_str().unwrap().ends_with('Z'),
        "{}",
        run["run"]["started_at"]
    );
}

/// The greeting of a server older than any installable one.
#[test]
fn a_server_too_old_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut near, _) = listener.accept().unwrap();
        let mut bytes = [0; 1024];
        let _ = near.read(&mut bytes);
        let parameter = b"server_version\09.6.24\0";
        let mut greeting = b"R\0\0\0\x08\0\0\0\0S".to_vec();
        greeting.extend((parameter.len() as u32 + 4).to_be_bytes());
        greeting.extend(parameter);
        greeting.extend(b"K\0\0\0\x0c\0\0\0\x07\0\0\0\x07Z\0\0\0\x05I");
        let _ = near.write_all(&greeting);
        // The answer is complete when the other side has closed the connection.
        while let Ok(1..) = near.read(&mut bytes) {}
    });
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", common::TINY);
    let url = format!("postgres://u@127.0.0.1:{port}/d");
    let ended = workspace.dbdyno(&["run", &plan, "--target", &url]);
    assert_eq!(ended.status, 1, "{}", ended.stderr);
    let sentence = ended.sentence();
    assert!(
        sentence.contains("9.6.24 is too old") && sentence.contains("12 or later"),
        "{sentence}"
    );
}

#[test]
fn servers_with_other_sessions_need_consent() {
    let (server, workspace) = (server(""), Workspace::new());
    let plan = workspace.file("plan.toml", common::TINY);
    let url = url(&server, "dbdyno");
    std::thread::scope(|scope| {
        let other = scope.spawn(|| psql(&server, "SELECT pg_sleep(8)"));
        while psql(
            &server,
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(8)%' AND pid <> pg_backend_pid()",
        ) == "0"
        {
            std::thread::sleep(Duration::from_millis(50));
        }
        let ended = workspace.dbdyno(&["run", &plan, "--target", &url]);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        assert!(
            ended.sentence().contains("other sessions are active"),
            "{}",
            ended.stderr
        );
        let ended = workspace.dbdyno(&["run", &plan, "--target", &url, "--shared"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert!(
            !other.is_finished(),
            "the other's work ended too early to tell"
        );
        other.join().unwrap();
    });
    let ended = workspace.dbdyno(&["run", &plan, "--target", "sqlite:", "--shared"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
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
        let ended = workspace.dbdyno(&["run", &plan, "--target", target]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        let sentence = ended.sentence();
        assert!(
            sentence.contains("GB") && sentence.contains("--yes"),
            "{sentence}"
        );
        let ended = workspace.dbdyno(&["ab", &plan, "--target", target]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
    }
    assert!(!workspace.path("bench.db").exists() && !workspace.archive().exists());
    let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'dbdyno'";
    assert_eq!(psql(&server, schemas), "0");

    let plan = workspace.file(
        "plan.toml",
        &SHORT.replace(
            "\"T132\", \"T611\", \"T211\", \"T311\", \"T421\"",
            "\"T611\"",
        ),
    );
    let small = [
        "run",
        plan.as_str(),
        "--target",
        file.as_str(),
        "--ask-above",
        "0.01",
    ];
    assert_eq!(workspace.dbdyno(&small).status, 2);
    let agreed = workspace.fine(&[&small[..], &["--yes"]].concat());
    assert!(
        agreed.stderr.contains("writes at most 13 MB"),
        "{}",
        agreed.stderr
    );
    // A plan that only computes writes nothing and needs no announcement.
    let plan = workspace.file("plan.toml", common::TINY);
    let silent = workspace.fine(&["run", &plan, "--target", "sqlite:", "--ask-above", "0"]);
    assert!(
        !silent.stderr.contains("writes at most"),
        "{}",
        silent.stderr
    );
}
