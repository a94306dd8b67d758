//! A password reaches only its server: no output, file or command line contains it, however it was given.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/postgres.rs"]
mod postgres;

#[path = "common/mysql.rs"]
mod mysql;

mod common;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::time::Duration;

use common::{Arguments, Ended, TINY, Workspace};
use local_server::LocalServer;
use testing::Says;

const CANARY: &str = "c4n4ry";

/// Creates a user with a password, and returns the URL with it.
fn locked(server: &LocalServer) -> String {
    let role = format!(
        "SET password_encryption = 'scram-sha-256'; CREATE ROLE locked LOGIN SUPERUSER PASSWORD '{CANARY}'"
    );
    postgres::psql(server, &role);
    let rules = "local all dbdyno trust\nlocal all all scram-sha-256\n";
    std::fs::write(server.data_directory().join("pg_hba.conf"), rules).unwrap();
    postgres::psql(server, "SELECT pg_reload_conf()");
    let url = postgres::url(server, "locked");
    url.replace("locked@", &format!("locked:{CANARY}@"))
}

/// No file of a directory contains it, including the archive and its log.
fn nowhere(directory: &Path) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nowhere(&path);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        assert!(!has_canary(&bytes), "{}", path.display());
    }
}

/// Runs the command, which must end with this status and say no password.
fn unsaid(workspace: &Workspace, status: i32, arguments: impl Arguments) -> Ended {
    unsaid_with(workspace, status, ("DBDYNO_TEST", ""), arguments)
}

/// The same with a variable of the environment.
fn unsaid_with(
    workspace: &Workspace,
    status: i32,
    (name, value): (&str, &str),
    arguments: impl Arguments,
) -> Ended {
    let arguments = arguments.list();
    let mut command = workspace.command(&arguments);
    let ended = Ended::of(command.env(name, value).output().unwrap());
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!said.contains(CANARY), "{arguments:?}: {said}");
    assert_eq!(ended.status, status, "{arguments:?}: {said}");
    ended
}

#[test]
fn every_verb_keeps_a_password_to_itself() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = locked(&server);
    workspace.file("plan.toml", TINY);
    let archive = workspace.archive();
    let verbs = "\
        run plan.toml --target URL --name one -vv
        run plan.toml --target URL --allow-busy
        ab plan.toml --target URL --b target=URL --repeat 1 --name two --yes
        data load oltp --target URL --warehouses 1 --set warehouse_rows=tenth
        data estimate --target URL --levels query-low
        runs list postgres
        report two-b --format json
        report one --format csv
        report one --format md
        compare two-a two-b --format json
        data check oltp --target URL --log-file log
        data drop oltp --target URL -v";
    for verb in verbs.replace("URL", &url).lines() {
        unsaid(&workspace, 0, verb);
    }
    let exported = workspace.export("two-b");
    let settings = exported["run"]["study"]["settings"].to_string();
    assert!(settings.contains("target=postgres://locked@"), "{settings}");
    workspace.fine("report one -o page.html");
    assert!(archive.exists());
    nowhere(archive.parent().unwrap());
}

#[test]
fn no_error_says_a_password() {
    let workspace = Workspace::new();
    workspace.file("plan.toml", TINY);
    for url in [
        format!("postgres://u:{CANARY}@127.0.0.1:0/d"),
        format!("postgres//u:{CANARY}@h/d"),
        format!("nosuch://u:{CANARY}@h/d"),
        format!("postgres://u:{CANARY}@h/d?sslmode=odd"),
        format!("postgres://u:{CANARY}@h/d?search_path=x"),
        format!("mysql://u:{CANARY}@h/d#x"),
        format!("sqlite:x?u:{CANARY}@h"),
    ] {
        let verbs = "\
            run plan.toml --target URL
            ab plan.toml --target URL --aa
            ab plan.toml --target sqlite: --a target=URL
            data check oltp --target URL
            data estimate --target URL --levels none";
        for verb in verbs.replace("URL", &url).lines() {
            unsaid(&workspace, 2, verb);
        }
    }
    nowhere(workspace.archive().parent().unwrap());
}

