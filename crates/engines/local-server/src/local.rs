//! One server that dbdyno made and owns.

mod restored;
mod snapshot;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::blank::Blank;
use super::group::MemoryGroup;
use super::janitor;
use super::place::{self, DataDirectory};
use super::process::{self, Bonds};
use super::run_directory::RunDirectory;
use super::spec::sessions_under;
use super::{
    Account, Apart, Installation, Layout, MAX_CONNECTIONS, SESSIONS_USUAL, ServerKind, ServerSpec,
    Surroundings, cache, choose, failed, staging,
};
use engine::{Cooled, ErrorKind, Result, TargetError, TargetUrl};

/// Making a data directory takes a second or two, on a busy machine with a slow disk far longer.
const INITIALISE_TIME_MAX: Duration = Duration::from_secs(300);
/// A start may include the recovery of a given data directory.
const START_TIME_MAX: Duration = Duration::from_secs(600);
/// Stopping in order writes everything that is dirty.
const STOP_TIME_MAX: Duration = Duration::from_secs(300);
/// Without order nothing is written.
const ABANDON_TIME_MAX: Duration = Duration::from_secs(20);
/// A server that took its connections with it has ended by then.
const LOSS_TIME_MAX: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(10);
/// Only the end of a log is read, where the reasons stand.
const LOG_BYTES_MAX: u64 = 256 * 1024;
/// Longest path in a Unix socket's address, without the zero at its end.
const SOCKET_PATH_BYTES_MAX: usize = 107;

/// A local server; dropping it stops it and removes everything that is not the user's.
pub struct LocalServer {
    kind: &'static dyn ServerKind,
    account: Account,
    layout: Layout,
    settings: BTreeMap<String, String>,
    child: Mutex<Option<Child>>,
    // Dropped in this order: the data's lock, the group when nobody is in it, the directory with the notes.
    place: DataDirectory,
    apart: BTreeMap<Apart, DataDirectory>,
    /// Where the URL puts them.
    asked: BTreeMap<Apart, PathBuf>,
    group: Option<MemoryGroup>,
    run: RunDirectory,
}

impl LocalServer {
    /// Makes the server of a URL.
    ///
    /// # Errors
    /// When the URL makes no sense, and as [`LocalServer::start`].
    pub fn start_for(kind: &'static dyn ServerKind, url: &TargetUrl) -> Result<Self> {
        Self::start(kind, &ServerSpec::from_url(kind, url)?)
    }

    /// Makes a server as asked, and returns when it takes connections.
    ///
    /// # Errors
    /// When there is no such server, the data directory is not ours, memory cannot be held to a size, or
    /// the server does not start, with its own reason.
    pub fn start(kind: &'static dyn ServerKind, spec: &ServerSpec) -> Result<Self> {
        let account = Account::for_server(kind.about().accounts)?;
        // First, because it removes what may still hold the data directory.
        let run = RunDirectory::create(spec, kind.about().name)?;
        let place = match &spec.data_directory {
            None => DataDirectory::throw_away(run.path(), &account)?,
            Some(given) => DataDirectory::given(given, kind, &account)?,
        };
        let apart = place.apart(&spec.places, kind, &account)?;
        let made_by = kind.version_of_data(&place.data);
        let found = kind.find(&Surroundings::of_process())?;
        let installation = choose::choose(kind, found, spec.version.as_deref(), made_by.as_ref())?;
        let installation = staging::reachable(installation, &account, run.path())?;
        // The program may execute another file of its tree.
        let program = installation.root.as_ref().unwrap_or(&installation.server);
        run.note(janitor::PROGRAM, &program.display().to_string())?;
        run.note(janitor::DATA, &place.data.display().to_string())?;
        let group = match spec.memory_bytes {
            None => None,
            Some(bytes) => Some(make_group(&run, bytes)?),
        };
        let layout = Layout {
            installation,
            data: place.data.clone(),
            places: apart
                .iter()
                .map(|(of, it)| (of.clone(), it.data.clone()))
                .collect(),
            socket_directory: run.path().join("socket"),
            configuration: run.path().join("server.conf"),
            run: run.path().to_owned(),
        };
        refuse_long_socket_path(&kind.socket_path(&layout.socket_directory))?;
        place::make_for(&layout.socket_directory, &account)?;
        let mut server = Self {
            kind,
            account,
            settings: spec.all_settings(kind),
            layout,
            child: Mutex::new(None),
            place,
            apart,
            asked: spec.places.clone(),
            group,
            run,
        };
        server.configure(&server.settings)?;
        server.initialise()?;
        server.forget_files()?;
        server.launch()?;
        Ok(server)
    }

