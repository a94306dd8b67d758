//! What was pressed, from the bytes that a terminal sends.

/// What a view knows to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    /// The next section.
    Next,
    /// The section before.
    Previous,
    /// Watching ends.
    Quit,
}

const ESCAPE: u8 = 0x1b;

/// The keys of what was read at once; others say nothing. An escape alone is the key, before others it begins a sequence.
pub fn keys(bytes: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let [first, behind @ ..] = rest {
        rest = behind;
        let key = match (*first, behind) {
            (ESCAPE, [b'[' | b'O', sequence @ ..]) => {
                let is_end = |byte: &u8| (0x40..=0x7e).contains(byte);
                let end = sequence.iter().position(is_end).unwrap_or(sequence.len());
                rest = sequence.get(end + 1..).unwrap_or_default();
                of_sequence(&sequence[..(end + 1).min(sequence.len())])
            }
            (ESCAPE, []) => Some(Key::Quit),
            (first, _) => of_byte(first),
        };
        keys.extend(key);
    }
    keys
}

fn of_byte(byte: u8) -> Option<Key> {
    Some(match byte {
        b'q' | b'Q' => Key::Quit,
        b'\t' => Key::Next,
        b'k' => Key::Up,
        b'j' => Key::Down,
        b'h' => Key::Left,
        b'l' => Key::Right,
        b' ' => Key::PageDown,
        _ => return None,
    })
}

fn of_sequence(sequence: &[u8]) -> Option<Key> {
    Some(match sequence {
        b"A" => Key::Up,
        b"B" => Key::Down,
        b"C" => Key::Right,
        b"D" => Key::Left,
        b"Z" => Key::Previous,
        b"5~" => Key::PageUp,
        b"6~" => Key::PageDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_keys_and_an_escape_alone_ends() {
        use Key::{Down, Left, Next, PageDown, Previous, Quit, Right, Up};
        assert_eq!(keys(b"\x1b[A\x1b[B\x1bOC\x1b[D"), [Up, Down, Right, Left]);
        assert_eq!(keys(b"\t\x1b[Z\x1b[6~x"), [Next, Previous, PageDown]);
        assert_eq!(keys(b"\x1b"), [Quit]);
        assert_eq!(keys(b"q"), [Quit]);
        // Of another key, such as F5, or cut off: nothing.
        assert_eq!(keys(b"\x1b[15~"), []);
        assert_eq!(keys(b"\x1b["), []);
        assert_eq!(keys(b"\x1b[1"), []);
    }
}
