//! The command line as typed. Every user of the machine can read it while dbdyno runs, so that passwords in it are overwritten at once, and
//! no message repeats them.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use engine::secrets_in;

/// Replacement of a password's characters, for `ps` and in messages.
const OVERWRITTEN: u8 = b'x';
const SHOWN: &str = "…";

/// Arguments with a possible password, and their form in messages.
static SECRETS: OnceLock<Vec<(String, String)>> = OnceLock::new();

pub struct CommandLine {
    arguments: Vec<OsString>,
    /// True if no password is left where other users can read it.
    is_overwritten: bool,
}

impl CommandLine {
    /// Takes the arguments of this process and overwrites their passwords. It must precede the first thread because it changes memory of
    /// the process.
    pub fn take() -> Self {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let secrets: Vec<Vec<Range<usize>>> = arguments
            .iter()
            .map(|argument| secrets_in(argument.as_bytes()))
            .collect();
        let is_overwritten = overwrite(&arguments, &secrets).is_ok();
        let shown = arguments.iter().zip(&secrets);
        let _ = SECRETS.set(
            shown
                .flat_map(|(a, secrets)| shown_as(a, secrets))
                .collect(),
        );
        Self {
            arguments,
            is_overwritten,
        }
    }

    pub fn arguments(&self) -> &[OsString] {
        &self.arguments
    }

    /// A warning after a password on the command line.
    pub fn warning(&self) -> Option<String> {
        let mut texts = self.arguments.iter().filter_map(|a| a.to_str());
        let better = texts.find_map(|text| endings(text).find_map(better_place))?;
        let seen = if self.is_overwritten {
            "can be read by other users of this machine until dbdyno overwrites it"
        } else {
            "can be read by other users of this machine while dbdyno runs"
        };
        Some(format!(
            "a password on the command line {seen}, and stays in the history of the shell; put it into {better}"
        ))
    }

    /// Settings of other clients in a target's URL that have no effect.
    pub fn notes(&self) -> Vec<String> {
        let texts = self.arguments.iter().filter_map(|a| a.to_str());
        let urls = texts
            .filter_map(|text| endings(text).find_map(|end| engines::parse_with_notes(end).ok()));
        urls.flat_map(|(_, notes)| notes).collect()
    }
}

/// A safer location for the password of a URL; `None` without a password.
fn better_place(text: &str) -> Option<&'static str> {
    let url = engines::parse(text).ok()?;
    url.password.as_ref()?;
    engines::password_places(&url)
}

/// The text, and its rest after each equals sign: `--b=target=URL`, `target=URL`, `URL`.
fn endings(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.match_indices('=').map(|(at, _)| &text[at + 1..]);
    std::iter::once(text).chain(behind)
}

/// The text without typed passwords, and without those of quoted URLs.
pub fn without_secrets(text: &str) -> String {
    let secrets = SECRETS.get().map(Vec::as_slice).unwrap_or_default();
    let mut text = without_passwords_of_urls(text);
    for (typed, shown) in secrets {
        if text.contains(typed) {
            text = text.replace(typed, shown);
        }
    }
    text
}

/// The text with the password removed from every URL; a URL ends where a sentence would end it.
fn without_passwords_of_urls(text: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || c == '"';
    let mut shown = String::with_capacity(text.len());
    for word in text.split_inclusive(is_end) {
        let slashes = word.find("://").map(|at| at + "://".len());
        let secret = slashes.and_then(|begin| {
            let end = word.rfind('@')?;
            let colon = begin + word.get(begin..end)?.find(':')?;
            Some(colon + 1..end)
        });
        match secret {
            Some(secret) if !secret.is_empty() => {
                shown += &word[..secret.start];
                shown += SHOWN;
                shown += &word[secret.end..];
            }
            _ => shown += word,
        }
    }
    shown
}

