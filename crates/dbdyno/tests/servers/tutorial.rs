//! Every command of docs/TUTORIAL.md is carried out as it stands there, on a server of the test's own, for less long and with
//! fewer rows.

use std::process::Command;

use crate::common::{ON_ANY_MACHINE, Workspace, repository, small_library};
use crate::postgres::server;

/// Where the document's reader has a server of their own.
const THEIR_SERVER: &str = "postgres://bench@localhost/bench";
/// How long they measure.
const THEIR_SECONDS: &str = "seconds = 2.0";

#[test]
fn every_command_of_the_tutorial_works() {
    let document = std::fs::read_to_string(repository("docs/TUTORIAL.md")).unwrap();
    let blocks: Vec<&str> = (document.split("```sh\n").skip(1))
        .filter_map(|behind| behind.split("```").next())
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
    // How busy this machine is with other tests is no matter of the tutorial.
    let script = format!(
        "set -eu\ndbdyno() {{\n  case $1 in run|ab) command dbdyno \"$@\" {} --library '{}' ;; *) command dbdyno \"$@\" ;; esac\n}}\n{}",
        ON_ANY_MACHINE.join(" "),
        small_library().display(),
        commands.replace(THEIR_SERVER, &url)
    );
    let place = Workspace::new();
    let command = place.command_as_typed(&[]);
    let ours = std::path::Path::new(command.get_program())
        .parent()
        .unwrap();
    let theirs = server.program().parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", ours.display(), theirs.display());
    let done = Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.path(""))
        .env("PATH", path)
        .env("DBDYNO_ARCHIVE", place.archive())
        .env("PGHOST", &socket)
        .env("PGUSER", server.superuser())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{script}\n{said}\n{errors}");
    for page in ["first.html", "commits.html", "commits.xml"] {
        assert!(place.path(page).is_file(), "{page}\n{said}\n{errors}");
    }
    assert!(said.contains("T311.operations_per_s"), "{said}");
}
