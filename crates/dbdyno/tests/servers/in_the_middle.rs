//! A run in the middle of its second point, when an event occurs.

use std::process::Child;
use std::time::{Duration, Instant};

use crate::common::{Workspace, points};
use testing::Says;

/// A short point, and a long one for the event, with pauses that leave the CPU to other tests.
const LONG: &str = "name = \"long\"\nsample_ms = 100\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.2\n\
    [[step]]\nuse = \"library\"\ntests = [\"T611\"]\njobs = [2]\nmode = \"time\"\nseconds = 10\nthink_ms = 2.0\n";
pub const SHORT: &str = "name = \"short\"\nsample_ms = 100\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\", \"T611\", \"T211\", \"T311\", \"T421\"]\njobs = [2]\n\
    mode = \"time\"\nseconds = 0.3\n";

/// A run that has finished its first point and is in the middle of its second.
pub struct InTheMiddle {
    child: Child,
    workspace: Workspace,
}

impl InTheMiddle {
    /// Starts it, and returns once `is_reading` sees the second point in progress.
    pub fn begin(url: &str, mut is_reading: impl FnMut() -> bool) -> Self {
        let workspace = Workspace::new();
        let plan = workspace.file("plan.toml", LONG);
        let mut command = workspace.command(&["run", &plan, "--target", url, "--name", "long"]);
        let log = std::fs::File::create(workspace.path("log")).unwrap();
        let child = command
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while !is_reading() {
            assert!(Instant::now() < until, "the second point did not begin");
            // Some servers show a session's statement only while it runs, so that sampling is frequent.
            std::thread::sleep(Duration::from_millis(5));
        }
        Self { child, workspace }
    }

    /// It must end with status 1 and one sentence, with one point stored.
    pub fn broken(mut self) -> (Workspace, String) {
        let status = self.child.wait().unwrap();
        let log = std::fs::read_to_string(self.workspace.path("log")).unwrap();
        assert_eq!(status.code(), Some(1), "{log}");
        let sentence = log.lines().last().unwrap().to_owned();
        sentence.says("1 of 2 points are kept in the archive");
        assert!(sentence.contains("dbdyno run --resume long"), "{sentence}");
        let run = self.workspace.export("long");
        assert_eq!(points(&run).len(), 1);
        assert_eq!(run["run"]["state"], "interrupted");
        assert_eq!(points(&run)[0]["valid"], true);
        (self.workspace, sentence)
    }
}

pub fn kill(pid: i32) {
    // SAFETY: the number is that of a process of a server that a test started.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGKILL) }, 0);
}
