//! Lines, words and phrases of the repository against `budget.toml`, whose numbers only fall unless a commit says why.

use std::collections::BTreeMap;

use crate::repository::{File, in_crate, product, repository, sample};

const BUDGET: &str = "budget.toml";
/// A number that is more than this share above the truth is no limit any more.
const SLACK: f64 = 0.02;
/// Lines and words are rounded up to twenty, so that a commit that removes as much as it adds needs no new numbers.
const SCORE: usize = 20;

/// Counts by section of the budget, then by crate or document.
type Counts = BTreeMap<String, BTreeMap<String, usize>>;

fn count(files: &[File]) -> Counts {
    let mut counts = Counts::new();
    let mut add = |section: &str, name: &str, n: usize| {
        let section = counts.entry(section.to_owned()).or_default();
        *section.entry(name.to_owned()).or_default() += n;
    };
    for file in files {
        if file.path.ends_with(".md") {
            add("words", &file.path, file.text.split_whitespace().count());
            add("private_words", "documents", private_words(&file.text));
            add("phrases", "documents", phrases(&prose(&file.text)));
        }
        let is_shown = ["plans/", "library/", "reference/", "layouts/"];
        if file.path.ends_with(".toml") && is_shown.iter().any(|it| file.path.starts_with(it)) {
            add("phrases", "plans and references", phrases(&file.text));
        }
        if file.path.contains("/snapshots/verbs__help") {
            add("phrases", "help", phrases(&file.text));
        }
        let Some((name, path)) = in_crate(&file.path) else {
            continue;
        };
        let folder = path.split('/').next().unwrap_or_default();
        if !file.path.ends_with(".rs") || !["src", "tests"].contains(&folder) {
            continue;
        }
        add(&format!("lines_{folder}"), name, file.text.lines().count());
        add("private_words", name, private_words(&file.text));
        let asides = file.text.lines().filter(|line| is_aside(line)).count();
        add("comments_without_subject", name, asides);
    }
    for (file, source) in product(files) {
        if let Some((name, path)) = in_crate(&file.path)
            && path.starts_with("src/")
        {
            let found: usize = source.strings().map(|(_, text)| phrases(text)).sum();
            add("phrases_in_sentences", name, found);
        }
    }
    counts
}

/// Phrases that read like a translation; STYLE has better ones.
fn phrases(text: &str) -> usize {
    const PHRASES: [&str; 12] = [
        "told",
        "tells",
        "foretold",
        "untold",
        "anew",
        "the begin",
        "by lot",
        "as it comes",
        "at work",
        "beside",
        "document 00",
        "behind the",
    ];
    let text = text.to_lowercase();
    let is_whole = |at: usize, phrase: &str| {
        let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_alphabetic() || c == '_');
        let after = text[at + phrase.len()..].chars().next();
        !is_letter(text[..at].chars().next_back()) && !is_letter(after)
    };
    let count = |phrase: &&str| {
        text.match_indices(*phrase)
            .filter(|(at, _)| is_whole(*at, phrase))
            .count()
    };
    PHRASES.iter().map(count).sum()
}

