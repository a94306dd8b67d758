//! Servers with configurable delays: a preloaded library (`delays.c`, built here by the C compiler) waits in syncs of
//! the log and in reads of data files.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();

/// Delays of the servers, reset when dropped.
pub struct Delays(File);

impl Delays {
    /// Default delays for running and future servers.
    pub fn usual() -> Self {
        let directory = DIRECTORY.get_or_init(preload);
        let wanted = File::options().write(true).open(directory.join("wanted"));
        let delays = Self(wanted.unwrap());
        delays.set([0, 0], 0);
        delays
    }

    pub fn slow_log(&self, by: Duration) {
        self.set([by.as_micros() as u32, 0], 0);
    }

    pub fn free_log(&self) {
        self.set([0, 1], 0);
    }

    /// Every read of a data file comes from the device and takes `by` longer.
    pub fn slow_reads(&self, by: Duration) {
        self.set([0, 0], by.as_micros() as u32);
    }

    fn set(&self, [log_sync_us, log_is_free]: [u32; 2], read_us: u32) {
        let numbers = [log_sync_us, log_is_free, read_us].map(u32::to_ne_bytes);
        self.0.write_all_at(numbers.as_flattened(), 0).unwrap();
    }
}

impl Drop for Delays {
    fn drop(&mut self) {
        self.set([0, 0], 0);
    }
}

/// Builds the library and preloads it into every server that is started from now on.
fn preload() -> PathBuf {
    // The servers' user must be able to read it, so it is not among the built files.
    let directory = tempfile::tempdir().unwrap().keep();
    let open = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    open(&directory);
    let (library, wanted) = (directory.join("delays.so"), directory.join("wanted"));
    let source = PathBuf::from("tests/bottleneck/delays.c");
    let built = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC"])
        .arg(format!("-DWANTED=\"{}\"", wanted.display()))
        .arg("-o")
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "no C compiler: install one (on Debian: apt-get install gcc)"
    );
    fs::write(&wanted, [0; 12]).unwrap();
    open(&library);
    open(&wanted);
    // SAFETY: every test begins here, one at a time, while the others wait for their turn.
    unsafe {
        std::env::set_var("DBDYNO_SERVER_PRELOAD", library);
        libc::atexit(remove);
    }
    directory
}

extern "C" fn remove() {
    if let Some(directory) = DIRECTORY.get() {
        // A failure leaves a small file in the temporary directory.
        let _ = fs::remove_dir_all(directory);
    }
}
