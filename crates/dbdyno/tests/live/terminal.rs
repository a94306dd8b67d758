//! The view in a terminal: a pseudo terminal, the keys of somebody at it, and how the terminal is left.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Place, TINY};

/// What is waited for comes sooner or later, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(120);
const TAKEN: &str = "\x1b[?1049h";
const PUT_BACK: &str = "\x1b[?1049l";
/// A point that nobody waits for.
const ENDLESS: &str = "name = \"endless\"\nsample_ms = 50\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 3000\n";

/// A command whose terminal is ours.
struct AtTerminal {
    child: Child,
    ours: File,
    /// The side of the command: it tells its settings also when the command has ended.
    its: File,
    settings_before: Vec<u8>,
    shown: Arc<Mutex<String>>,
}

impl AtTerminal {
    fn begin(mut command: Command) -> Self {
        let (mut ours, mut its) = (-1, -1);
        let size = libc::winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let nothing = std::ptr::null_mut();
        // SAFETY: the call writes two integers and reads the size.
        let opened = unsafe { libc::openpty(&mut ours, &mut its, nothing, nothing.cast(), &size) };
        assert_eq!(opened, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: both descriptors are new and nobody else's.
        let (ours, its) = unsafe { (File::from_raw_fd(ours), File::from_raw_fd(its)) };
        for side in [&ours, &its] {
            // SAFETY: the call takes integers. The command has its three copies alone.
            unsafe { libc::fcntl(side.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) };
        }
        let side = || its.try_clone().unwrap();
        command.stdin(side()).stdout(side()).stderr(side());
        // SAFETY: both calls take integers and may be made between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let settings_before = settings(&its);
        let child = command.spawn().unwrap();
        let shown = Arc::new(Mutex::new(String::new()));
        std::thread::spawn({
            let (mut ours, shown) = (ours.try_clone().unwrap(), Arc::clone(&shown));
            move || {
                let mut bytes = [0; 4096];
                while let Ok(read @ 1..) = ours.read(&mut bytes) {
                    let text = String::from_utf8_lossy(&bytes[..read]);
                    shown.lock().unwrap().push_str(&text);
                }
            }
        });
        Self {
            child,
            ours,
            its,
            settings_before,
            shown,
        }
    }

    fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    fn wait_for(&self, text: &str) {
        let begun = Instant::now();
        while !self.shown().contains(text) {
            assert!(
                begun.elapsed() < PATIENCE,
                "no {text:?} in {:.2000?}",
                self.shown()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        self.ours.write_all(keys).unwrap();
    }

    /// Its status, what stood on the view, and what stands behind it. The terminal is as it was.
    fn ended(mut self) -> (i32, String, String) {
        let status = self.child.wait().unwrap().code().unwrap();
        // Written behind everything of the command, and read behind it.
        (&self.its).write_all(b"<end>").unwrap();
        self.wait_for("<end>");
        let shown = self.shown();
        assert_eq!(settings(&self.its), self.settings_before, "{shown:?}");
        let (_, view) = shown
            .split_once(TAKEN)
            .unwrap_or_else(|| panic!("no view in {shown:?}"));
        let (view, behind) = view
            .rsplit_once(PUT_BACK)
            .unwrap_or_else(|| panic!("still there: {shown:?}"));
        assert!(
            view.contains("\x1b[?25l") && view.contains("\x1b[?25h"),
            "{view:?}"
        );
        (status, view.to_owned(), behind.to_owned())
    }
}

/// A run of a plan in this place.
fn run<'a>(plan: &'a str, url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", plan, "--target", url], more].concat()
}

/// The settings of a terminal.
fn settings(of: &File) -> Vec<u8> {
    // SAFETY: the structure is plain numbers, for which zeros are values.
    let mut found: libc::termios = unsafe { std::mem::zeroed() };
    // SAFETY: the call writes the structure that it is given.
    assert_eq!(unsafe { libc::tcgetattr(of.as_raw_fd(), &mut found) }, 0);
    let flags = [found.c_iflag, found.c_oflag, found.c_cflag, found.c_lflag];
    let flags = flags.iter().flat_map(|flag| flag.to_ne_bytes());
    flags.chain(found.c_cc).collect()
}

#[test]
fn a_run_that_is_watched_in_the_terminal_ends_as_without_it() {
    let place = Place::new();
    let plan = place.file("plan.toml", TINY);
    let url = place.url("sqlite", "bench.db");
    let mut command = place.command(&run(&plan, &url, &["--name", "shown", "--live=tui"]));
    command.env("NO_COLOR", "1").env("COLUMNS", "120");
    let (status, view, behind) = AtTerminal::begin(command).ended();
    assert_eq!(status, 0, "{behind}");
    assert!(
        view.contains("Throughput") && !view.contains("points to measure"),
        "{view:?}"
    );
    assert!(!view.contains(";36m"), "coloured: {view:?}");
    let (said, tables) = behind.split_once("T132 Integer processing").unwrap();
    assert!(
        said.contains("run shown: 1 of 1 points to measure"),
        "{behind}"
    );
    for expected in [
        "“shown”",
        "1 of 1 points · complete",
        "\r\nScorecard\r\n",
        "Not in this plan",
    ] {
        assert!(tables.contains(expected), "no {expected} in {tables}");
        assert!(!view.contains(expected), "{view:?}");
    }
}

#[test]
fn watching_ends_before_the_run_which_ctrl_c_ends() {
    let place = Place::new();
    let plan = place.file("plan.toml", ENDLESS);
    let url = place.url("sqlite", "bench.db");
    let mut watched = AtTerminal::begin(place.command(&run(&plan, &url, &["--live=tui"])));
    watched.wait_for("Throughput");
    watched.press(b"\t");
    watched.wait_for("No point is measured yet");
    watched.press(b"q");
    watched.wait_for("the run goes on");
    // The bar is back.
    watched.wait_for("0/1 · sqlite T132");
    watched.press(b"\x03");
    let (status, _, behind) = watched.ended();
    assert_eq!(status, 130, "{behind}");
    assert!(behind.contains("--resume"), "{behind}");
}

#[test]
fn ctrl_c_ends_the_run_behind_the_view() {
    let place = Place::new();
    let plan = place.file("plan.toml", ENDLESS);
    let url = place.url("sqlite", "bench.db");
    let mut watched = AtTerminal::begin(place.command(&run(&plan, &url, &["--live=tui"])));
    watched.wait_for("Throughput");
    watched.press(b"\x03");
    let (status, view, behind) = watched.ended();
    assert_eq!(status, 130, "{behind}");
    assert!(
        behind.contains("--resume") && !view.contains("--resume"),
        "{behind}"
    );
}

#[test]
fn a_run_of_the_archive_is_replayed_in_the_terminal() {
    let place = Place::new();
    let plan = place.file("plan.toml", TINY);
    let url = place.url("sqlite", "bench.db");
    place.fine(&run(&plan, &url, &["--name", "kept"]));
    let replay = ["live", "kept", "--tui", "--once", "--speed", "1000"];
    let (status, view, behind) = AtTerminal::begin(place.command(&replay)).ended();
    assert_eq!((status, behind.as_str()), (0, "<end>"));
    assert!(view.contains("Throughput"), "{view:?}");
    // Until a key ends it.
    let mut replay = AtTerminal::begin(place.command(&replay[..3]));
    replay.wait_for("Throughput");
    replay.press(b"\x1b");
    let (status, ..) = replay.ended();
    assert_eq!(status, 0);
}

#[test]
fn without_a_terminal_there_are_lines() {
    let place = Place::new();
    let plan = place.file("plan.toml", TINY);
    let url = place.url("sqlite", "bench.db");
    let ended = place.fine(&run(&plan, &url, &["--live=tui"]));
    let warned = ended.stderr.matches("--live=tui needs a terminal").count();
    assert_eq!(warned, 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("T132"), "{}", ended.stderr);
    let refused = place.dbdyno(&["live", "last", "--tui"]);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--tui needs a terminal"),
        "{}",
        refused.stderr
    );
}
