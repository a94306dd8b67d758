//! Files below a root, and numbered entries of its folders.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest file that is read: `/proc/cpuinfo` of a thousand processors.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// True for the machine that dbdyno runs on, which can also be queried by other means than files.
pub(super) fn is_this_machine(root: &Path) -> bool {
    root == Path::new("/")
}

/// A whole file; bytes that are not UTF-8 become the replacement character. Only regular files are opened: a pipe in
/// a copied tree would never answer.
pub(crate) fn text(root: &Path, name: &str) -> Option<String> {
    let path = root.join(name);
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path)
        .ok()?
        .take(FILE_BYTES_MAX)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line of a file without surrounding blanks; `None` if it is empty.
pub(crate) fn first_line(root: &Path, name: &str) -> Option<String> {
    let text = text(root, name)?;
    let line = text
        .lines()
        .next()?
        .trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!line.is_empty()).then(|| line.to_owned())
}

pub(crate) fn first_number<T: std::str::FromStr>(root: &Path, name: &str) -> Option<T> {
    first_line(root, name)?.parse().ok()
}

/// Number of entries of a directory that are `prefix` and a number; `None` if there are none.
pub(super) fn count_numbered(directory: &Path, prefix: &str) -> Option<u32> {
    let count = std::fs::read_dir(directory)
        .ok()?
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| is_numbered(name, prefix))
        })
        .count();
    u32::try_from(count).ok().filter(|&count| count > 0)
}

pub(crate) fn is_numbered(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
}
