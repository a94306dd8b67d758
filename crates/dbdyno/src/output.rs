//! Files that the command writes for others to read.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes beside the file and renames, so that a full disk leaves an old file whole. `what` and `option`
/// name the file's content and the argument that chose its place, for the sentence when it cannot be.
pub fn write(path: &Path, text: &str, what: &str, option: &str) -> Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let context = || {
        format!(
            "the {what} {} cannot be written; choose another file with {option}",
            path.display()
        )
    };
    let mut file = tempfile::Builder::new()
        .prefix(".dbdyno-output-")
        .tempfile_in(directory)
        .with_context(context)?;
    file.write_all(text.as_bytes()).with_context(context)?;
    let file = file.persist(path).with_context(context)?;
    make_readable(&file).with_context(context)?;
    Ok(())
}

/// A temporary file belongs to its user alone; what is written here is made to be passed on.
fn make_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}
