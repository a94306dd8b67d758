//! One DuckDB instance: opened, closed to forget its cache, opened again with the same settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::claim::Claim;
use super::explain::explain;
use super::handle::{Connection, Database};
use super::library::Loaded;
use super::redo::RedoMeter;
use super::set_up::{SetUp, options_read_only};
use engine::database_file::as_one_name;
use engine::register::{self, quoted};
use engine::value::Identities;
use engine::{Cooled, OWN_TABLES, Result, TargetError, files};

/// Tables and views, and the comments by which tables of ours are known.
pub(super) const RELATIONS: &str = "SELECT CASE schema_name WHEN 'main' THEN name ELSE schema_name || '.' || name END, \
     kind || ' ' || coalesce(comment, '') FROM (SELECT schema_name, table_name AS name, 'table' AS kind, comment, \
     database_name FROM duckdb_tables() WHERE NOT internal UNION ALL SELECT schema_name, view_name, 'view', comment, \
     database_name FROM duckdb_views() WHERE NOT internal) WHERE database_name = current_database()";

/// A database and everything needed to open it again.
pub struct Instance {
    pub loaded: &'static Loaded,
    /// Without links; `None` in memory.
    pub path: Option<PathBuf>,
    /// `None` in memory, where nothing is logged.
    pub redo: Option<RedoMeter>,
    state: Mutex<State>,
    /// Statements that run first for tables of another database.
    attachment: Option<MemoryAttachment>,
    // Given back after the state, and with it the database, is dropped.
    _claim: Option<Claim>,
}

/// A database in memory for the tables of another one.
#[derive(Debug, Clone)]
pub struct MemoryAttachment {
    /// Statements after it is opened.
    pub opening: Vec<String>,
    /// The database that every connection uses.
    pub database: &'static str,
}

#[derive(Debug, Clone)]
pub(super) struct Lent {
    /// The one directory in which it can reach other files.
    pub directory: String,
    /// Size of the pool meanwhile.
    pub threads: u32,
}

struct State {
    set_up: SetUp,
    compressed: bool,
    lent: Option<Lent>,
    /// `None` only after opening again has failed.
    open: Option<Open>,
    sessions: usize,
}

/// An open database; fields are dropped in this order.
struct Open {
    /// For everything that is not a job's.
    control: Connection,
    database: Database,
}

/// Counts one session as long as it lives, and keeps the instance.
pub struct SessionGuard(Arc<Instance>);

impl SessionGuard {
    /// True if the session is of an attachment in memory that only this process can reach.
    pub(super) fn is_of_memory(&self) -> bool {
        self.0.attachment.is_some()
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.0.state().sessions -= 1;
    }
}

impl Instance {
    pub fn open(loaded: &'static Loaded, path: Option<PathBuf>, set_up: SetUp) -> Result<Self> {
        let claim = path.as_deref().map(Claim::take).transpose()?;
        let path = claim.as_ref().map(|c| c.path().to_owned());
        if let Some(path) = &path {
            refuse_foreign_tables(loaded, path)?;
        }
        let instance = Self {
            redo: path.as_deref().map(RedoMeter::new),
            path,
            _claim: claim,
            ..Self::closed(loaded, set_up)
        };
        instance.with_control(|_| Ok(()))?;
        Ok(instance)
    }

    /// Opens a database in memory for the tables of another one; files can be reached until it is sealed.
    pub fn open_shelf(
        loaded: &'static Loaded,
        set_up: SetUp,
        attachment: MemoryAttachment,
    ) -> Result<Self> {
        let instance = Self {
            attachment: Some(attachment),
            ..Self::closed(loaded, set_up)
        };
        instance.with_control(|_| Ok(()))?;
        Ok(instance)
    }

    fn closed(loaded: &'static Loaded, set_up: SetUp) -> Self {
        Self {
            loaded,
            path: None,
            redo: None,
            attachment: None,
            state: Mutex::new(State {
                set_up,
                compressed: true,
                lent: None,
                open: None,
                sessions: 0,
            }),
            _claim: None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The open database, opened again when it is closed.
    fn opened<'a>(&self, state: &'a mut State) -> Result<&'a Open> {
        let open = match state.open.take() {
            Some(open) => open,
            None => self.open_as(state)?,
        };
        Ok(state.open.insert(open))
    }

