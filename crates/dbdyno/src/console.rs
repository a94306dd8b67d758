//! Lines on standard error, and the text that may reach a terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use terminal_size::{Width, terminal_size_of};

use crate::command_line::without_secrets;

/// Indentation of the further lines of a sentence.
const INDENT: usize = 2;
const REPLACED: char = '\u{fffd}';

/// Prints `text` as one line, on a terminal broken between words, without control characters and typed passwords. A closed reader is no error, so that `eprintln!`, which would
/// panic, is not used.
pub fn say(text: &str) {
    let parts: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let line = without_secrets(&parts.join(" "));
    let line = printable(&line);
    let line = match terminal_columns() {
        Some(columns) => Cow::Owned(report::wrap(&line, columns, INDENT)),
        None => line,
    };
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Columns of the terminal on standard error; `None` if it is none, so that a line stays one line.
pub fn terminal_columns() -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(io::stderr())?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// True if standard output carries only a page or a file.
static IS_OF_PAGE: AtomicBool = AtomicBool::new(false);

/// Redirects standard output to standard error, because the former carries a page.
pub fn leave_output_to_page() {
    IS_OF_PAGE.store(true, Ordering::Relaxed);
}

/// True if a stream is a terminal that understands escape sequences.
pub fn takes_escapes(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if a stream is a terminal with colours enabled.
pub fn takes_colour(stream: &impl IsTerminal) -> bool {
    takes_escapes(stream) && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Standard output, or standard error while the former carries a page.
pub struct Output;

impl Write for Output {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if IS_OF_PAGE.load(Ordering::Relaxed) {
            io::stderr().write(text)
        } else {
            io::stdout().write(text)
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// The text with its lines and tabs, but without other control characters: labels of a foreign archive and messages of a server, of ssh or
/// of a file may hold escape sequences.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_harmless = |at: usize, c: char| match c {
        '\n' | '\t' => true,
        // A lone carriage return would overwrite its line.
        '\r' => text[at + 1..].starts_with('\n'),
        _ => !c.is_control(),
    };
    if text.char_indices().all(|(at, c)| is_harmless(at, c)) {
        return Cow::Borrowed(text);
    }
    let replaced = text
        .char_indices()
        .map(|(at, c)| if is_harmless(at, c) { c } else { REPLACED });
    Cow::Owned(replaced.collect())
}

/// Writes JSON with escaped control characters, so that its content stays the same and a terminal is safe.
pub struct JsonForTerminal<W: Write> {
    into: W,
    /// True after the first byte of a two-byte character.
    pending: bool,
}

/// The first byte of U+0080 to U+00BF in UTF-8.
const LEAD: u8 = 0xc2;
const DELETE: u8 = 0x7f;

impl<W: Write> JsonForTerminal<W> {
    pub fn new(into: W) -> Self {
        Self {
            into,
            pending: false,
        }
    }
}

impl<W: Write> Write for JsonForTerminal<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.pending) {
                if (0x80..=0x9f).contains(&first) {
                    write!(self.into, "\\u{first:04x}")?;
                    rest = &rest[1..];
                    continue;
                }
                self.into.write_all(&[LEAD])?;
            }
            let special = |byte: &u8| matches!(*byte, LEAD | DELETE);
            let plain = rest.iter().position(special).unwrap_or(rest.len());
            self.into.write_all(&rest[..plain])?;
            match rest.get(plain) {
                Some(&LEAD) => self.pending = true,
                Some(_) => write!(self.into, "\\u{DELETE:04x}")?,
                None => break,
            }
            rest = &rest[plain + 1..];
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_stays() {
        let text = "a\tb\r\nc\u{1b}[31md\u{9b}2Je\u{7}f\rg\u{7f}";
        assert_eq!(
            printable(text),
            "a\tb\r\nc\u{fffd}[31md\u{fffd}2Je\u{fffd}f\u{fffd}g\u{fffd}"
        );
        assert!(matches!(
            printable("größer – 1 µs\n"),
            Cow::Borrowed("größer – 1 µs\n")
        ));
    }

    #[test]
    fn json_keeps_its_meaning_however_it_is_cut() {
        let text = serde_json::json!({"a\u{9b}": "b\u{7f}c\u{85}§\u{1b}Â"}).to_string();
        for cut in 0..=text.len() {
            let mut out = Vec::new();
            let mut writer = JsonForTerminal::new(&mut out);
            for part in [&text.as_bytes()[..cut], &text.as_bytes()[cut..]] {
                writer.write_all(part).unwrap();
            }
            let out = String::from_utf8(out).unwrap();
            assert!(!out.chars().any(char::is_control), "{out:?}");
            let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(parse(&out), parse(&text));
        }
    }
}
