//! Takes Rust source apart, as far as the rules need it: code, comments and string literals.

/// A source file with its comments and the contents of its strings blanked out.
pub struct Source {
    /// As long as the file, byte for byte; what is not code is a space, newlines stay.
    pub code: Vec<u8>,
    /// Offset of the opening quote and the contents as written, in the order of the file.
    pub strings: Vec<(usize, String)>,
}

impl Source {
    /// All of it.
    pub fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut source = Self {
            code: bytes.to_vec(),
            strings: Vec::new(),
        };
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at = match rest {
                [b'/', b'/', ..] => source.blank(at, at + until(rest, b"\n")),
                [b'/', b'*', ..] => source.blank(at, at + comment_length(rest)),
                [b'r', b'"' | b'#', ..] if !continues_a_word(bytes, at) => source.raw(text, at),
                [b'"', ..] => source.quoted(text, at),
                [b'\'', b'\\', ..] => source.blank(at, at + 3 + until(&rest[3..], b"'")),
                [b'\'', ..] => source.blank(at, at + char_length(rest)),
                _ => at + 1,
            };
        }
        source
    }

    /// The part that is not compiled for tests alone: items under `#[cfg(test)]` are blanked as well.
    pub fn without_tests(text: &str) -> Self {
        let mut source = Self::of(text);
        let code = String::from_utf8_lossy(&source.code).into_owned();
        let mut at = 0;
        while let Some(found) = code[at..].find("#[cfg(test)]") {
            let start = at + found;
            let end = start + item_length(&code[start..]);
            source.blank(start, end);
            source
                .strings
                .retain(|(offset, _)| !(start..end).contains(offset));
            at = end;
        }
        source
    }

    /// The code as text.
    pub fn code(&self) -> String {
        String::from_utf8_lossy(&self.code).into_owned()
    }

    fn blank(&mut self, from: usize, to: usize) -> usize {
        let to = to.min(self.code.len());
        for byte in &mut self.code[from..to] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        to
    }

    /// Keeps a string's contents and blanks them, so that only the quotes are left of it.
    fn keep(&mut self, text: &str, quote: usize, end: usize) {
        let contents = text.get(quote + 1..end).unwrap_or_default();
        self.strings.push((quote, contents.to_owned()));
        self.blank(quote + 1, end);
    }

    fn quoted(&mut self, text: &str, quote: usize) -> usize {
        let bytes = text.as_bytes();
        let mut end = quote + 1;
        while end < bytes.len() && bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        self.keep(text, quote, end.min(bytes.len()));
        end + 1
    }

    fn raw(&mut self, text: &str, at: usize) -> usize {
        let bytes = text.as_bytes();
        let hashes = bytes[at + 1..].iter().take_while(|b| **b == b'#').count();
        let quote = at + 1 + hashes;
        if bytes.get(quote) != Some(&b'"') {
            return at + 1; // a raw identifier
        }
        let mut close = vec![b'"'];
        close.resize(1 + hashes, b'#');
        let end = quote + 1 + until(&bytes[quote + 1..], &close);
        self.keep(text, quote, end);
        end + close.len()
    }
}

/// Line number, from 1, of an offset.
pub fn line_of(text: &[u8], offset: usize) -> usize {
    1 + text[..offset].iter().filter(|b| **b == b'\n').count()
}

/// Whether the letter at `at` ends a longer name; the `b` of a byte string does not count.
fn continues_a_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |i: usize| bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_';
    at > 0 && is_word(at - 1) && !(bytes[at - 1] == b'b' && (at < 2 || !is_word(at - 2)))
}

/// Distance to `what`, or to the end.
fn until(bytes: &[u8], what: &[u8]) -> usize {
    bytes
        .windows(what.len())
        .position(|w| w == what)
        .unwrap_or(bytes.len())
}

/// Length of a block comment, in which others may be nested.
fn comment_length(bytes: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a character literal without an escape, or of the mark of a lifetime.
fn char_length(bytes: &[u8]) -> usize {
    let contents = std::str::from_utf8(&bytes[1..bytes.len().min(5)]);
    let valid = match &contents {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[1..1 + error.valid_up_to()]).unwrap_or_default(),
    };
    let length = valid.chars().next().map_or(0, char::len_utf8);
    if bytes.get(1 + length) == Some(&b'\'') {
        length + 2
    } else {
        1
    }
}

/// Length of the item that begins with an attribute: to its closing brace, or to the semicolon of one
/// without a body.
fn item_length(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}
