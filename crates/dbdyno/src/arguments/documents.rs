//! Every command that the documents, the plans and the scripts' comments show can be typed: its verb, options and values are parsed.

use std::path::{Path, PathBuf};

use super::*;

/// Files whose commands are parsed, below the root of the clone.
const FOLDERS: [&str; 5] = [".", "docs", "docs/examples", "plans", "plans/studies"];

fn files() -> Vec<PathBuf> {
    let root = Path::new("../..");
    let listed = FOLDERS.iter().flat_map(|folder| {
        let entries = root.join(folder).read_dir().unwrap();
        entries.map(|entry| entry.unwrap().path())
    });
    let is_text = |path: &PathBuf| {
        let extension = path.extension().and_then(|e| e.to_str());
        matches!(extension, Some("md" | "toml"))
    };
    let mut texts: Vec<PathBuf> = listed.filter(is_text).collect();
    texts.sort();
    texts
}

/// The words of a shell's command up to the first operator or comment.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '|' | '>' | '<' | ';' | '&') => break,
            (None, '#') if word.is_none() => break,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Commands of a text: the lines of its blocks of code that begin with the command, and whole spans of code.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut commands = Vec::new();
    let mut is_block = false;
    for line in joined.lines() {
        let line = line.trim_start_matches("# ").trim();
        if line.starts_with("```") {
            is_block = !is_block;
        } else if let Some(rest) = line.strip_prefix("$ ").or(is_block.then_some(line)) {
            commands.extend(command_in(rest));
        } else {
            let spans = line.split('`').skip(1).step_by(2);
            commands.extend(spans.filter_map(command_in));
        }
    }
    commands
}

/// The command without variables before it; `None` for another program, and for a name of a verb in running text.
fn command_in(line: &str) -> Option<String> {
    let at = line.find("dbdyno ")?;
    let before = line[..at].trim_end_matches("bin/").trim();
    let is_variable = |word: &str| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let is_command = before
        .split_whitespace()
        .all(|word| is_variable(word) || word == "sudo" || word == "exec");
    is_command.then(|| line[at..].to_owned())
}

/// True for a verb that running text names without its arguments, and for a request for help.
fn is_mention(error: &clap::Error) -> bool {
    use clap::error::ErrorKind;
    let kind = error.kind();
    !error.use_stderr()
        || kind == ErrorKind::MissingRequiredArgument
        || kind == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
}

#[test]
fn every_command_of_the_documents_can_be_typed() {
    let mut wrong = Vec::new();
    let mut parsed = 0;
    for file in files() {
        let text = std::fs::read_to_string(&file).unwrap();
        for command in commands(&text) {
            let words = words(&command);
            // `…` and `[…]` stand for what a reader fills in.
            if words.iter().any(|word| word.contains(['…', '[', '{', '<'])) {
                continue;
            }
            parsed += 1;
            let parse = Arguments::grouped().try_get_matches_from(&words);
            let Some(error) = parse.err().filter(|error| !is_mention(error)) else {
                continue;
            };
            let (name, why) = (file.file_name().unwrap().display(), error.to_string());
            let why = why.lines().next().unwrap_or_default();
            wrong.push(format!("{name}: {command}\n    {why}"));
        }
    }
    assert!(parsed > 100, "only {parsed} commands were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
