//! The language: example files compared with the real tool's output, its traps, and refusals.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod examples;
mod hostile;
mod options;
mod own;
mod profile;
mod refusals;
mod traps;

use std::path::{Path, PathBuf};

use storage::language::{CommandLine, LanguageError, Script, command_line, read_file, script};
use storage::run::Run;

#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;

fn example(name: &str) -> PathBuf {
    Path::new("tests/vdbench").join(name)
}

fn read_example(name: &str, also: &[&str]) -> Script {
    let file = example(name).display().to_string();
    let arguments: Vec<String> = ["-f", &file]
        .iter()
        .chain(also)
        .map(|a| (*a).to_owned())
        .collect();
    script(&command_line(&arguments).unwrap(), &read_file).unwrap()
}

fn read(text: &str) -> Result<Script, LanguageError> {
    let command = CommandLine {
        files: vec![PathBuf::from("p")],
        ..CommandLine::default()
    };
    script(&command, &|_| Ok(text.to_owned()))
}

fn runs(text: &str) -> Vec<Run> {
    read(text).unwrap().runs
}

fn only_run(sd: &str, wd: &str, rd: &str) -> Run {
    let text = format!("sd=sd1,lun=/d/f,{sd}\nwd=wd1,sd=sd1,{wd}\nrd=rd1,wd=wd1,iorate=100,{rd}\n");
    let mut runs = runs(&text);
    assert_eq!(runs.len(), 1, "{text}");
    runs.remove(0)
}

fn refusal(text: &str) -> String {
    match read(text) {
        Ok(script) => panic!("{text:?} is taken as {script:?}"),
        Err(error) => error.to_string(),
    }
}
