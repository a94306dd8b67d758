//! A server at work is observed: its counters are those of others, and nothing is written.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use crate::processors::assert_one_of_two_works;
use engine::{Activity, SessionSeen, Wanted};
use local_server::{LocalServer, ServerKind};

use crate::common::{Kind, MARIADB, MYSQL};

on_both! {
    commits_and_statements_of_others_are_counted_exactly,
}

const COMMITS: u32 = 25;

pub fn server(kind: &Kind) -> LocalServer {
    kind.server_with("&innodb_flush_method=nosync")
}

fn client(server: &LocalServer) -> Command {
    let tree = server.program().ancestors().nth(2).unwrap();
    let kinds = [MARIADB, MYSQL];
    let is_of = |kind: &&Kind| kind.server.about().name == server.kind().about().name;
    let kind = kinds.iter().find(is_of).unwrap();
    let mut client = Command::new(tree.join(kind.client));
    client
        .args(["--no-defaults", "-BNn", "-u", server.superuser(), "-S"])
        .arg(server.socket_path());
    client
}

pub fn ask(server: &LocalServer, sql: &str) {
    let done = client(server).args(["-e", sql]).output().unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn commits_and_statements_of_others_are_counted_exactly(kind: &Kind) {
    let server = server(kind);
    ask(
        &server,
        "CREATE DATABASE shop; CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT)",
    );
    let socket = server.socket_path().display().to_string();
    let url = format!(
        "mysql://{}@localhost/nowhere?socket={socket}",
        server.superuser()
    );
    let target = engines::open_observed(&engines::parse(&url).unwrap()).unwrap();
    let wanted = Wanted {
        texts: true,
        lines: 10,
    };
    let mut activity = target.activity(wanted).unwrap();
    activity.begin().unwrap();
    let before = activity.load().unwrap();
    let one = "BEGIN; INSERT INTO shop.stock VALUES (47110815, 1) ON DUPLICATE KEY UPDATE n = n + 1; COMMIT;";
    ask(&server, &one.repeat(COMMITS as usize));
    for _ in 0..20 {
        activity.look().unwrap();
        let now = activity.load().unwrap();
        let rise = now.transactions.unwrap() - before.transactions.unwrap();
        assert_eq!(
            rise,
            f64::from(COMMITS),
            "the observer's own questions are none"
        );
        assert_eq!(now.era, before.era);
    }
    let tables = activity.tables();
    let statements = tables
        .iter()
        .find(|t| t.source.contains("by_digest"))
        .unwrap();
    let insert = statements
        .rows
        .iter()
        .find(|row| format!("{row:?}").contains("INSERT INTO"));
    assert_eq!(
        statements.number(insert.unwrap(), "calls"),
        Some(f64::from(COMMITS)),
        "{statements:#?}"
    );
    let texts = format!("{tables:?}");
    assert!(
        !texts.contains("47110815") && !texts.contains("dbdyno_observe"),
        "{texts}"
    );
    assert!(target.open_session().is_err(), "nothing is done in it");

    let mut client = client(&server);
    let mut client = client
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let somebody = (client.stdin.take().unwrap(), client.stdout.take().unwrap());
    assert_looks_are_new(activity.as_mut(), somebody);
    assert!(client.wait().unwrap().success());
    assert_time_in_statements_is_counted(&server, activity.as_mut());
    assert_processors_are_as_the_kernel_tells(&server, activity.as_mut());
}

/// Looks that follow each other as soon as they may see the transaction that has begun since, and no more the one that has ended.
fn assert_looks_are_new(activity: &mut dyn Activity, somebody: (ChildStdin, ChildStdout)) {
    let (mut input, output) = somebody;
    let mut answers = BufReader::new(output).lines();
    let mut does = |sql: &str| {
        writeln!(input, "{sql} SELECT 'done';").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), "done");
    };
    for _ in 0..5 {
        for (sql, open) in [
            ("BEGIN; UPDATE shop.stock SET n = n + 1;", 1),
            ("COMMIT;", 0),
        ] {
            does(sql);
            std::thread::sleep(activity.rest());
            let sessions = activity.look().unwrap().sessions.into_iter();
            let transactions = sessions.filter(|session| session.transaction_s.is_some());
            assert_eq!(transactions.count(), open, "{sql}");
        }
    }
}

/// A statement counts while it is under way and when it has ended, but only for the time that passes.
fn assert_time_in_statements_is_counted(server: &LocalServer, activity: &mut dyn Activity) {
    let mut long = client(server)
        .args(["-e", "SELECT SLEEP(600)"])
        .spawn()
        .unwrap();
    while activity.look().unwrap().sessions.is_empty() {
        std::thread::sleep(activity.rest());
    }
    std::thread::sleep(Duration::from_millis(300));
    let before = Instant::now();
    activity.begin().unwrap();
    let begun = Instant::now();
    ask(server, "SELECT SLEEP(0.5)");
    let between_s = begun.elapsed().as_secs_f64();
    let seconds = activity.time_in_statements().unwrap().unwrap().seconds;
    // When the server counted is between question and answer. Milliseconds of a statement under way are whole ones in some versions.
    let least_s = 0.5 + between_s - 0.01;
    let most_s = between_s + before.elapsed().as_secs_f64() + 0.01;
    assert!(
        (least_s..most_s).contains(&seconds),
        "{seconds}: {least_s} to {most_s}"
    );
    // A statement goes on when its client was killed, on some servers for a while.
    let sleepers = activity.look().unwrap().sessions;
    ask(server, &format!("KILL {}", sleepers[0].id));
    long.wait().unwrap();
}

/// A session that works is on a processor or waits for one all the time, and one that sleeps in its statement never.
fn assert_processors_are_as_the_kernel_tells(server: &LocalServer, activity: &mut dyn Activity) {
    let statements = [
        "SELECT SLEEP(600)",
        "SELECT BENCHMARK(1000000000000, SHA2('x', 256))",
    ];
    let sleepers = |seen: &[SessionSeen]| seen.iter().filter(|s| s.state == "User sleep").count();
    let begin = Instant::now();
    let clients = statements.map(|sql| client(server).args(["-e", sql]).spawn().unwrap());
    loop {
        std::thread::sleep(activity.rest());
        let seen = activity.look().unwrap().sessions;
        if (seen.len(), sleepers(&seen)) == (2, 1) {
            break;
        }
    }
    assert_one_of_two_works(activity, begin, clients, 2);
}
