//! Parts of a statement that hold no parameters: quoted texts and comments.

/// Bytes of the quoted text or comment at the front of `text`, 0 when there is none; `before` is what stands in front of it.
pub fn verbatim(before: &str, text: &str) -> usize {
    let until = |from: usize, end: &str| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |at| from + at + end.len())
    };
    match text.as_bytes() {
        [b'\'', ..] if has_escapes(before) => escaped(text),
        // A doubled quote ends one text and begins the next, which comes to the same.
        [b'\'', ..] => until(1, "'"),
        [b'"', ..] => until(1, "\""),
        [b'`', ..] => until(1, "`"),
        [b'-', b'-', ..] => until(2, "\n"),
        // Some engines nest comments; where the inner one is the last to end, the others' reading is meant.
        [b'/', b'*', ..] => nested(text).unwrap_or_else(|| until(2, "*/")),
        [b'$', ..] if !ends_with_name(before) => match text[1..].find('$') {
            Some(end) if is_tag(&text[1..=end]) => until(end + 2, &text[..end + 2]),
            _ => 0,
        },
        _ => 0,
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn ends_with_name(text: &str) -> bool {
    text.ends_with(|c| is_of_name(c) || c == '$')
}

/// True if an E makes the text behind it one with backslashes.
fn has_escapes(before: &str) -> bool {
    let rest = before.strip_suffix(['e', 'E']);
    rest.is_some_and(|rest| !ends_with_name(rest))
}

fn escaped(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '\'' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The end of a comment with those in it; `None` where it has none.
fn nested(text: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let found = at + text[at..].find(['/', '*'])?;
        let is_begin = text[found..].starts_with("/*");
        match is_begin || text[found..].starts_with("*/") {
            true if is_begin => depth += 1,
            true => depth -= 1,
            false => {
                at = found + 1;
                continue;
            }
        }
        at = found + 2;
        if depth == 0 {
            return Some(at);
        }
    }
}

/// True if the text between two dollar signs makes them a quote: `$$` or `$name$`.
fn is_tag(text: &str) -> bool {
    text.chars().all(is_of_name) && !text.starts_with(|c: char| c.is_ascii_digit())
}
