//! Oracle's SQL where it differs: where a statement ends, and the types that have other names.

use engine::verbatim;

/// First words of units that go on behind a semicolon.
const BLOCKS: &[&str] = &["BEGIN", "DECLARE"];
const UNITS: &[&str] = &["FUNCTION", "PACKAGE", "PROCEDURE", "TRIGGER", "TYPE"];
const BETWEEN: &[&str] = &["OR", "REPLACE", "EDITIONABLE", "NONEDITIONABLE"];

/// Types of the shared statements that Oracle calls otherwise.
const TYPES: &[(&str, &str)] = &[("BIGINT", "NUMBER(19)"), ("TEXT", "VARCHAR2(4000)")];

/// The statements of a text. A semicolon ends one; a unit of PL/SQL goes to a line that is a slash, or to the end, as in Oracle's own
/// client.
pub(super) fn statements(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(begin) = beginning(rest) {
        rest = &rest[begin..];
        let (length, taken) = if is_unit(rest) {
            unit(rest)
        } else {
            plain(rest)
        };
        let statement = rest[..length].trim();
        if !statement.is_empty() {
            found.push(statement);
        }
        rest = &rest[taken..];
    }
    found
}

/// A statement as the server takes it: PL/SQL with its last semicolon, SQL without.
pub(super) fn trimmed(sql: &str) -> &str {
    let sql = sql.trim();
    if is_unit(sql) {
        sql.trim_end_matches('/').trim_end()
    } else {
        sql.trim_end_matches(';').trim_end()
    }
}

/// True if it is PL/SQL, whose semicolons are its own.
pub(super) fn is_unit(sql: &str) -> bool {
    let mut words = words(sql);
    let Some(first) = words.next() else {
        return false;
    };
    let is_among = |list: &[&str], word: &str| list.iter().any(|it| it.eq_ignore_ascii_case(word));
    if is_among(BLOCKS, first) {
        return true;
    }
    let object = words.find(|word| !is_among(BETWEEN, word));
    first.eq_ignore_ascii_case("CREATE") && object.is_some_and(|word| is_among(UNITS, word))
}

/// The words at the front of a statement, behind its comments.
fn words(sql: &str) -> impl Iterator<Item = &str> {
    let begin = beginning(sql).unwrap_or(sql.len());
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    sql[begin..].split(is_end).filter(|word| !word.is_empty())
}

/// Where the next statement begins, behind blanks, semicolons, slashes and comments that hold no hint.
fn beginning(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let comment = match letter {
            '-' | '/' => verbatim(&text[..at], &text[at..]),
            _ => 0,
        };
        at += match comment {
            0 if letter.is_whitespace() || letter == ';' || letter == '/' => letter.len_utf8(),
            0 => return Some(at),
            length => length,
        };
    }
    None
}

/// Length of a statement of SQL, and the same with its semicolon.
fn plain(text: &str) -> (usize, usize) {
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        at += match verbatim(&text[..at], &text[at..]) {
            0 if letter == ';' => return (at, at + 1),
            0 => letter.len_utf8(),
            quoted => quoted,
        };
    }
    (text.len(), text.len())
}

/// Length of a unit of PL/SQL, and the same with its slash.
fn unit(text: &str) -> (usize, usize) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == "/" {
            return (at, at + line.len());
        }
        at += line.len();
    }
    (text.len(), text.len())
}

/// The same statement with Oracle's names of types. A word that names a column stays: it follows a bracket or a comma.
pub(super) fn with_types(sql: &str) -> String {
    let mut written = String::with_capacity(sql.len() + 16);
    let (mut at, mut before) = (0, '(');
    while let Some(letter) = sql[at..].chars().next() {
        let quoted = verbatim(&sql[..at], &sql[at..]);
        let length = match quoted {
            0 if letter.is_alphabetic() => word_length(&sql[at..]),
            0 => letter.len_utf8(),
            quoted => quoted,
        };
        let word = &sql[at..at + length];
        let other = TYPES
            .iter()
            .find(|(name, _)| word.eq_ignore_ascii_case(name));
        match other {
            Some((_, of_oracle)) if !matches!(before, '(' | ',') => written.push_str(of_oracle),
            _ => written.push_str(word),
        }
        if !letter.is_whitespace() {
            before = word.chars().next_back().unwrap_or(letter);
        }
        at += length;
    }
    written
}

fn word_length(text: &str) -> usize {
    let is_in_word = |c: char| c.is_alphanumeric() || "_$#".contains(c);
    text.find(|c| !is_in_word(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_ends_sql_and_a_slash_a_unit() {
        let text = "-- begin\nINSERT INTO t VALUES (';'); DELETE FROM t;\n\
            CREATE OR REPLACE PROCEDURE p AS BEGIN NULL; END;\n/\nSELECT 1 FROM dual";
        let found = statements(text);
        let expected = [
            "INSERT INTO t VALUES (';')",
            "DELETE FROM t",
            "CREATE OR REPLACE PROCEDURE p AS BEGIN NULL; END;",
            "SELECT 1 FROM dual",
        ];
        assert_eq!(found, expected);
        assert_eq!(statements("begin a; end;"), ["begin a; end;"]);
        assert!(statements(" ;\n/\n -- nothing").is_empty());
    }

    #[test]
    fn only_plsql_keeps_its_last_semicolon() {
        assert_eq!(trimmed("SELECT 1 FROM dual;\n"), "SELECT 1 FROM dual");
        assert_eq!(trimmed("begin x; end;\n/"), "begin x; end;");
        assert!(is_unit("/* c */ declare x NUMBER; begin NULL; end;"));
        assert!(!is_unit("CREATE TABLE type (a NUMBER)"));
    }

    #[test]
    fn types_have_oracles_names() {
        let sql = "CREATE TABLE t (id BIGINT NOT NULL, text TEXT, note VARCHAR(9) DEFAULT 'TEXT')";
        let expected = "CREATE TABLE t (id NUMBER(19) NOT NULL, text VARCHAR2(4000), note VARCHAR(9) DEFAULT 'TEXT')";
        assert_eq!(with_types(sql), expected);
    }
}
