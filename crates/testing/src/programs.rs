//! The test programs that cargo built, and what the runner knows of some of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

/// Tests that need a server, root, a network or a browser, which `make unit` leaves out: the program, and what their
/// names contain; nothing for all tests of the program.
const NOT_UNIT: &[(&str, &[&str])] = &[("report/suite", &["browser"])];

/// Programs whose tests measure: nothing else runs beside them. The tests whose names contain one of these words run beside
/// others all the same: they wait for what they make themselves, so much longer than for a processor that nobody else matters, or
/// for processors that are all busy, whoever else is at work there.
const ALONE: &[(&str, &[&str])] = &[(
    "lab/bottleneck",
    &[
        "a_client_that_works",
        "a_long_way",
        "a_row_that_all",
        "a_slow_log",
        "all_busy",
        "nothing_",
        "sleeping_sessions",
        "slowly_from_the_device",
        "that_somebody",
    ],
)];

/// Behind the name of a program with those of its tests.
const BESIDE: &str = " (beside)";

/// Programs that take longest. They begin first, so that the last of all does not run beside nothing.
const LONG: &[&str] = &[
    "workload/oltp",
    "dbdyno/method",
    "dbdyno/servers",
    "dbdyno/interleave_writes",
    "dbdyno/kill",
    "lab/bottleneck",
    "dbdyno/interleave",
    "engines/postgres",
    "dbdyno/oltp_search",
    "engines/local_server",
    "dbdyno/oltp",
    "dbdyno/oltp_run",
    "engines/mysql",
    "dbdyno/hang",
    "workload/olap",
    "dbdyno/least_rights",
    "report/suite",
    "workload/script",
    "workload/exercises",
    "workload/restarts",
];

#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// `CRATE` for the tests in a crate's source, otherwise `CRATE/PROGRAM`.
    pub name: String,
    pub executable: PathBuf,
    pub arguments: Vec<String>,
    /// Of its crate; tests run there, as under cargo.
    pub directory: PathBuf,
    /// Whether it is cargo, which does not take libtest's options.
    pub is_cargo: bool,
    /// Whether nothing else may run beside it.
    pub is_alone: bool,
}

impl Program {
    fn leave_out_what_is_not_unit(&mut self) -> bool {
        let Some((_, names)) = NOT_UNIT.iter().find(|(program, _)| *program == self.name) else {
            return true;
        };
        let skip = names.iter().flat_map(|name| ["--skip", name]);
        self.arguments.extend(skip.map(str::to_owned));
        !names.is_empty()
    }

    /// Itself, without the tests that can run beside others, and those as another one; itself alone where only some tests run,
    /// because libtest runs what has one of its words, and not all of them.
    fn apart(mut self, runs_all: bool) -> Vec<Self> {
        let Some((_, words)) = ALONE.iter().find(|(program, _)| *program == self.name) else {
            return vec![self];
        };
        self.is_alone = true;
        if !runs_all {
            return vec![self];
        }
        let mut beside = self.clone();
        beside.is_alone = false;
        beside.name += BESIDE;
        beside
            .arguments
            .extend(words.iter().map(|word| (*word).to_owned()));
        let skip = words.iter().flat_map(|word| ["--skip", word]);
        self.arguments.extend(skip.map(str::to_owned));
        vec![self, beside]
    }
}

/// Reads cargo's messages, one JSON object a line. Programs that begin first come first.
///
/// # Errors
/// When a message is no JSON, or there is no program.
pub fn from_cargo(
    messages: &str,
    unit_only: bool,
    only: Option<&str>,
) -> anyhow::Result<Vec<Program>> {
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("a message of cargo")?;
        programs.extend(program(&message));
    }
    if programs.is_empty() {
        bail!("cargo built no test program");
    }
    if unit_only {
        programs.retain_mut(Program::leave_out_what_is_not_unit);
    }
    let mut programs: Vec<_> = programs
        .into_iter()
        .flat_map(|program| program.apart(only.is_none()))
        .collect();
    if let Some(name) = only {
        programs
            .iter_mut()
            .for_each(|program| program.arguments.push(name.to_owned()));
    }
    let rank = |program: &Program| {
        let name = program.name.strip_suffix(BESIDE).unwrap_or(&program.name);
        LONG.iter().position(|long| *long == name)
    };
    programs.sort_by_key(|program| rank(program).unwrap_or(usize::MAX));
    Ok(programs)
}

