//! A server at work is observed: its counters are those of others, and nothing is written.

use std::process::Command;

use target::mysql::local::MariaDbServer;
use target::server::{LocalServer, ServerSpec};
use target::{TargetUrl, Wanted};

const COMMITS: u32 = 25;

fn server() -> LocalServer {
    let url = "mysql+local:?innodb_buffer_pool_size=32M&innodb_log_file_size=32M&innodb_flush_method=nosync";
    let spec = ServerSpec::from_url(&MariaDbServer, &TargetUrl::parse(url).unwrap()).unwrap();
    LocalServer::start(&MariaDbServer, &spec).unwrap()
}

fn ask(server: &LocalServer, sql: &str) {
    let tree = server.program().ancestors().nth(2).unwrap();
    let done = Command::new(tree.join("bin/mariadb"))
        .args(["--no-defaults", "-u", server.superuser(), "-S"])
        .arg(server.socket_path())
        .args(["-e", sql])
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

#[test]
fn commits_and_statements_of_others_are_counted_exactly() {
    let server = server();
    ask(
        &server,
        "CREATE DATABASE shop; CREATE TABLE shop.stock (id INT PRIMARY KEY, n INT)",
    );
    let socket = server.socket_path().display().to_string();
    let url = format!(
        "mysql://{}@localhost/nowhere?socket={socket}",
        server.superuser()
    );
    let target = target::open_observed(&TargetUrl::parse(&url).unwrap()).unwrap();
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
    let tables = activity.tables().unwrap();
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
}