/// A Markdown text without its code, which names keys.
fn prose(markdown: &str) -> String {
    let outside: Vec<&str> = markdown.split("```").step_by(2).collect();
    let outside = outside.join("\n");
    outside.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

/// A comment that begins like the answer to a question names no subject.
fn is_aside(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("//");
    let text = comment.map(|text| text.trim_start_matches(['/', '!']).trim_start());
    let first = text.and_then(|text| text.split_whitespace().next());
    first.is_some_and(|word| ["What", "Who", "Whose", "Whether"].contains(&word))
}

/// Words that this project once used in a sense of its own, in comments, names and prose.
fn private_words(text: &str) -> usize {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    text.split(|c| !is_letter(c))
        .filter(|word| {
            let word = word.to_ascii_lowercase();
            ["told", "tells", "untold", "foretold", "anew", "asked"].contains(&word.as_str())
        })
        .count()
}

fn budget(files: &[File]) -> Counts {
    let mut counts = count(files);
    let in_scores = (counts.iter_mut())
        .filter(|(section, _)| section.starts_with("lines") || *section == "words");
    for of in in_scores.flat_map(|(_, section)| section.values_mut()) {
        *of = of.next_multiple_of(SCORE);
    }
    counts
}

fn complaints(files: &[File]) -> Vec<String> {
    let budget = files.iter().find(|file| file.path == BUDGET);
    let Some(budget) = budget else {
        return vec![format!("there is no {BUDGET}")];
    };
    let allowed: Counts = match toml::from_str(&budget.text) {
        Ok(allowed) => allowed,
        Err(error) => return vec![format!("{BUDGET}: {error}")],
    };
    let mut complaints = Vec::new();
    for (section, found) in count(files) {
        for (name, found) in found {
            let allowed = allowed.get(&section).and_then(|of| of.get(&name));
            let allowed = allowed.copied().unwrap_or(0);
            if found > allowed {
                complaints.push(format!(
                    "{section}: {name} has {found}, and {BUDGET} allows {allowed}; take something out, or raise the number in \
                     a commit that says why"
                ));
            } else if allowed as f64 > found as f64 * (1.0 + SLACK) + SCORE as f64 {
                complaints.push(format!(
                    "{section}: {name} has {found}, and {BUDGET} still allows {allowed}; lower it to {found}"
                ));
            }
        }
    }
    complaints
}

#[test]
fn lines_words_and_phrases_are_within_the_budget() {
    let planted = |budget: &str, path: &str, text: &str| {
        let mut files = sample(BUDGET, budget);
        files.extend(sample(path, text));
        complaints(&files)
    };
    let code = "crates/lab/src/plan.rs";
    let whole =
        "[lines_src]\nlab = 2\n[private_words]\nlab = 1\n[comments_without_subject]\nlab = 1\n";
    let text = "/// What it is told.\nfn f() {}\n";
    assert_eq!(planted(whole, code, text), Vec::<String>::new());
    for bad in [
        format!("{text}\n"),
        text.replace("told", "asked and told"),
        text.replace("fn f", "// Whether it is.\nfn f"),
        text.replace("What", "Foretold: what"),
    ] {
        assert!(!planted(whole, code, &bad).is_empty(), "{bad}");
    }
    for (path, bad) in [
        ("docs/A.md", "It is told beside the run, `beside` excepted."),
        ("plans/a.toml", "about = \"Foretold at work.\""),
        (code, "fn f() { say(\"The begin by lot.\") }"),
    ] {
        let found = complaints(&[
            File {
                path: BUDGET.to_owned(),
                text: String::new(),
            },
            sample(path, bad).remove(0),
        ]);
        let named = found.iter().filter(|it| it.starts_with("phrases"));
        assert!(
            named.clone().all(|it| it.contains("has 2,")) && named.count() == 1,
            "{found:?}"
        );
    }
    let stale = whole.replace("lab = 2", "lab = 23");
    assert_eq!(planted(&stale, code, text).len(), 1);
    assert_eq!(planted("[words]\n", "docs/A.md", "one word").len(), 1);
    assert_eq!(planted("lines = {", code, text).len(), 1);
    assert_eq!(complaints(&sample(code, text)).len(), 1);

    let files = repository();
    if std::env::var_os("UPDATE_BUDGET").is_some() {
        let counts = toml::to_string(&budget(&files)).expect("names and whole numbers are TOML");
        let head = "# Lines of Rust, words of documents, and phrases that are on their way out; `tidy` compares them with the tree.\n\
                    # UPDATE_BUDGET=1 cargo test -p dbdyno --test tidy writes today's counts. A number that rises needs a commit of its own\n\
                    # that says why.\n\n";
        std::fs::write("../../budget.toml", format!("{head}{counts}")).expect("it is writable");
        return;
    }
    let complaints = complaints(&files);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