/// The examples in the documentation, which cargo runs itself: of the crates that have any, because it compiles each
/// crate again to look for them.
pub fn examples(only: Option<&str>) -> anyhow::Result<Program> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut arguments: Vec<_> = "test --release --locked --doc"
        .split(' ')
        .map(str::to_owned)
        .collect();
    let mut packages = with_examples(Path::new("crates"))?;
    // The command depends on all of them: with it, what they depend on has the features with which it was built for the tests.
    packages.push("dbdyno".to_owned());
    for name in packages {
        arguments.extend(["--package".to_owned(), name]);
    }
    arguments.extend(only.map(str::to_owned));
    Ok(Program {
        name: "documentation".to_owned(),
        executable: cargo.into(),
        arguments,
        directory: std::env::current_dir()?,
        is_cargo: true,
        is_alone: false,
    })
}

/// The crates of this folder, and of the engines' in it, with a block of code in their documentation.
fn with_examples(crates: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in [crates, &crates.join("engines")] {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let is_crate = entry.path().join("Cargo.toml").exists();
            if is_crate && has_example(&entry.path().join("src"))? {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    names.sort();
    Ok(names)
}

fn has_example(directory: &Path) -> anyhow::Result<bool> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let found = match path.extension() {
            _ if path.is_dir() => has_example(&path)?,
            Some(extension) if extension == "rs" => std::fs::read_to_string(&path)?
                .lines()
                .map(str::trim_start)
                .any(|line| line.starts_with("/// ```") || line.starts_with("//! ```")),
            _ => false,
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn program(message: &Value) -> Option<Program> {
    let is_test = message["profile"]["test"] == true;
    let executable = message["executable"].as_str().filter(|_| is_test)?;
    let directory = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = directory.file_name()?.to_str()?;
    let target = message["target"]["name"].as_str()?;
    let name = match message["target"]["kind"][0].as_str()? {
        "test" => format!("{package}/{target}"),
        "bin" | "example" => format!("{package}/{target} (program)"),
        _ => package.to_owned(),
    };
    Some(Program {
        name,
        executable: executable.into(),
        arguments: Vec::new(),
        directory: directory.to_owned(),
        is_cargo: false,
        is_alone: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_leaves_out_what_needs_more() {
        let line = |crate_name: &str, target: &str, kind: &str| {
            let place = format!("/x/{crate_name}");
            format!(
                "{{\"manifest_path\":\"{place}/Cargo.toml\",\"executable\":\"{place}/p\",\"profile\":{{\"test\":true}},\
                 \"target\":{{\"name\":\"{target}\",\"kind\":[\"{kind}\"]}}}}\n"
            )
        };
        let built = line("stats", "stats", "lib") + &line("report", "suite", "test");
        let all = from_cargo(&built, false, None).unwrap();
        assert!(all.iter().all(|program| program.arguments.is_empty()));
        let unit = from_cargo(&built, true, None).unwrap();
        let names: Vec<_> = unit.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["report/suite", "stats"]);
        assert_eq!(unit[0].arguments, ["--skip", "browser"]);
    }

    #[test]
    fn each_test_of_what_measures_runs_once_alone_or_beside_others() {
        let line = "{\"manifest_path\":\"/x/lab/Cargo.toml\",\"executable\":\"/x/p\",\"profile\":{\"test\":true},\
                    \"target\":{\"name\":\"bottleneck\",\"kind\":[\"test\"]}}";
        let found = from_cargo(line, false, None).unwrap();
        let [alone, beside] = &found[..] else {
            panic!("{found:?}")
        };
        assert!(alone.is_alone && !beside.is_alone);
        assert_eq!(beside.name, "lab/bottleneck (beside)");
        let skipped = alone.arguments.iter().filter(|word| *word != "--skip");
        assert!(skipped.eq(&beside.arguments) && !beside.arguments.is_empty());
        let only = from_cargo(line, false, Some("mysql")).unwrap();
        assert!(only.len() == 1 && only[0].is_alone && only[0].arguments == ["mysql"]);
    }

    #[test]
    fn crates_with_examples_in_their_documentation_are_found() {
        let crates = Path::new("..");
        let found = with_examples(crates).unwrap();
        assert!(found.contains(&"stats".to_owned()), "{found:?}");
        assert!(!found.contains(&"workspace-hack".to_owned()), "{found:?}");
    }

    /// A program that was renamed would fall out of its list unnoticed.
    #[test]
    fn the_lists_name_programs_that_exist() {
        let crates = Path::new("..");
        let listed = NOT_UNIT.iter().chain(ALONE).map(|(name, _)| name);
        for name in listed.chain(LONG) {
            let there = match name.split_once('/') {
                Some((package, program)) => {
                    let tests = crates.join(package).join("tests");
                    let file = tests.join(format!("{program}.rs"));
                    file.exists() || tests.join(program).join("main.rs").exists()
                }
                None => crates.join(name).join("src").exists(),
            };
            assert!(there, "there is no test program {name}");
        }
    }
}
