//! The archive's file: one SQLite database, every finished point committed before the next begins.

mod annotate;
mod by_operation;
mod error;
pub(crate) mod finite;
mod name;
mod read;
mod schema;
mod write;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::{Inventory, Missing, Platform, PointKey, Run, RunState, StudyPart, TargetRecord};
pub use annotate::NOTE_CHARS_MAX;
pub use error::{ArchiveError, Result};
pub use name::{LABEL_CHARS_MAX, RunName, check_label};
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub(crate) use write::{state_name, steady_name};

/// How long to wait for another process's transaction.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// No text, histogram or row of an archive is longer; SQLite's own limit is 1 GB.
const VALUE_BYTES_MAX: i32 = 64 << 20;

/// An open archive.
#[derive(Debug)]
pub struct Archive {
    connection: Connection,
    path: PathBuf,
}

/// A run about to begin.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Unique name; `None` becomes `run-ID`.
    pub label: Option<String>,
    /// Name of the plan.
    pub plan_name: String,
    /// The plan as it will be carried out, as TOML.
    pub plan_toml: String,
    /// Seed from which every point's seed is derived.
    pub seed: u64,
    /// Repetitions asked for.
    pub repetitions: u32,
    /// Targets, as they were found.
    pub targets: Vec<TargetRecord>,
    /// The machine.
    pub platform: Platform,
    /// The machine in full, and what is advised for it.
    pub inventory: Inventory,
    /// The run's part in a study.
    pub study: Option<StudyPart>,
    /// What the targets cannot do.
    pub missing: Vec<Missing>,
    /// Version of dbdyno that measures.
    pub tool_version: String,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    /// Every point of the complete run, in order; a resumed run knows from it what is left.
    pub planned: Vec<PointKey>,
}

/// One line of `list runs`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Number in the archive.
    pub id: i64,
    /// Unique name.
    pub label: String,
    /// Name of the plan.
    pub plan_name: String,
    /// How far it came.
    pub state: RunState,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started_at: String,
    /// The label that it was measured under, when its user has called it by another name since.
    pub renamed_from: Option<String>,
    /// What its user noted of it.
    pub note: Option<String>,
    /// Targets.
    pub targets: Vec<TargetRecord>,
    /// Points that are there.
    pub points_finished: usize,
    /// Points of the complete run.
    pub points_planned: usize,
    /// Complete, unchanged and every point valid.
    pub valid: bool,
}

impl Archive {
    /// Opens the archive at `path` for measuring; creates it, with its directory, when there is none.
    ///
    /// # Errors
    /// A file that is newer, damaged or not an archive is refused and left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let exists = path.try_exists().map_err(|e| unreachable(path, &e))?;
        if !exists {
            create(path)?;
        }
        Self::open_existing(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
    }

