//! Tests below the database: I/Os on a file next to the target's data, to compare the database with its device.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Test;
use archive::{Point, PointKey, Remark, Sample, WorkDone};
use host::Reader;
use jiff::Timestamp;
use storage::engine::{self, EngineError, EngineEvent, Options, Outcome};
use storage::execution::{Done, Log};
use storage::language::{command_line, script};
use storage::run::Run;

use super::{Devices, point};
use lab::nodes::urls_of;
use lab::{Measured, Nodes, Result, RunContext, Step};

const FORMAT_BYTES: u64 = 1 << 20;

pub const WARM_UP_S: u32 = 1;

/// Measured seconds: of the step, or else of the library's test.
pub fn seconds(step: &Step, of_test: u32) -> u32 {
    step.seconds.map_or(of_test, |s| s.ceil() as u32).max(2)
}

#[derive(Debug, Clone, Copy)]
pub struct FileTest<'a> {
    /// Parameters of a WD in vdbench's syntax.
    pub workload: &'a str,
    pub file_mib: u64,
    pub seconds: u32,
}

/// Anonymous file: it collides with no other file and is gone with its process. It is reopened through its descriptor.
struct Scratch {
    file: File,
    folder: PathBuf,
}

impl Scratch {
    fn make(folder: PathBuf) -> io::Result<Self> {
        let file = tempfile::tempfile_in(&folder)?;
        let scratch = Self { file, folder };
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(libc::O_DIRECT);
        options.open(scratch.path())?;
        Ok(scratch)
    }

    fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }

    fn describe(&self, sentence: &str) -> String {
        let folder = self.folder.display();
        let place = format!("the temporary file in {folder}");
        sentence.replace(&self.path().display().to_string(), &place)
    }
}

/// Checks that the file of a target can be written.
///
/// # Errors
/// When the data lie elsewhere or nowhere, or direct writes fail there.
pub(crate) fn check_location(target: &Nodes) -> std::result::Result<(), Remark> {
    scratch(target).map(drop)
}

fn scratch(target: &Nodes) -> std::result::Result<Scratch, Remark> {
    // A remote server may report a path that exists here as well.
    let urls = urls_of(&target.record()).unwrap_or_default();
    if urls.iter().any(|url| !engines::runs_here(url)) {
        return Err(Remark::DataElsewhere);
    }
    let folder = match target.data_path() {
        Some(file) => file.parent().map(Path::to_owned),
        // Next to the server's own folder, never in it.
        None => {
            let unknown = |why: String| Remark::DataPlaceUnknown { why };
            let own = target.first().server_directory().map_err(unknown)?;
            let parent = own.parent().map(Path::to_owned);
            let device =
                |path: &Path| host::device_of(path).map_err(|error| unknown(error.to_string()));
            if let Some(parent) = &parent
                && device(parent)? != device(&own)?
            {
                return Err(Remark::NoFolderOnDevice {
                    folder: own.display().to_string(),
                });
            }
            parent
        }
    };
    let folder = folder.ok_or(Remark::NoFolderAbove)?;
    Scratch::make(folder.clone()).map_err(|error| Remark::NoDirectFile {
        folder: folder.display().to_string(),
        error: error.to_string(),
    })
}

