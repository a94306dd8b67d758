//! Every command of docs/TUTORIAL.md is executed literally on a test server, for a shorter time and with fewer rows.

use std::process::Command;

use crate::common::{ON_ANY_MACHINE, Workspace, repository, small_library};
use crate::postgres::server;

/// URL of the reader's server in the document.
const THEIR_SERVER: &str = "postgres://bench@localhost/bench";
const THEIR_SECONDS: &str = "seconds = 2.0";

#[test]
fn every_command_of_the_tutorial_works() {
    let document = std::fs::read_to_string(repository("docs/TUTORIAL.md")).unwrap();
    let blocks: Vec<&str> = (document.split("```sh\n").skip(1))
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(
        blocks.len() > 6 && blocks[0].contains(THEIR_SERVER),
        "{blocks:?}"
    );
    let commands = blocks.join("");
    assert!(commands.contains(THEIR_SECONDS), "{commands}");
    let commands = commands.replace(THEIR_SECONDS, "seconds = 0.3");
    let server = server("");
    let socket = server.socket_directory().display().to_string();
    let url = format!("postgres://bench@{}/bench", socket.replace('/', "%2F"));
    // Other tests keep the machine busy, which does not concern the tutorial.
    let script = format!(
        "set -eu\ndbdyno() {{\n  case $1 in run|ab) command dbdyno \"$@\" {} --set 'library={}' ;; *) command dbdyno \"$@\" ;; esac\n}}\n{}",
        ON_ANY_MACHINE.join(" "),
        small_library().display(),
        commands.replace(THEIR_SERVER, &url)
    );
    let workspace = Workspace::new();
    let command = workspace.command_as_typed(&[]);
    let ours = std::path::Path::new(command.get_program())
        .parent()
        .unwrap();
    let theirs = server.program().parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", ours.display(), theirs.display());
    let done = Command::new("sh")
        .args(["-c", &script])
        .current_dir(workspace.path(""))
        .env("PATH", path)
        .env("DBDYNO_ARCHIVE", workspace.archive())
        .env("PGHOST", &socket)
        .env("PGUSER", server.superuser())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{script}\n{said}\n{errors}");
    for page in ["first.html", "commits.html", "commits.xml"] {
        assert!(workspace.path(page).is_file(), "{page}\n{said}\n{errors}");
    }
    assert!(said.contains("T311.operations_per_s"), "{said}");
}
