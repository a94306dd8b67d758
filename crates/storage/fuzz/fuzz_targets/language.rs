//! The first line is what stands behind the verb, the rest is the parameter file: a list or a sentence, never a panic.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use storage::language::{command_line, script, simulation};

const RUNS_MAX: usize = 10_000;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (options, file) = text.split_once('\n').unwrap_or(("", &text));
    let options: Vec<String> = ["-f", "p"].into_iter().chain(options.split_whitespace()).map(str::to_owned).collect();
    let Ok(asked) = command_line(&options) else {
        return;
    };
    match script(&asked, &|_: &Path| Ok(file.to_owned())) {
        Ok(script) => {
            assert!(!script.runs.is_empty() && script.runs.len() <= RUNS_MAX);
            assert_eq!(simulation(&script.runs).lines().count(), script.runs.len() + 1);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
