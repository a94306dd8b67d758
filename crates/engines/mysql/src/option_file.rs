//! Option files of the server's own clients: `~/.my.cnf`, or the one that a URL names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::{Password, Result, TargetError};

const FILE_BYTES_MAX: u64 = 1 << 20;
/// Files that one names, and those name.
const DEPTH_MAX: u32 = 10;
/// Sections that `mariadb` reads, later lines of any of them before earlier ones.
const SECTIONS: [&str; 5] = [
    "client",
    "client-server",
    "client-mariadb",
    "mysql",
    "mariadb-client",
];

/// The file that a client reads where none is named.
pub(super) fn usual() -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    Some(Path::new(&home).join(".my.cnf"))
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub user: Option<String>,
    pub password: Option<Password>,
}

impl Options {
    /// Reads a file and those that it includes.
    pub fn read(path: &Path) -> Result<Self> {
        let mut options = Self::default();
        options.add(path, DEPTH_MAX)?;
        Ok(options)
    }

    fn add(&mut self, path: &Path, depth: u32) -> Result<()> {
        let Some(metadata) = fs::metadata(path).ok().filter(|m| m.is_file()) else {
            return Ok(());
        };
        let text = if metadata.len() <= FILE_BYTES_MAX && depth > 0 {
            fs::read(path).unwrap_or_default()
        } else {
            Vec::new()
        };
        let mut own = Self::default();
        let mut is_read = false;
        for line in String::from_utf8_lossy(&text).lines().map(str::trim) {
            if let Some(section) = line.strip_prefix('[') {
                is_read = section
                    .split(']')
                    .next()
                    .is_some_and(|s| SECTIONS.contains(&s));
            } else if let Some(place) = line.strip_prefix("!includedir") {
                for file in files_in(Path::new(place.trim())) {
                    own.add(&file, depth - 1)?;
                }
            } else if let Some(place) = line.strip_prefix("!include") {
                own.add(Path::new(place.trim()), depth - 1)?;
            } else if is_read && let Some((key, value)) = line.split_once('=') {
                match key.trim() {
                    "user" => own.user = Some(unquoted(value.trim())),
                    "password" => {
                        refuse_readable(path, &metadata)?;
                        own.password = Some(Password::new(unquoted(value.trim())));
                    }
                    _ => {}
                }
            }
        }
        self.user = own.user.or(self.user.take());
        self.password = own.password.or(self.password.take());
        Ok(())
    }
}

fn refuse_readable(path: &Path, metadata: &fs::Metadata) -> Result<()> {
    if metadata.permissions().mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(TargetError::unreachable(format!(
        "{} contains a password and is readable by others; protect it (chmod 600), or give the password in $MYSQL_PWD",
        path.display()
    )))
}

/// The files of a directory that clients include, by their names.
fn files_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "cnf"))
        .collect();
    files.sort();
    files
}

/// Takes quotation marks off and replaces the escapes that option files know.
fn unquoted(value: &str) -> String {
    let inner = ['"', '\'']
        .iter()
        .find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
    let value = match inner {
        Some(inner) => inner,
        // Outside quotation marks a comment may follow.
        None => value.split(" #").next().unwrap_or(value).trim_end(),
    };
    let mut text = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('b') => text.push('\u{8}'),
            Some('s') => text.push(' '),
            Some('\\') | None => text.push('\\'),
            Some(other) => text.extend(['\\', other]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with files that only their owner reads.
    fn files(texts: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in texts {
            let path = dir.path().join(name);
            let text = text.replace("DIR", &dir.path().display().to_string());
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        dir
    }

    fn read(texts: &[(&str, &str)]) -> (Option<String>, Option<String>) {
        let dir = files(texts);
        let options = Options::read(&dir.path().join(texts[0].0)).unwrap();
        let password = options.password.map(|p| p.expose().to_owned());
        (options.user, password)
    }

    fn own(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn option_files_hold_passwords() {
        let text = "[mysqld]\npassword=no\n[client]\nuser=u\npassword = \"a # \\\"b\" \n[other]\npassword=no\n";
        assert_eq!(read(&[("a.cnf", text)]), (own("u"), own("a # \\\"b")));
        let plain = "[client]\npassword=x\\sy # comment\n";
        assert_eq!(read(&[("a.cnf", plain)]).1, own("x y"));
        assert_eq!(
            read(&[("a.cnf", "[client]\n#password=x\n;password=y\n")]).1,
            None
        );
    }

    #[test]
    fn every_section_of_the_clients_counts_and_the_last_line_wins() {
        for section in SECTIONS {
            let text = format!("[client]\npassword=first\n[{section}]\npassword='se cond'\n");
            assert_eq!(read(&[("a.cnf", &text)]).1, own("se cond"), "{section}");
        }
    }

    #[test]
    fn files_are_included() {
        let main = "!include DIR/b.cnf\n[client]\nuser=u\n";
        let more = "[client]\npassword=b\nuser=b\n!include DIR/b.cnf\n";
        assert_eq!(
            read(&[("a.cnf", main), ("b.cnf", more)]),
            (own("u"), own("b"))
        );
        let main = "!includedir DIR/\n";
        let found = read(&[
            ("a", main),
            ("1.cnf", "[client]\npassword=1"),
            ("2.cnf", "[client]\npassword=2"),
        ]);
        assert_eq!(found.1, own("2"));
        assert_eq!(
            Options::read(Path::new("/nowhere")).unwrap(),
            Options::default()
        );
    }

    #[test]
    fn a_password_that_others_may_read_is_refused() {
        let dir = files(&[(".my.cnf", "[client]\npassword=hush\n")]);
        let path = dir.path().join(".my.cnf");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = Options::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("chmod 600") && !error.contains("hush"),
            "{error}"
        );
    }
}