    fn open_as(&self, state: &State) -> Result<Open> {
        let context = match &self.path {
            Some(path) => format!("cannot open {}", path.display()),
            None => "cannot open an in-memory database".into(),
        };
        let open = || {
            let path = self.path.as_deref();
            let mut options = state.set_up.options();
            if let Some(directory) = self.temporary_of(state) {
                fs::create_dir_all(&directory)
                    .map_err(|e| format!("cannot create {}: {e}", directory.display()))?;
                options.push(("temp_directory", directory.display().to_string()));
            }
            let database = Database::open(&self.loaded.api, path, &options)?;
            let control = database.connect()?;
            if self.path.is_none() {
                // A database in memory would spill into the working directory.
                control.query("SET GLOBAL temp_directory = ''")?;
            }
            if !state.compressed {
                control.query(compression_sql(false))?;
            }
            if let Some(attachment) = &self.attachment {
                for sql in &attachment.opening {
                    control.query(sql)?;
                }
                control.query(&format!("USE {}", attachment.database))?;
                return Ok(Open { control, database });
            }
            if let Some(lent) = &state.lent {
                control.query(&format!("SET GLOBAL threads = {}", lent.threads))?;
                // A name that ends so is a directory's, and not the beginning of several.
                let directory = quoted(&format!("{}/", lent.directory));
                control.query(&format!("SET GLOBAL allowed_directories = [{directory}]"))?;
            }
            // Last, for it forbids changing paths too. Nothing else here needs another file.
            control.query("SET GLOBAL enable_external_access = false")?;
            Ok(Open { control, database })
        };
        open().map_err(|message: String| explain(&context, &message))
    }

    /// Does something with the connection that belongs to no job.
    pub(super) fn with_control<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut state = self.state();
        work(&self.opened(&mut state)?.control)
    }

    /// A connection for one more session, with the guard that counts it.
    pub fn connect(self: &Arc<Self>) -> Result<(Connection, SessionGuard)> {
        let mut state = self.state();
        let connection = self.opened(&mut state)?.database.connect();
        let connection = connection.map_err(|m| explain("cannot open a session", &m))?;
        if let Some(attachment) = &self.attachment {
            run(&connection, &format!("USE {}", attachment.database))?;
        }
        state.sessions += 1;
        Ok((connection, SessionGuard(Arc::clone(self))))
    }

    /// Sets the size of the pool, now and whenever the database is opened again; `None` is one for each processor.
    pub fn set_threads(&self, threads: Option<u32>) -> Result<()> {
        let sql = match threads {
            Some(threads) => format!("SET GLOBAL threads = {threads}"),
            None => "RESET GLOBAL threads".to_owned(),
        };
        let mut state = self.state();
        run(&self.opened(&mut state)?.control, &sql)?;
        state.set_up.threads = threads;
        Ok(())
    }

    /// Where its temporary files lie, if the URL says so.
    pub(super) fn temporary(&self) -> Option<PathBuf> {
        self.temporary_of(&self.state())
    }

    /// A directory of this database's own: DuckDB names its temporary files by their sizes and numbers alone.
    fn temporary_of(&self, state: &State) -> Option<PathBuf> {
        let directory = state.set_up.temporary.as_ref()?;
        Some(directory.join(as_one_name(self.path.as_deref()?)))
    }

    /// Sets how tables are stored, now and whenever the database is opened again.
    pub fn set_compression(&self, compressed: bool) -> Result<()> {
        let mut state = self.state();
        let control = &self.opened(&mut state)?.control;
        run(control, compression_sql(compressed))?;
        state.compressed = compressed;
        Ok(())
    }

    /// Writes everything to the data file and empties the log.
    pub fn checkpoint(&self) -> Result<()> {
        let mut state = self.state();
        self.checkpoint_of(&self.opened(&mut state)?.control)
    }

    fn checkpoint_of(&self, control: &Connection) -> Result<()> {
        let work = || run(control, "CHECKPOINT");
        match &self.redo {
            Some(redo) => redo.around(work),
            None => work(),
        }
    }

    /// Opens the database again, with what it is lent, or without.
    pub(super) fn lend(&self, lent: Option<Lent>) -> Result<()> {
        let mut state = self.state();
        self.refuse_sessions(&state, "open the database again")?;
        self.checkpoint_of(&self.opened(&mut state)?.control)?;
        state.lent = lent;
        state.open = None;
        self.opened(&mut state).map(drop)
    }

    fn refuse_sessions(&self, state: &State, what: &str) -> Result<()> {
        match state.sessions {
            0 => Ok(()),
            sessions => {
                let why = format!("{sessions} session(s) are open; close them first");
                let what = format!("DuckDB: cannot {what} while {why}");
                Err(TargetError::statement(what))
            }
        }
    }

    /// Closes the database file at `path`, lets the kernel forget it and opens it again.
    ///
    /// Opening reads the headers and the catalog, a few blocks; no table's data.
    pub fn cool(&self, path: &Path) -> Result<Cooled> {
        let mut state = self.state();
        self.refuse_sessions(&state, "drop the cache")?;
        self.checkpoint_of(&self.opened(&mut state)?.control)?;
        // Its own buffer pool has no other way to be emptied that is sure. Closing also gives up the
        // lock, which opening the file for the advice would release behind DuckDB's back.
        state.open = None;
        let mut cooled = Cooled::Cold;
        for file in [Some(path), self.redo.as_ref().map(RedoMeter::log)] {
            if let Some(file) = file.filter(|f| f.exists()) {
                let found = files::cool(file).map_err(|e| cannot_drop(file, &e))?;
                if cooled == Cooled::Cold {
                    cooled = found;
                }
            }
        }
        self.opened(&mut state).map(|_| cooled)
    }
}

