//! The test programs that cargo built, with the tests that run alone as programs of their own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

/// Module of tests that need a browser: `make unit` skips them.
const BROWSER: &str = "browser::";
/// Module of tests that measure: nothing else runs at the same time.
const ALONE: &str = "alone::";

#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// `CRATE` for the tests in a crate's source, otherwise `CRATE/PROGRAM`.
    pub name: String,
    pub executable: PathBuf,
    pub arguments: Vec<String>,
    /// Folder of its crate; tests run there, as under cargo.
    pub directory: PathBuf,
    /// True for cargo, which does not take libtest's options.
    pub is_cargo: bool,
    pub is_alone: bool,
}

impl Program {
    /// Splits tests in a module [`ALONE`] off, by their names.
    ///
    /// # Errors
    /// When the program cannot list its tests.
    pub fn split(mut self) -> anyhow::Result<Vec<Self>> {
        let listed = Command::new(&self.executable)
            .arg("--list")
            .args(&self.arguments)
            .current_dir(&self.directory)
            .output()
            .with_context(|| format!("{} cannot be run", self.executable.display()))?;
        let listed = String::from_utf8_lossy(&listed.stdout);
        let tests = listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        let names: Vec<String> = (tests.filter(|name| name.contains(ALONE)))
            .map(str::to_owned)
            .collect();
        if names.is_empty() {
            return Ok(vec![self]);
        }
        let alone = Self {
            name: format!("{} (alone)", self.name),
            arguments: [vec!["--exact".to_owned()], names].concat(),
            is_alone: true,
            ..self.clone()
        };
        self.arguments.extend(["--skip", ALONE].map(str::to_owned));
        Ok(vec![self, alone])
    }
}

/// Reads cargo's messages, one JSON object a line. Crates that depend on others come first, because their tests take longest.
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
    programs.reverse();
    let skip = ["--skip", BROWSER].into_iter().filter(|_| unit_only);
    let arguments: Vec<String> = only.into_iter().chain(skip).map(str::to_owned).collect();
    for program in &mut programs {
        program.arguments.clone_from(&arguments);
    }
    Ok(programs)
}

/// The examples in the documentation, which cargo runs itself, restricted to crates with examples, because it compiles each crate again to
/// search for them.
pub fn examples(only: Option<&str>) -> anyhow::Result<Program> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut arguments: Vec<_> = "test --release --locked --doc"
        .split(' ')
        .map(str::to_owned)
        .collect();
    let mut packages = with_examples(Path::new("crates"))?;
    // The command depends on all crates: with it, their dependencies have the same features as in the tests' build.
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
                .any(|line| {
                    line.starts_with("/// ```")
                        || line.starts_with("//! ```")
                        || line == "#![cfg(doctest)]"
                }),
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
    fn unit_skips_what_needs_a_browser() {
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
        let unit = from_cargo(&built, true, Some("page")).unwrap();
        let names: Vec<_> = unit.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["report/suite", "stats"]);
        assert_eq!(unit[0].arguments, ["page", "--skip", BROWSER]);
    }

    fn this_program(only: &str) -> Vec<Program> {
        let program = Program {
            name: "testing".into(),
            executable: std::env::current_exe().unwrap(),
            arguments: vec![only.into()],
            directory: ".".into(),
            is_cargo: false,
            is_alone: false,
        };
        program.split().unwrap()
    }

    mod alone {
        #[test]
        fn a_test_that_measures() {}
    }

    #[test]
    fn each_test_runs_once_alone_or_with_others() {
        let [others, alone] = &this_program("programs::")[..] else {
            panic!("there is a test in a module called alone");
        };
        assert!(alone.is_alone && !others.is_alone);
        assert_eq!(others.arguments, ["programs::", "--skip", ALONE]);
        let measures = "programs::tests::alone::a_test_that_measures";
        assert_eq!(alone.arguments, ["--exact", measures]);
        assert_eq!(this_program("crates_with").len(), 1);
    }

    #[test]
    fn crates_with_examples_in_their_documentation_are_found() {
        let crates = Path::new("..");
        let found = with_examples(crates).unwrap();
        for name in ["stats", "readmes"] {
            assert!(found.contains(&name.to_owned()), "{found:?}");
        }
        assert!(!found.contains(&"workspace-hack".to_owned()), "{found:?}");
    }
}
