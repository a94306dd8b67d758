//! The same faults on MariaDB.

use std::io::{Read, Write};

use local_server::LocalServer;

use crate::common::{Ended, TINY, Workspace, points, words};
use crate::disk::Disk;
use crate::in_the_middle::{InTheMiddle, SHORT, kill};
use crate::mysql::{ask, mysql_server, server, url};
use crate::{
    gives_the_same_answers_abroad, greeted, needs_consent_for_other_sessions,
    passwords_are_not_stored, refuses_jobs_beyond_connections, retries_and_counts_deadlocks,
};
use testing::Says;

/// Sessions in the middle of a lookup of the second point.
const READING: &str = "FROM information_schema.processlist WHERE db = 'dbdyno' \
                       AND info LIKE 'SELECT amount, day FROM dbdyno_small WHERE id%'";

/// Sets two rows in random order.
const CHANGE: &str = "UPDATE dbdyno_changed SET version = version + 1 WHERE id = 1 + ? % 40";

/// The long run with a job of its second point in progress, and the number of its session, which is constant. The server itself searches
/// for it, because a client takes longer to start than a statement to end.
fn begin(server: &LocalServer) -> (InTheMiddle, String) {
    let reading = READING.replace('\'', "''");
    // A block reads the list once, unless each statement is a new one.
    let search = format!(
        "DELIMITER //\nBEGIN NOT ATOMIC DECLARE looks INT DEFAULT 0; REPEAT\n\
         DO SLEEP(0.005); SET looks = looks + 1; EXECUTE IMMEDIATE 'SELECT id INTO @found {reading} LIMIT 1';\n\
         UNTIL @found IS NOT NULL OR looks > 1000 END REPEAT; SELECT @found; END//"
    );
    let mut session = String::new();
    let shared_url = url(server, "root") + "&others=allow";
    let run = InTheMiddle::begin(&shared_url, || {
        session = ask(server, &search);
        session.parse::<u64>().is_ok()
    });
    (run, session)
}

#[test]
fn a_killed_session_ends_the_run_which_can_be_resumed() {
    let server = server("");
    let (run, victim) = begin(&server);
    ask(&server, &format!("KILL {victim}"));
    let (workspace, sentence) = run.broken();
    assert!(sentence.contains("closed the connection"), "{sentence}");
    // Finished points are not measured again.
    workspace.fine("run --resume long");
    assert_eq!(points(&workspace.export("long")).len(), 2);
}

#[test]
fn a_killed_server_ends_the_run() {
    let server = server("");
    let (run, _) = begin(&server);
    kill(server.pid().unwrap() as i32);
    let (workspace, sentence) = run.broken();
    assert!(sentence.contains("closed the connection"), "{sentence}");
    let ended = workspace.ends(1, "run --resume long");
    ended.sentence().says("no server answers");
    assert_eq!(points(&workspace.export("long")).len(), 1);
}

#[test]
fn jobs_beyond_the_connections_of_the_server_are_refused_before_the_run() {
    let server = server("&max_connections=20");
    refuses_jobs_beyond_connections(&url(&server, "root"));
    let (workspace, url) = (Workspace::new(), url(&server, "root"));
    workspace.load_order_entry(&url);
    let users = words("run oltp --target {} --clients 1,64 --yes", &[&url]);
    let ended = workspace.ends(2, &users);
    let sentence = ended.sentence();
    sentence.says_all(&["needs 65 sessions", "max_connections is 20"]);
}

#[test]
fn a_wrong_password_is_reported_and_not_stored() {
    let (server, workspace) = (server(""), Workspace::new());
    ask(
        &server,
        "CREATE USER locked@localhost IDENTIFIED BY 'r1ght-one'; \
         GRANT ALL ON *.* TO locked@localhost",
    );
    let plan = workspace.file("plan.toml", TINY);
    let run = |user: &str, password: Option<&str>| {
        let target = url(&server, user);
        let mut command = workspace.command(&["run", &plan, "--target", &target]);
        command
            .env_remove("MYSQL_PWD")
            .env("HOME", workspace.path("."));
        if let Some(password) = password {
            command.env("MYSQL_PWD", password);
        }
        Ended::of(command.output().unwrap())
    };
    for ended in [
        run("locked", Some("wr0ng-one")),
        run("locked:wr0ng-one", Some("r1ght-one")),
        run("locked", None),
    ] {
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        let sentence = ended.sentence();
        sentence.says("check the user and the password");
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("wr0ng"));
    }
    let option_file = workspace.path(".my.cnf");
    for ended in [
        run("locked", Some("r1ght-one")),
        run("locked:r1ght-one", None),
        {
            std::fs::write(&option_file, "[client]\npassword=r1ght-one\n").unwrap();
            let only_mine = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(&option_file, only_mine).unwrap();
            run("locked", None)
        },
    ] {
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert!(!format!("{}{}", ended.stdout, ended.stderr).contains("r1ght-one"));
    }
    passwords_are_not_stored(&workspace);
}

#[test]
fn deadlocks_are_tried_again_and_counted() {
    let server = server("");
    retries_and_counts_deadlocks(&url(&server, "root"), CHANGE);
}

#[test]
fn deadlocks_of_mysql_are_tried_again_and_counted() {
    let server = mysql_server("");
    retries_and_counts_deadlocks(&url(&server, "root"), CHANGE);
}