/// Runs SQL whose statement says enough about what was tried.
fn run(connection: &Connection, sql: &str) -> Result<()> {
    match connection.query(sql) {
        Ok(_) => Ok(()),
        Err(message) => Err(explain(&format!("\"{sql}\" failed"), &message)),
    }
}

fn compression_sql(compressed: bool) -> &'static str {
    if compressed {
        "SET GLOBAL force_compression = 'auto'"
    } else {
        "SET GLOBAL force_compression = 'uncompressed'"
    }
}

fn cannot_drop(path: &Path, error: &std::io::Error) -> TargetError {
    let path = path.display();
    let what = format!("cannot drop the page cache of {path}: {error}");
    TargetError::unreachable(what)
}

/// Looks into an existing file read-only, so that somebody else's is left as it is, log and all.
pub(super) fn refuse_foreign_tables(loaded: &'static Loaded, path: &Path) -> Result<()> {
    // An absent or empty file becomes a new database.
    if !std::fs::metadata(path).is_ok_and(|m| m.len() > 0) {
        return Ok(());
    }
    let context = format!("cannot open {}", path.display());
    let explain = |m: String| explain(&context, &m);
    let database = Database::open(&loaded.api, Some(path), &options_read_only());
    let database = database.map_err(explain)?;
    let connection = database.connect().map_err(explain)?;
    let pairs = |sql: &str| {
        let rows = connection.texts(sql).map_err(explain)?;
        let pair = |row: Vec<String>| {
            row.try_into()
                .ok()
                .map(|[name, of]: [String; 2]| (name, of))
        };
        Ok(rows.into_iter().filter_map(pair).collect::<Identities>())
    };
    let found = pairs(RELATIONS)?;
    let entered = || pairs(&format!("SELECT name, identity FROM {OWN_TABLES}"));
    let is_table = |identity: &str| identity.starts_with("table ");
    match register::stranger(&found, is_table, entered)? {
        None => Ok(()),
        Some(table) => Err(register::refused(
            &path.display().to_string(),
            &table,
            "use a separate path: dbdyno does not load tests into a database that it did not create",
        )),
    }
}
