//! The two traits an engine implements.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use archive::{Purpose, TargetRecord};

use crate::activity::ONLY_MEASURED;
use crate::catalogue::Source;
use crate::nonblocking::{FirstRow, Nonblocking};
use crate::value::{
    Cooled, Counters, Fetched, Identities, RowSource, SessionsLeft, Statement, Value,
};
use crate::{
    Activity, BackedUp, BackupMethod, BackupOptions, Feature, FileIo, Result, Snapshot,
    TargetError, TargetUrl, Wanted, Watch,
};

/// Most rows that [`Session::texts`] gives.
pub const TEXTS_MAX: usize = 100_000;
/// The setting of a run that says that a login gave away what the password can be guessed from.
pub const WEAK_LOGIN: &str = "dbdyno.login";
/// The register of the tables that dbdyno made, itself among them.
pub const OWN_TABLES: &str = "dbdyno_tables";

/// One database session: what one job works with. Used by one thread at a time.
pub trait Session: Send {
    /// Runs SQL that is not measured; several statements may be separated by semicolons.
    fn batch(&mut self, sql: &str) -> Result<()>;

    /// The same where names lead to dbdyno's tables alone, also in a session for a user's own SQL.
    fn batch_in_own_schema(&mut self, sql: &str) -> Result<()> {
        self.batch(sql)
    }

    /// Prepares a statement for many executions.
    fn prepare(&mut self, sql: &str) -> Result<Statement>;