/// Every text by which a message may repeat an argument, with its replacement.
fn shown_as(argument: &OsString, secrets: &[Range<usize>]) -> Vec<(String, String)> {
    let Some(text) = argument.to_str() else {
        return Vec::new();
    };
    let mut shown = text.to_owned();
    for secret in secrets.iter().rev() {
        shown.replace_range(secret.clone(), SHOWN);
    }
    let pairs = endings(text).zip(endings(&shown));
    let pairs = pairs.filter(|(typed, shown)| typed != shown);
    pairs
        .map(|(typed, shown)| (typed.to_owned(), shown.to_owned()))
        .collect()
}

/// Overwrites these parts of the arguments in the memory that the kernel publishes.
fn overwrite(arguments: &[OsString], secrets: &[Vec<Range<usize>>]) -> io::Result<()> {
    if secrets.iter().all(Vec::is_empty) {
        return Ok(());
    }
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let begin = arguments_begin(&stat).ok_or(io::ErrorKind::InvalidData)?;
    let mut expected = Vec::new();
    let mut parts = Vec::new();
    for (argument, secrets) in arguments.iter().zip(secrets) {
        let at = expected.len();
        parts.extend(secrets.iter().map(|s| at + s.start..at + s.end));
        expected.extend_from_slice(argument.as_bytes());
        expected.push(0);
    }
    // The write goes through the kernel, which checks the addresses: a wrong one is an error instead of a crash.
    let memory = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/proc/self/mem")?;
    let mut there = vec![0; expected.len()];
    memory.read_exact_at(&mut there, begin)?;
    if there != expected {
        return Err(io::ErrorKind::InvalidData.into());
    }
    for part in parts {
        memory.write_all_at(&vec![OVERWRITTEN; part.len()], begin + part.start as u64)?;
    }
    Ok(())
}

/// Address of the arguments: field 48 of `/proc/self/stat`, counted after the name, which may hold any character.
fn arguments_begin(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let begin = fields.split_whitespace().nth(48 - 3)?.parse().ok()?;
    (begin > 0).then_some(begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_shown_without_its_password_however_it_is_repeated() {
        let typed = OsString::from("--b=target=postgres://u:pw@h/d");
        let pairs = shown_as(&typed, &secrets_in(typed.as_bytes()));
        let shown: Vec<&str> = pairs.iter().map(|(_, shown)| shown.as_str()).collect();
        assert_eq!(
            shown,
            [
                "--b=target=postgres://u:…@h/d",
                "target=postgres://u:…@h/d",
                "postgres://u:…@h/d"
            ]
        );
    }

    #[test]
    fn a_message_repeats_no_password_of_a_file() {
        let text = "invalid: string \"postgres://u:p:w@h/d\", expected (mysql://u:pw@h), ssh://u@h:22, a:b@c";
        assert_eq!(
            without_secrets(text),
            "invalid: string \"postgres://u:…@h/d\", expected (mysql://u:…@h), ssh://u@h:22, a:b@c"
        );
    }

    #[test]
    fn a_typed_password_gets_a_warning_with_a_better_location() {
        let warning = |argument: &str| {
            let line = CommandLine {
                arguments: vec![argument.into()],
                is_overwritten: true,
            };
            line.warning().unwrap_or_default()
        };
        for argument in [
            "postgres://u:pw@h/d",
            "--target=postgres://u:pw@h/d",
            "--b=target=postgres://u:pw@h/d",
        ] {
            assert!(warning(argument).contains("~/.pgpass"), "{argument}");
        }
        assert!(warning("mysql://u:pw@h/d").contains("~/.my.cnf"));
        for none in ["postgres://u@h/d", "sqlite://a:b@c", "a:b@c", "--seed=1"] {
            assert_eq!(warning(none), "", "{none}");
        }
    }

    #[test]
    fn the_address_is_found_whatever_the_program_is_called() {
        let fields: Vec<String> = (3..=52).map(|n| n.to_string()).collect();
        let stat = format!("7 (a) b (c) {}", fields.join(" "));
        assert_eq!(arguments_begin(&stat), Some(48));
        assert_eq!(arguments_begin("7 (a) S 1"), None);
    }
}
