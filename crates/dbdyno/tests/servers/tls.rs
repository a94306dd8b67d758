//! The whole command against servers that require TLS.

use serde_json::Value;

use crate::certificates::{Authority, Valid};
use crate::common::{Ended, TINY, Workspace, points};
use crate::in_the_middle::SHORT;
use crate::networked::Networked;

/// Sessions on threads, and many in one loop.
fn plan(workspace: &Workspace) -> String {
    let script = workspace.file(
        "script.toml",
        "name = \"select\"\n[[transaction]]\nname = \"select\"\n[[transaction.statement]]\nsql = \"SELECT 1\"\nrows = 1\n",
    );
    let step = format!(
        "[[step]]\nuse = \"script\"\nscript = \"{script}\"\njobs = [8]\nmode = \"time\"\nseconds = 0.3\n"
    );
    workspace.file("plan.toml", &format!("{SHORT}{step}"))
}

fn everything_is_measured(networked: &Networked, engine: &str, database: &str) {
    let workspace = Workspace::new();
    let plan = plan(&workspace);
    let target = |host: &str, more: &str| {
        format!(
            "{engine}://bench@{host}:{}/{database}{more}",
            networked.port
        )
    };
    let run = |target: &str| {
        let mut command = workspace.command(&["run", &plan, "--name", "tls", "--target", target]);
        let command = command.env("PGPASSWORD", "hush").env("MYSQL_PWD", "hush");
        Ended::of(command.output().unwrap())
    };
    let refused = |target: &str, what: &str| {
        let ended = run(target);
        assert_eq!(ended.status, 1, "{}", ended.stderr);
        assert!(ended.sentence().contains(what), "{}", ended.stderr);
    };
    let full = |roots: &str| format!("?sslmode=verify-full&sslrootcert={roots}");
    let known = full(networked.roots().to_str().unwrap());

    refused(
        &target("127.0.0.1", "?sslmode=disable"),
        "sslmode=verify-full",
    );
    let strange = Authority::new("somebody else").certificate;
    let strange = networked.file("strange.crt", &strange);
    refused(
        &target("localhost", &full(strange.to_str().unwrap())),
        "not from an authority in sslrootcert",
    );
    let ended = run(&target("localhost", &known));
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let run_of_all = workspace.export("tls");
    assert_eq!(points(&run_of_all).len(), 6);
    assert!(points(&run_of_all).iter().all(|p| p["valid"] == true));
    assert_loopback_carried(points(&run_of_all).last().unwrap());
    let settings = &run_of_all["targets"][0]["settings"];
    let tls = |key: &str| settings[key].as_str().unwrap_or_default().to_owned();
    assert!(tls("dbdyno.tls").starts_with("TLS 1.3"), "{settings}");
    assert_eq!(settings["dbdyno.login"], Value::Null);

    networked.show(&networked.authority.issue(&["db1.example.com"], Valid::Now));
    refused(&target("localhost", &known), "not for \"localhost\"");
    networked.show(&networked.authority.issue(&["localhost"], Valid::Before));
    refused(&target("localhost", &known), "certificate has expired");
}

/// Client and server share this machine, so that each statement is at least one packet on the loopback.
fn assert_loopback_carried(point: &Value) {
    let interfaces = point["interfaces"].as_array().unwrap();
    let loopback = interfaces.iter().find(|i| i["kind"] == "loopback");
    let loopback = loopback.unwrap_or_else(|| panic!("{point}"));
    assert_eq!(loopback["name"], "lo");
    let figure = |name: &str| point[name].as_f64().unwrap();
    let operations = figure("operations_per_s") * figure("elapsed_s");
    let packets = loopback["sent"]["packets"].as_f64().unwrap();
    assert!(
        operations > 0.0 && packets >= operations,
        "{operations}: {loopback}"
    );
    let bytes = |direction: &str| loopback[direction]["bytes"].as_f64().unwrap();
    assert!(bytes("sent") > 60.0 * packets, "{loopback}");
    assert!(bytes("received") > 60.0 * operations, "{loopback}");
}

#[test]
fn postgres_is_measured_through_tls_alone() {
    let networked = Networked::postgres("15", "hostssl all all 127.0.0.1/32 scram-sha-256");
    psql_at_port(
        &networked,
        "CREATE ROLE bench LOGIN SUPERUSER PASSWORD 'hush'",
    );
    everything_is_measured(&networked, "postgres", "postgres");
}

#[test]
fn a_login_that_can_be_guessed_is_warned_about() {
    let networked = Networked::postgres("15", "host all all 127.0.0.1/32 md5");
    psql_at_port(
        &networked,
        "SET password_encryption = 'md5'; CREATE ROLE bench LOGIN SUPERUSER PASSWORD 'hush'",
    );
    let workspace = Workspace::new();
    let plan = workspace.file("plan.toml", TINY);
    let run = |name: &str, more: &str| {
        let target = format!(
            "postgres://bench@localhost:{}/postgres{more}",
            networked.port
        );
        let mut command = workspace.command(&["run", &plan, "--name", name, "--target", &target]);
        let ended = Ended::of(command.env("PGPASSWORD", "hush").output().unwrap());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let login = workspace.export(name)["targets"][0]["settings"]["dbdyno.login"].clone();
        (ended.stderr, login)
    };
    let (said, login) = run("plain", "");
    assert!(said.contains("warning") && said.contains("MD5"), "{said}");
    assert!(login.as_str().unwrap_or_default().contains("MD5"));
    let full = format!(
        "?sslmode=verify-full&sslrootcert={}",
        networked.roots().display()
    );
    let (said, login) = run("verified", &full);
    assert!(!said.contains("MD5"), "{said}");
    assert_eq!(login, Value::Null);
    // A variable replaces this machine's certificate authorities; only the named ones count.
    let target = format!(
        "postgres://bench@localhost:{}/postgres?sslmode=verify-full&sslrootcert=system",
        networked.port
    );
    let strange = Authority::new("somebody else").certificate;
    let strange = networked.file("strange.crt", &strange);
    for (roots, status) in [(networked.roots(), 0), (strange, 1)] {
        let mut command = workspace.command(&["run", &plan, "--target", &target]);
        let command = command
            .env("PGPASSWORD", "hush")
            .env("SSL_CERT_FILE", roots);
        let ended = Ended::of(command.output().unwrap());
        assert_eq!(ended.status, status, "{}", ended.stderr);
    }
}

fn psql_at_port(networked: &Networked, sql: &str) {
    let client = networked.server.program().with_file_name("psql");
    let done = std::process::Command::new(client)
        .args(["-X", "-q", "-d", "postgres", "-U", "dbdyno", "-h"])
        .arg(networked.server.socket_directory())
        .args(["-p", &networked.port.to_string(), "-c"])
        .arg(sql)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn mariadb_is_measured_through_tls_alone() {
    let networked = Networked::mysql(&mysql::local::MARIADB, "require_secure_transport = ON");
    crate::mysql::ask(
        &networked.server,
        "CREATE USER bench@'127.0.0.1' IDENTIFIED BY 'hush'",
    );
    crate::mysql::ask(
        &networked.server,
        "GRANT ALL ON *.* TO bench@'127.0.0.1' WITH GRANT OPTION",
    );
    everything_is_measured(&networked, "mysql", "dbdyno");
}
