//! Replacement of `:name` in a statement by `?`, with the names in their order.

use engine::verbatim;

/// Statement with `?` for its parameters, and `??` for other question marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    pub sql: String,
    /// In the order of the marks.
    pub names: Vec<String>,
    /// True if a question mark is outside quotes and comments.
    pub has_question_mark: bool,
}

/// Replaces every `:name` outside quotes and comments; `::type` is a cast and `:=` an assignment, which stay.
pub fn mark(sql: &str) -> Marked {
    let mut marked = Marked {
        sql: String::with_capacity(sql.len()),
        names: Vec::new(),
        has_question_mark: false,
    };
    let mut at = 0;
    while let Some(letter) = sql[at..].chars().next() {
        let (before, rest) = sql.split_at(at);
        let length = match verbatim(before, rest) {
            0 if rest.starts_with("::") || rest.starts_with(":=") => 2,
            0 => letter.len_utf8(),
            quoted => quoted,
        };
        let name = match letter {
            ':' if length == 1 => name(&rest[1..]),
            _ => "",
        };
        at += match name {
            "" => length,
            name => 1 + name.len(),
        };
        if !name.is_empty() {
            marked.sql.push('?');
            marked.names.push(name.to_owned());
            continue;
        }
        marked.sql.push_str(&rest[..length]);
        if letter == '?' {
            marked.sql.push('?');
            marked.has_question_mark = true;
        }
    }
    marked
}

/// Advice for engines in which `?` is always a parameter.
pub fn no_question_mark(engine: &str) -> String {
    format!(
        "? is the place of a parameter on {engine}; write :name for a value, and SQL without the operator in sql_for.{engine}"
    )
}

/// First word of a statement in lower case, after comments and parentheses.
pub fn first_word(sql: &str) -> String {
    let mut rest = sql.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    while rest.starts_with("--") || rest.starts_with("/*") {
        rest =
            rest[verbatim("", rest)..].trim_start_matches(|c: char| c.is_whitespace() || c == '(');
    }
    let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next();
    word.unwrap_or_default().to_ascii_lowercase()
}

/// First object that statements create, change or remove by a schema-qualified name, which every session resolves
/// alike; databases and schemas included.
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

/// First table whose rows statements change by a schema-qualified name.
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

/// True if one of the statements drops or truncates something, or deletes all its rows.
pub fn removes(sql: &str) -> bool {
    let removes = |words: &Vec<String>| {
        let first = words.first().map(String::as_str);
        matches!(first, Some("drop" | "truncate" | "delete"))
    };
    sql_statements(sql).iter().any(removes)
}

/// Words between a verb that changes rows and its table.
const TARGET_FILLERS: [&str; 5] = ["into", "from", "only", "ignore", "or"];
/// Words between a verb that creates an object and its name.
const FILLERS: [&str; 5] = ["if", "not", "exists", "only", "concurrently"];
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

/// Words of each statement in lower case, qualified names as one word; without comments and quoted values.
fn sql_statements(sql: &str) -> Vec<Vec<String>> {
    let (mut statements, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let mut at = 0;
    while let Some(c) = sql[at..].chars().next() {
        let (before, rest) = sql.split_at(at);
        let is_of_name = c.is_alphanumeric() || "_.$".contains(c);
        let length = match c {
            '"' | '`' => verbatim(before, rest),
            _ if is_of_name => c.len_utf8(),
            _ => verbatim(before, rest).max(c.len_utf8()),
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
        at += length;
    }
    words.extend((!word.is_empty()).then_some(word));
    statements.push(words);
    statements
}

fn name(text: &str) -> &str {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return "";
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
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
        let marked = mark("UPDATE t SET a = a + :d WHERE id = :id AND b <> :d");
        assert_eq!(marked.sql, "UPDATE t SET a = a + ? WHERE id = ? AND b <> ?");
        assert_eq!(marked.names, ["d", "id", "d"]);
        assert_eq!(mark("VALUES(:ä)").names, Vec::<String>::new());
        assert_eq!(mark(":a::int, x[:i:2], f(n => :n)").names, ["a", "i", "n"]);
    }

    #[test]
    fn casts_quotes_and_comments_stay() {
        for same in [
            "SELECT 1::int",
            "SELECT ':x?'",
            "SELECT E'it\\'s :x?'",
            "SELECT \":x\"",
            "-- :x ?\nSELECT 1",
            "/* :x ? */ SELECT 1",
            "/* /* :x */ ? */ SELECT 1",
            "SELECT $$ :x ? $$",
            "SELECT $ä$ :x ? $ä$",
            "SELECT a[1:2], '12:30'",
            "SET @a := 1",
            "SELECT d @@ '$.a ? (@ > 1)'",
        ] {
            let marked = mark(same);
            assert_eq!((marked.sql.as_str(), marked.names.len()), (same, 0));
            assert!(!marked.has_question_mark, "{same}");
        }
        // Neither a tag nor an escape.
        assert_eq!(mark("a$b$ :x $b$").names, ["x"]);
        assert_eq!(mark("type'\\' :x").names, ["x"]);
        assert_eq!(mark("/* a /* b */ :x").names, ["x"]);
    }

    #[test]
    fn a_question_mark_is_told_from_a_parameter() {
        let marked = mark("d ? 'a' OR d ?| :k OR d @? '$.a'");
        assert!(marked.has_question_mark);
        assert_eq!(marked.sql, "d ?? 'a' OR d ??| ? OR d @?? '$.a'");
    }

    #[test]
    fn the_first_word_identifies_a_statement() {
        assert_eq!(first_word(" -- why\n /* so */ (Select 1)"), "select");
        assert_eq!(first_word("UPDATE t"), "update");
        assert_eq!(first_word(""), "");
    }
}
