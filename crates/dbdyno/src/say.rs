//! What is said on standard error.

use std::io::Write;

/// Says `text` as one line. That nobody reads it is no error, so `eprintln!`, which would panic, is
/// not used.
pub fn say(text: &str) {
    let parts: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let _ = writeln!(std::io::stderr().lock(), "{}", parts.join(" "));
}
