//! What is said on standard error, what of a text may reach a terminal, and what waits while a view fills it.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::command_line::without_secrets;

/// What replaces a character that could steer a terminal.
const REPLACED: char = '\u{fffd}';

/// Says `text` as one line, without control characters and without passwords that were typed. That nobody reads it is no error, so `eprintln!`, which would
/// panic, is not used.
pub fn say(text: &str) {
    let parts: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let line = without_secrets(&parts.join(" "));
    let _ = Stream::Error.write_all(format!("{}\n", printable(&line)).as_bytes());
}

/// Where a text goes: at once, or behind the view that fills the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Output,
    Error,
}

/// What waits, in its order; at most this much of it, the newest.
const WAITING_BYTES_MAX: usize = 16 << 20;

struct Waiting {
    texts: Vec<(Stream, Vec<u8>)>,
    bytes: usize,
    is_cut: bool,
    /// A file or a pipe gets its text at once.
    is_output_shown: bool,
}

static WAITING: Mutex<Option<Waiting>> = Mutex::new(None);

fn waiting() -> MutexGuard<'static, Option<Waiting>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on what is written to the terminal waits.
pub fn hold() {
    waiting().get_or_insert_with(|| Waiting {
        texts: Vec::new(),
        bytes: 0,
        is_cut: false,
        is_output_shown: io::stdout().is_terminal(),
    });
}

/// Writes what has waited.
pub fn release() {
    let mut waiting = waiting();
    let Some(waited) = waiting.take() else {
        return;
    };
    // That nobody reads it is no error.
    if waited.is_cut {
        let _ = writeln!(
            io::stderr(),
            "dbdyno: warning: the oldest of these lines are left out"
        );
    }
    for (stream, text) in waited.texts {
        let _ = stream.write_now(&text);
    }
    let _ = io::stdout().flush();
}

/// Whether texts wait.
pub fn is_held() -> bool {
    waiting().is_some()
}

impl Stream {
    fn write_now(self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Output => io::stdout().lock().write_all(text),
            Self::Error => io::stderr().lock().write_all(text),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        match &mut *waiting() {
            Some(waiting) if *self == Self::Error || waiting.is_output_shown => {
                waiting.keep(*self, text);
            }
            _ => self.write_now(text)?,
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Output => io::stdout().flush(),
            Self::Error => Ok(()),
        }
    }
}

impl Waiting {
    fn keep(&mut self, stream: Stream, text: &[u8]) {
        self.bytes += text.len();
        match self.texts.last_mut() {
            // Of a line that comes in pieces.
            Some((last, begun)) if *last == stream && !begun.ends_with(b"\n") => begun.extend(text),
            _ => self.texts.push((stream, text.to_vec())),
        }
        if self.bytes > WAITING_BYTES_MAX {
            self.is_cut = true;
            // Half at once, so that it is not done for every line.
            let mut left = self.bytes - WAITING_BYTES_MAX / 2;
            let cut = self.texts.iter().take_while(|(_, text)| {
                let is_cut = left > 0;
                left = left.saturating_sub(text.len());
                is_cut
            });
            let cut = cut.count();
            self.bytes -= self
                .texts
                .drain(..cut)
                .map(|(_, text)| text.len())
                .sum::<usize>();
        }
    }
}

/// The text with its lines and tabs, but without any other control character: labels of a foreign archive and messages of
/// a server, of ssh or of a file may hold sequences that steer the terminal.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_harmless = |at: usize, c: char| match c {
        '\n' | '\t' => true,
        // Alone it would overwrite its line.
        '\r' => text[at + 1..].starts_with('\n'),
        _ => !c.is_control(),
    };
    if text.char_indices().all(|(at, c)| is_harmless(at, c)) {
        return Cow::Borrowed(text);
    }
    let replaced = text.char_indices().map(|(at, c)| match is_harmless(at, c) {
        true => c,
        false => REPLACED,
    });
    Cow::Owned(replaced.collect())
}

/// Passes JSON on, with the control characters that JSON allows in a text as escapes: the same text to whoever parses it,
/// and nothing to a terminal.
pub struct JsonForTerminal<W: Write> {
    into: W,
    /// A first byte of two was passed in, and decides nothing alone.
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
    fn what_waits_is_whole_lines_in_their_order_within_a_bound() {
        let mut waiting = Waiting {
            texts: Vec::new(),
            bytes: 0,
            is_cut: false,
            is_output_shown: true,
        };
        waiting.keep(Stream::Error, b"one ");
        waiting.keep(Stream::Error, b"line\n");
        waiting.keep(Stream::Output, b"a table\n");
        let (error, output) = (Stream::Error, Stream::Output);
        let expected = [
            (error, b"one line\n".to_vec()),
            (output, b"a table\n".to_vec()),
        ];
        assert_eq!(waiting.texts, expected);
        let line = [b'x'; 1 << 20];
        (0..40).for_each(|_| waiting.keep(Stream::Error, &[&line[..], b"\n"].concat()));
        let kept: usize = waiting.texts.iter().map(|(_, text)| text.len()).sum();
        assert_eq!(waiting.bytes, kept);
        assert!(waiting.is_cut && kept <= WAITING_BYTES_MAX, "{kept}");
        assert!(kept >= WAITING_BYTES_MAX / 4, "{kept}");
    }

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