/// Measures one point: writes the file, then works on it.
///
/// # Errors
/// A text of the library that is no workload.
pub(crate) fn measure(
    context: &RunContext<'_>,
    step: &Step,
    key: &PointKey,
    target: &Nodes,
    test: &Test,
    file_test: FileTest<'_>,
) -> Result<Measured> {
    let started_at = Timestamp::now();
    let blank = Point {
        started_at: started_at.to_string(),
        ..blank(context, step, key, target, test)
    };
    // A device that is full or fails is a finding and does not end the run.
    let failed = |reason: Remark| {
        Ok(Measured::Points(vec![Point {
            reasons: vec![reason],
            ..blank.clone()
        }]))
    };
    let file = match scratch(target) {
        Ok(file) => file,
        Err(reason) => return failed(reason),
    };
    let run = run_of(test, key, step, file_test, &file.path())?;
    let watch = &context.samplers[key.target as usize];
    let requests = watch.requests();
    let mut counters = Reader::open(Path::new("/"), watch.device());
    let options = Options::new(blank.seed, context.stop);
    match format(&run, &options) {
        Err(error) => {
            let error = file.describe(&error.to_string());
            return failed(Remark::StorageFailed { error });
        }
        Ok(written) => {
            let faults = written.iter().flat_map(|written| &written.faults);
            if let Some(fault) = faults.map(ToString::to_string).next() {
                let fault = file.describe(&fault);
                return failed(Remark::IoFault { fault });
            }
        }
    }
    let mut log = Log::new(counters.snapshot(), requests.ok());
    let begin = || watch.mark(Err("nobody asks who used the processors"));
    let mut mark = begin();
    let mut counted_from = Duration::ZERO;
    let outcome = engine::run(&run, &options, &mut |event| {
        if let EngineEvent::Interval(interval) = event {
            log.add(interval, counters.snapshot());
            if !interval.counted {
                mark = begin();
                counted_from = interval.end;
            }
        }
    });
    let used = watch.finish(mark);
    let outcome = match outcome {
        Ok(_) if context.stop.load(Ordering::Relaxed) => return Ok(Measured::Interrupted),
        Ok(outcome) => outcome,
        Err(error) => {
            let error = file.describe(&error.to_string());
            return failed(Remark::StorageFailed { error });
        }
    };
    let (rates, counted, owners) = (log.counted(), log.requests(), log.owners());
    let done = Done {
        repetition: key.repetition,
        number: 1,
        run: &run,
        started_at,
        outcome: &outcome,
        laps: &log.laps,
        rates,
        owners,
        requests: &counted,
        findings: &[],
        steadiness: None,
        is_missed: false,
    };
    let below = Devices {
        only: watch.device(),
        untimed: requests.err(),
    };
    let measured = point(&done, key.clone(), blank.seed, below);
    let from_s = counted_from.as_secs_f64();
    let samples = used.samples.into_iter().map(|sample| Sample {
        at_s: sample.at_s + from_s,
        ..sample
    });
    let mut devices = used.devices;
    for sample in devices.iter_mut().flat_map(|device| &mut device.samples) {
        sample.at_s += from_s;
    }
    let named = |reason| match reason {
        Remark::IoFault { fault } => Remark::IoFault {
            fault: file.describe(&fault),
        },
        other => other,
    };
    Ok(Measured::Points(vec![Point {
        // The intervals are those of the tests with which it is compared.
        samples: with_rates(samples.collect(), &measured.samples, context.interval),
        devices,
        interfaces: used.interfaces,
        title: blank.title,
        component: blank.component,
        configuration: blank.configuration,
        definition: blank.definition,
        reasons: measured.reasons.into_iter().map(named).collect(),
        ..measured
    }]))
}

/// Samples of the host, with the rates of the intervals that ended nearest to each.
fn with_rates(host: Vec<Sample>, intervals: &[Sample], every: Duration) -> Vec<Sample> {
    let near = |at_s: f64| {
        let mut intervals = intervals.iter();
        intervals.find(|own| (own.at_s - at_s).abs() <= every.as_secs_f64() / 2.0)
    };
    let each = host.into_iter().map(|sample| Sample {
        operations_per_s: near(sample.at_s).and_then(|own| own.operations_per_s),
        ..sample
    });
    each.collect()
}

fn blank(
    context: &RunContext<'_>,
    step: &Step,
    key: &PointKey,
    target: &Nodes,
    test: &Test,
) -> Point {
    let definition = &test.definition;
    Point {
        work: WorkDone {
            below_database: true,
            ..WorkDone::default()
        },
        ..context.blank(
            step,
            key.clone(),
            test.fingerprint(&target.engine),
            definition.title.clone(),
            definition.component,
        )
    }
}

fn format(run: &Run, options: &Options<'_>) -> std::result::Result<Option<Outcome>, EngineError> {
    let growing = Options {
        may_grow: true,
        ..*options
    };
    let format = engine::format_run(std::slice::from_ref(run), true, Some(FORMAT_BYTES));
    let written = format.map(|format| engine::run(&format, &growing, &mut |_| ()));
    written.transpose()
}

/// Run of the test's parameters, in the language of parameter files.
fn run_of(
    test: &Test,
    key: &PointKey,
    step: &Step,
    file_test: FileTest<'_>,
    file: &Path,
) -> Result<Run> {
    let seconds = seconds(step, file_test.seconds);
    let text = format!(
        "sd=sd1,lun=\"{}\",size={}m,threads={},openflags=o_direct\nwd=wd1,sd=sd1,{}\n\
         rd={},wd=wd1,iorate=max,warmup={WARM_UP_S},elapsed={seconds},interval=1\n",
        file.display(),
        file_test.file_mib,
        key.jobs,
        file_test.workload,
        test.code(),
    );
    let wrong = |error: &dyn std::fmt::Display| {
        lab::LabError::Plan(format!("test {}: {error}", test.code()))
    };
    let options =
        command_line(&["-f".to_owned(), test.code().to_owned()]).map_err(|e| wrong(&e))?;
    let script = script(&options, &|_| Ok(text.clone())).map_err(|e| wrong(&e))?;
    let mut runs = script.runs.into_iter();
    runs.next()
        .ok_or_else(|| wrong(&"its workload stands for no run"))
}
