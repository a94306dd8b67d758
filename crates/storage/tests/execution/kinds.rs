//! Every path of a list may be a FIFO without a peer: it is refused before it is opened, and nothing waits.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::Workspace;
use testing::Says;

/// Any machine refuses within this time.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn fifo(path: &Path) {
    let path = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: a C string that outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

/// Refusal of a list that names a FIFO called `name`; `None` if it was carried out.
fn message(name: &'static str, text: &'static str) -> Option<String> {
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let place = Workspace::new();
        place.file("data", 1 << 20);
        fifo(&place.path(name));
        let error = place.mock(text).ended.err();
        let size = std::fs::metadata(place.path("data")).unwrap().len();
        assert_eq!(size, 1 << 20);
        sender.send(error.map(|error| error.to_string())).unwrap();
    });
    let answer = answer.recv_timeout(PATIENCE);
    answer.unwrap_or_else(|_| panic!("{name} keeps the list waiting, or it panicked"))
}

const RUN: &str = "rd=rd1,sd=sd1,iorate=100,elapsed=2\n";

#[test]
fn a_fifo_keeps_nobody_waiting() {
    for (name, text, said) in [
        ("lun", "sd=sd1,lun=$dir/lun,size=1m\n", "is a FIFO"),
        (
            "m",
            "monitor=$dir/m\nsd=sd1,lun=$dir/data\n",
            "cannot be used as a monitor file (it is a FIFO",
        ),
        (
            "pattern",
            "pattern=$dir/pattern\nsd=sd1,lun=$dir/data\n",
            "as the data pattern (it is a FIFO",
        ),
        (
            "sd1.jnl",
            "validate=yes\njournal=yes\nsd=sd1,lun=$dir/data,journal=$dir\n",
            "as a journal (it is a FIFO",
        ),
        (
            "sd1.map",
            "validate=yes\njournal=yes\nsd=sd1,lun=$dir/data,journal=$dir\n",
            "as the map of a journal (it is a FIFO",
        ),
        (
            "sd1.map",
            "validate=yes\njournal=recover\nsd=sd1,lun=$dir/data,journal=$dir\n",
            "as the map of a journal (it is a FIFO",
        ),
    ] {
        let text: &str = format!("{text}{RUN}").leak();
        let sentence = message(name, text).unwrap_or_else(|| panic!("{name} is taken"));
        assert!(sentence.contains(said), "{name}: {sentence}");
        assert!(!sentence.contains("os error"), "{name}: {sentence}");
    }
}

#[test]
fn a_file_to_be_scanned_is_not_even_looked_for() {
    let text = format!("messagescan=$dir/messages\nsd=sd1,lun=$dir/data\n{RUN}").leak();
    assert_eq!(message("messages", text), None);
}

/// A monitor file that becomes a FIFO during runs is ignored without waiting.
#[test]
fn a_monitor_file_that_turns_into_a_fifo_is_passed_over() {
    let place = Workspace::new();
    place.file("data", 1 << 20);
    let onlooker = super::Onlooker {
        fifo: Some(place.path("m")),
        ..super::Onlooker::default()
    };
    let text = format!("monitor=$dir/m\nsd=sd1,lun=$dir/data\n{RUN}");
    let played = place.mock_before(&text, onlooker);
    assert!(place.path("m").exists());
    assert_eq!(played.ended.unwrap(), storage::execution::Completion::Whole);
}

#[test]
fn pages_are_not_written_into_a_fifo() {
    let place = Workspace::new();
    std::fs::create_dir(place.path("out")).unwrap();
    fifo(&place.path("out/summary.html"));
    let folder = place.path("out").display().to_string();
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let now = jiff::Timestamp::now();
        let folder = storage::pages::folder(Some(&folder), now).unwrap();
        let buckets = storage::language::Buckets::default();
        let pages = storage::pages::Pages::create(&folder, &[], "", &buckets, now);
        sender.send(pages.unwrap_err().to_string()).unwrap();
    });
    let sentence = answer.recv_timeout(PATIENCE).unwrap();
    assert!(sentence.contains("not a page of dbdyno"), "{sentence}");
}

#[test]
fn an_included_fifo_is_refused() {
    let place = Workspace::new();
    fifo(&place.path("more"));
    let file = place.path("p.txt");
    std::fs::write(&file, "include=more\n").unwrap();
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let command = storage::language::CommandLine {
            files: vec![file],
            ..Default::default()
        };
        let refused = storage::language::script(&command, &storage::language::read_file);
        sender.send(refused.unwrap_err().to_string()).unwrap();
    });
    let sentence = answer.recv_timeout(PATIENCE).unwrap();
    sentence.says_all(&["p.txt:1: include=", "it is a FIFO"]);
}
