//! The end of a measurement: its tables on request, its page, and its summary.

use std::fs::{self, DirBuilder, File};
use std::io::Read;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ::archive::Run;
use anyhow::{Context, Result, bail};
use report::{Against, HtmlOptions};

use super::sides::Tables;
use super::{print, print_coloured, print_run, summary_columns, wants_colour};
use crate::arguments::{Judging, ResultOptions};
use crate::console::{leave_output_to_page, say, takes_escapes};
use crate::exit::Status;
use crate::output;

/// Directory of the pages, next to the archive.
const PAGES: &str = "pages";
/// Bytes of a page that hold the mark of its run.
const HEAD_BYTES: u64 = 4096;
/// Longest name without its ending; file systems take 255 bytes.
const NAME_BYTES_MAX: usize = 200;
const WHAT: &str = "page";
const OPTION: &str = "-o";

/// Output of a measurement, checked before it begins.
pub struct Ending {
    full: bool,
    destination: Destination,
}

enum Destination {
    None,
    File(PathBuf),
    /// A file of this directory, named after the run.
    Directory(PathBuf),
}

/// A run with its comparisons, under the name of the run or of its study.
pub struct Outcome<'a> {
    pub name: &'a str,
    pub run: &'a Run,
    pub against: Vec<Against<'a>>,
    pub options: HtmlOptions,
}

impl<'a> Outcome<'a> {
    pub fn of_run(run: &'a Run) -> Self {
        Self {
            name: &run.label,
            run,
            against: Vec::new(),
            options: HtmlOptions::default(),
        }
    }
}

impl Ending {
    /// Refuses a page that cannot be written.
    pub fn new(results: &ResultOptions, archive: &Path) -> Result<Self> {
        let destination = match &results.page {
            _ if results.no_page => Destination::None,
            Some(file) => {
                output::check(file, WHAT, OPTION)?;
                if output::is_standard_output(file) {
                    leave_output_to_page();
                }
                Destination::File(file.clone())
            }
            None => {
                let directory = archive.with_file_name(PAGES);
                if directory.exists() && !directory.is_dir() {
                    let directory = directory.display();
                    bail!(
                        "pages cannot be written to {directory}, which is no directory; name a file with {OPTION}, or add --no-page"
                    );
                }
                Destination::Directory(directory)
            }
        };
        Ok(Self {
            full: results.full,
            destination,
        })
    }

    /// Tables of a comparison before the summary.
    pub fn tables(&self) -> Tables {
        if self.full { Tables::All } else { Tables::None }
    }

    /// Prints a run, writes its page, and returns the status of the command.
    pub fn of_run(&self, run: &Run) -> Result<Status> {
        self.print_tables(run)?;
        let status = validity(run);
        self.show(&Outcome::of_run(run), status)
    }

    /// Prints all tables of a run, if they are wanted.
    pub fn print_tables(&self, run: &Run) -> Result<()> {
        if self.full {
            print_run(run)?;
            print("\n")?;
        }
        Ok(())
    }

    /// Writes the page, prints the summary, and returns the status, which a missing page worsens.
    pub fn show(&self, outcome: &Outcome<'_>, status: Status) -> Result<Status> {
        let (page, status) = self.page(outcome, status);
        let summary = report::ending(
            outcome.name,
            outcome.run,
            &outcome.against,
            &outcome.options,
            summary_columns(),
            wants_colour(),
        );
        let page = page.map(|page| format!("Page: {}\n", shown(&page)));
        print_coloured(&(summary + &page.unwrap_or_default()))?;
        Ok(status)
    }

    /// The same for a study; with JSON on standard output, only the page is named.
    pub fn of_study(
        &self,
        outcome: &Outcome<'_>,
        judging: &Judging,
        status: Status,
    ) -> Result<Status> {
        if !judging.format.is_json() {
            return self.show(outcome, status);
        }
        Ok(self.name_page(outcome, status))
    }

    /// Writes the page, and names it on standard error.
    pub fn name_page(&self, outcome: &Outcome<'_>, status: Status) -> Status {
        let (page, status) = self.page(outcome, status);
        if let Some(page) = page {
            say(&format!("Page: {}", page.display()));
        }
        status
    }

    /// Writes the page. The figures are in the archive, so that a failure is a sentence and no error.
    fn page(&self, outcome: &Outcome<'_>, status: Status) -> (Option<PathBuf>, Status) {
        match self.write(outcome) {
            Ok(page) => (page, status),
            Err(error) => {
                let name = outcome.name;
                say(&format!(
                    "dbdyno: {error:#}; the figures are in the archive: write their page with dbdyno report {name} -o FILE"
                ));
                match status {
                    Status::Fine => (None, Status::Environment),
                    worse => (None, worse),
                }
            }
        }
    }