/// A process and its descendants, with command lines and environments.
fn family(of: u32) -> Vec<(u32, Vec<u8>, Vec<u8>)> {
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let parents: HashMap<u32, u32> = pids
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            let parent = stat.rsplit(')').next()?.split_whitespace().nth(1)?;
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                parent.parse().ok()?,
            ))
        })
        .collect();
    let descends = |pid: &u32| {
        let above = std::iter::successors(Some(*pid), |pid| parents.get(pid).copied());
        above.take(parents.len()).any(|pid| pid == of)
    };
    let read = |pid, what| std::fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let pids = parents.keys().copied().filter(descends);
    pids.map(|pid| (pid, read(pid, "cmdline"), read(pid, "environ")))
        .collect()
}

fn has_canary(bytes: &[u8]) -> bool {
    let mut parts = bytes.windows(CANARY.len());
    parts.any(|part| part == CANARY.as_bytes())
}

fn begun(workspace: &Workspace, arguments: &[&str]) -> (Child, BufReader<ChildStderr>) {
    let mut command = workspace.command(arguments);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.env("PGPASSWORD", CANARY).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut text = String::new();
    while !text.contains("points to measure") {
        assert!(said.read_line(&mut text).unwrap() > 0, "{text}");
        assert!(!text.contains(CANARY), "{text}");
    }
    (child, said)
}

#[test]
fn a_typed_password_is_overwritten_and_warned_about_and_reaches_no_other_process() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = locked(&server);
    let plan = workspace.file("plan.toml", &TINY.replace("0.05", "2"));
    let b = format!("target={url}");
    let joined = format!("--target={url}");
    // A local server for one side is a child with children.
    let local = "target=postgres+local:?version=15&shared_buffers=32MB";
    let study = [
        "ab", &plan, "--a", local, "--b", &b, "--repeat", "1", "--yes", "--name", "two",
    ];
    for arguments in [&["run", &plan, &joined, "--name", "one"][..], &study] {
        let (mut child, mut said) = begun(&workspace, arguments);
        let own = format!("/proc/{}/cmdline", child.id());
        let own = String::from_utf8(std::fs::read(own).unwrap()).unwrap();
        assert!(own.contains("postgres://locked:xxxxxx@"), "{own}");
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            let family = family(child.id());
            most = most.max(family.len());
            for (pid, line, environment) in family {
                let text = String::from_utf8_lossy(&line).into_owned();
                assert!(!has_canary(&line), "{pid}: {text}");
                // dbdyno itself received the password in this way, and is its own copy until the child's exec.
                let is_dbdyno = line == own.as_bytes();
                assert!(is_dbdyno || !has_canary(&environment), "{pid}: {text}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(
            most > 1 || arguments[0] == "run",
            "a server of its own is a child"
        );
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(child.wait().unwrap().success(), "{rest}");
        assert!(!rest.contains(CANARY), "{rest}");
    }
    let warned = workspace.dbdyno(&["data", "check", "oltp", &joined]);
    warned.stderr.says_all(&[
        "warning: a password on the command line",
        "put it into ~/.pgpass or $PGPASSWORD",
    ]);
    let plain = workspace.dbdyno(&[
        "data",
        "check",
        "oltp",
        "--target",
        &url.replace(&format!(":{CANARY}"), ""),
    ]);
    assert!(!plain.stderr.contains("warning"), "{}", plain.stderr);
    nowhere(workspace.archive().parent().unwrap());
}

