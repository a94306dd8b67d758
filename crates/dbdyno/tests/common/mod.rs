//! Common parts of the command's tests: a workspace for each, and running the command in it.

#![allow(dead_code, reason = "every test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use testing::Shared;

pub const DBDYNO: &str = env!("CARGO_BIN_EXE_dbdyno");

/// A command that takes longer hangs; no busy machine reaches this limit.
const TIME_MAX: Duration = Duration::from_secs(600);

/// Switches off the checks that a busy machine fails, because other tests keep it busy.
pub const ON_ANY_MACHINE: [&str; 10] = [
    "--set",
    "validity.driver_pct_max=100",
    "--set",
    "validity.driver_thread_pct_max=100",
    "--set",
    "validity.late_starts_pct_max=100",
    "--set",
    "validity.stall_pct_max=100",
    "--set",
    "validity.waiting_pct_max=100",
];

/// Arguments of the command: a list, or a line in which spaces separate them.
pub trait Arguments {
    fn list(&self) -> Vec<&str>;
}

impl Arguments for &str {
    fn list(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for &[&str] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Arguments for &[&str; N] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for &Vec<&str> {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

/// The arguments of a command line, with the next of `values`, which may contain spaces, for each `{}`.
pub fn words<'a>(line: &'a str, values: &[&'a str]) -> Vec<&'a str> {
    let mut values = values.iter();
    let words = line.split_whitespace().map(|word| match word {
        "{}" => values.next().expect("a value for each {}"),
        word => word,
    });
    words.collect()
}

/// Arguments that load a warehouse of order entry with these rows, as `warehouse_rows=tenth`.
pub fn order_entry_load<'a>(url: &'a str, rows: &'a str) -> Vec<&'a str> {
    words(
        "data load oltp --target {} --warehouses 1 --set {}",
        &[url, rows],
    )
}

/// A tenth of the rows of the specification.
pub const TENTH: &str = "warehouse_rows=tenth";

/// Files of the library, with replacements that make loading smaller.
const SMALLER: [(&str, &str, &str); 4] = [
    ("sizes.toml", "small = 64_000", "small = 16_000"),
    ("sizes.toml", "large = 640_000", "large = 40_000"),
    ("sizes.toml", "oltp = 160_000", "oltp = 20_000"),
    ("T331.toml", "rows = 120_000", "rows = 20_000"),
];

pub const TINY: &str = "name = \"tiny\"\nsample_ms = 50\n\
    [[step]]\nuse = \"library\"\ntests = [\"T132\"]\njobs = [1]\nmode = \"time\"\nseconds = 0.05\n";

/// A directory with its own archive. Its name contains a space, as users' directories may.
pub struct Workspace {
    directory: TempDir,
}

#[derive(Clone)]
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Workspace {
    pub fn new() -> Self {
        let directory = tempfile::Builder::new().prefix("dbdyno test ").tempdir();
        Self {
            directory: directory.unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn archive(&self) -> PathBuf {
        self.path("archive.dbdyno")
    }

    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// URL of a database file in this workspace.
    pub fn url(&self, engine: &str, name: &str) -> String {
        format!("{engine}:{}", self.path(name).display())
    }

    /// The command in this workspace, with its archive and without the user's configuration. Measuring verbs run without the checks on the
    /// driver, which have separate tests, so that the result is the same on every machine. The tables of the library are small unless the
    /// arguments name another.
    pub fn command(&self, arguments: impl Arguments) -> Command {
        let arguments = arguments.list();
        let mut command = self.command_as_typed(&arguments);
        if measures(&arguments) {
            command.args(ON_ANY_MACHINE);
        }
        if takes_a_library(&arguments) {
            let library = format!("library={}", small_library().display());
            command.args(["--set", &library]);
        }
        command
    }

    pub fn command_as_typed(&self, arguments: impl Arguments) -> Command {
        let mut command = Command::new(DBDYNO);
        command
            .args(arguments.list())
            .current_dir(self.directory.path())
            .env("DBDYNO_ARCHIVE", self.archive())
            .env("COLUMNS", "120")
            .stdin(Stdio::null());
        command
    }

    pub fn dbdyno(&self, arguments: impl Arguments) -> Ended {
        let mut command = assert_cmd::Command::from_std(self.command(arguments));
        Ended::of(command.timeout(TIME_MAX).output().unwrap())
    }

    #[track_caller]
    pub fn ends(&self, status: i32, arguments: impl Arguments) -> Ended {
        let arguments = arguments.list();
        let ended = self.dbdyno(&arguments);
        let said = [ended.stdout.as_str(), &ended.stderr].concat();
        assert_eq!(ended.status, status, "{arguments:?}: {said}");
        ended
    }

    #[track_caller]
    pub fn fine(&self, arguments: impl Arguments) -> Ended {
        self.ends(0, arguments)
    }

    /// Runs a command that must print JSON and end with status 0.
    #[track_caller]
    pub fn json(&self, arguments: impl Arguments) -> Value {
        self.fine(arguments).json()
    }

    /// Loads a warehouse of order entry with a tenth of the rows.
    pub fn load_order_entry(&self, url: &str) -> Ended {
        self.loaded(url, &order_entry_load(url, TENTH))
    }

    /// Loads the smallest analytical database.
    pub fn load_olap(&self, engine: &str, name: &str) -> String {
        let url = self.url(engine, name);
        let load = words("data load olap --target {} --scale 0.01", &[&url]);
        let said = self.loaded(&url, &load).stdout;
        assert!(said.contains("scale 0.01 is loaded: 86805 rows"), "{said}");
        url
    }

    /// Loads a database. The tests of a program load each file once, and copy it.
    fn loaded(&self, url: &str, load: &[&str]) -> Ended {
        static LOADED: Shared<Arc<(Workspace, Ended)>> = Shared::new();
        let file = url.strip_prefix(&format!("sqlite:{}", self.path("").display()));
        let file = file.or(url.strip_prefix(&format!("duckdb:{}", self.path("").display())));
        let Some(file) = file.filter(|name| !self.path(name).exists()) else {
            return self.fine(load);
        };
        let engine = url.split(':').next().unwrap();
        let made = LOADED.get(&format!("{} {engine}", load[2]), || {
            let (workspace, load) = (Workspace::new(), load.join(" "));
            let original = workspace.url(engine, "original");
            let load = load.replace(url, "{}");
            let ended = workspace.fine(&words(&load, &[&original]));
            Arc::new((workspace, ended))
        });
        let logs = ["original-wal", "original.wal"];
        assert!(logs.iter().all(|log| !made.0.path(log).exists()));
        std::fs::copy(made.0.path("original"), self.path(file)).unwrap();
        made.1.clone()
    }

    pub fn run(&self, plan: &str, more: impl Arguments) -> Ended {
        let plan = self.file("plan.toml", plan);
        let url = self.url("sqlite", "bench.db");
        self.dbdyno(&[&["run", &plan, "--target", &url], &more.list()[..]].concat())
    }

    /// Measures a plan on one SQLite file, which must end with status 0.
    #[track_caller]
    pub fn measure(&self, plan: &str, more: impl Arguments) -> Ended {
        let ended = self.run(plan, more);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        ended
    }

    pub fn begin(&self, arguments: impl Arguments) -> Child {
        let mut command = self.command(arguments);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Runs the command of each row, which must end with this status, no output, and a message that contains the words after ` => `.
    #[track_caller]
    pub fn refuses(&self, status: i32, table: &str) {
        for (arguments, words) in testing::rows(table) {
            let ended = self.ends(status, arguments);
            let is_sentence = ended.stderr.contains("dbdyno: ");
            let said = if is_sentence {
                ended.sentence()
            } else {
                &ended.stderr
            };
            assert!(said.contains(words), "{arguments}: {said}");
            assert_eq!(ended.stdout, "", "{arguments}");
        }
    }

    /// The HTML report of a run, with these arguments.
    pub fn page(&self, run: &str) -> String {
        self.fine(&[&["report"], &run.list()[..], &["-o", "page.html"]].concat());
        self.text("page.html")
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The JSON export of a run, checked against the published schema.
    pub fn export(&self, run: &str) -> Value {
        let exported = self.json(&["report", run, "--format", "json"]);
        assert_eq!(schema_errors(&exported), Vec::<String>::new());
        exported
    }

    /// The built-in library as a directory, to be changed.
    pub fn library(&self) -> PathBuf {
        let to = self.path("library");
        copy_directory(&repository("library"), &to);
        to
    }
}

impl Ended {
    pub fn of(output: Output) -> Self {
        use std::os::unix::process::ExitStatusExt;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self {
            status: output
                .status
                .code()
                .unwrap_or_else(|| -output.status.signal().unwrap()),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        let found = serde_json::from_str(&self.stdout);
        found.unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }

    /// The single sentence on standard error, which must be the last line.
    pub fn sentence(&self) -> &str {
        let ours: Vec<&str> = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("dbdyno: ") && !line.starts_with("dbdyno: warning: "))
            .collect();
        assert_eq!(ours.len(), 1, "not one sentence: {:?}", self.stderr);
        assert_eq!(self.stderr.lines().last(), Some(ours[0]), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        ours[0]
    }
}

pub fn repository(name: &str) -> PathBuf {
    std::path::absolute(Path::new("../..").join(name)).unwrap()
}

fn schema_errors(exported: &Value) -> Vec<String> {
    let schema = std::fs::read_to_string(repository("docs/dbdyno-result.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors = validator.iter_errors(exported);
    errors.map(|e| e.to_string()).collect()
}

fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

pub fn points(exported: &Value) -> &[Value] {
    exported["points"].as_array().unwrap()
}

/// Number of points that a run has reported on standard error, a line each.
pub fn lines_of_points(said: &str) -> usize {
    let is_point = |line: &&str| line.contains(" session · ") || line.contains(" sessions · ");
    said.lines().filter(is_point).count()
}

pub fn point_of<'e>(exported: &'e Value, test: &str) -> &'e Value {
    let found = points(exported).iter().find(|p| p["test"] == test);
    found.unwrap_or_else(|| panic!("no point {test}"))
}

pub fn points_of<'e>(exported: &'e Value, test: &str) -> Vec<&'e Value> {
    let all = points(exported).iter();
    all.filter(|point| point["test"] == test).collect()
}

pub fn only_point(exported: &Value) -> &Value {
    let [point] = points(exported) else {
        panic!("not one point: {exported}")
    };
    point
}

pub fn note<'p>(point: &'p Value, code: &str) -> Option<&'p Value> {
    let mut notes = point["notes"].as_array().unwrap().iter();
    notes.find(|note| note["code"] == code)
}

/// Changes rows of an analytical database in a SQLite file so that Q12, and not Q6, has a wrong answer.
pub fn spoil_answer_12(url: &str) {
    let path = url.strip_prefix("sqlite:").unwrap();
    let database = rusqlite::Connection::open(path).unwrap();
    database
        .execute_batch("UPDATE lineitem SET l_shipmode = 'MAIL' WHERE l_shipmode = 'SHIP'")
        .unwrap();
}

pub fn faults(point: &Value) -> Vec<&str> {
    let reasons = point["reasons"].as_array().unwrap().iter();
    reasons
        .map(|reason| reason["text"].as_str().unwrap())
        .collect()
}

/// True if the arguments run a plan; a resumed run has the limits that it was begun with.
fn measures(arguments: &[&str]) -> bool {
    let is_run = matches!(arguments, ["run" | "ab" | "study", ..]);
    is_run && !arguments.contains(&"--resume")
}

/// True if the arguments use the built-in library.
fn takes_a_library(arguments: &[&str]) -> bool {
    let is_plan = match arguments {
        ["run", word, ..] => !["oltp", "olap", "columnar", "backup"].contains(word),
        ["run" | "ab", ..] => true,
        _ => false,
    };
    let names_another = |word: &&str| word.starts_with("library=") || *word == "--resume";
    is_plan && !arguments.iter().any(names_another)
}

/// The built-in library with smaller tables, whose loading would otherwise take most of a test's time.
pub fn small_library() -> PathBuf {
    static SMALL: Shared<Arc<TempDir>> = Shared::new();
    let directory = SMALL.get("small", || {
        let directory = tempfile::tempdir().unwrap();
        copy_directory(&repository("library"), directory.path());
        for (file, words, smaller) in SMALLER {
            let file = directory.path().join(file);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(text.contains(words), "{text}");
            std::fs::write(file, text.replace(words, smaller)).unwrap();
        }
        Arc::new(directory)
    });
    directory.path().to_owned()
}

/// DuckDB is mandatory in the tests; only users may lack it.
pub fn need_duckdb() {
    let engines = Command::new(DBDYNO).args(["list", "engines"]).output();
    let engines = String::from_utf8(engines.unwrap().stdout).unwrap();
    let duckdb = engines.lines().find(|line| line.starts_with("duckdb:"));
    let duckdb = duckdb.expect("the engine is listed");
    assert!(!duckdb.contains('–'), "the tests need DuckDB: {duckdb}");
}

/// A step of one test of the library, one job for 0.2 s.
pub const LOOKUPS: &str = r#"[[step]]
use = "library"
tests = ["T611"]
jobs = [1]
mode = "time"
seconds = 0.2
"#;

/// A step of a user's script, which reads a table that is set up once for the run.
pub const SCRIPT_STEP: &str = r#"[[step]]
use = "script"
jobs = [1]
mode = "time"
seconds = 0.2
[step.script]
name = "own"
[step.script.setup]
sql = ["CREATE TABLE dbdyno_own (id BIGINT)", "INSERT INTO dbdyno_own VALUES (1)"]
when = "run"
[step.script.teardown]
sql = "DROP TABLE IF EXISTS dbdyno_own"
[[step.script.transaction]]
name = "read"
[[step.script.transaction.statement]]
sql = "SELECT id FROM dbdyno_own"
rows = 1
"#;
