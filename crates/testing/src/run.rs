//! Runs test programs: several at once, then those that measure, each alone.

use std::collections::VecDeque;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::left_behind;
use crate::outcome::{End, Outcome};
use crate::programs::Program;

/// Longest time of a program, even on a busy machine; a longer one hangs.
const LIMIT: Duration = Duration::from_secs(1800);
const LOOK: Duration = Duration::from_millis(20);

pub struct How {
    pub jobs: usize,
    /// True if libtest reports the time of each test.
    pub with_times: bool,
    /// Directory of the output of each.
    pub logs: PathBuf,
}

impl How {
    fn log(&self, program: &Program, kind: &str) -> PathBuf {
        let name = program.name.replace(['/', ' '], "-");
        self.logs.join(format!("{name}.{kind}"))
    }

    /// Seconds that a program took when it ran last; a new one counts as the longest.
    fn last_s(&self, program: &Program) -> f64 {
        let seconds = std::fs::read_to_string(self.log(program, "seconds"));
        let seconds = seconds.ok().and_then(|text| text.parse().ok());
        seconds.unwrap_or(f64::INFINITY)
    }
}

/// Runs all programs, and reports each as it ends.
pub fn all(mut programs: Vec<Program>, how: &How) -> anyhow::Result<Outcome> {
    // Those that take longest begin first, so that the last of all does not run with nothing else.
    programs.sort_by(|a, b| how.last_s(b).total_cmp(&how.last_s(a)));
    let (alone, together): (Vec<_>, Vec<_>) =
        programs.into_iter().partition(|program| program.is_alone);
    let total = Mutex::new(Outcome::default());
    for (programs, jobs) in [(together, how.jobs.max(1)), (alone, 1)] {
        let left = Mutex::new(VecDeque::from(programs));
        let next = || {
            left.lock()
                .expect("no holder of the lock panics")
                .pop_front()
        };
        std::thread::scope(|scope| {
            let runners: Vec<_> = (0..jobs)
                .map(|_| scope.spawn(|| take_turns(&next, how, &total)))
                .collect();
            runners.into_iter().try_for_each(|runner| {
                runner
                    .join()
                    .expect("a runner reports its errors and does not panic")
            })
        })?;
    }
    Ok(total.into_inner().expect("no holder of the lock panics"))
}

fn take_turns(
    next: &impl Fn() -> Option<Program>,
    how: &How,
    total: &Mutex<Outcome>,
) -> anyhow::Result<()> {
    while let Some(program) = next() {
        let begin = Instant::now();
        let (outcome, output, processors_s) = one(&program, how)
            .with_context(|| format!("{} cannot be run", program.executable.display()))?;
        let mut total = total.lock().expect("no holder of the lock panics");
        if !outcome.is_good() {
            println!("{output}");
        }
        let seconds = begin.elapsed().as_secs_f64();
        std::fs::write(how.log(&program, "seconds"), seconds.to_string())?;
        let (name, counts) = (&program.name, outcome.counts());
        println!("{name}: {counts} in {seconds:.1} s, {processors_s:.1} s of a processor");
        total.add(outcome);
    }
    Ok(())
}

/// Results of a program's tests, its output, and the CPU time of it and its descendants.
fn one(program: &Program, how: &How) -> anyhow::Result<(Outcome, String, f64)> {
    let (stdout, stderr) = (how.log(program, "stdout"), how.log(program, "stderr"));
    let mark = format!("{} of {}", program.name, std::process::id());
    let mut command = Command::new(&program.executable);
    command.args(&program.arguments);
    if how.with_times && !program.is_cargo {
        // Times are unstable in libtest; the variable permits them in this process.
        command.env("RUSTC_BOOTSTRAP", "1");
        command.args(["-Z", "unstable-options", "--report-time"]);
    }
    // Where this variable is not as in the tests' build, cargo compiles `ring` and all that uses it once more.
    if !program.is_cargo {
        command.env("CARGO_MANIFEST_DIR", &program.directory);
    }
    let child = command
        .current_dir(&program.directory)
        .env(left_behind::VARIABLE, &mark)
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .spawn()?;
    let (end, processors_s) = wait(child)?;
    let read = |path: &Path| {
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
    };
    let (stdout, stderr) = (read(&stdout)?, read(&stderr)?);
    let mut outcome = Outcome::of(&program.name, &stdout, &stderr, &end);
    let left = left_behind::kill(&mark).into_iter();
    let left = left.map(|command| format!("{}: left running: {command}", program.name));
    outcome.failed.extend(left);
    Ok((outcome, format!("{stdout}\n{stderr}"), processors_s))
}

/// Exit status and CPU seconds of a child.
fn wait(mut child: Child) -> anyhow::Result<(End, f64)> {
    let begin = Instant::now();
    loop {
        if let Some((status, processors_s)) = ended(&child, libc::WNOHANG)? {
            let end = End::Status {
                success: status.success(),
                said: status.to_string(),
            };
            return Ok((end, processors_s));
        }
        if begin.elapsed() > LIMIT {
            child.kill()?;
            let used = ended(&child, 0)?;
            return Ok((End::TimeLimit(LIMIT), used.map_or(0.0, |(_, used)| used)));
        }
        std::thread::sleep(LOOK);
    }
}

/// Waits as `options` say, because the standard library does not report the CPU time.
fn ended(child: &Child, options: libc::c_int) -> std::io::Result<Option<(ExitStatus, f64)>> {
    let pid = libc::pid_t::try_from(child.id()).map_err(std::io::Error::other)?;
    let mut status = 0;
    let mut used = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to values of their types that live through the call.
    match unsafe { libc::wait4(pid, &raw mut status, options, used.as_mut_ptr()) } {
        -1 => Err(std::io::Error::last_os_error()),
        0 => Ok(None),
        _ => {
            // SAFETY: zeroes are a valid value, and the call has written over them.
            let used = unsafe { used.assume_init() };
            let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
            let processors_s = seconds(used.ru_utime) + seconds(used.ru_stime);
            Ok(Some((ExitStatus::from_raw(status), processors_s)))
        }
    }
}
