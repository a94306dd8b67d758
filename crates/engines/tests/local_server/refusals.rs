//! Refusals, with their sentences.

use std::fs;
use std::path::Path;

use engine::ErrorKind;
use local_server::{ServerKind, ServerSpec, parse_bytes};

use super::common::*;
use testing::Says;

fn url(kind: &dyn ServerKind, settings: &str) -> Result<ServerSpec, String> {
    let url = engines::parse(&format!("test+local:?{settings}")).unwrap();
    ServerSpec::from_url(kind, &url).map_err(|e| e.message)
}

#[test]
fn sizes_are_read_with_their_units() {
    for (text, bytes) in [
        ("2GiB", Some(2 << 30)),
        ("512MiB", Some(512 << 20)),
        ("1GB", Some(1_000_000_000)),
        ("64kB", Some(64_000)),
        ("2", None),
        ("GiB", None),
        ("2 GiB", None),
        ("-1GiB", None),
        ("99999999999TiB", None),
    ] {
        assert_eq!(parse_bytes(text), bytes, "{text}");
    }
    for kind in kinds() {
        for (bad, says) in [
            ("memory=much", "memory=2GiB"),
            ("memory=64MiB", "too small"),
            ("port=1", "cannot be set for a local server"),
            ("PORT=1", "cannot be set for a local server"),
            ("a%20b=1", "cannot be a setting"),
            ("a=1\n2", "cannot be a setting"),
        ] {
            let message = url(kind, bad).unwrap_err();
            assert!(message.contains(says), "{bad}: {message}");
        }
        let spec = url(kind, "version=1.2&memory=1GiB&x=y").unwrap();
        assert_eq!(spec.version.as_deref(), Some("1.2"));
        assert_eq!(spec.memory_bytes, Some(1 << 30));
        assert_eq!(spec.settings["x"], "y");
        assert_eq!(spec.all_settings(kind)["x"], "y");
    }
}

#[test]
fn an_unknown_setting_is_named_with_the_servers_own_message() {
    for kind in kinds() {
        let parent = Parent::new();
        let message = parent.refusal(kind, "?no_such_setting=1");
        assert!(message.starts_with(kind.about().title), "{message}");
        assert!(message.contains("no_such_setting"), "{message}");
        assert!(parent.runs().is_empty(), "{message}");
        // For who wrote it to mend: nothing of the environment has failed.
        let error = parent.start(kind, "?no_such_setting=1").err().unwrap();
        assert_eq!(error.kind, ErrorKind::Statement, "{error}");
    }
}

#[test]
fn a_bad_value_is_named_with_the_servers_own_message() {
    let parent = Parent::new();
    let message = parent.refusal(KINDS[0], "?max_connections=many");
    message.says("invalid value for parameter \"max_connections\": \"many\"");
    // The others change a value that is out of range and go on; that must not go unnoticed.
    for kind in kinds().skip(1) {
        let server = parent.start(kind, "?max-connections=0").unwrap();
        let notes = server.notes(1);
        assert!(
            notes.iter().any(|note| note.contains("adjusted to")),
            "{notes:?}"
        );
    }
}

#[test]
fn settings_reach_the_server_whatever_they_hold() {
    let parent = Parent::new();
    let server = parent
        .start(KINDS[0], r"?work_mem=7MB&bonjour_name=it's a \ #1")
        .unwrap();
    assert_eq!(ask(&server, "SHOW work_mem"), "7MB");
    assert_eq!(ask(&server, "SHOW bonjour_name"), r"it's a \ #1");
    drop(server);
    for kind in kinds().skip(1) {
        let server = parent
            .start(kind, r"?sort-buffer-size=7M&init_connect=SELECT 'a\b', #")
            .unwrap();
        assert_eq!(ask(&server, "SELECT @@sort_buffer_size"), "7340032");
        assert_eq!(
            ask(&server, "SELECT @@init_connect = 'SELECT \\'a\\\\b\\', #'"),
            "1"
        );
    }
}

#[test]
fn a_version_that_is_not_there_names_those_that_are() {
    for kind in kinds() {
        let parent = Parent::new();
        let message = parent.refusal(kind, "?version=3.1");
        message.says("3.1 is not among the installed servers (");
        assert!(message.contains(kind.about().variable), "{message}");
        let message = parent.refusal(kind, "?version=new");
        assert!(message.contains("is not a version"), "{message}");
    }
}

#[test]
fn a_foreign_directory_is_refused_and_untouched() {
    for kind in kinds() {
        let parent = Parent::new();
        let foreign = parent.path().join("mine");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("letter"), "dear").unwrap();
        let error = parent.start(kind, foreign.to_str().unwrap()).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Foreign);
        assert!(error.message.contains("is not empty"), "{}", error.message);
        assert_eq!(fs::read(foreign.join("letter")).unwrap(), b"dear");
        assert_eq!(fs::read_dir(&foreign).unwrap().count(), 1);
        assert!(parent.runs().is_empty());
    }
}

#[test]
fn a_given_directory_stays_and_is_used_again() {
    for kind in kinds() {
        let parent = Parent::new();
        let given = parent.path().join("given");
        fs::create_dir_all(given.join("lost+found")).unwrap();
        fs::set_permissions(&given, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = given.to_str().unwrap();
        let server = parent.start(kind, path).unwrap();
        ask(
            &server,
            "CREATE SCHEMA s; CREATE TABLE s.t (a INT); INSERT INTO s.t VALUES (7)",
        );
        let message = parent.refusal(kind, path);
        assert!(message.contains("another dbdyno is using"), "{message}");
        drop(server);
        assert!(parent.runs().is_empty());

        let server = parent.start(kind, path).unwrap();
        assert_eq!(ask(&server, "SELECT a FROM s.t"), "7");
        drop(server);

        let other = KINDS
            .into_iter()
            .find(|k| k.about().name != kind.about().name)
            .unwrap();
        let message = parent.refusal(other, path);
        assert!(message.contains("belongs to a "), "{message}");
    }
}

#[test]
fn a_given_directory_that_got_no_server_is_left_empty() {
    for kind in kinds() {
        let parent = Parent::new();
        let given = parent.path().join("given");
        let path = format!("{}?version=3.1", given.display());
        parent.refusal(kind, &path);
        assert!(given.is_dir());
        assert_eq!(fs::read_dir(&given).unwrap().count(), 0);
    }
}

#[test]
fn a_socket_path_that_is_too_long_is_refused() {
    let parent = Parent::new();
    let long = parent.path().join("x".repeat(80));
    let spec = ServerSpec {
        parent_directory: Some(long.clone()),
        ..ServerSpec::default()
    };
    let error = local_server::LocalServer::start(KINDS[0], &spec)
        .err()
        .unwrap();
    error.message.says("DBDYNO_SERVER_DIR");
    let is_left = |entry: &Path| entry.join(".dbdyno-owner").exists();
    let mut entries = fs::read_dir(long).unwrap();
    assert!(!entries.any(|e| is_left(&e.unwrap().path())));
}

#[test]
fn a_parent_that_others_may_write_is_refused() {
    let spec = ServerSpec {
        parent_directory: Some("/tmp".into()),
        ..ServerSpec::default()
    };
    let error = local_server::LocalServer::start(KINDS[0], &spec)
        .err()
        .unwrap();
    error.message.says("other users may write");
}