    /// Opens the archive at `path` for reading alone.
    ///
    /// # Errors
    /// As [`Archive::open`]; also when there is no such file.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        if !path.try_exists().map_err(|e| unreachable(path, &e))? {
            return Err(ArchiveError::Absent {
                path: path.to_path_buf(),
            });
        }
        Self::open_existing(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    /// Where the archive is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Enters a new run, with all that is known before its first point, and gives its number.
    ///
    /// # Errors
    /// A label that is taken or unusable, a plan that contradicts itself, or the environment.
    pub fn create_run(&mut self, new: &NewRun) -> Result<i64> {
        write::create_run(&mut self.connection, new).map_err(|e| e.at(&self.path))
    }

    /// Enters a finished point. When this returns, the point is on the disk for good.
    ///
    /// # Errors
    /// A point that is there already or was not planned, an unknown run, or the environment.
    pub fn append_point(&mut self, run_id: i64, point: &crate::Point) -> Result<()> {
        self.append_points(run_id, std::slice::from_ref(point))
    }

    /// Enters finished points that belong together, all of them or none.
    ///
    /// # Errors
    /// As [`Archive::append_point`].
    pub fn append_points(&mut self, run_id: i64, points: &[crate::Point]) -> Result<()> {
        self.require(run_id)?;
        write::append_points(&mut self.connection, run_id, points).map_err(|e| e.at(&self.path))
    }

    /// Makes finished points invalid, for what was found out after they were measured: a database that was
    /// not sound when its users had left, say.
    ///
    /// # Errors
    /// A point that is not there, an unknown run, or the environment.
    pub fn condemn(&mut self, run_id: i64, keys: &[PointKey], reason: &str) -> Result<()> {
        self.require(run_id)?;
        write::condemn(&mut self.connection, run_id, keys, reason).map_err(|e| e.at(&self.path))
    }

    /// Takes points out of the plan that a rule of the plan made needless, with the reason: the steps of a
    /// ramp beyond the one that ended it.
    ///
    /// # Errors
    /// A point that is there already, an unknown run, or the environment.
    pub fn leave_out(&mut self, run_id: i64, keys: &[PointKey], reason: &Missing) -> Result<()> {
        self.require(run_id)?;
        write::leave_out(&mut self.connection, run_id, keys, reason).map_err(|e| e.at(&self.path))
    }

    /// Says how far a run came.
    ///
    /// # Errors
    /// `Complete` while planned points are missing, an unknown run, or the environment.
    pub fn finish_run(
        &mut self,
        run_id: i64,
        state: RunState,
        finished_at: Option<&str>,
    ) -> Result<()> {
        self.require(run_id)?;
        write::finish_run(&mut self.connection, run_id, state, finished_at)
            .map_err(|e| e.at(&self.path))
    }

    /// Calls a run by another name from now on; the label that it was measured under stays, and finds it as well.
    ///
    /// # Errors
    /// A name that is taken or unusable, an unknown run, or the environment.
    pub fn rename(&mut self, run_id: i64, name: &str, now: &str) -> Result<()> {
        self.require(run_id)?;
        annotate::rename(&mut self.connection, run_id, name, now).map_err(|e| e.at(&self.path))
    }

    /// Keeps a note of a run, instead of the one that it has; an empty one takes it away.
    ///
    /// # Errors
    /// A note that is unusable, an unknown run, or the environment.
    pub fn note(&mut self, run_id: i64, note: &str, now: &str) -> Result<()> {
        self.require(run_id)?;
        annotate::note(&mut self.connection, run_id, note, now).map_err(|e| e.at(&self.path))
    }

    /// Removes runs with all that was measured, all of them or none; their numbers are not given again.
    ///
    /// # Errors
    /// One that may be under way, was changed after it was measured, or is one side of a study whose other one
    /// stays; an unknown run, or the environment.
    pub fn delete_runs(&mut self, run_ids: &[i64], now: &str) -> Result<()> {
        for id in run_ids {
            self.require(*id)?;
        }
        annotate::delete(&mut self.connection, run_ids, now).map_err(|e| e.at(&self.path))
    }

    /// The points of the complete run, in the order of the plan.
    ///
    /// # Errors
    /// An unknown run, or the environment.
    pub fn planned(&self, run_id: i64) -> Result<Vec<PointKey>> {
        self.require(run_id)?;
        read::planned(&self.connection, run_id).map_err(|e| e.at(&self.path))
    }

    /// The points that are there, in the order in which they were measured.
    ///
    /// # Errors
    /// An unknown run, or the environment.
    pub fn finished(&self, run_id: i64) -> Result<Vec<PointKey>> {
        self.require(run_id)?;
        read::finished(&self.connection, run_id).map_err(|e| e.at(&self.path))
    }

    /// A whole run. What was changed behind the tool's back is there, but invalid, with the reason.
    ///
    /// # Errors
    /// An unknown run, or the environment.
    pub fn load_run(&self, name: &RunName) -> Result<Run> {
        let run_id = self.run_id(name)?;
        read::load_run(&self.connection, run_id).map_err(|e| e.at(&self.path))
    }

    /// The finished points of a run whose keys are wanted, with all that belongs to them.
    ///
    /// # Errors
    /// An unknown run, or the environment.
    pub fn load_points(
        &self,
        run_id: i64,
        is_wanted: &dyn Fn(&PointKey) -> bool,
    ) -> Result<Vec<crate::Point>> {
        self.require(run_id)?;
        read::points(&self.connection, run_id, is_wanted).map_err(|e| e.at(&self.path))
    }

    /// The number of the run called `name`.
    ///
    /// # Errors
    /// An unknown run, or the environment.
    pub fn run_id(&self, name: &RunName) -> Result<i64> {
        let found = read::run_id(&self.connection, name).map_err(|e| e.at(&self.path))?;
        found.ok_or_else(|| self.unknown(name))
    }

    /// The name by which a run is called.
    ///
    /// # Errors
    /// An unknown run, or the environment.
    pub fn label(&self, run_id: i64) -> Result<String> {
        let found = read::label(&self.connection, run_id).map_err(|e| e.at(&self.path))?;
        found.ok_or_else(|| self.unknown(&RunName::Id(run_id)))
    }

    /// All runs, oldest first.
    ///
    /// # Errors
    /// The environment.
    pub fn list_runs(&self) -> Result<Vec<RunSummary>> {
        read::list_runs(&self.connection).map_err(|e| e.at(&self.path))
    }

    /// Numbers and labels of the runs of a plan, oldest first; nothing else of them is read.
    ///
    /// # Errors
    /// The environment.
    pub fn runs_of_plan(&self, plan_name: &str) -> Result<Vec<(i64, String)>> {
        read::runs_of_plan(&self.connection, plan_name).map_err(|e| e.at(&self.path))
    }

    fn unknown(&self, name: &RunName) -> ArchiveError {
        ArchiveError::UnknownRun {
            path: self.path.clone(),
            name: name.to_string(),
        }
    }

    fn require(&self, run_id: i64) -> Result<()> {
        self.run_id(&RunName::Id(run_id)).map(|_| ())
    }

    fn open_existing(path: &Path, mode: OpenFlags) -> Result<Self> {
        schema::check_marks(path)?;
        let connection = match connect(path, path, mode).map_err(|e| e.at(path)) {
            Err(ArchiveError::Unreachable { .. }) if may_be_immutable(path, mode) => {
                let mode = mode | OpenFlags::SQLITE_OPEN_URI;
                connect(&immutable_uri(path), path, mode).map_err(|e| e.at(path))
            }
            other => other,
        }?;
        Ok(Self {
            connection,
            path: path.to_path_buf(),
        })
    }
}

