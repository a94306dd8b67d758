//! `:name` in a statement becomes `?`, with the names in their order.

/// A statement with `?` for its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The statement.
    pub sql: String,
    /// Name of each parameter, in the order of the marks.
    pub names: Vec<String>,
}

/// Replaces every `:name` outside quotes and comments; `::type` is a cast and stays.
///
/// # Errors
/// When there is a `?` outside quotes and comments, which has no name.
pub fn mark(sql: &str) -> Result<Marked, String> {
    let mut marked = Marked {
        sql: String::with_capacity(sql.len()),
        names: Vec::new(),
    };
    let mut rest = sql;
    while let Some(letter) = rest.chars().next() {
        let verbatim = verbatim(rest);
        if verbatim > 0 {
            marked.sql.push_str(&rest[..verbatim]);
            rest = &rest[verbatim..];
            continue;
        }
        if letter == '?' {
            return Err("write a parameter as :name instead of ?".into());
        }
        let name = if letter == ':' { name(&rest[1..]) } else { "" };
        if name.is_empty() {
            marked.sql.push(letter);
            rest = &rest[letter.len_utf8()..];
        } else {
            marked.sql.push('?');
            marked.names.push(name.to_owned());
            rest = &rest[1 + name.len()..];
        }
    }
    Ok(marked)
}

/// The first word of a statement in lower case, behind comments and parentheses.
pub fn first_word(sql: &str) -> String {
    let mut rest = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    while rest.starts_with("--") || rest.starts_with("/*") {
        rest = rest[verbatim(rest)..].trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    }
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next();
    word.unwrap_or_default().to_ascii_lowercase()
}

/// The name at the front, empty when there is none.
fn name(text: &str) -> &str {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return "";
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Bytes at the front that hold no parameter: a quoted text, a comment, a cast; 0 when there is none.
fn verbatim(text: &str) -> usize {
    let until = |from: usize, end: &str| {
        let found = text[from..].find(end);
        found.map_or(text.len(), |at| from + at + end.len())
    };
    match text.as_bytes() {
        // A doubled quote ends one text and begins the next, which comes to the same.
        [b'\'', ..] => until(1, "'"),
        [b'"', ..] => until(1, "\""),
        [b'`', ..] => until(1, "`"),
        [b'-', b'-', ..] => until(2, "\n"),
        [b'/', b'*', ..] => until(2, "*/"),
        [b':', b':' | b'=', ..] => 2,
        [b'$', ..] => match text[1..].find('$') {
            Some(end) if is_tag(&text[1..=end]) => until(end + 2, &text[..end + 2]),
            _ => 0,
        },
        _ => 0,
    }
}

/// Whether the text between two dollar signs makes them a quote: `$$` or `$name$`.
fn is_tag(text: &str) -> bool {
    text.is_empty() || name(text) == text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_marks_in_their_order() {
        let marked = mark("UPDATE t SET a = a + :d WHERE id = :id AND b <> :d").unwrap();
        assert_eq!(marked.sql, "UPDATE t SET a = a + ? WHERE id = ? AND b <> ?");
        assert_eq!(marked.names, ["d", "id", "d"]);
        assert_eq!(mark("VALUES(:ä)").unwrap().names, Vec::<String>::new());
    }

    #[test]
    fn casts_quotes_and_comments_stay() {
        for same in [
            "SELECT 1::int",
            "SELECT ':x?'",
            "SELECT \":x\"",
            "-- :x ?\nSELECT 1",
            "/* :x ? */ SELECT 1",
            "SELECT $$ :x ? $$",
            "SELECT a[1:2], '12:30'",
            "SET @a := 1",
        ] {
            let marked = mark(same).unwrap();
            assert_eq!((marked.sql.as_str(), marked.names.len()), (same, 0));
        }
        assert_eq!(mark(":a::int").unwrap().sql, "?::int");
        assert!(mark("SELECT ?").unwrap_err().contains(":name"));
    }

    #[test]
    fn the_first_word_tells_what_a_statement_is() {
        assert_eq!(first_word(" -- why\n /* so */ (Select 1)"), "select");
        assert_eq!(first_word("UPDATE t"), "update");
        assert_eq!(first_word(""), "");
    }
}