    fn write(&self, outcome: &Outcome<'_>) -> Result<Option<PathBuf>> {
        let path = match &self.destination {
            Destination::None => return Ok(None),
            Destination::File(path) => path.clone(),
            Destination::Directory(directory) => {
                let mut builder = DirBuilder::new();
                // Pages tell what the archive does, which is private to its user.
                let made = builder.recursive(true).mode(0o700).create(directory);
                made.with_context(|| format!("no page can be written to {}", directory.display()))?;
                file_of(directory, outcome)
            }
        };
        let options = HtmlOptions {
            generated_at: Some(host::clock::rfc3339(SystemTime::now())),
            ..outcome.options.clone()
        };
        let page = report::html(outcome.run, &outcome.against, &options);
        output::write(&path, &page, WHAT, OPTION)?;
        Ok(Some(path).filter(|path| !output::is_standard_output(path)))
    }
}

/// The status of a run, which says why it is not fine.
fn validity(run: &Run) -> Status {
    if run.valid() {
        return Status::Fine;
    }
    let label = &run.label;
    let invalid = match run.points.iter().filter(|p| !p.valid()).count() {
        // The record was changed, or is incomplete.
        0 => format!("run {label} is invalid"),
        invalid => format!(
            "{invalid} of {} points of run {label} are invalid",
            run.points.len()
        ),
    };
    say(&format!("dbdyno: {invalid}; the page gives the reasons"));
    Status::CheckFailed
}

/// The first free name, or the page of the same run: another archive in the directory may have a run of this name.
fn file_of(directory: &Path, outcome: &Outcome<'_>) -> PathBuf {
    let stem = file_name(outcome.name);
    let mark = report::run_mark(outcome.run);
    let is_free = |path: &PathBuf| {
        let mut head = Vec::new();
        let read = File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
        let is_absent = fs::symlink_metadata(path).is_err();
        is_absent || read.is_ok() && String::from_utf8_lossy(&head).contains(&mark)
    };
    let names = (1..).map(|number: u64| match number {
        1 => format!("{stem}.html"),
        number => format!("{stem}-{number}.html"),
    });
    let mut paths = names.map(|name| directory.join(name));
    paths.find(is_free).unwrap_or_else(|| directory.join(stem))
}

/// The name without characters that a shell or a file system would misread.
fn file_name(name: &str) -> String {
    let is_safe = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
    let mut safe: String = name
        .chars()
        .map(|c| if is_safe(c) { c } else { '_' })
        .collect();
    if safe.starts_with(['.', '-']) {
        safe.insert(0, '_');
    }
    safe.truncate(safe.floor_char_boundary(NAME_BYTES_MAX));
    safe
}

/// The path; on a terminal, its home directory is ~ if that is shorter.
fn shown(path: &Path) -> String {
    let home = std::env::home_dir().filter(|_| takes_escapes(&std::io::stdout()));
    let below_home = home.and_then(|home| Some(path.strip_prefix(home).ok()?.to_owned()));
    match below_home {
        Some(below) => format!("~/{}", below.display()),
        None => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(directory: &Path) -> Ending {
        let results = ResultOptions::default();
        Ending::new(&results, &directory.join("archive.dbdyno")).unwrap()
    }

    fn run(id: i64, started_at: &str) -> Run {
        Run {
            id,
            label: "a/b".into(),
            started_at: started_at.into(),
            ..Run::planned("smoke")
        }
    }

    #[test]
    fn names_of_files_are_safe() {
        for (name, file) in [
            ("before-2", "before-2"),
            ("größer", "größer"),
            ("a/b", "a_b"),
            ("a b", "a_b"),
            ("..", "_.."),
            ("-rf", "_-rf"),
            ("ε'$(x)", "ε___x_"),
        ] {
            assert_eq!(file_name(name), file);
        }
        assert_eq!(file_name(&"ε".repeat(101)), "ε".repeat(100));
    }

    #[test]
    fn a_page_replaces_only_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let write = |run: &Run| {
            let page = ending(directory.path()).write(&Outcome::of_run(run));
            page.unwrap().unwrap()
        };
        let (first, second) = (
            run(1, "2026-01-01T00:00:00Z"),
            run(1, "2026-01-02T00:00:00Z"),
        );
        let pages = directory.path().join(PAGES);
        assert_eq!(write(&first), pages.join("a_b.html"));
        assert_eq!(write(&second), pages.join("a_b-2.html"));
        assert_eq!(write(&first), pages.join("a_b.html"));
        assert_eq!(write(&second), pages.join("a_b-2.html"));
    }

    #[test]
    fn a_directory_of_pages_that_is_a_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(PAGES), "").unwrap();
        let archive = directory.path().join("archive.dbdyno");
        let refused = Ending::new(&ResultOptions::default(), &archive).map(|_| ());
        let said = refused.unwrap_err().to_string();
        assert!(
            said.contains("is no directory; name a file with -o"),
            "{said}"
        );
    }
}
