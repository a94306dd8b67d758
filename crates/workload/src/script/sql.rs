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

/// The first thing that statements make, change or remove by a name with its schema, which is the same wherever they are
/// sent from; also databases and schemas themselves.
pub fn named_with_schema(sql: &str) -> Option<String> {
    let statements = sql_statements(sql);
    statements.into_iter().find_map(|words| {
        let makes = ["create", "drop", "alter", "truncate"].contains(&words.first()?.as_str());
        let kind = words
            .iter()
            .position(|word| KINDS_MADE.contains(&word.as_str()))?;
        let is_filler = |word: &&String| FILLERS.contains(&word.as_str());
        let mut names = words[kind + 1..].iter().skip_while(is_filler);
        // An index is where its table is.
        let of_index = words.iter().skip_while(|word| *word != "on").nth(1);
        let of_index = of_index.filter(|_| words[kind] == "index");
        let all = ["schema", "database"].contains(&words[kind].as_str());
        let name = names.next().filter(|name| all || name.contains('.'));
        let name = name.or(of_index.filter(|name| name.contains('.')));
        name.filter(|_| makes).cloned()
    })
}

/// The first table whose rows statements change by a name with its schema.
pub fn written_with_schema(sql: &str) -> Option<String> {
    sql_statements(sql).into_iter().find_map(|words| {
        let writes = ["insert", "update", "delete", "replace", "merge"];
        let (first, rest) = words.split_first()?;
        let mut names = rest
            .iter()
            .skip_while(|word| TARGET_FILLERS.contains(&word.as_str()));
        let name = names.next().filter(|name| name.contains('.'));
        name.filter(|_| writes.contains(&first.as_str())).cloned()
    })
}

/// Words between what changes rows and its table.
const TARGET_FILLERS: [&str; 5] = ["into", "from", "only", "ignore", "or"];
/// Words between what is made and its name.
const FILLERS: [&str; 5] = ["if", "not", "exists", "only", "concurrently"];
/// What set-ups make.
const KINDS_MADE: [&str; 10] = [
    "table",
    "view",
    "index",
    "sequence",
    "function",
    "procedure",
    "trigger",
    "type",
    "schema",
    "database",
];

/// The words of each statement in lower case, names with their schemas in one; without comments and quoted values.
fn sql_statements(sql: &str) -> Vec<Vec<String>> {
    let (mut statements, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        let is_of_name = c.is_alphanumeric() || "_.$".contains(c);
        let length = match c {
            '"' | '`' => verbatim(rest),
            _ if is_of_name => c.len_utf8(),
            _ => verbatim(rest).max(c.len_utf8()),
        };
        match c {
            '"' | '`' => word.push_str(rest[..length].trim_matches(c)),
            _ if is_of_name => word.extend(c.to_lowercase()),
            _ if !word.is_empty() => words.push(std::mem::take(&mut word)),
            _ => {}
        }
        if c == ';' {
            statements.push(std::mem::take(&mut words));
        }
        rest = &rest[length..];
    }
    words.extend((!word.is_empty()).then_some(word));
    statements.push(words);
    statements
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
    fn what_is_made_by_a_name_with_its_schema_is_found() {
        for (sql, expected) in [
            ("CREATE TABLE t (n int)", None),
            (
                "INSERT INTO shop.log SELECT g.n FROM generate_series(1, 9) g",
                None,
            ),
            (
                "create unlogged table if not exists Shop.Orders (n int)",
                Some("shop.orders"),
            ),
            ("CREATE TABLE \"a b\".\"T\" (n int)", Some("a b.T")),
            ("-- CREATE TABLE a.b\nSELECT 'DROP TABLE a.b'", None),
            ("SELECT 1; DROP INDEX CONCURRENTLY x.i", Some("x.i")),
            ("CREATE UNIQUE INDEX ON t (n)", None),
            ("CREATE INDEX i ON shop.t (n)", Some("shop.t")),
            (
                "CREATE OR REPLACE FUNCTION public.f() RETURNS int",
                Some("public.f"),
            ),
            ("CREATE SCHEMA IF NOT EXISTS shop", Some("shop")),
            ("ALTER TABLE ONLY shop.t ADD n int", Some("shop.t")),
            ("CREATE TABLE t AS SELECT o.n FROM shop.orders o", None),
        ] {
            assert_eq!(named_with_schema(sql).as_deref(), expected, "{sql}");
        }
    }

    #[test]
    fn rows_that_are_changed_by_a_name_with_its_schema_are_found() {
        for (sql, expected) in [
            ("UPDATE t SET a = o.b FROM shop.o", None),
            ("UPDATE ONLY shop.t SET a = 1", Some("shop.t")),
            ("INSERT INTO shop.t VALUES (1)", Some("shop.t")),
            ("DELETE FROM t WHERE t.a = 1", None),
            ("SELECT a FROM shop.t", None),
        ] {
            assert_eq!(written_with_schema(sql).as_deref(), expected, "{sql}");
        }
    }

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
