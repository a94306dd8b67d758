//! The parameter file of the published appendix and all examples: a recording of every I/O in virtual time agrees
//! with each line of the list.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use storage::engine::{self, MockDevice, Options, Outcome};
use storage::language::{CommandLine, Script, Variable, heading, script, simulation};
use storage::run::{Rate, Run};

use super::Workspace;
use super::checker::check;

const SD_BYTES: u64 = 16 << 20;
/// Recorded I/Os of each worker; memory is touched only as needed.
const TRACE_MAX: usize = 4_000_000;
const IOS: f64 = 400.0;

fn example(name: &str) -> PathBuf {
    Path::new("tests/vdbench").join(name)
}

/// The script of a file, with paths in the workspace and small sizes.
fn read(place: &Workspace, name: &str) -> Script {
    let folder = place.folder.path().display().to_string();
    let variable = |name: &str, value: String| Variable {
        name: name.to_owned(),
        value,
    };
    let mut text = std::fs::read_to_string(example(name)).unwrap();
    let mut variables = Vec::new();
    if text.contains("$dir") {
        variables.push(variable("dir", folder));
        variables.push(variable("size", SD_BYTES.to_string()));
    } else {
        text = text.replace("/data/", &format!("{folder}/"));
        text = text.replace("size=64m", &format!("size={SD_BYTES}"));
    }
    let command = CommandLine {
        files: vec![PathBuf::from(name)],
        variables,
        ..CommandLine::default()
    };
    script(&command, &|_| Ok(text.clone())).unwrap()
}

/// The printed list of the real tool, without the run that formats.
fn shown(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(example(name)).unwrap();
    let lines = text.lines().filter(|line| !line.contains("SD_format"));
    lines.map(str::to_owned).collect()
}

/// Part of a run in virtual time. Shares need more I/Os than a stream may run ahead.
fn recorded(run: &Run) -> Outcome {
    let mut run = run.clone();
    let service_us = match run.rate {
        Rate::Max {
            controlled: false, ..
        } => 1000,
        _ => 50,
    };
    let seconds = match run.rate {
        Rate::Fixed { iops } => (IOS / iops).ceil().max(1.0) as u32,
        _ => 2,
    };
    run.elapsed_s = run.elapsed_s.map(|_| seconds);
    (run.interval_s, run.warmup_s) = (1, 0);
    let stop = AtomicBool::new(false);
    let options = Options {
        trace_max: TRACE_MAX,
        ..Options::new(7, &stop)
    };
    let device = MockDevice::of(1024, Duration::from_micros(service_us));
    device.run(&run, &options, &mut |_| {}).unwrap()
}

fn every_line_is_done(parameters: &str, list: &str) {
    let place = Workspace::new();
    let script = read(&place, parameters);
    let lines = shown(list);
    assert_eq!(script.runs.len(), lines.len());
    let printed = simulation(&script.runs);
    for ((run, line), printed) in script.runs.iter().zip(&lines).zip(printed.lines()) {
        assert_eq!(printed, format!("Simulating {line}"));
        // As in a list that has not run, points of a curve are relative to 10,000 I/Os per second.
        let mut run = engine::resolve(run, &[]);
        assert_eq!(heading(&run), *line);
        for sd in &mut run.storage {
            sd.size_bytes.get_or_insert(SD_BYTES);
        }
        check(&run, &recorded(&run));
    }
}

#[test]
fn every_run_of_the_appendix_does_what_its_line_says() {
    every_line_is_done("appendix_f.txt", "appendix_f.runs");
}

#[test]
fn every_run_of_the_first_example_does_what_its_line_says() {
    every_line_is_done("parm1.txt", "parm1.runs");
}

#[test]
fn every_run_of_the_other_examples_does_what_its_line_says() {
    every_line_is_done("parm2.txt", "parm2.runs");
    every_line_is_done("parm3.txt", "parm3.runs");
}

#[test]
fn the_format_does_what_its_line_says() {
    let place = Workspace::new();
    let runs = read(&place, "parm3.txt").runs;
    let format = engine::format_run(&runs, false, None).unwrap();
    let list = std::fs::read_to_string(example("parm3.runs")).unwrap();
    assert_eq!(list.lines().next(), Some(heading(&format).as_str()));
    check(&format, &recorded(&format));
}
