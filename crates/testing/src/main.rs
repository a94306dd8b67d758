//! Runs the test programs that cargo built, several at once, and prints the totals of all tests,
//! `N passed, N failed, N skipped`, alone on the last line.
//!
//! It exists because cargo runs one program after another, although most tests wait, and counts a test without its requirements as passed.
//! libtest still runs the tests; this program reads its output.

mod left_behind;
mod outcome;
mod programs;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};

const USAGE: &str =
    "run-tests BUILT [--unit] [--only NAME] [--jobs N] [--times N] [--logs DIRECTORY]

  BUILT             what `cargo test --no-run --message-format=json-render-diagnostics` printed
  --unit            leave out tests that need a server, root, a network or a browser
  --only NAME       only tests whose names contain this
  --examples        the examples in the documentation too
  --jobs N          how many programs at once (default: three a processor and one more)
  --times N         list the N slowest tests
  --logs DIRECTORY  where the output of each program is kept";

struct Arguments {
    built: PathBuf,
    unit_only: bool,
    with_examples: bool,
    only: Option<String>,
    jobs: usize,
    times: Option<usize>,
    logs: PathBuf,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Self> {
        let mut built = None;
        let mut arguments = Self {
            built: PathBuf::new(),
            unit_only: false,
            with_examples: false,
            only: None,
            // More jobs than processors, because most tests wait.
            jobs: 1 + 3 * std::thread::available_parallelism().map_or(1, usize::from),
            times: None,
            logs: std::env::temp_dir().join("dbdyno-tests"),
        };
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .with_context(|| format!("{word} needs a value"))
            };
            match word.as_str() {
                "--unit" => arguments.unit_only = true,
                "--examples" => arguments.with_examples = true,
                "--only" => arguments.only = Some(value()?),
                "--jobs" => arguments.jobs = value()?.parse().context("--jobs")?,
                "--times" => arguments.times = Some(value()?.parse().context("--times")?),
                "--logs" => arguments.logs = value()?.into(),
                _ if word.starts_with('-') || built.is_some() => {
                    bail!("unknown argument {word}\n\n{USAGE}")
                }
                _ => built = Some(word.into()),
            }
        }
        arguments.built = built.context(USAGE)?;
        Ok(arguments)
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let built = std::fs::read_to_string(&arguments.built)
        .with_context(|| format!("{} cannot be read", arguments.built.display()))?;
    let built = programs::from_cargo(&built, arguments.unit_only, arguments.only.as_deref())?;
    let mut programs = Vec::new();
    for program in built {
        programs.extend(program.split()?);
    }
    if arguments.with_examples {
        programs.insert(0, programs::examples(arguments.only.as_deref())?);
    }
    std::fs::create_dir_all(&arguments.logs)
        .with_context(|| format!("{} cannot be made", arguments.logs.display()))?;
    let how = run::How {
        jobs: arguments.jobs,
        with_times: arguments.times.is_some(),
        logs: arguments.logs,
    };
    let outcome = run::all(programs, &how)?;
    if let Some(count) = arguments.times {
        print!("{}", outcome.slowest(count));
    }
    print!("{}", outcome.summary());
    Ok(ExitCode::from(u8::from(!outcome.is_good())))
}
