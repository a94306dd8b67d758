//! Remarks are values: no decision depends on their sentences.

use crate::holds;
use crate::repository::{File, product};
use crate::source::Token;

const CALLED: &[&str] = &[
    "Remark", "remark", "remarks", "reason", "reasons", "note", "notes", "obstacle",
];
const LOOKS: &[&str] = &[
    "starts_with",
    "ends_with",
    "contains",
    "strip_prefix",
    "strip_suffix",
    "split",
    "split_once",
    "rsplit_once",
    "find",
    "parse",
];

/// A statement with remarks searches no text, and no remark is made from a sentence.
fn nothing_is_decided_by_sentences(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    // The test runner has no archive.
    let is_free = |path: &str| path.starts_with("crates/testing/");
    for (file, source) in product(files).filter(|(file, _)| !is_free(&file.path)) {
        for (line, _) in source.after(&["Remark", ":", ":", "Text"]) {
            complaints.push(format!(
                "{}:{line}: makes a remark of a sentence",
                file.path
            ));
        }
        let ends = |token: &Token| matches!(token.text.as_str(), ";" | "{" | "}");
        for statement in source.tokens.split(ends) {
            let is_of_remarks = |token: &Token| CALLED.contains(&token.text.as_str());
            let Some(about) = statement.iter().position(is_of_remarks) else {
                continue;
            };
            if let Some(line) = text_search(&statement[about..]) {
                complaints.push(format!("{}:{line}: looks into a sentence", file.path));
            }
        }
    }
    complaints
}

/// Position of a text search for words of the source: a literal, a constant, or a number.
fn text_search(tokens: &[Token]) -> Option<usize> {
    let is_look = |at: usize| {
        let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
        let is_constant = |name: &str| {
            let is_upper = |c: char| c.is_ascii_uppercase() || c == '_';
            name.len() > 1 && name.chars().all(is_upper)
        };
        if text(at) != "." || !LOOKS.contains(&text(at + 1)) {
            return false;
        }
        if text(at + 1) == "parse" {
            return true;
        }
        let argument = text(at + 3);
        let is_literal = argument.starts_with(['"', '\'']) || argument.starts_with("r\"");
        text(at + 2) == "(" && (is_literal || is_constant(argument))
    };
    let found = (0..tokens.len()).find(|at| is_look(*at))?;
    Some(tokens[found].line)
}

#[test]
fn remarks_are_values() {
    holds(
        nothing_is_decided_by_sentences,
        r#"
            CODE: fn f(p: &Point) -> bool { p.notes.iter().any(|n| n.to_string().starts_with("short")) }
            CODE: fn f(p: &Point) -> bool { p.notes.iter().any(|n| n.to_string().starts_with(EXTRA)) }
            CODE: fn f(m: &Missing) -> bool { m.reason.to_string().contains("memory") }
            CODE: fn f(note: &Remark) -> Option<f64> { note.to_string().split(' ').next()?.parse().ok() }
            CODE: fn f(p: &Point) -> Vec<String> { p.reasons.iter().map(|r| r.to_string().split(':').collect()).collect() }
            CODE: fn f() -> Remark { Remark::Text { text: "so it is".into() } }
        "#,
        r#"
            CODE: fn f(p: &Point) -> bool { p.notes.contains(&Remark::EngineSpecific) }
            CODE: fn f(note: &Remark) -> bool { matches!(note, Remark::Short { .. }) }
            CODE: fn f(p: &Point, text: &str) -> bool { text.starts_with("T") && !p.notes.is_empty() }
            CODE: fn f(note: &Remark, told: &[String]) -> bool { told.contains(&note.to_string()) }
        "#,
    );
}
