//! No value of a statement is shown, by examples and by random statements.

use super::*;

#[test]
fn no_value_stays() {
    use Dialect::{MySql, Postgres};
    for (dialect, sql, text) in [
        (
            Postgres,
            "SELECT  name FROM people\n WHERE id = 42 AND mail='a''b@c' -- secret",
            "SELECT name FROM people WHERE id = ? AND mail = ?",
        ),
        (
            Postgres,
            "select * from t where x in (1, 2,3) and y in ('a')",
            "select * from t where x in (?) and y in (?)",
        ),
        (
            Postgres,
            "INSERT INTO t VALUES (1, 'x', NULL), ($1, $2, 1.5e-3)",
            "INSERT INTO t VALUES (?, NULL), ($1, $2, ?)",
        ),
        (
            Postgres,
            "SELECT E'it\\'s', $tag$ 'secret' $tag$, \"Column 1\" /* hidden */ FROM a.b1",
            "SELECT ?, \"Column 1\" FROM a.b1",
        ),
        (
            Postgres,
            "SELECT count(*), x::int, a->>'k', b >= .5 FROM t;",
            "SELECT count(*), x::int, a ->> ?, b >= ? FROM t",
        ),
        (
            MySql,
            "UPDATE `t 1` SET a = a + -1",
            "UPDATE `t 1` SET a = a + - ?",
        ),
        (
            MySql,
            "SELECT `a b`, \"it's secret\" FROM t # secret\nWHERE n = _utf8'x' AND @v--1",
            "SELECT `a b`, ? FROM t WHERE n = ? AND @v -- ?",
        ),
        (
            MySql,
            "SELECT /*!40001 SQL_NO_CACHE */ * FROM `t`",
            "SELECT * FROM `t`",
        ),
        (Postgres, "SELECT 'never ends", "SELECT ?"),
        (Postgres, "SELECT 1_000, 0xFF, 1e-5x", "SELECT ?"),
        (
            Postgres,
            "<insufficient privilege>",
            "<insufficient privilege>",
        ),
        (Postgres, "", ""),
    ] {
        assert_eq!(without_values(sql, dialect), text);
    }
}