    pub fn socket_directory(&self) -> &Path {
        &self.layout.socket_directory
    }

    pub fn socket_path(&self) -> PathBuf {
        self.kind.socket_path(&self.layout.socket_directory)
    }

    pub fn kind(&self) -> &'static dyn ServerKind {
        self.kind
    }

    /// Its process, `None` while it is stopped.
    pub fn pid(&self) -> Option<u32> {
        self.child().as_ref().map(Child::id)
    }

    /// The user of the operating system it runs as.
    pub fn os_user(&self) -> &str {
        &self.account.name
    }

    /// The database user that may do everything, without a password.
    pub fn superuser(&self) -> &'static str {
        self.kind.about().superuser
    }

    pub fn data_directory(&self) -> &Path {
        &self.layout.data
    }

    /// Directories of what lies apart from the data.
    pub fn places(&self) -> &BTreeMap<Apart, PathBuf> {
        &self.layout.places
    }

    /// Directories of tables that lie apart from the data, by their names.
    pub fn table_directories(&self) -> BTreeMap<String, PathBuf> {
        let tables = self
            .layout
            .places
            .iter()
            .filter_map(|(of, place)| match of {
                Apart::Table(table) => Some((table.clone(), place.clone())),
                Apart::Kind(_) => None,
            });
        tables.collect()
    }

    /// Its version, e.g. "15.18".
    pub fn version(&self) -> String {
        self.layout.installation.version.to_string()
    }

    pub fn title(&self) -> &str {
        &self.layout.installation.title
    }

    pub fn installation(&self) -> &Installation {
        &self.layout.installation
    }

    pub fn program(&self) -> &Path {
        &self.layout.installation.server
    }

    /// The settings it was given: dbdyno's defaults and what was asked for over them.
    pub fn settings(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    /// Size of the memory it is held to, page cache included.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        self.group.as_ref().map(MemoryGroup::bytes)
    }

    /// Memory charged to it now; only with a limit.
    pub fn memory_used_bytes(&self) -> Option<u64> {
        self.group.as_ref().and_then(MemoryGroup::usage_bytes)
    }

    /// Sessions of jobs that it lets in.
    pub fn sessions(&self) -> u32 {
        let most = self.settings.get(MAX_CONNECTIONS);
        most.and_then(|most| most.parse().ok())
            .map_or(SESSIONS_USUAL, sessions_under)
    }

    /// Notes for readers of its figures with `sessions` sessions: settings that it took
    /// otherwise than asked, and a memory limit that is too small.
    pub fn notes(&self, sessions: u32) -> Vec<String> {
        let mut notes = self.kind.adjustments(&self.log());
        notes.extend(self.kills());
        let need = self.kind.memory_need_bytes(&self.settings, sessions);
        if let Some(limit) = self.memory_limit_bytes().filter(|limit| *limit < need) {
            notes.push(format!(
                "memory is limited to {} MiB, but {sessions} sessions may need {} MiB: the kernel may kill the server",
                limit >> 20,
                need >> 20
            ));
        }
        notes
    }

    /// Fails with the reason when the server has ended by itself.
    ///
    /// # Errors
    /// When it has, or is stopped.
    pub fn check_alive(&self) -> Result<()> {
        let mut child = self.child();
        let Some(running) = child.as_mut() else {
            return Err(self.error("is stopped"));
        };
        match running.try_wait() {
            Ok(Some(status)) => Err(self.ended(&process::describe(status))),
            _ => Ok(()),
        }
    }

    /// Why a connection broke, where the server itself is the reason. To be asked after the loss, because a
    /// server that ends takes a moment to; `None` when it goes on as if nothing was.
    pub fn reason_for_loss(&self) -> Option<TargetError> {
        let begin = Instant::now();
        loop {
            if let Err(error) = self.check_alive() {
                return Some(error);
            }
            if begin.elapsed() > LOSS_TIME_MAX {
                return self
                    .kills()
                    .map(|kills| self.error(&format!("lost sessions: {kills}")));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Stops it in order; its data files are then complete. Fine when it is stopped already.
    ///
    /// # Errors
    /// When it did not end by itself in time and was killed.
    pub fn stop(&self) -> Result<()> {
        let _stop = tracing::debug_span!("stop server", server = self.kind.about().title).entered();
        let mut child = self.child();
        let Some(running) = child.as_mut() else {
            return Ok(());
        };
        let status =
            process::end(running, self.kind.about().signals.stop, STOP_TIME_MAX).map_err(|e| {
                failed(
                    &format!("{} cannot be stopped", self.kind.about().title),
                    &e,
                )
            })?;
        *child = None;
        if status.success() {
            Ok(())
        } else {
            Err(self.ended(&process::describe(status)))
        }
    }

    /// Stops it in order and starts it again on the same data.
    ///
    /// # Errors
    /// As for [`LocalServer::stop`], or when it does not start.
    pub fn restart(&self) -> Result<()> {
        self.stop()?;
        self.launch()
    }

    /// Restarts it with nothing of its data in memory, neither its own nor the kernel's.
    ///
    /// # Errors
    /// As for [`LocalServer::restart`], or when its files cannot be read.
    pub fn cool(&self) -> Result<Cooled> {
        self.stop()?;
        let cooled = self.forget_files()?;
        self.launch()?;
        Ok(self.unless_reloaded(cooled))
    }

    fn unless_reloaded(&self, cooled: Cooled) -> Cooled {
        match self.kind.reloads_cache(&self.settings) {
            Some(why) => Cooled::Lukewarm(why.into()),
            None => cooled,
        }
    }

    /// The end of its log.
    pub fn log(&self) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(self.log_path())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_BYTES_MAX)))?;
            let mut text = Vec::new();
            file.take(LOG_BYTES_MAX).read_to_end(&mut text)?;
            Ok(text)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
    }

    fn log_path(&self) -> PathBuf {
        self.run.path().join("server.log")
    }

    /// A log that begins anew with every start cannot grow over a long series of them.
    fn new_log(&self) -> io::Result<File> {
        let file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(self.log_path())?;
        file.set_len(0)?;
        Ok(file)
    }

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn configure(&self, settings: &BTreeMap<String, String>) -> Result<()> {
        let path = &self.layout.configuration;
        let text = self.kind.configuration(&self.layout, settings);
        fs::write(path, text)
            .and_then(|()| fs::set_permissions(path, PermissionsExt::from_mode(0o644)))
            .map_err(|e| failed(&format!("{} cannot be written", path.display()), &e))
    }

    fn initialise(&mut self) -> Result<()> {
        if self.place.is_initialised {
            return Ok(());
        }
        let _initialise =
            tracing::debug_span!("make data directory", server = self.kind.about().title).entered();
        let mut command = self.kind.initialise(&self.layout);
        let configuration = self.kind.configuration(&self.layout, &self.settings);
        let blank = Blank::of(&self.layout, &command, &self.account, &configuration);
        if blank.as_ref().is_some_and(|b| b.copy_to(&self.layout.data)) {
            return self.place.set_initialised(self.kind, &self.asked);
        }
        command.current_dir(&self.layout.run);
        self.run_to_end(command)?;
        if let Some(blank) = blank {
            blank.keep(&self.layout.data);
        }
        // The data last: until then all of it is taken for half made.
        for place in self.apart.values_mut() {
            place.set_initialised(self.kind, &BTreeMap::new())?;
        }
        self.place.set_initialised(self.kind, &self.asked)
    }

    /// Has a command make the data directory.
    fn run_to_end(&self, command: Command) -> Result<()> {
        let cannot = |e: io::Error| {
            failed(
                &format!("{} cannot be initialised", self.kind.about().title),
                &e,
            )
        };
        let log = self.new_log().map_err(cannot)?;
        let bonds = Bonds {
            account: self.account.clone(),
            group: None,
            death_signal: libc::SIGKILL,
        };
        let mut child = process::spawn(command, bonds, &log).map_err(cannot)?;
        let waited = process::wait(&mut child, INITIALISE_TIME_MAX).map_err(cannot)?;
        let Some(status) = waited else {
            process::end(&mut child, libc::SIGKILL, ABANDON_TIME_MAX).map_err(cannot)?;
            return Err(self.error("took too long to create its data directory"));
        };
        if !status.success() {
            return Err(self.ended(&format!(
                "{} while creating its data directory",
                process::describe(status)
            )));
        }
        Ok(())
    }

    /// Pages that others brought into the cache would not be charged to the server's group.
    fn forget_files(&self) -> Result<Cooled> {
        let _forget =
            tracing::debug_span!("drop cached files", server = self.kind.about().title).entered();
        let forget = |directory: &Path| {
            cache::forget(directory).map_err(|e| {
                let what = format!("cannot read the files in {}", directory.display());
                failed(&what, &e)
            })
        };
        for apart in self.layout.places.values() {
            forget(apart)?;
        }
        forget(&self.layout.data)
    }

    /// Reads all its files. Not where its memory has a limit, because what others read is not charged to its group.
    pub fn warm_files(&self) -> Result<()> {
        if self.group.is_some() {
            return Ok(());
        }
        for directory in self.layout.places.values().chain([&self.layout.data]) {
            cache::warm(directory).map_err(|e| {
                let what = format!("cannot read the files in {}", directory.display());
                failed(&what, &e)
            })?;
        }
        Ok(())
    }

    fn launch(&self) -> Result<()> {
        let _start =
            tracing::debug_span!("start server", server = self.kind.about().title).entered();
        let cannot = |e: io::Error| {
            failed(
                &format!("{} cannot be started", self.kind.about().title),
                &e,
            )
        };
        self.kind.forget_dead(&self.layout.data);
        let log = self.new_log().map_err(cannot)?;
        let mut command = self.kind.serve(&self.layout);
        command.current_dir(&self.layout.data);
        let entrance = self.group.as_ref().map(MemoryGroup::entrance);
        let bonds = Bonds {
            account: self.account.clone(),
            group: entrance.transpose().map_err(cannot)?,
            death_signal: self.kind.about().signals.abandon,
        };
        let child = process::spawn(command, bonds, &log).map_err(cannot)?;
        let pid = child.id();
        *self.child() = Some(child);
        let ready = self.wait_until_ready(pid);
        if ready.is_err() {
            self.abandon();
        }
        ready
    }

    fn wait_until_ready(&self, pid: u32) -> Result<()> {
        let begin = Instant::now();
        while !self.kind.is_ready(&self.layout, pid) {
            self.check_alive()?;
            if begin.elapsed() > START_TIME_MAX {
                return Err(self.error("did not accept connections in time"));
            }
            std::thread::sleep(POLL);
        }
        self.note_shared_memory(pid)
    }

    /// Shared memory would outlive a killed server, and nobody would know of it.
    fn note_shared_memory(&self, pid: u32) -> Result<()> {
        for segment in self.kind.segments(&self.layout.data) {
            let value = format!("{} {}", segment.id, segment.key);
            self.run.note(janitor::SEGMENT, &value)?;
        }
        for file in process::shared_files(pid) {
            self.run
                .note(janitor::SHARED, &file.display().to_string())?;
        }
        Ok(())
    }

    /// Ends it without order.
    fn abandon(&self) {
        if let Some(mut running) = self.child().take() {
            // Nobody waits for an answer; removing the directory kills whatever is left.
            let _ = process::end(
                &mut running,
                self.kind.about().signals.abandon,
                ABANDON_TIME_MAX,
            );
        }
    }

    fn ended(&self, how: &str) -> TargetError {
        let mut reasons: Vec<String> = self.kills().into_iter().collect();
        let log = self.log();
        // Where the server has no reason of its own, the last words will do.
        let words = || log.lines().rev().find(|line| !line.trim().is_empty());
        let words = || words().map(|line| line.trim().to_owned());
        reasons.extend(self.kind.complaint(&log).or_else(words));
        if reasons.is_empty() {
            return self.error(&format!("ended with {how}"));
        }
        let mut error = self.error(&format!("ended with {how}: {}", reasons.join("; ")));
        if self.kind.refuses_a_setting(&log) {
            error.kind = ErrorKind::Statement;
        }
        error
    }

    /// Processes that the kernel killed because they outgrew the memory group.
    fn kills(&self) -> Option<String> {
        let group = self.group.as_ref()?;
        let kills = group.kills().filter(|kills| *kills > 0)?;
        Some(format!(
            "the kernel killed {kills} of its processes because they needed more than memory={}MiB",
            group.bytes() >> 20
        ))
    }

    fn error(&self, what: &str) -> TargetError {
        let kind = if what.contains("No space left on device") {
            ErrorKind::Full
        } else {
            ErrorKind::Unreachable
        };
        let version = &self.layout.installation.version;
        TargetError::new(
            kind,
            format!("{} {version} {what}", self.kind.about().title),
        )
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        // Data that stays is worth a checkpoint, data that goes is not.
        if self.place.is_given() && self.stop().is_ok() {
            return;
        }
        self.abandon();
    }
}

/// Notes the group before it is made, so that there is none without a note.
fn make_group(run: &RunDirectory, bytes: u64) -> Result<MemoryGroup> {
    let name = run.path().file_name().unwrap_or_default().to_string_lossy();
    let path = MemoryGroup::place(&format!("dbdyno-{name}"))?;
    run.note(janitor::GROUP, &path.display().to_string())?;
    MemoryGroup::create(path, bytes)
}

fn refuse_long_socket_path(path: &Path) -> Result<()> {
    let bytes = path.as_os_str().len();
    if bytes <= SOCKET_PATH_BYTES_MAX {
        return Ok(());
    }
    Err(TargetError::unreachable(format!(
        "the path of the server's socket, {}, has {bytes} bytes, but the system allows {SOCKET_PATH_BYTES_MAX}; name \
         a shorter directory in $DBDYNO_SERVER_DIR",
        path.display()
    )))
}
