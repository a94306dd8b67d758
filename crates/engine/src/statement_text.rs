//! A statement as it may be shown: without the values in it, so that the same statement with other values is the same text.
//!
//! Every text of somebody's statement passes [`without_values`], wherever it comes from.

mod lexer;
#[cfg(test)]
mod tests;

pub use lexer::Dialect;
use lexer::{Lexer, Token};

/// Longer texts are cut.
const CHARACTERS_MAX: usize = 300;
/// Replaces a value, and omitted parts.
const VALUE: &str = "?";
const LEFT_OUT: &str = "…";

/// Commands whose texts are shown without their values; of all others only the command is.
const SHOWN: &[&str] = &[
    "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH", "VALUES", "TABLE",
];

/// All other commands. A word that is none of them may be anything, such as a password that somebody typed at a prompt.
const COMMANDS: &str = " ABORT ALTER ANALYSE ANALYZE BACKUP BASE_BACKUP BEGIN BINLOG CACHE CALL CHANGE CHECK CHECKPOINT CHECKSUM CLONE \
    CLOSE CLUSTER COMMENT COMMIT COPY CREATE CREATE_REPLICATION_SLOT DEALLOCATE DECLARE DESC DESCRIBE DISCARD DO DROP \
    DROP_REPLICATION_SLOT END EXECUTE EXPLAIN FETCH FLUSH GRANT HANDLER HELP IDENTIFY_SYSTEM IMPORT INSTALL KILL LISTEN LOAD LOCK MOVE \
    NOTIFY OPTIMIZE PREPARE PURGE REASSIGN REFRESH REINDEX RELEASE RENAME REPAIR RESET RESTART REVOKE ROLLBACK SAVEPOINT SECURITY SET \
    SHOW SHUTDOWN SIGNAL START START_REPLICATION STOP TRUNCATE UNINSTALL UNLISTEN UNLOCK USE VACUUM XA ";
const OBJECTS: &str = " AGGREGATE CAST COLLATION CONVERSION DATABASE DOMAIN EVENT EXTENSION FOREIGN FUNCTION GROUP INDEX INSTANCE LANGUAGE \
    MASTER MATERIALIZED OPERATOR POLICY PROCEDURE PUBLICATION REPLICA REPLICATION ROLE RULE SCHEMA SEQUENCE SERVER SLAVE STATISTICS \
    SUBSCRIPTION SYSTEM TABLE TABLES TABLESPACE TEMPORARY TRANSACTION TRIGGER TYPE UNIQUE USER VIEW ";
/// A statement that begins with none of the commands.
const UNKNOWN: &str = "(unknown statement)";

const OF_SERVERS: &[&str] = &["<insufficient privilege>", "<command string not enabled>"];

/// The text with `?` for each literal, comments left out, and one blank between words. Lists of literals become one. Of a statement
/// that neither reads nor changes rows there is only its command, and of a text that cannot be read with certainty only its begin.
pub fn without_values(sql: &str, dialect: Dialect) -> String {
    if OF_SERVERS.contains(&sql) {
        return sql.to_owned();
    }
    let mut words: Vec<&str> = Vec::new();
    let mut tokens = Lexer::of(sql, dialect).peekable();
    let mut part = Part::Begin;
    while let Some(token) = tokens.next() {
        let word = match token {
            Token::Unclear => {
                words.extend((words.last() != Some(&LEFT_OUT)).then_some(LEFT_OUT));
                break;
            }
            Token::Value => VALUE,
            Token::Word(word) => word,
        };
        part = match (part, word) {
            (Part::Begin, ";") => Part::Begin,
            (_, ";") => {
                words.extend(tokens.peek().map(|_| ";"));
                Part::Begin
            }
            (Part::Begin, "(") => {
                words.push("(");
                Part::Begin
            }
            (Part::Begin, word) => begin(word, &mut words),
            (Part::Shown, word) => {
                words.push(word);
                Part::Shown
            }
            (Part::Command, word) if is_among(OBJECTS, word) => {
                words.push(word);
                Part::Object
            }
            (Part::Command | Part::Object, _) => {
                words.push(LEFT_OUT);
                Part::LeftOut
            }
            (Part::LeftOut, _) => Part::LeftOut,
        };
    }
    joined(&words)
}

/// Where in a statement a word stands.
#[derive(Clone, Copy)]
enum Part {
    Begin,
    Shown,
    Command,
    Object,
    LeftOut,
}

fn begin<'s>(word: &'s str, words: &mut Vec<&'s str>) -> Part {
    let (text, part) = if SHOWN
        .iter()
        .any(|command| word.eq_ignore_ascii_case(command))
    {
        (word, Part::Shown)
    } else if is_among(COMMANDS, word) {
        (word, Part::Command)
    } else {
        (UNKNOWN, Part::LeftOut)
    };
    words.push(text);
    part
}

/// True if a list, in capitals and with blanks at its ends, has a word.
fn is_among(list: &str, word: &str) -> bool {
    list.contains(&format!(" {} ", word.to_ascii_uppercase()))
}

fn joined(words: &[&str]) -> String {
    let mut text = String::new();
    let mut last = "";
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if *word == "," && last == VALUE && words.peek() == Some(&&VALUE) {
            words.next();
            continue;
        }
        let is_tight = matches!(*word, "," | ")" | ";" | "." | "::")
            || text.is_empty()
            || matches!(last, "(" | "." | "::")
            || (*word == "(" && is_name(last));
        if !is_tight {
            text.push(' ');
        }
        text.push_str(word);
        last = word;
        if text.chars().count() > CHARACTERS_MAX {
            return text.chars().take(CHARACTERS_MAX).chain(['…']).collect();
        }
    }
    text
}

fn is_name(word: &str) -> bool {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let keywords = [
        "in", "values", "and", "or", "where", "from", "as", "on", "not", "exists", "union", "all",
    ];
    word.starts_with(begins) && !keywords.contains(&word.to_ascii_lowercase().as_str())
}

/// A server's sentence without what it quotes, from the first quotation mark to the last one, whatever its language: a value may have
/// such marks in it.
pub fn without_quoted(sentence: &str) -> String {
    let is_mark = |c: char| "\"'`„“”‚‘’«»‹›「」".contains(c);
    match (sentence.find(is_mark), sentence.rfind(is_mark)) {
        (Some(first), Some(last)) => {
            let behind = sentence[last..].chars().next().map_or(0, char::len_utf8);
            // Without a second mark nobody knows where the value ends.
            let rest = if first == last {
                ""
            } else {
                &sentence[last + behind..]
            };
            format!("{}{VALUE}{rest}", &sentence[..first])
        }
        _ => sentence.to_owned(),
    }
}
