//! The test programs that cargo built, and what the runner knows of some of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

/// Tests that need a server, root, a network or a browser, which `make unit` leaves out: the program, and what their
/// names contain; nothing for all tests of the program.
const NOT_UNIT: &[(&str, &[&str])] = &[("report/suite", &["browser"])];

/// Programs whose tests measure: nothing else runs beside them.
const ALONE: &[&str] = &["lab/bottleneck"];

/// Programs that take longest. They begin first, so that the last of all does not run beside nothing.
const LONG: &[&str] = &[
    "workload/oltp",
    "dbdyno/method",
    "target/local_server",
    "target/postgres",
    "dbdyno/servers",
    "dbdyno/oltp",
    "dbdyno/kill",
    "dbdyno/oltp_run",
    "workload/script",
    "workload/exercises",
    "workload/olap",
    "target/mysql",
    "workload/restarts",
];

/// One test program.
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
}

impl Program {
    /// Whether anything is left.
    fn leave_out_what_is_not_unit(&mut self) -> bool {
        let Some((_, names)) = NOT_UNIT.iter().find(|(program, _)| *program == self.name) else {
            return true;
        };
        let skip = names.iter().flat_map(|name| ["--skip", name]);
        self.arguments.extend(skip.map(str::to_owned));
        !names.is_empty()
    }

    pub fn is_alone(&self) -> bool {
        ALONE.contains(&self.name.as_str())
    }
}

/// Reads cargo's messages, one JSON object a line. Programs that begin first come first.
pub fn from_cargo(messages: &str, unit_only: bool) -> anyhow::Result<Vec<Program>> {
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
    let rank = |program: &Program| LONG.iter().position(|long| *long == program.name);
    programs.sort_by_key(|program| rank(program).unwrap_or(usize::MAX));
    Ok(programs)
}

/// The examples in the documentation, which cargo runs itself.
pub fn examples() -> anyhow::Result<Program> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = "test --release --locked --workspace --doc";
    Ok(Program {
        name: "documentation".to_owned(),
        executable: cargo.into(),
        arguments: arguments.split(' ').map(str::to_owned).collect(),
        directory: std::env::current_dir()?,
        is_cargo: true,
    })
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
        let all = from_cargo(&built, false).unwrap();
        assert!(all.iter().all(|program| program.arguments.is_empty()));
        let unit = from_cargo(&built, true).unwrap();
        let names: Vec<_> = unit.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["stats", "report/suite"]);
        assert_eq!(unit[1].arguments, ["--skip", "browser"]);
    }

    /// A program that was renamed would fall out of its list unnoticed.
    #[test]
    fn the_lists_name_programs_that_exist() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let listed = NOT_UNIT.iter().map(|(name, _)| name);
        for name in listed.chain(ALONE).chain(LONG) {
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