/// On a disk that cannot be written SQLite finds no place for its shared memory. Without a WAL the
/// file is whole, nobody can change it, and it can be read without.
fn may_be_immutable(path: &Path, mode: OpenFlags) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    mode.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) && !Path::new(&wal).exists()
}

fn immutable_uri(path: &Path) -> PathBuf {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            letter if letter.is_ascii_alphanumeric() => uri.push(char::from(*letter)),
            other => uri += &format!("%{other:02X}"),
        }
    }
    PathBuf::from(uri + "?immutable=1")
}

/// A checked connection to `file` (`path`, or a URI that leads there) with every archive's settings.
fn connect(file: &Path, path: &Path, mode: OpenFlags) -> Result<Connection> {
    let mut connection = Connection::open_with_flags(file, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Until the file is known to be whole, closing it must not write the WAL into it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    trust_nothing(&connection)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    schema::check_whole(&connection, path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    // FULL: in WAL mode every commit is synced, so a point that was reported finished survives
    // a loss of power, not only of the process.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    match mode.contains(OpenFlags::SQLITE_OPEN_READ_ONLY) {
        true => schema::look_migrated(&connection)?,
        false => schema::migrate(&mut connection)?,
    }
    Ok(connection)
}

/// An archive may come from anybody: nothing in its schema is carried out, and no value of it takes all memory.
fn trust_nothing(connection: &Connection) -> Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    // Those that this connection makes itself (`look_migrated`) are temporary and work all the same.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    Ok(())
}

/// Makes a new archive under a temporary name and gives it its own when it is whole.
///
/// So a process killed at any moment leaves no half-made archive, and no file is ever overwritten.
fn create(path: &Path) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(directory).map_err(|e| unreachable(path, &e))?;
    let file = new_file(directory).map_err(|e| unreachable(path, &e))?;
    fill(file.path()).map_err(|e| e.at(path))?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        // Another process was faster: its archive is as good.
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(e) => Err(unreachable(path, &e.error)),
    }
}

fn new_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".dbdyno-").suffix(".new");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666)); // less the umask
    builder.tempfile_in(directory)
}

fn fill(path: &Path) -> Result<()> {
    let mut connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // Nobody sees this file yet, so it needs no journal on disk; and without a WAL the marks go
    // straight to the main file, where `check_marks` looks.
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(&schema::sql())?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// A failure of the file system in our words.
fn unreachable(path: &Path, error: &io::Error) -> ArchiveError {
    let path = path.to_path_buf();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ArchiveError::Full { path }
        }
        _ => ArchiveError::Unreachable {
            path,
            reason: error.to_string(),
        },
    }
}
