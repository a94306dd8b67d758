//! A killed run on a temporary server: nothing is left behind, and the resumed run is complete.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/mysql.rs"]
mod mysql;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::words;
use common::{Workspace, points};
use testing::Says;

/// Points of half a second, so that a kill meets one in progress.
const PLAN: &str = "name = \"killed\"\nsample_ms = 100\n[[step]]\nuse = \"library\"\n\
    tests = [\"T611\", \"T311\"]\njobs = [1, 2]\nmode = \"time\"\nseconds = 0.5\n";

/// The command with a separate directory for servers. It lies in /var/tmp, because the path of a socket is short and an unprivileged server
/// must reach it.
fn command(workspace: &Workspace, servers: &Path, arguments: &[&str]) -> Command {
    let mut command = workspace.command(arguments);
    command.env("DBDYNO_SERVER_DIR", servers);
    command
}

/// Processes started from a directory, by their command lines.
fn processes_of(directory: &Path) -> Vec<String> {
    let needle = directory.to_str().unwrap();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|e| std::fs::read(e.path().join("cmdline")).ok());
    lines
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(needle))
        .collect()
}

fn servers_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap().flatten();
    let names = entries.map(|e| e.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.')).collect()
}

fn a_killed_run_leaves_nothing_and_is_resumed(url: &str) {
    let workspace = Workspace::new();
    let servers = tempfile::Builder::new()
        .prefix("dbdyno-t")
        .tempdir_in("/var/tmp")
        .unwrap();
    let servers = servers.path();
    let plan = workspace.file("plan.toml", PLAN);
    let arguments = ["run", &plan, "--target", url, "--name", "killed"];
    let mut child = command(&workspace, servers, &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The kill comes with one point stored and another in progress.
    for _ in 0..1200 {
        std::thread::sleep(Duration::from_millis(50));
        let exported = workspace.dbdyno("report killed --format json");
        let safe = |text: &str| points(&serde_json::from_str(text).unwrap()).len();
        if exported.status == 0 && safe(&exported.stdout) >= 1 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = points(&workspace.export("killed")).len();
    assert!((1..4).contains(&before), "{before} of 4 points");

    // The server dies with the process that started it.
    for _ in 0..100 {
        if processes_of(servers).is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(processes_of(servers), Vec::<String>::new());

    let resumed = command(&workspace, servers, &["run", "--resume", "killed"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert_eq!(resumed.status.code(), Some(0), "{said}");
    let exported = workspace.export("killed");
    assert_eq!(points(&exported).len(), 4);
    assert_eq!(exported["run"]["state"], "complete");
    // Its directory is gone, as is that of the killed one.
    assert_eq!(servers_in(servers), Vec::<String>::new());
    assert_eq!(processes_of(servers), Vec::<String>::new());
}

#[test]
fn a_killed_run_on_postgres() {
    a_killed_run_leaves_nothing_and_is_resumed("postgres+local:");
}

#[test]
fn a_killed_run_on_mariadb() {
    a_killed_run_leaves_nothing_and_is_resumed("mariadb+local:");
}

#[test]
fn a_killed_run_on_mysql() {
    mysql::needs_mysql();
    a_killed_run_leaves_nothing_and_is_resumed("mysql+local:");
}

fn layout(workspace: &Workspace, name: &str) -> String {
    let text = format!(
        "name = \"{name}\"\nabout = \"\"\n[[device]]\nname = \"one\"\nsize_mib = 400\n\
         [[volume]]\nname = \"all\"\ndevices = [\"one\"]\nfile_system = \"ext4\"\n\
         [place]\ndata = \"all\"\nlog = \"all\"\n"
    );
    workspace.file(&format!("{name}.toml"), &text)
}

fn attached_below(directory: &Path) -> usize {
    let devices = std::fs::read_dir("/sys/block").unwrap().flatten();
    let backing = |path: &Path| std::fs::read_to_string(path.join("loop/backing_file"));
    let files = devices.filter_map(|device| backing(&device.path()).ok());
    let own = files.filter(|file| Path::new(file).starts_with(directory));
    own.count()
}

#[test]
fn a_killed_study_of_layouts_leaves_nothing() {
    if host::user_id() != 0 {
        testing::skip!("layouts need root");
    }
    let workspace = Workspace::new();
    let folder = tempfile::Builder::new()
        .prefix("dbdyno-t")
        .tempdir_in("/var/tmp")
        .unwrap();
    let parent = std::fs::canonicalize(folder.path())
        .unwrap()
        .join("layouts");
    let command = |arguments: &[&str]| {
        let mut command = workspace.command(arguments);
        command.env("DBDYNO_LAYOUT_DIR", &parent);
        command
    };
    let layouts = ["one", "other"].map(|name| layout(&workspace, name));
    let tried = command(&["storage", "layout", "make", &layouts[0]])
        .output()
        .unwrap();
    if !tried.status.success() {
        testing::skip!("{}", String::from_utf8_lossy(&tried.stderr));
    }
    let layouts = format!("layout={}", layouts.join(","));
    let page = workspace.path("page.html").display().to_string();
    let arguments = words("study layouts --vary {} --yes -o {}", &[&layouts, &page]);
    let mut child = command(&arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let volumes = parent.join("study-other");
    for _ in 0..1200 {
        std::thread::sleep(Duration::from_millis(50));
        if !processes_of(&parent).is_empty() && host::mounted_below(&volumes).len() == 1 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(host::mounted_below(&parent).len(), 3);
    assert_eq!(attached_below(&parent), 3);

    // Other layouts stay; one of the same name does not belong to the study.
    let shown = command(&["storage", "layout", "show"]).output().unwrap();
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(shown.status.success(), "{said}");
    said.says("left by a process that was killed: unmount");
    assert_eq!(
        host::mounted_below(&parent),
        [parent.join("one/volumes/all")]
    );
    assert_eq!(attached_below(&parent), 1);
    assert_eq!(processes_of(&parent), Vec::<String>::new());
    let removed = command(&["storage", "layout", "remove", "one"])
        .status()
        .unwrap();
    assert!(removed.success());
    assert_eq!(attached_below(&parent), 0);
    assert_eq!(std::fs::read_dir(&parent).unwrap().count(), 0);
}
