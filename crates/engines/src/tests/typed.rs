//! Typed targets, with and without an environment.

use crate::{all, parse, with_setting};

/// Nothing is in the environment.
fn none(_: &str) -> Option<String> {
    None
}

fn shown(url: &str) -> String {
    match all().parse_in(url, &none) {
        Ok((url, _)) => url.to_string(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn other_clients_schemes_are_known() {
    for (typed, expected) in [
        ("postgresql://u@h/d", "postgres://u@h/d"),
        ("POSTGRES://u@h/d", "postgres://u@h/d"),
        ("postgresql+psycopg2://u@h/d", "postgres://u@h/d"),
        ("jdbc:postgresql://h:1/d?user=u", "postgres://u@h:1/d"),
        ("JDBC:PostgreSQL:d?user=u", "postgres://u@localhost/d"),
        ("mariadb://u@h/d", "mysql://u@h/d"),
        ("mysql2://u@h/d", "mysql://u@h/d"),
        ("mysql+pymysql://u@h/d", "mysql://u@h/d"),
        ("jdbc:mariadb://h/d?user=u", "mysql://u@h/d"),
        ("mysql2+local:?memory=1GiB", "mysql+local:?memory=1GiB"),
        ("MariaDB+local:?memory=1GiB", "mariadb+local:?memory=1GiB"),
        ("postgresql+local:/d", "postgres+local:/d"),
        ("sqlite3:x.db", "sqlite:x.db"),
    ] {
        assert_eq!(shown(typed), expected, "{typed}");
        assert_eq!(shown(expected), expected, "read again");
    }
}

#[test]
fn places_are_read_however_they_are_written() {
    for (typed, expected) in [
        (
            "postgres://u@/d?host=/tmp/pc&port=5499",
            "postgres://u@%2Ftmp%2Fpc:5499/d",
        ),
        (
            "postgres://h:5499/d?user=u%40x",
            "postgres://u%40x@h:5499/d",
        ),
        ("postgres://h/d?user=a@b", "postgres://a%40b@h/d"),
        ("postgres://u@h/d/", "postgres://u@h/d"),
        ("postgres://u@h", "postgres://u@h/u"),
        ("postgres://u@h/?dbname=a%20b", "postgres://u@h/a%20b"),
        ("postgres://u@h/x?database=d", "postgres://u@h/d"),
        ("postgres://u@[::1]:5432/d", "postgres://u@[::1]:5432/d"),
        (
            "postgres://u@[fe80::1%25eth0]/d/",
            "postgres://u@[fe80::1%25eth0]/d",
        ),
        (
            "host=h port=1 dbname='a b' user=u sslmode=disable",
            "postgres://u@h:1/a%20b?sslmode=disable",
        ),
        (
            "hostaddr=192.0.2.1 user = u dbname=d",
            "postgres://u@192.0.2.1/d",
        ),
        (
            "mysql://u@localhost/d?socket=%2Frun%2Fs",
            "mysql://u@localhost/d?socket=/run/s",
        ),
        (
            "mysql://u@localhost/d?unix_socket=/run/s",
            "mysql://u@localhost/d?socket=/run/s",
        ),
        (
            "postgres://u@h/d?sslrootcert=%2Fa%26b",
            "postgres://u@h/d?sslrootcert=/a%26b",
        ),
        (
            "postgres+local:?log_line_prefix=%m",
            "postgres+local:?log_line_prefix=%m",
        ),
    ] {
        assert_eq!(shown(typed), expected, "{typed}");
        assert_eq!(shown(expected), expected, "read again");
    }
}

#[test]
fn what_names_no_one_server_says_so() {
    for (typed, what) in [
        ("postgres://u@h1,h2/d", "several hosts"),
        ("host=h1,h2 user=u", "several hosts"),
        ("postgres://u@h/d?port=1,2", "several ports"),
        ("postgres://u@h/d#frag", "%23"),
        ("postgres://u@::1/d", "brackets"),
        ("postgres://u@[::1/d", "bracket"),
        ("postgres://u@[::1]x/d", "not a port"),
        (
            "postgres://u@h/d?host=a&hostaddr=192.0.2.1",
            "host and hostaddr",
        ),
        ("postgres://u@h/d?options=-e", "-c NAME=VALUE"),
        ("postgres://u@h/d?sslcrl=/x", "revocation"),
        ("postgres://u@h/d?ssl=true", "sslmode=require"),
        ("mysql://u@h/d?useSSL=true", "sslmode=require"),
        ("mysql://u@h/d?init_command=x", "NAME=VALUE"),
        ("sqlite:q?x/a.db", "%3F"),
        ("sqlite:x?mode=ro", "never written"),
        ("sqlite:/x?place.log=/log", "next to the database"),
        ("sqlite:/x?place.temporary=/t", "SQLITE_TMPDIR"),
    ] {
        let said = match all().parse_in(typed, &none) {
            Err(error) => error.to_string(),
            Ok((url, _)) => crate::find(&url)
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default(),
        };
        assert!(said.contains(what), "{typed}: {said}");
    }
}

#[test]
fn settings_of_other_clients_are_taken_or_have_no_effect_and_a_note() {
    for (typed, expected, notes) in [
        (
            "postgres://u@h/d?connect_timeout=10&keepalives=1&pgbouncer=true",
            "postgres://u@h/d",
            3,
        ),
        (
            "postgres://u@h/d?options=-c%20work_mem%3D4MB",
            "postgres://u@h/d?work_mem=4MB",
            0,
        ),
        ("postgres://u@h/d?gssencmode=disable", "postgres://u@h/d", 0),
        (
            "postgres://u@h/d?others=allow&work_mem=1MB",
            "postgres://u@h/d?others=allow&work_mem=1MB",
            0,
        ),
        (
            "mysql://u@h/d?serverTimezone=UTC&useSSL=false&charset=utf8mb4",
            "mysql://u@h/d?sslmode=disable",
            2,
        ),
        (
            "postgres://u@h/d?ssl=false",
            "postgres://u@h/d?sslmode=disable",
            0,
        ),
        (
            "mysql://u@h/d?ssl-mode=PREFERRED",
            "mysql://u@h/d?sslmode=PREFERRED",
            0,
        ),
        (
            "mysql+local:?connect_timeout=5",
            "mysql+local:?connect_timeout=5",
            0,
        ),
    ] {
        let (url, ignored) = all().parse_in(typed, &none).unwrap();
        assert_eq!(
            (url.to_string().as_str(), ignored.len()),
            (expected, notes),
            "{typed}"
        );
    }
    let url = parse("mysql://u@h/d?sslmode=disable").unwrap();
    let url = with_setting(url, "ssl-mode", "REQUIRED").unwrap();
    assert_eq!(url.to_string(), "mysql://u@h/d?sslmode=REQUIRED");
    assert!(with_setting(url, "tls", "yes").is_err());
}

#[test]
fn passwords_and_tokens_are_never_shown() {
    for typed in [
        "postgres://h/d?user=u&password=PaSs",
        "postgres://u@h/d?password=PaSs%26PaSs",
        "host=h user=u password=PaSs dbname=d",
        "host=h user=u password='PaSs PaSs dbname=d",
        "host=h user=u password = PaSs x",
        "jdbc:postgresql://h/d?user=u&password=PaSs&PaSs",
        "postgres://u@h/d?sslpassword=PaSs",
        "postgres://u@h/d?password=h:5432/?Action=connect&DBUser=me&X-Amz-Credential=PaSs",
    ] {
        let said = match all().parse_in(typed, &none) {
            Ok((url, ignored)) => {
                format!("{url} {url:?} {ignored:?} {:?}", crate::find(&url).err())
            }
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!said.contains("PaSs"), "{typed}: {said}");
    }
    let token = "postgres://me:db:5432/?Action=connect&X-Amz-Credential=AK%2F2026@h/d";
    let (url, _) = all().parse_in(token, &none).unwrap();
    let password = url.password.clone().unwrap();
    assert!(password.expose().ends_with("AK/2026"));
    assert!(password.doubt("PGPASSWORD").contains("$PGPASSWORD"));
    assert_eq!(url.to_string(), "postgres://me@h/d");
    let plain = parse("postgres://me:pw@h/d").unwrap().password;
    assert_eq!(plain.unwrap().doubt("PGPASSWORD"), "");
}

#[test]
fn files_are_named_as_other_clients_name_them() {
    for (typed, path) in [
        ("sqlite:x.db", "x.db"),
        ("sqlite://x.db", "x.db"),
        ("sqlite:///abs/x.db", "/abs/x.db"),
        ("sqlite:file:x.db?mode=rwc", "x.db"),
        ("sqlite:file:///abs/x.db", "/abs/x.db"),
        ("sqlite:file://localhost/abs", "/abs"),
        ("jdbc:sqlite:x.db", "x.db"),
        ("duckdb:///abs", "/abs"),
        ("sqlite:q%3Fx/a.db", "q?x/a.db"),
        ("sqlite:100%.db", "100%.db"),
        ("sqlite:a%2541", "a%41"),
        ("sqlite://:memory:", ""),
        ("sqlite://", ""),
    ] {
        let (url, _) = all().parse_in(typed, &none).unwrap();
        assert_eq!(url.path, path, "{typed}");
        assert_eq!(
            all().parse_in(&url.to_string(), &none).unwrap().0,
            url,
            "read again"
        );
    }
}

#[test]
fn what_a_url_leaves_out_comes_from_where_libpq_finds_it() {
    let dir = tempfile::tempdir().unwrap();
    let services = dir.path().join("pg_service.conf");
    let text = "# all\n[other]\nhost=no\n[bench]\nhost=sh\nport=7\ndbname=sd\nuser=su\npassword=PaSs\nsslmode=disable\nconnect_timeout=3\n[broken]\nhost\n";
    std::fs::write(&services, text).unwrap();
    let services = services.display().to_string();
    let read = |url: &str, variables: &[(&str, &str)]| {
        let variable = |name: &str| match name {
            "PGSERVICEFILE" => Some(services.clone()),
            _ => variables
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| (*v).to_owned()),
        };
        all().parse_in(url, &variable).map(|(url, _)| url)
    };
    let all = [
        ("PGHOST", "eh"),
        ("PGPORT", "9"),
        ("PGUSER", "eu"),
        ("PGDATABASE", "ed"),
    ];
    for (typed, variables, expected) in [
        ("postgres:", &all[..], "postgres://eu@eh:9/ed"),
        ("postgres://", &all, "postgres://eu@eh:9/ed"),
        ("postgresql:///d", &all, "postgres://eu@eh:9/d"),
        ("postgres://u@h:1/d", &all, "postgres://u@h:1/d"),
        ("postgres://u@h/d", &all[..1], "postgres://u@h/d"),
        (
            "postgres://u@h:1/d",
            &[("PGSERVICE", "nosuch"), ("PGHOSTADDR", "192.0.2.1")],
            "postgres://u@h:1/d",
        ),
        (
            "postgres://u@/d",
            &[("PGHOSTADDR", "192.0.2.1")],
            "postgres://u@192.0.2.1/d",
        ),
        (
            "service=bench",
            &all,
            "postgres://su@sh:7/sd?service=bench&sslmode=disable",
        ),
        (
            "postgres://u@h?service=bench",
            &[],
            "postgres://u@h:7/sd?service=bench&sslmode=disable",
        ),
        (
            "postgres:",
            &[("PGSERVICE", "bench")],
            "postgres://su@sh:7/sd?service=bench&sslmode=disable",
        ),
    ] {
        let url = read(typed, variables).unwrap();
        assert_eq!(url.to_string(), expected, "{typed}");
        assert_eq!(
            read(expected, &[]).unwrap().to_string(),
            expected,
            "read again"
        );
        let has_password = expected.contains("service=");
        assert_eq!(url.password.is_some(), has_password, "{typed}");
    }
    for (typed, variables, what) in [
        ("service=nosuch", &[][..], "no service \"nosuch\""),
        ("service=broken", &[], "line 13"),
        ("postgres:", &[("PGHOST", "a,b")], "several hosts"),
        ("postgres:", &[("PGPORT", "x")], "not a port"),
    ] {
        let said = read(typed, variables).unwrap_err().to_string();
        assert!(said.contains(what), "{typed}: {said}");
    }
    let without = read("postgres://u@", &[]).unwrap();
    assert!(without.address().is_ok_and(|a| a.database == "u"));
}