#[test]
fn a_server_of_another_country_gives_the_same_answers() {
    let server = server(
        "&default_time_zone=+05:45&lc_time_names=tr_TR&character_set_server=latin5\
         &collation_server=latin5_turkish_ci&sql_mode=ANSI,PIPES_AS_CONCAT,PAD_CHAR_TO_FULL_LENGTH\
         &transaction_isolation=SERIALIZABLE&autocommit=OFF&lower_case_table_names=1",
    );
    gives_the_same_answers_abroad(&url(&server, "root"));
}

#[test]
fn a_mysql_of_another_country_gives_the_same_answers() {
    let server = mysql_server(
        "&default_time_zone=+05:45&lc_time_names=tr_TR&character_set_server=latin5\
         &collation_server=latin5_turkish_ci&sql_mode=ANSI,PIPES_AS_CONCAT\
         &transaction_isolation=SERIALIZABLE&autocommit=OFF&lower_case_table_names=1",
    );
    gives_the_same_answers_abroad(&url(&server, "root"));
}

/// The greeting of a server older than any installable one.
#[test]
fn a_server_too_old_is_refused() {
    let ended = greeted("mysql", |near| {
        let mut greeting = b"\x0a5.5.5-10.4.34-MariaDB\0".to_vec();
        greeting.extend(7_u32.to_le_bytes());
        greeting.extend(b"abcdefgh\0");
        // Capabilities of such a server in two halves, with character set and status in between.
        greeting.extend([0xfe, 0xff, 0x2d, 0x02, 0x00, 0xff, 0x81, 21]);
        greeting.extend([0; 10]);
        greeting.extend(b"ijklmnopqrst\0mysql_native_password\0");
        let packet = |number: u8, payload: &[u8]| {
            let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
            packet[3] = number;
            packet.extend(payload);
            packet
        };
        let _ = near.write_all(&packet(0, &greeting));
        let _ = near.read(&mut [0; 1024]);
        let _ = near.write_all(&packet(2, b"\0\0\0\x02\0\0\0"));
    });
    let sentence = ended.sentence();
    sentence.says_all(&["10.4.34", "too old", "10.5"]);
}

#[test]
fn servers_with_other_sessions_need_consent() {
    let server = server("");
    let asleep = "SELECT count(*) FROM information_schema.processlist \
                  WHERE info LIKE '%sleep(8)%' AND id <> connection_id()";
    needs_consent_for_other_sessions(
        &url(&server, "root"),
        &|| ask(&server, "SELECT sleep(8)"),
        &|| ask(&server, asleep) != "0",
    );
}

#[test]
fn much_is_written_only_when_agreed() {
    let (server, workspace) = (server(""), Workspace::new());
    let plan = workspace.file(
        "plan.toml",
        &SHORT.replace("[[step]]\n", "[[step]]\nsize = \"published\"\n"),
    );
    for target in [&url(&server, "root"), "mariadb+local:"] {
        let ended = workspace.ends(2, &["run", &plan, "--target", target]);
        let sentence = ended.sentence();
        sentence.says_all(&["GB", "--yes"]);
    }
    let databases = "SELECT count(*) FROM information_schema.schemata WHERE schema_name = 'dbdyno'";
    assert_eq!(ask(&server, databases), "0");
}

#[test]
fn missing_rights_of_a_user_are_reported() {
    let (server, workspace) = (server(""), Workspace::new());
    ask(
        &server,
        "CREATE USER plain@localhost; GRANT ALL ON dbdyno.* TO plain@localhost; \
         GRANT SUPER ON *.* TO plain@localhost",
    );
    let plan = workspace.file(
        "plan.toml",
        &SHORT.replace("\"T421\"", "\"T421\", \"T331\", \"T332\""),
    );
    let ended = workspace.ends(3, &["run", &plan, "--target", &url(&server, "plain")]);
    let run = workspace.export("last");
    let grant = "GRANT PROCESS ON *.* TO 'plain'@'localhost'; \
                 GRANT SELECT ON performance_schema.* TO 'plain'@'localhost'";
    assert_eq!(
        run["targets"][0]["rights_missing"],
        serde_json::json!({
            "unseen": ["others_at_work", "compression", "data_file_waits"],
            "grant": grant,
        })
    );
    assert_eq!(ended.stderr.matches(grant).count(), 1, "{}", ended.stderr);
    for point in points(&run) {
        // Compression of a table cannot be proven, and the sentence names a user who could.
        let is_provable = point["test"] != "T332";
        assert_eq!(point["valid"], is_provable, "{point}");
        if is_provable {
            assert!(point["cpu_pct_avg"].is_number(), "{point}");
            assert!(point["engine_write_iops"].is_number(), "{point}");
        } else {
            let reasons = point["reasons"].to_string();
            assert!(reasons.contains("PROCESS privilege"), "{reasons}");
        }
    }
}

/// A server that cannot write any more may stop silently; the reason is still reported.
#[test]
fn a_disk_that_fills_under_sequential_writes_is_reported() {
    let workspace = Workspace::new();
    let disk = Disk::small(&workspace, 230 << 20);
    if !disk.is_mounted() {
        testing::skip!("no tmpfs may be mounted here");
    }
    let plan = "name = \"full\"\n[[step]]\nuse = \"library\"\ntests = [\"T211\"]\njobs = [4]\nsize = \"quick\"\n";
    let plan = workspace.file("plan.toml", plan);
    let data = disk.path("data");
    let url = format!(
        "mariadb+local:{}?innodb_buffer_pool_size=32M&innodb_log_file_size=32M",
        data.display()
    );
    let ended = workspace.ends(1, &["run", &plan, "--target", &url, "--yes"]);
    let sentence = ended.sentence();
    sentence.says_all(&["the file system of", "is full"]);
}
