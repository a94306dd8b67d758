//! A server at work is observed: its counters are those of others, and nothing is written.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::processors::assert_one_of_two_works;
use engine::{Activity, SessionSeen, TargetUrl, Wanted};
use local_server::LocalServer;
use postgres::local::PostgresServer;

const COMMITS: u32 = 25;
pub const WANTED: Wanted = Wanted {
    texts: true,
    lines: 10,
};

pub fn server(settings: &str) -> LocalServer {
    let url = format!(
        "postgres+local:?version=15&shared_buffers=32MB&autovacuum=off&fsync=off{settings}"
    );
    LocalServer::start_for(&PostgresServer, &engines::parse(&url).unwrap()).unwrap()
}

pub fn url(server: &LocalServer) -> TargetUrl {
    let directory = server.socket_directory().display().to_string();
    let directory = directory.replace('/', "%2F");
    let url = format!("postgres://{}@{directory}/postgres", server.superuser());
    engines::parse(&url).unwrap()
}

/// Somebody's statements, each a transaction, in a session of their own.
pub fn psql(server: &LocalServer, statements: &[&str]) {
    assert!(
        client(server, statements)
            .output()
            .unwrap()
            .status
            .success()
    );
}

pub fn client(server: &LocalServer, statements: &[&str]) -> Command {
    let mut client = Command::new(server.program().with_file_name("psql"));
    client
        .args(["-X", "-q", "-h"])
        .arg(server.socket_directory());
    client.args(["-U", server.superuser(), "-d", "postgres"]);
    for sql in statements {
        client.args(["-c", sql]);
    }
    client
}

fn transactions(activity: &mut dyn Activity) -> f64 {
    activity.load().unwrap().transactions.unwrap()
}

/// Somebody's commits are counted one by one, and the log on of their session; the observer's own questions are not, however
/// many there are.
#[test]
fn commits_of_others_are_counted_exactly() {
    let server = server("");
    let target = engines::open_observed(&url(&server)).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    activity.begin().unwrap();
    let before = transactions(activity.as_mut());
    psql(&server, &vec!["SELECT 1"; COMMITS as usize]);
    let expected = f64::from(COMMITS + 1);
    // The session tells its counts when it ends, which is behind the end of its client.
    let begin = Instant::now();
    while transactions(activity.as_mut()) - before < expected
        && begin.elapsed() < Duration::from_secs(60)
    {
        activity.look().unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    for _ in 0..20 {
        activity.look().unwrap();
        assert_eq!(transactions(activity.as_mut()) - before, expected);
    }
    assert!(target.open_session().is_err(), "nothing is done in it");
    // A statement that sleeps for a while is active so long by the server's clock, which no look has to meet.
    let before = active_s(activity.as_mut());
    psql(&server, &["SELECT pg_sleep(0.5)"]);
    let begin = Instant::now();
    while active_s(activity.as_mut()) - before < 0.5 {
        assert!(begin.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A statement counts while it is under way and when it has ended, but only for the time that passes.
#[test]
fn time_in_statements_is_that_between_two_moments() {
    let server = server("");
    let target = engines::open_observed(&url(&server)).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    let mut long = client(&server, &["SELECT pg_sleep(600)"]).spawn().unwrap();
    while activity.look().unwrap().sessions.is_empty() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    let began = Instant::now();
    activity.begin().unwrap();
    let mut own_s = began.elapsed().as_secs_f64();
    let began = Instant::now();
    psql(&server, &["SELECT pg_sleep(0.5)"]);
    let took_s = began.elapsed().as_secs_f64();
    // The session tells when it ends, which is behind the end of its client.
    let begin = Instant::now();
    loop {
        let asked = Instant::now();
        let time = activity.time_in_statements().unwrap().unwrap();
        own_s += asked.elapsed().as_secs_f64();
        let seconds = time.seconds - time.elapsed_s;
        assert!(
            seconds < took_s + own_s && time.unclear_s == 0.0,
            "{time:?}"
        );
        // The answer to the end may have been slower on its way than that to the begin.
        if seconds >= 0.49 {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(50));
    }
    long.kill().unwrap();
    long.wait().unwrap();
}

/// A session that works is on a processor or waits for one all the time, and one that sleeps in its statement never.
#[test]
fn sessions_have_of_the_processors_what_the_kernel_tells() {
    let server = server("");
    let target = engines::open_observed(&url(&server)).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    activity.begin().unwrap();
    let begin = Instant::now();
    let clients = [
        "SELECT pg_sleep(600)",
        "DO $$ BEGIN LOOP PERFORM 1; END LOOP; END $$",
    ]
    .map(|sql| client(&server, &[sql]).spawn().unwrap());
    let both = |seen: &[SessionSeen]| {
        seen.len() == 2 && seen.iter().any(|session| session.state.contains("PgSleep"))
    };
    while !both(&activity.look().unwrap().sessions) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_one_of_two_works(activity.as_mut(), begin, clients, 2);
}

fn active_s(activity: &mut dyn Activity) -> f64 {
    let counts = activity.load().unwrap().counts;
    let active = counts.iter().find(|c| c.name.starts_with("time in"));
    active.unwrap().count.unwrap()
}

#[test]
fn a_reset_is_noticed_and_statements_are_counted() {
    let server = server("&shared_preload_libraries=pg_stat_statements");
    psql(
        &server,
        &[
            "CREATE EXTENSION pg_stat_statements",
            "CREATE TABLE seen (n int)",
        ],
    );
    let target = engines::open_observed(&url(&server)).unwrap();
    let mut activity = target.activity(WANTED).unwrap();
    activity.begin().unwrap();
    let before = activity.load().unwrap();
    psql(
        &server,
        &vec!["INSERT INTO seen VALUES (47110815)"; COMMITS as usize],
    );
    let tables = activity.tables();
    let statements = tables
        .iter()
        .find(|t| t.source == "pg_stat_statements")
        .unwrap();
    let calls = |row: &Vec<archive::Cell>| statements.number(row, "calls");
    let all: Vec<_> = statements.rows.iter().map(calls).collect();
    assert_eq!(
        all,
        [Some(f64::from(COMMITS))],
        "none of the observer's own: {statements:#?}"
    );
    assert!(
        !format!("{statements:?}").contains("47110815"),
        "{statements:?}"
    );

    psql(&server, &["SELECT pg_stat_reset()"]);
    assert_ne!(activity.load().unwrap().era, before.era);
    // An observer writes nothing, whatever it is asked.
    let unseen = tables.last().unwrap();
    assert_eq!(unseen.about, archive::About::Unseen);
}