#[test]
fn a_resumed_run_logs_on_with_a_password_that_no_archive_has() {
    let (server, workspace) = (postgres::server(""), Workspace::new());
    let url = locked(&server);
    let two = TINY
        .replace("0.05", "0.5")
        .replace("\"T132\"", "\"T132\", \"T133\"");
    let plan = workspace.file("plan.toml", &two);
    let without = url.replace(&format!(":{CANARY}"), "");
    let passwords = workspace.file("passwords", &format!("*:*:*:locked:{CANARY}\n"));
    std::fs::set_permissions(&passwords, std::fs::Permissions::from_mode(0o600)).unwrap();
    let ways = [("PGPASSWORD", CANARY), ("PGPASSFILE", passwords.as_str())];
    for (number, (variable, value)) in ways.into_iter().enumerate() {
        let name = format!("run{number}");
        let arguments = ["run", &plan, "--target", &url, "--name", &name];
        let (mut child, mut said) = begun(&workspace, &arguments);
        // SAFETY: the child is ours and not waited for.
        unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(
            rest.contains("--resume") && !rest.contains(CANARY),
            "{rest}"
        );
        let resume = ["run", "--resume", &name, "-vv"];
        // The archive contains no credentials.
        let mut command = workspace.command(&resume);
        command.env_remove("HOME").env_remove("PGPASSWORD");
        let alone = Ended::of(command.output().unwrap());
        assert_eq!(alone.status, 1, "{}", alone.stderr);
        alone.stderr.says("$PGPASSWORD");
        alone.stderr.omits(CANARY);
        unsaid_with(&workspace, 0, (variable, value), &resume);
        // The same with a password from elsewhere, and with a wrong one.
        let arguments = ["run", &plan, "--target", &without, "--log-file", "log"];
        unsaid_with(&workspace, 0, (variable, value), &arguments);
    }
    psql_password(&server, "another");
    let arguments = ["run", &plan, "--target", &url, "-vv"];
    let wrong = unsaid(&workspace, 1, &arguments);
    wrong.sentence().says("authentication failed");
    std::fs::remove_file(passwords).unwrap();
    nowhere(workspace.archive().parent().unwrap());
}

fn psql_password(server: &LocalServer, password: &str) {
    postgres::psql(server, &format!("ALTER ROLE locked PASSWORD '{password}'"));
}

#[test]
fn a_misplaced_argument_is_not_repeated_with_its_password() {
    let workspace = Workspace::new();
    workspace.measure(TINY, "--name one");
    let url = format!("postgres://u:{CANARY}@h/d");
    let verbs = "\
        URL
        run URL -vv
        run plan.toml URL -vv
        run plan.toml --bogus=URL -vv
        run plan.toml --seed URL -vv
        run plan.toml --set target=URL -vv
        run plan.toml --target postgres://u@h/d?password=SECRET -vv
        run --resume URL -vv
        ab plan.toml --target sqlite: --a target.password=SECRET
        ab --resume URL
        report URL
        report one --against URL
        compare one URL
        export URL
        list URL
        vdbench -f URL
        check --inventory --ssh ssh://u:SECRET@h";
    for verb in verbs.replace("URL", &url).replace("SECRET", CANARY).lines() {
        let ended = workspace.dbdyno(verb);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!said.contains(CANARY), "{verb}: {said}");
        assert_ne!(ended.status, 0, "{verb}");
    }
    // A file with a misplaced password is refused without repeating it.
    let texts = [
        TINY.replace("name =", &format!("target = \"{url}\"\nname =")),
        TINY.replace("[\"T132\"]", &format!("\"{url}\"")),
        TINY.replace("sample_ms", &format!("{url}\nsample_ms")),
    ];
    for text in texts {
        workspace.file("plan.toml", &text);
        unsaid(&workspace, 2, "run plan.toml --target sqlite:");
    }
    std::fs::remove_file(workspace.path("plan.toml")).unwrap();
    nowhere(workspace.archive().parent().unwrap());
}

#[test]
fn a_password_for_mariadb_stays_private_as_well() {
    let (server, workspace) = (mysql::server(""), Workspace::new());
    mysql::ask(
        &server,
        &format!("CREATE USER locked IDENTIFIED BY '{CANARY}'; GRANT ALL ON *.* TO locked"),
    );
    let plan = workspace.file("plan.toml", TINY);
    let without = mysql::url(&server, "locked");
    let url = without.replace("locked@", &format!("locked:{CANARY}@"));
    let arguments = ["run", &plan, "--target", &url, "-vv", "--log-file", "log"];
    let ended = unsaid(&workspace, 0, &arguments);
    assert!(ended.stderr.contains("put it into ~/.my.cnf"));
    let arguments = ["run", &plan, "--target", &without];
    unsaid_with(&workspace, 0, ("MYSQL_PWD", CANARY), &arguments);
    mysql::ask(&server, "ALTER USER locked IDENTIFIED BY 'another'");
    let arguments = ["run", &plan, "--target", &url];
    unsaid(&workspace, 1, &arguments);
    nowhere(workspace.archive().parent().unwrap());
}
