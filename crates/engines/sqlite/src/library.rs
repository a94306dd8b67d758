//! The library as a whole, for the process.

use std::os::raw::c_int;
use std::sync::Once;

use rusqlite::ffi;

/// Switches off SQLite's memory statistics, which take a global lock at every allocation and would
/// make all sessions wait for each other. Must be called before SQLite is first used in the process,
/// be it by the archive.
pub fn configure_library() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the option takes one int; when SQLite is in use already (the archive was opened
        // first) it answers MISUSE and changes nothing, which costs speed but not correctness.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0 as c_int) };
    });
}