    /// Executes a statement that returns no rows; gives the number of rows changed.
    fn execute(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<u64>;

    /// Executes a query and reads every row of its result.
    fn fetch(&mut self, statement: Statement, parameters: &[Value<'_>]) -> Result<Fetched>;

    /// Rows of a small query that is not measured, every cell as the engine's own text, null as `None`.
    ///
    /// # Errors
    /// When the query fails, or gives more than [`TEXTS_MAX`] rows.
    fn texts(&mut self, _sql: &str) -> Result<Vec<Vec<Option<String>>>> {
        Err(TargetError::statement(
            "this engine does not return rows as text, which this workload needs; use another engine",
        ))
    }

    /// How the engine would carry out a query: its steps in the engine's words, without values, so that two texts
    /// differ when other steps are taken; `None` where the engine does not tell.
    ///
    /// # Errors
    /// When the query is wrong.
    fn plan(&mut self, _sql: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// Workers that a query gets beside this session, 0 for a serial one; it is carried out once for that.
    /// `None` where the engine does not tell.
    ///
    /// # Errors
    /// When the query fails.
    fn workers(&mut self, _sql: &str) -> Result<Option<u32>> {
        Ok(None)
    }

    /// Columns that a statement returns, 0 for none; `None` where the engine does not tell beforehand.
    fn columns(&self, _statement: Statement) -> Option<usize> {
        None
    }

    /// True if the value of a column (from 0) of a query can be handed out by [`Session::fetch_first`].
    ///
    /// # Errors
    /// When it cannot; the sentence says why.
    fn check_kept(&self, _statement: Statement, _column: usize) -> Result<()> {
        Err(not_kept())
    }

    /// As [`Session::fetch`], with the first row handed out; gives the number of rows.
    fn fetch_first(
        &mut self,
        _statement: Statement,
        _parameters: &[Value<'_>],
        _first: &mut FirstRow,
    ) -> Result<u64> {
        Err(not_kept())
    }

    /// The session as one whose answers can be awaited; `None` where the engine's calls block.
    fn nonblocking(&mut self) -> Option<&mut dyn Nonblocking> {
        None
    }

    /// Ends every later statement that takes longer, with an error; `None` lets them take their time.
    ///
    /// # Errors
    /// When the engine cannot end a statement, or the session is gone.
    fn limit_statements(&mut self, limit: Option<Duration>) -> Result<()> {
        match limit {
            None => Ok(()),
            Some(_) => Err(TargetError::statement(
                "this engine cannot cancel a long statement; remove the time limit",
            )),
        }
    }

    /// Begins a transaction that is going to write.
    fn begin(&mut self) -> Result<()>;

    /// Begins a transaction that only reads.
    fn begin_read(&mut self) -> Result<()> {
        self.begin()
    }

    /// Begins a transaction that only reads, and whose statements all see the rows of one moment.
    fn begin_snapshot(&mut self) -> Result<()> {
        self.begin_read()
    }

    /// Commits durably, as the target is set up.
    fn commit(&mut self) -> Result<()>;

    /// Rolls back; also allowed when the engine has done so already.
    fn rollback(&mut self) -> Result<()>;

    /// The schema of dbdyno's tables as it stands in front of their names. Whatever makes, removes or fills a table
    /// names it with its schema, so that no setting of a session leads it to another.
    fn schema(&self) -> &str;

    /// Every table and view of that schema, and its identity among those of that name.
    fn relations(&mut self) -> Result<Identities>;

    /// Makes `table` by a statement in which `{schema}` stands for [`Session::schema`], and enters it as dbdyno's in
    /// the same transaction. No transaction may be open.
    ///
    /// # Errors
    /// When there is a table of that name, whosever it is.
    fn create_table(&mut self, table: &str, sql: &str) -> Result<()>;

    /// Makes `table` with the rows of a query in which `{schema}` stands for [`Session::schema`], as [`Session::create_table`].
    ///
    /// # Errors
    /// When there is a table of that name, whosever it is.
    fn create_table_as(&mut self, table: &str, query: &str) -> Result<()> {
        let schema = self.schema();
        let sql = format!("CREATE TABLE {schema}.{table} AS {query}");
        self.create_table(table, &sql)
    }

    /// Removes `table`; false when there is none. No transaction may be open.
    ///
    /// # Errors
    /// When dbdyno did not make it.
    fn drop_table(&mut self, table: &str) -> Result<bool>;

    /// True if `table` is entered as dbdyno's, be it there or not.
    ///
    /// # Errors
    /// When the register is not dbdyno's.
    fn is_entered(&mut self, table: &str) -> Result<bool>;

    /// Makes an index over columns of a table of dbdyno's.
    fn create_index(&mut self, table: &str, index: &str, columns: &str) -> Result<()> {
        let schema = self.schema();
        self.batch(&format!(
            "CREATE INDEX {index} ON {schema}.{table} ({columns})"
        ))
    }

    /// Loads rows into `table` by the engine's fastest path, in one transaction; gives their number.
    fn bulk_load(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64> {
        self.begin()?;
        let appended = self.append(table, rows);
        match appended {
            Ok(_) => self.commit()?,
            // The first error is the one to tell; a rollback that fails too adds nothing.
            Err(_) => drop(self.rollback()),
        }
        appended
    }

    /// Loads rows into `table` by the same path in the transaction that is begun; gives their number.
    fn append(&mut self, table: &str, rows: &mut dyn RowSource) -> Result<u64>;

    /// Refreshes the planner's statistics of a table that was just loaded, and does whatever else lets
    /// reading it afterwards write nothing.
    fn analyse(&mut self, table: &str) -> Result<()> {
        let schema = self.schema();
        self.batch(&format!("ANALYZE {schema}.{table}"))
    }

    /// Drops an index of `table` that is there.
    fn drop_index(&mut self, _table: &str, index: &str) -> Result<()> {
        let schema = self.schema();
        self.batch(&format!("DROP INDEX {schema}.{index}"))
    }

    /// Drops an index of `table` that may not be there.
    fn drop_index_if_exists(&mut self, _table: &str, index: &str) -> Result<()> {
        let schema = self.schema();
        self.batch(&format!("DROP INDEX IF EXISTS {schema}.{index}"))
    }

    /// Pages asked of the engine's cache and log bytes written by this session so far.
    fn counters(&mut self) -> Counters {
        Counters::default()
    }
}

/// The error of a query that gives more rows than are kept.
pub fn too_many_texts() -> TargetError {
    TargetError::statement(format!(
        "the query returns more than the {TEXTS_MAX} rows that are kept"
    ))
}

fn not_kept() -> TargetError {
    TargetError::statement("this engine does not return single values of a result; remove \"keep\"")
}

/// Reason for which no device of a directory is known.
const NO_DIRECTORY: &str =
    "the target has no block device, so its device reads and writes cannot be counted";

pub trait Target: Send + Sync {
    /// Name, version and the settings as read back from the engine.
    fn record(&self) -> TargetRecord;

    /// Why the engine cannot do `feature`; `None` when it can.
    fn lacks(&self, feature: Feature) -> Option<String>;

    fn open_session(&self) -> Result<Box<dyn Session>>;

    /// Opens a session for a user's own SQL, which keeps the settings of its role, the database and the server where it can be
    /// measured with them.
    fn open_script_session(&self) -> Result<Box<dyn Session>> {
        self.open_session()
    }

    /// The file that holds the data, `None` for a database in memory.
    fn data_path(&self) -> Option<&Path> {
        None
    }

    /// Where the data of a running server lie on its own machine, which need not be this one.
    ///
    /// # Errors
    /// With the reason, where the server does not tell.
    fn server_directory(&self) -> std::result::Result<PathBuf, String> {
        Err(NO_DIRECTORY.into())
    }

    /// Where the database keeps what on its own machine, the data first; links in the paths are not followed.
    ///
    /// # Errors
    /// With the reason, where the place of the data is unknown.
    fn storage_paths(&self) -> std::result::Result<Vec<(Purpose, PathBuf)>, String> {
        Ok(vec![(Purpose::Data, self.data_directory()?)])
    }

    /// The file or directory of the data, wherever they are.
    ///
    /// # Errors
    /// With the reason, where it is unknown.
    fn data_directory(&self) -> std::result::Result<PathBuf, String> {
        match self.data_path() {
            Some(path) => Ok(path.to_owned()),
            None => self.server_directory(),
        }
    }

    /// The process of this machine whose children, with itself, are the server, or why none is known; `None` where the
    /// database runs inside this process.
    fn server_process(&self) -> Option<std::result::Result<u32, String>> {
        None
    }

    /// When a server that somebody else started was started, RFC 3339 in UTC by its own clock; `None` where it does not
    /// tell, and of servers that are started and stopped here.
    fn running_since(&self) -> Option<String> {
        None
    }

    /// Why nothing can be written here, by whomever: a standby, say. `None` where the server takes writes.
    fn read_only(&self) -> Option<String> {
        None
    }

    /// How many more sessions the server lets in; `None` where nothing limits them, or it does not tell.
    fn sessions_left(&self) -> Option<SessionsLeft> {
        None
    }

    /// Bytes of the cache that lie in the processes' own memory, as far as it is filled; 0 where the cache is shared memory,
    /// and `None` where the server does not tell.
    fn cache_in_processes_bytes(&self) -> Option<u64> {
        Some(0)
    }

    /// Most sessions at once since the server began, where it keeps memory of closed ones for those that come; 0 where the memory
    /// of a session goes with it, and `None` where the server does not tell.
    fn sessions_kept(&self) -> Option<u64> {
        Some(0)
    }

    /// True if others may open and close sessions of the server meanwhile, because its user allowed it.
    fn others_allowed(&self) -> bool {
        false
    }

    /// Opens a session within `patience` and closes it, as a sign of life; an engine in this process needs none.
    ///
    /// # Errors
    /// When the server refuses, or does not answer in time.
    fn knock(&self, _patience: Duration) -> Result<()> {
        Ok(())
    }

    /// Ends its sessions from another thread: what they wait for fails. For a server that does not answer.
    fn break_off(&self) {}

    /// Everything of the engine as a whole that no single session counts.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// An embedded engine's account of its own I/O, out of `counters` of its sessions and of itself over some
    /// time. Servers tell theirs to whoever watches them.
    fn file_io(&self, _counters: &Counters) -> Vec<FileIo> {
        Vec::new()
    }

    /// Writes what is in the log or in memory to the data files, durably.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }

    /// Makes engine and kernel forget the data; to be called with no session open.
    fn cool(&self) -> Result<Cooled>;

    /// Itself, for a service that knows targets of this type and more of them than is asked here.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }

    /// Its tables, to be read as a whole; a server that was started for the target lives as long as they.
    ///
    /// # Errors
    /// When the engine's tables are not read so, or it cannot be reached.
    fn source(&self) -> Result<Box<dyn Source>> {
        Err(TargetError::statement(
            "this engine cannot export whole tables; use a database of another engine",
        ))
    }

    /// Another place for tables of ours in the same server, called by `name`: for tables that bear names which are
    /// taken here. Who opens it shares server, caches and log with this one, and neither its lock nor its copies.
    ///
    /// # Errors
    /// When there is no such place, or it holds what is somebody else's.
    fn secondary_schema(&self, _name: &str) -> Result<Arc<dyn Target>> {
        Err(TargetError::statement(
            "this engine has no secondary schema; use another engine",
        ))
    }

    /// Removes what [`Target::secondary_schema`] makes by this name, with all that is in it; to be called with no session
    /// open in it. Does nothing where there is none.
    ///
    /// # Errors
    /// When it holds what is somebody else's, which stays.
    fn remove_secondary_schema(&self, _name: &str) -> Result<()> {
        Ok(())
    }

    /// The same database by another URL of it, with sessions and session settings of its own. It shares the lock of this
    /// target, which must live as long.
    ///
    /// # Errors
    /// When it cannot be open twice, or the server refuses a setting.
    fn companion(&self, _url: &TargetUrl) -> Result<Arc<dyn Target>> {
        Err(TargetError::statement(
            "this engine cannot open a database twice with different settings; give each side a database of its own",
        ))
    }

    /// The copy of the database that is kept to come back to.
    ///
    /// # Errors
    /// With the reason, where none can be kept.
    fn snapshot(&self) -> std::result::Result<&dyn Snapshot, String> {
        Err("this engine cannot restore a database from a snapshot".into())
    }

    /// Its backups.
    ///
    /// # Errors
    /// With the reason, where none can be made.
    fn backup(&self) -> std::result::Result<&dyn Backup, String> {
        Err(
            "dbdyno has no backup methods for this engine; docs/BACKUP.md names those that it has"
                .into(),
        )
    }

    /// Degree of parallelism inside one statement.
    fn threads(&self) -> u32 {
        1
    }

    /// The highest degree that can be set.
    fn threads_max(&self) -> u32 {
        1
    }

    /// Sets that degree; only with [`Feature::ParallelStatement`].
    fn set_threads(&self, _threads: u32) -> Result<()> {
        Err(TargetError::statement(
            "this engine runs each statement on one thread",
        ))
    }

    /// True if tables are stored compressed as the target is set now; at first as is usual for it.
    fn compression(&self) -> bool {
        true
    }

    /// True if tables loaded from now on are stored compressed; only with [`Feature::Compression`].
    fn set_compression(&self, _compressed: bool) -> Result<()> {
        Err(TargetError::statement(
            "this engine has no setting that compresses tables",
        ))
    }

    /// A watch over what the sessions wait for, on a connection of its own; `None` where the database
    /// runs inside this process and the kernel reports it for the jobs' threads.
    ///
    /// # Errors
    /// When the server lets no further connection in, or shows nothing to this user.
    fn watch(&self) -> Result<Option<Box<dyn Watch>>> {
        Ok(None)
    }

    /// Looks at what others do on the server, on a connection of its own; only of a target that was opened for that.
    ///
    /// # Errors
    /// When it was not, or the server lets no further connection in.
    fn activity(&self, _wanted: Wanted) -> Result<Box<dyn Activity>> {
        Err(TargetError::statement(ONLY_MEASURED))
    }

    /// Published advice on the settings of [`Target::record`], as rules for the lint of
    /// `host`; nothing for an engine without such practice.
    fn setting_rules(&self) -> &'static str {
        "rule = []"
    }

    /// How the columns of `table` are stored, codec → number of segments; read back from the engine.
    /// Empty when the engine does not tell.
    fn storage_of(&self, _table: &str) -> Result<BTreeMap<String, u64>> {
        Ok(BTreeMap::new())
    }
}

/// A backup that was restored, and is open.
pub struct Restored {
    /// The restored database; it must not outlive its directory.
    pub target: Arc<dyn Target>,
    /// How long it took to copy the files to their new place, durably.
    pub copy_took: Duration,
    /// How long it took from then until the database answered.
    pub replay_took: Duration,
}

impl Restored {
    /// One whose replay has just ended.
    pub fn since(begun: Instant, copy_took: Duration, target: Arc<dyn Target>) -> Self {
        Self {
            target,
            copy_took,
            replay_took: begun.elapsed().saturating_sub(copy_took),
        }
    }
}

/// The backup that is restored, and the directory that it is restored into.
#[derive(Clone, Copy)]
pub struct RestoreOptions<'a> {
    pub options: BackupOptions,
    /// The name of the point in time; `None` restores all of the log.
    pub point: Option<&'a str>,
    pub from: &'a Path,
    pub into: &'a Path,
}

/// The backups of one database.
pub trait Backup: Sync {
    /// Bytes of the database that a backup holds: without free pages and without logs.
    ///
    /// # Errors
    /// When the engine does not tell.
    fn logical_bytes(&self) -> Result<u64>;

    /// The methods of its engine, those included for which something is missing here.
    fn methods(&self) -> Vec<BackupMethod>;

    /// A method by its name; `None` where the engine does not have it.
    fn method(&self, name: &str) -> Option<Box<dyn Method + '_>>;

    /// Reads the files of the database, so that a backup finds them in the page cache, as far as they fit.
    ///
    /// # Errors
    /// When they cannot be read.
    fn warm(&self) -> Result<()>;

    /// True if the engine can open a database that is restored into this directory.
    ///
    /// # Errors
    /// When its user cannot reach it.
    fn check_place(&self, _directory: &Path) -> Result<()> {
        Ok(())
    }
}

/// Carries a method out on one database.
pub trait Method: Send + Sync {
    /// Why it cannot be carried out here, and what to do about that.
    fn lacks(&self) -> Option<String> {
        None
    }

    /// Bytes that a backup of this method holds where it leaves some of [`Backup::logical_bytes`] out.
    ///
    /// # Errors
    /// When the engine does not tell.
    fn logical_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    /// Readies the database and an empty directory for a backup, before the work whose transactions the backup must hold.
    ///
    /// # Errors
    /// When the engine or a program fails.
    fn prepare(&self, _options: BackupOptions, _into: &Path) -> Result<()> {
        Ok(())
    }

    /// Backs the database up; when it returns, everything is durable there.
    ///
    /// # Errors
    /// When the engine or a file fails; what lies in the directory then is no backup.
    fn back_up(&self, options: BackupOptions, into: &Path) -> Result<BackedUp>;

    /// Names the point in time that is now, after a backup; only of a method that has points.
    ///
    /// # Errors
    /// When the engine fails.
    fn name_point(&self, _name: &str) -> Result<()> {
        Err(TargetError::statement(
            "this backup method has no points in time",
        ))
    }

    /// Undoes what [`Method::prepare`] did to the database.
    ///
    /// # Errors
    /// When the engine fails.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// The fault that the engine's own verification finds in a backup; `None` where it finds none.
    ///
    /// # Errors
    /// When it cannot be carried out.
    fn verify(&self, from: &Path) -> Result<Option<String>>;

    /// Restores a backup into an empty directory, with all of its log or to a point that was named, and opens it there.
    ///
    /// # Errors
    /// When it cannot be restored, or the engine does not open it.
    fn restore(&self, of: &RestoreOptions<'_>) -> Result<Restored>;
}
