//! `?` of the library's SQL becomes `$n`.

/// Replaces every `?` outside quotes and comments by `$1`, `$2` … in their order.
pub(super) fn numbered(sql: &str) -> String {
    let mut numbered = String::with_capacity(sql.len() + 8);
    let mut parameters = 0;
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let verbatim = quoted(rest);
        if verbatim > 0 {
            numbered.push_str(&rest[..verbatim]);
            rest = &rest[verbatim..];
            continue;
        }
        if letter == '?' {
            parameters += 1;
            numbered.push('$');
            numbered.push_str(&parameters.to_string());
        } else {
            numbered.push(letter);
        }
        rest = &rest[letter.len_utf8()..];
    }
    numbered
}

/// Bytes of the quoted text or comment at the front, 0 when there is none.
fn quoted(text: &str) -> usize {
    let until = |from: usize, end: &str| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |at| from + at + end.len())
    };
    match text.as_bytes() {
        // A doubled quote ends one text and begins the next, which comes to the same.
        [b'\'', ..] => until(1, "'"),
        [b'"', ..] => until(1, "\""),
        [b'-', b'-', ..] => until(2, "\n"),
        [b'/', b'*', ..] => until(2, "*/"),
        [b'$', ..] => match text[1..].find('$') {
            Some(end) if is_tag(&text[1..=end]) => until(end + 2, &text[..end + 2]),
            _ => 0,
        },
        _ => 0,
    }
}

/// Whether the text between two dollar signs makes them a quote: `$$` or `$name$`.
fn is_tag(text: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.chars().all(is_name) && !text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(numbered("a = ? AND b = ?"), "a = $1 AND b = $2");
        assert_eq!(numbered("SELECT 1"), "SELECT 1");
        assert_eq!(numbered("ä ?"), "ä $1");
    }

    #[test]
    fn quotes_and_comments_stay() {
        for same in [
            "'a?''?b'",
            "\"a?\"",
            "-- why?\n",
            "/* why? */",
            "$$ ? $$",
            "$f$ ? $$ ? $f$",
            "'open ?",
        ] {
            assert_eq!(numbered(same), same);
        }
        assert_eq!(numbered("'?' ? -- ?\n ? $1 ?"), "'?' $1 -- ?\n $2 $1 $3");
    }
}
