//! Whole lists of runs on real files: the runs comply with the list, and the pages report them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod checker;
mod devices;
#[path = "../shared/distribution.rs"]
mod distribution;
mod kinds;
mod list;
#[path = "../shared/loop_device.rs"]
mod loop_device;
mod pages;
mod recovery;
mod slo;
mod steady;
mod trace;

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use host::Reader;
use jiff::Timestamp;
use storage::engine::{self, Carrier, MockDevice, Options, format_run};
use storage::execution::{Audience, Completion, Done, Execution, ExecutionError, Slo, Steadiness};
use storage::language::{CommandLine, FormatPolicy, Script, read_file, script};
use storage::pages::{Pages, folder};
use storage::run::Run;
use tempfile::TempDir;

/// A folder with the files that parameters name as `$dir`, and the pages below `out`.
struct Workspace {
    folder: TempDir,
}

struct Played {
    ended: Result<Completion, ExecutionError>,
    onlooker: Onlooker,
}

struct Stored {
    repetition: u32,
    run: Run,
    /// Counted I/Os, and their rate.
    operations: u64,
    rate: f64,
    shares: Vec<f64>,
    steadiness: Option<Steadiness>,
    findings: Vec<String>,
    is_missed: bool,
}

/// Stores what it observes.
#[derive(Default)]
struct Onlooker {
    shown: String,
    done: Vec<Stored>,
    /// File that is written at `monitor_at`, as (path, text).
    monitor: Option<(PathBuf, &'static str)>,
    monitor_at: &'static str,
    /// File that a stranger writes to after the first run.
    spoiled: Option<PathBuf>,
    /// FIFO that is created when the first run begins.
    fifo: Option<PathBuf>,
}

impl Audience for Onlooker {
    fn show(&mut self, text: &str) {
        self.shown.push_str(text);
        if let Some(path) = self.fifo.take_if(|_| text.contains("Starting")) {
            kinds::fifo(&path);
        }
        if let Some((path, what)) = self
            .monitor
            .as_ref()
            .filter(|_| text.contains(self.monitor_at))
        {
            std::fs::write(path, what).unwrap();
            // The file system's clock may be some milliseconds late, in which virtual time ends a run.
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now()).unwrap();
        }
    }

    fn done(&mut self, done: &Done<'_>) -> Result<(), String> {
        let outcome = done.outcome;
        self.done.push(Stored {
            repetition: done.repetition,
            run: done.run.clone(),
            operations: outcome.total().operations,
            rate: outcome.rate_iops(),
            shares: outcome.shares(done.run.streams.len()),
            steadiness: done.steadiness.cloned(),
            findings: done.findings.iter().map(ToString::to_string).collect(),
            is_missed: done.is_missed,
        });
        if let Some(path) = self.spoiled.take() {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.write_all_at(b"spoiled", 5 * 4096 + 100).unwrap();
        }
        Ok(())
    }
}

impl Workspace {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn page(&self, name: &str) -> String {
        std::fs::read_to_string(self.path("out").join(format!("{name}.html"))).unwrap()
    }

    fn file(&self, name: &str, bytes: u64) {
        std::fs::File::create(self.path(name))
            .unwrap()
            .set_len(bytes)
            .unwrap();
    }

    fn script(&self, text: &str) -> Script {
        let text = text.replace("$dir", &self.folder.path().display().to_string());
        let command = CommandLine {
            files: vec![PathBuf::from("p")],
            ..CommandLine::default()
        };
        let read = |path: &Path| {
            if path == Path::new("p") {
                Ok(text.clone())
            } else {
                read_file(path)
            }
        };
        script(&command, &read).unwrap()
    }

    fn play(&self, text: &str) -> Played {
        self.play_before(text, Onlooker::default())
    }

    /// Carries out a list in virtual time, on a device that is never the bottleneck.
    fn mock(&self, text: &str) -> Played {
        self.mock_before(text, Onlooker::default())
    }

    fn search(&self, text: &str, slo: Slo, device: &MockDevice<'_>) -> Played {
        self.carry_out(
            text,
            Onlooker::default(),
            Some(slo),
            &|run, options, report| device.run(run, options, report),
        )
    }

    /// Carries out a list with an active onlooker.
    fn play_before(&self, text: &str, onlooker: Onlooker) -> Played {
        self.carry_out(text, onlooker, None, &engine::run)
    }

    fn mock_before(&self, text: &str, onlooker: Onlooker) -> Played {
        let device = MockDevice::of(1024, Duration::from_micros(1));
        self.carry_out(text, onlooker, None, &|run, options, report| {
            device.run(run, options, report)
        })
    }

    fn carry_out(
        &self,
        text: &str,
        mut onlooker: Onlooker,
        slo: Option<Slo>,
        carrier: Carrier<'_>,
    ) -> Played {
        let script = self.script(text);
        let format = match script.format.policy {
            FormatPolicy::Never => None,
            _ => format_run(&script.runs, false, None),
        };
        let listed: Vec<Run> = format.iter().chain(&script.runs).cloned().collect();
        let out = self.path("out").display().to_string();
        let out = folder(Some(&out), Timestamp::now()).unwrap();
        let mut pages =
            Pages::create(&out, &listed, text, &script.histogram, Timestamp::now()).unwrap();
        let stop = AtomicBool::new(false);
        let execution = Execution {
            script: &script,
            format: format.as_ref(),
            pages: &mut pages,
            audience: &mut onlooker,
            carrier,
            options: Options::new(1, &stop),
            slo,
            stop: &stop,
            counters: Reader::open(Path::new("/"), None),
            requests: None,
            monitored_since: SystemTime::now(),
        };
        let ended = execution.carry_out();
        Played { ended, onlooker }
    }
}
