//! Text files that people name: read up to a length, whatever the name leads to.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The text of a file of at most `bytes_max` bytes. A device and a pipe tell no length beforehand and may never end, so
/// the limit is one of reading.
///
/// # Errors
/// As reading a file; [`ErrorKind::FileTooLarge`] when there is more, [`ErrorKind::InvalidInput`] for what keeps its
/// reader waiting for a writer.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let what = std::fs::metadata(path)?.file_type();
    // A shell replaces `<(command)` by a pipe that has its writer already.
    let is_of_shell = path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    if (what.is_fifo() && !is_of_shell) || what.is_socket() {
        let what = "it is a FIFO or a socket; name a regular file";
        return Err(io::Error::new(ErrorKind::InvalidInput, what));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(bytes_max + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        let what = format!("it has more than {bytes_max} bytes; is it the right file?");
        return Err(io::Error::new(ErrorKind::FileTooLarge, what));
    }
    String::from_utf8(bytes).map_err(|error| {
        let what = not_utf_8(error.as_bytes(), error.utf8_error().valid_up_to());
        io::Error::new(ErrorKind::InvalidData, what)
    })
}

fn not_utf_8(bytes: &[u8], from: usize) -> String {
    // The mark at its beginning is how editors tell it.
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return "it is not UTF-8 but UTF-16; save it as UTF-8".to_owned();
    }
    let line = 1 + bytes[..from].iter().filter(|byte| **byte == b'\n').count();
    format!(
        "it is not UTF-8: byte 0x{:02x} in line {line}; save it as UTF-8",
        bytes[from]
    )
}

/// TOML's message about `text` in one line instead of several.
pub fn toml_sentence(text: &str, error: &toml::de::Error) -> String {
    let what = error.message().lines().collect::<Vec<_>>().join("; ");
    let before = error.span().and_then(|span| text.get(..span.start));
    match before {
        Some(before) => format!("line {}: {what}", before.matches('\n').count() + 1),
        None => what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_is_too_long() {
        let error = read_text(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::FileTooLarge);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "12345").unwrap();
        assert_eq!(read_text(file.path(), 5).unwrap(), "12345");
        assert!(read_text(file.path(), 4).is_err());
    }
}