#[test]
fn nothing_is_read_beyond_the_first_place_with_two_readings() {
    use Dialect::{MySql, Postgres};
    for (dialect, sql, text) in [
        (Postgres, r"SELECT a, 'C:\', 'secret', 'b'", "SELECT a, …"),
        (Postgres, r"SELECT a, 'C:\\', 'secret'", "SELECT a, ?"),
        (Postgres, r"SELECT U&'\', 'secret'", "SELECT …"),
        (
            Postgres,
            r#"SELECT 1 AS "a\", 'secret'"#,
            r#"SELECT ? AS "a\", ?"#,
        ),
        (
            Postgres,
            r#"SELECT a AS "never ends, 'secret"#,
            "SELECT a AS …",
        ),
        (Postgres, "SELECT 1 /* a /* b */ secret */", "SELECT ?"),
        (Postgres, "SELECT $ä$ ' $ä$, b", "SELECT ?, b"),
        (Postgres, "SELECT 1$a$ secret $a$", "SELECT …"),
        (MySql, r"SELECT a, 'it\'s', b", "SELECT a, …"),
        (MySql, r#"SELECT "a\", "secret", 'b'"#, "SELECT …"),
        (MySql, "SELECT a /*! '*/', 'secret' */", "SELECT a …"),
        (MySql, "SELECT a /* /* */, 'secret'", "SELECT a, ?"),
        (MySql, "SELECT $$ secret $$", "SELECT …"),
    ] {
        assert_eq!(without_values(sql, dialect), text);
    }
}

#[test]
fn of_a_statement_without_rows_there_is_its_command() {
    for (sql, text) in [
        ("alter role r password 'secret'", "alter role …"),
        ("SET app.token = secret; SELECT a", "SET …; SELECT a"),
        (
            "BEGIN; UPDATE t SET a = 1; COMMIT;",
            "BEGIN; UPDATE t SET a = ?; COMMIT",
        ),
        ("CREATE USER u IDENTIFIED BY 'secret'", "CREATE USER …"),
        ("COPY (SELECT secret) TO PROGRAM 'x'", "COPY …"),
        ("DO $$ BEGIN secret; END $$", "DO …"),
        ("CALL secret('x')", "CALL …"),
        ("(SELECT a) UNION (SELECT b)", "(SELECT a) UNION (SELECT b)"),
        (
            "secret; secret 'x'",
            "(unknown statement); (unknown statement)",
        ),
        ("'secret", "(unknown statement)"),
    ] {
        assert_eq!(without_values(sql, Dialect::Postgres), text);
    }
}

#[test]
fn a_long_text_is_cut_between_letters() {
    let sql = format!("SELECT {}", "ä, ".repeat(500));
    let text = without_values(&sql, Dialect::Postgres);
    assert_eq!(text.chars().count(), CHARACTERS_MAX + 1);
    assert!(text.ends_with('…'));
}

#[test]
fn what_a_sentence_quotes_goes_in_any_language() {
    for (sentence, without) in [
        ("no such thing", "no such thing"),
        ("invalid input: \"a\"b\" at 1", "invalid input: ? at 1"),
        ("ungültig: »a«", "ungültig: ?"),
        ("cut: 'never ends", "cut: ?"),
    ] {
        assert_eq!(without_quoted(sentence), without);
    }
}

/// Never shown: they stand in every literal and comment that is made here, as a word, as digits, and as a name of nobody.
const CANARIES: &[&str] = &["CANARY", "47110815", "110_815"];
/// A name at the end of a statement, by which the tests see that not everything is left out.
const LAST_NAME: &str = "the_last_name";

/// Draws statements, the same ones each time.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn is(&mut self) -> bool {
        self.below(2) == 0
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    /// Text with a canary and what could end a literal or begin another one; without some of it.
    fn body(&mut self, without: &[char]) -> String {
        const PARTS: &[&str] = &[
            "'", "\\", "\"", "`", "--", "/*", "*/", "$$", "$a$", "$", ";", "ä", "\u{a0}", "\n",
            "\r", "#", "E", " ", ", ", "(", "-- ",
        ];
        let parts = 1 + self.below(5);
        let mut text: String = (0..parts).map(|_| self.one(PARTS)).collect();
        text.retain(|c| !without.contains(&c));
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, self.one(&["CANARY", "47110815"]));
        text
    }

    /// A string in quotes whose body is written as a session with or without backslash escapes writes it.
    fn string(&mut self, quote: char, escapes: bool) -> String {
        let mut text = String::from(quote);
        for c in self.body(&[]).chars() {
            if c == quote {
                text.push(if escapes && self.is() { '\\' } else { quote });
            }
            if c == '\\' && escapes {
                text.push('\\');
            }
            text.push(c);
        }
        text.push(quote);
        text
    }

    fn number(&mut self) -> String {
        let numbers = [
            "47110815",
            "47110815.5e-3",
            "0x47110815",
            "47_110_815",
            ".47110815",
            "1e47110815",
            "1E+47110815",
            "-47110815",
        ];
        self.one(&numbers).to_owned()
    }

    /// A literal of PostgreSQL, in a session with `standard_conforming_strings` or without.
    fn of_postgres(&mut self, conforming: bool) -> String {
        match self.below(10) {
            0..3 => self.string('\'', !conforming),
            3 => format!("{}{}", self.one(&["E", "e"]), self.string('\'', true)),
            4 => format!("U&{}", self.string('\'', false)),
            5 => format!("{}'47110815'", self.one(&["B", "X", "x"])),
            6 => format!("N{}", self.string('\'', !conforming)),
            7 | 8 => {
                let tag = self.one(&["", "a", "ä_1", "E", "A"]);
                let body = self.body(&['$']);
                format!("${tag}${body}${tag}$")
            }
            _ => self.number(),
        }
    }

    /// A literal of MariaDB or MySQL, in a session with or without each of two modes.
    fn of_mysql(&mut self, escapes: bool, ansi: bool) -> String {
        match self.below(9) {
            0..3 => self.string('\'', escapes),
            3 | 4 if ansi => format!("\"{}\"", self.body(&['"'])),
            3 | 4 => self.string('"', escapes),
            5 => format!(
                "{}{}",
                self.one(&["N", "_utf8", "_latin1 ", "@"]),
                self.string('\'', escapes)
            ),
            6 => format!("{}'47110815'", self.one(&["b", "X", "x"])),
            7 => self.string('\'', escapes) + " " + &self.string('\'', escapes),
            _ => self.number(),
        }
    }

    fn comment(&mut self, dialect: Dialect) -> String {
        let body = self.body(&['*', '/']);
        let line = self.body(&['\n', '\r']);
        match (self.below(3), dialect) {
            (0, _) => format!("-- {line}\n"),
            (1, Dialect::Postgres) => format!("/* {body} /* ' */ CANARY */"),
            (1, Dialect::MySql) => format!("# {line}\n"),
            (_, Dialect::Postgres) => format!("/*{body}*/"),
            (_, Dialect::MySql) => format!(
                "/*{} {body}*/",
                self.one(&["", "! ", "!50000", "M!", "+", " /* "])
            ),
        }
    }

    fn statement(&mut self, dialect: Dialect) -> String {
        let (one, other) = (self.is(), self.is());
        let names: &[&str] = match dialect {
            Dialect::Postgres => &[
                "t1",
                "\"n ' \\ -- $$ /*\"",
                "\"\"\"'\"",
                "é",
                "a$b$c",
                "$1",
                "U&\"x\"",
            ],
            Dialect::MySql => &["t1", "`n ' \" -- \\`", "```'`", "é", "a$b", "@v", "?"],
        };
        let begin = [
            "SELECT ",
            "insert into t values(",
            "UPDATE t SET a =",
            "WITH x AS (SELECT ",
            "(SELECT ",
        ];
        let hidden = [
            "ALTER ROLE r PASSWORD CANARY ",
            "set x.CANARY = CANARY ",
            "CALL CANARY ",
            "CANARY ",
            "DO ",
            "GRANT CANARY ",
        ];
        let mut text = match self.below(4) {
            0 => self.one(&hidden).to_owned(),
            _ => self.one(&begin).to_owned(),
        };
        for _ in 0..1 + self.below(5) {
            let part = match self.below(6) {
                0..3 if dialect == Dialect::Postgres => self.of_postgres(one),
                0..3 => self.of_mysql(one, other),
                3 => self.comment(dialect),
                _ => self.one(names).to_owned(),
            };
            text += &part;
            text += self.one(&[" ", ",", "=", " || ", "\n", "::int ", ")"]);
        }
        text
    }
}

/// Ten thousand statements, alone and several in a text, whole and cut anywhere, by sessions with all settings.
#[test]
fn no_canary_of_random_statements_is_shown() {
    for (dialect, seed) in [(Dialect::Postgres, 42), (Dialect::MySql, 4711)] {
        let mut draw = Draw(seed);
        let mut read_to_the_end = 0;
        for number in 0..10_000 {
            let mut sql = draw.statement(dialect);
            if draw.below(4) == 0 {
                sql += ";";
                sql += &draw.statement(dialect);
            }
            if draw.below(3) == 0 {
                let mut at = draw.below(sql.len());
                while !sql.is_char_boundary(at) {
                    at -= 1;
                }
                sql.truncate(at);
            } else {
                sql = sql + "\n; SELECT " + LAST_NAME;
            }
            let text = without_values(&sql, dialect);
            for canary in CANARIES {
                assert!(!text.contains(canary), "{number}: {sql}\n{text}");
            }
            read_to_the_end += u32::from(text.contains(LAST_NAME));
        }
        assert!(read_to_the_end > 3_000, "{dialect:?}: {read_to_the_end}");
    }
}
