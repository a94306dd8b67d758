//! The house rules for source and documents. Every rule is a function from files to complaints; its test plants bad samples that it must
//! catch and good ones that it must accept, and then applies it to the repository.

#[path = "tidy/budget.rs"]
mod budget;
#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/clone.rs"]
mod clone;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/modules.rs"]
mod modules;
#[path = "tidy/remarks.rs"]
mod remarks;
#[path = "tidy/repository.rs"]
mod repository;
#[path = "tidy/source.rs"]
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use repository::{File, fetched, headings, links, product, repository, resolve, rust, sample};

/// Longest file of code. Published figures in TOML, snapshots and the JSON Schema are data, which nobody reads from top to bottom and which
/// gain nothing from a split.
const LINES_MAX: usize = 600;
/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];
const ENGINES: &[&str] = &[
    "sqlite",
    "duckdb",
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "oracle",
    "mock",
];
type Rule = fn(&[File]) -> Vec<String>;

fn no_file_is_too_long(files: &[File]) -> Vec<String> {
    let is_listed = |path: &str| LONG_FILES.iter().any(|(listed, _)| *listed == path);
    rust(files)
        .filter(|file| file.text.lines().count() > LINES_MAX && !is_listed(&file.path))
        .map(|file| format!("{}: more than {LINES_MAX} lines", file.path))
        .collect()
}

/// clippy finds `unwrap` outside tests only in crates with the lints.
fn no_crate_is_free_of_the_lints(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in files.iter().filter(|f| f.path.ends_with("Cargo.toml")) {
        let demanded = match file.path.split('/').count() {
            1 => "[workspace.lints.clippy]\nunwrap_used = \"warn\"\n",
            _ => "[lints]\nworkspace = true\n",
        };
        if !format!("{}\n", file.text).contains(demanded) {
            complaints.push(format!("{}: lacks {demanded:?}", file.path));
        }
    }
    for (file, source) in product(files) {
        for level in ["allow", "expect", "cfg_attr"] {
            let listed = source.after(&[level, "("]).into_iter().filter(|(_, rest)| {
                let list = rest.iter().take_while(|token| token.text != ")");
                list.into_iter().any(|token| token.text == "unwrap_used")
            });
            let lines = listed.map(|(line, _)| format!("{}:{line}: allows unwrap", file.path));
            complaints.extend(lines);
        }
    }
    complaints
}

/// The message of an `expect` proves that it cannot fail, which takes a sentence of at least four words.
fn expectations_are_reasons(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (file, source) in product(files) {
        for (line, argument) in source.after(&[".", "expect", "("]) {
            let message = argument.first().and_then(|token| token.string.as_deref());
            if message.is_none_or(|text| text.split_whitespace().count() < 4) {
                complaints.push(format!(
                    "{}:{line}: the message of expect is not a sentence of four words",
                    file.path
                ));
            }
        }
    }
    complaints
}

/// Pages are self-contained: automatically fetched elements have no address of another host.
fn pages_fetch_nothing(files: &[File]) -> Vec<String> {
    let templates = files
        .iter()
        .filter(|file| file.path.contains("/templates/"))
        .map(|file| (file.path.clone(), file.text.clone()));
    let literals = product(files).flat_map(|(file, source)| {
        let strings = source.tokens.into_iter().filter_map(|token| token.string);
        strings.map(|text| (file.path.clone(), text))
    });
    templates
        .chain(literals)
        .filter_map(|(path, text)| {
            fetched(&text).map(|address| format!("{path}: fetches {address}"))
        })
        .collect()
}

/// Engines are distinguished in their own crates alone, and in the column store, which is one's service. A string that is an
/// engine's name (or a scheme with its colon) is looked for, whatever is done with it: every comparison, `match`, constant
/// and table needs one. The engines' crates may not be named either. Data files are free to name engines.
fn engines_are_distinguished_in_their_crates(files: &[File]) -> Vec<String> {
    let is_engine = |path: &str| {
        ["crates/engines/", "crates/column-store/"]
            .iter()
            .any(|folder| path.starts_with(folder))
    };
    let mut complaints = Vec::new();
    for (file, source) in product(files).filter(|(f, _)| !is_engine(&f.path)) {
        for (line, text) in source.strings() {
            let name = text.strip_suffix(':').unwrap_or(text).to_ascii_lowercase();
            if ENGINES.contains(&name.as_str()) {
                complaints.push(format!("{}:{line}: names the engine {text:?}", file.path));
            }
        }
        for engine in ENGINES {
            let is_own = !source.after(&["mod", engine]).is_empty();
            if !is_own && !source.after(&["use", engine, ":", ":"]).is_empty() {
                complaints.push(format!("{}: uses the crate {engine}", file.path));
            }
        }
    }
    complaints
}

fn every_module_says_what_it_is(files: &[File]) -> Vec<String> {
    rust(files)
        .filter(|file| file.path.contains("/src/"))
        .filter(|file| {
            let first = file.text.lines().find(|line| !line.trim().is_empty());
            !first.is_some_and(|line| line.starts_with("//! ") && line.split(' ').count() > 2)
        })
        .map(|file| format!("{}: does not begin with a module doc", file.path))
        .collect()
}

/// Links must stay within the repository; after `#` stands a heading of the document.
fn links_lead_somewhere(files: &[File]) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for file in files {
        paths.extend(Path::new(&file.path).ancestors().map(Path::to_path_buf));
    }
    let is_document = |file: &&File| file.path.ends_with(".md");
    let documents = files.iter().filter(is_document);
    let headings: BTreeMap<&Path, _> = documents
        .clone()
        .map(|file| (Path::new(&file.path), headings(&file.text)))
        .collect();
    let mut complaints = Vec::new();
    for file in documents {
        for link in links(&file.text) {
            let (target, heading) = link.split_once('#').unwrap_or((&link, ""));
            let place = match target {
                "" => Some(PathBuf::from(&file.path)),
                target => resolve(&file.path, target),
            };
            let found = place.filter(|place| paths.contains(place));
            let is_heading = |place: &PathBuf| {
                let names = headings.get(place.as_path());
                heading.is_empty() || names.is_none_or(|names| names.contains(heading))
            };
            if !found.as_ref().is_some_and(is_heading) {
                complaints.push(format!("{}: the link {link} leads nowhere", file.path));
            }
        }
    }
    complaints
}

fn nothing_is_left_to_do(files: &[File]) -> Vec<String> {
    // Concatenated, so that this file does not contain them.
    let marks = [["TO", "DO"].concat(), ["FIX", "ME"].concat()];
    let mut complaints = Vec::new();
    for file in files {
        for (number, line) in (1..).zip(file.text.lines()) {
            if marks.iter().any(|mark| line.contains(mark)) {
                complaints.push(format!("{}:{number}: {}", file.path, line.trim()));
            }
        }
    }
    complaints
}

fn changes_have_a_place(files: &[File]) -> Vec<String> {
    let changelog = files.iter().find(|file| file.path == "CHANGELOG.md");
    let has_place = |file: &File| file.text.lines().any(|line| line == "## Unreleased");
    if changelog.is_some_and(has_place) {
        Vec::new()
    } else {
        vec!["CHANGELOG.md: there is no section \"## Unreleased\"".to_owned()]
    }
}

/// An error printed with its causes would repeat a cause that is part of its own sentence.
fn errors_name_a_cause_once(files: &[File]) -> Vec<String> {
    let mut complaints = Vec::new();
    for (file, source) in product(files) {
        for (line, rest) in source.after(&["#", "[", "error", "("]) {
            let sentence = rest.first().and_then(|token| token.string.as_deref());
            let code: String = rest.iter().map(|token| token.text.as_str()).collect();
            let of_variant = code.split("#[error(").next().unwrap_or_default();
            let is_cause = of_variant.contains("#[from]") || of_variant.contains("#[source]");
            let contains_cause = |sentence: &str| {
                sentence.contains("{source") || (is_cause && sentence.contains("{0"))
            };
            if sentence.is_some_and(contains_cause) {
                complaints.push(format!(
                    "{}:{line}: the sentence tells its cause, which is told behind it again",
                    file.path
                ));
            }
        }
    }
    complaints
}

/// Applies a rule to planted samples, a line each with its path (or CODE) and its text, and then to the repository.
fn holds(rule: Rule, bad: &str, good: &str) {
    let samples = |lines: &str| -> Vec<(String, String)> {
        let lines = lines.lines().map(str::trim).filter(|l| !l.is_empty());
        let parts = lines.map(|line| line.split_once(": ").expect("a path and a text"));
        parts
            .map(|(path, text)| (path.replace("CODE", CODE), text.replace("\\n", "\n")))
            .collect()
    };
    let (bad, good) = (samples(bad), samples(good));
    fn pairs(samples: &[(String, String)]) -> Vec<(&str, &str)> {
        let samples = samples.iter();
        samples.map(|(path, text)| (&path[..], &text[..])).collect()
    }
    holds_samples(rule, &pairs(&bad), &pairs(&good));
}

fn holds_samples(rule: Rule, bad: &[(&str, &str)], good: &[(&str, &str)]) {
    for (path, text) in bad {
        let complaints = rule(&sample(path, text));
        assert_eq!(complaints.len(), 1, "{path}: {text:?} gave {complaints:?}");
    }
    for (path, text) in good {
        let complaints = rule(&sample(path, text));
        assert!(complaints.is_empty(), "{text:?} gave {complaints:?}");
    }
    let complaints = rule(&repository());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

const CODE: &str = "crates/lab/src/plan.rs";

#[test]
fn files_have_600_lines_at_most() {
    let (long, fits) = ("\n".repeat(601), "\n".repeat(600));
    holds_samples(
        no_file_is_too_long,
        &[(CODE, &long), ("crates/lab/tests/plan.rs", &long)],
        &[(CODE, &fits), ("reference/dl980-violin.toml", &long)],
    );
    let files = repository();
    for (path, reason) in LONG_FILES {
        let file = files.iter().find(|file| file.path == *path);
        let still = file.is_some_and(|file| file.text.lines().count() > LINES_MAX);
        assert!(
            still,
            "{path} is no longer long; take it off the list ({reason})"
        );
        assert!(
            reason.split(' ').count() > 3,
            "{path} has no reason to be long"
        );
    }
}

#[test]
fn no_unwrap_outside_tests() {
    holds(
        no_crate_is_free_of_the_lints,
        r#"
            crates/lab/Cargo.toml: [lints]\n[dependencies]\n
            Cargo.toml: [workspace.lints.clippy]\nunwrap_used = "allow"\n
            CODE: #![allow(clippy::unwrap_used)]\nfn f() { g().unwrap(); }
            CODE: #[cfg(test)]\nmod tests;\n#[expect(dead_code, clippy::unwrap_used)]\nfn f() {}
        "#,
        r#"
            crates/lab/Cargo.toml: [lints]\nworkspace = true
            CODE: #[allow(dead_code)]\nfn f() { unwrap_used(); }
            CODE: #[cfg(test)]\n#[allow(clippy::unwrap_used)]\nmod tests {}
            crates/lab/tests/plan.rs: #![allow(clippy::unwrap_used)]
        "#,
    );
}

#[test]
fn every_expect_outside_tests_says_why() {
    holds(
        expectations_are_reasons,
        r#"
            CODE: fn f() { g().expect("must work"); }
            CODE: fn f() { g().expect(REASON); }
            CODE: fn f() { g().expect(&format!("one two three four {x}")); }
            CODE: #[cfg(test)]\nmod tests { }\nfn f() { g()?.expect("works"); }
            CODE: #[cfg(test)]\nmod tests;\nfn f() { g().expect("works"); }
            CODE: fn f() { let c = ['"', '\'', b'\\']; g().expect("works"); }
            CODE: fn f() { assert!(g().expect("works")); }
        "#,
        r##"
            CODE: fn f() { g().expect("a list made above is not empty"); }
            CODE: fn f() { g()\n    .expect(\n        "a list made above is not empty",\n    ); }
            CODE: /// `x.expect("works")`\nfn f() { g().expect_err; } // .expect("works")
            CODE: /* a /* b */ .expect() */ const S: &str = r#"".expect()"#;
            CODE: fn f() {}\n#[cfg(test)]\nmod tests { fn t() { if a { b } g().expect("works"); } }
            crates/lab/src/plan/tests.rs: fn f() { g().expect("works"); }
            crates/lab/benches/plan.rs: fn f() { g().expect("works"); }
        "##,
    );
}

#[test]
fn pages_are_whole_in_themselves() {
    holds(
        pages_fetch_nothing,
        r#"
            crates/report/templates/report.html: <script src="https://example.org/uplot.js"></script>
            crates/report/templates/report.html: <link href='//example.org/a.css'>
            crates/report/templates/report.css: @import 'http://example.org/a.css';
            crates/report/templates/report.css: b { background: url(https://example.org/a.png) }
            crates/report/templates/report.html: <script>fetch('https://cdnjs.cloudflare.com/x')</script>
            CODE: const S: &str = "<img src=\"https://example.org/a.png\">";
        "#,
        r##"
            crates/report/templates/report.html: <svg xmlns="http://www.w3.org/2000/svg"><a href="#T611"></a></svg>
            crates/report/templates/report.html: <img src="data:image/png;base64,AAAA">
        "##,
    );
}

#[test]
fn errors_do_not_repeat_their_cause() {
    let error = |attribute: &str, variant: &str| {
        format!(
            "enum E {{\n    #[error({attribute})]\n    A{variant},\n    #[error(\"b {{0}}\")]\n    B(u8),\n}}"
        )
    };
    let bad = [
        error("\"a ({source})\"", " { source: io::Error }"),
        error(
            "\n        \"a ({source}); b\"\n    ",
            " { source: io::Error }",
        ),
        error("\"a: {0}\"", "(#[from] io::Error)"),
        error("\"a: {0}\"", "(#[source] io::Error)"),
    ];
    let good = [
        error("\"a ({reason})\"", " { reason: io::Error }"),
        error("\"a\"", " { source: io::Error }"),
        error("transparent", "(#[from] io::Error)"),
        error("\"a: {0}\"", "(io::Error)"),
    ];
    let bad: Vec<(&str, &str)> = bad.iter().map(|text| (CODE, text.as_str())).collect();
    let good: Vec<(&str, &str)> = good.iter().map(|text| (CODE, text.as_str())).collect();
    holds_samples(errors_name_a_cause_once, &bad, &good);
}

#[test]
fn no_engine_is_distinguished_outside_its_crate() {
    holds(
        engines_are_distinguished_in_their_crates,
        r#"
            CODE: fn f(e: &str) -> u32 { match e { "duckdb" => 1, _ => 2 } }
            CODE: fn f(e: &str) -> bool { e == "SQLite" }
            CODE: fn f(u: &str) -> bool { u.starts_with("sqlite:") }
            CODE: const NODES: &str = r"Oracle";
            CODE: use sqlite::Sqlite;
        "#,
        r#"
            CODE: /// A target such as "sqlite".\nfn f() { g("sqlite has one writer"); }
            CODE: fn f() {}\n#[cfg(test)]\nmod tests { const E: &str = "sqlite"; }
            crates/engines/src/lib.rs: const E: &str = "sqlite";
            crates/lab/tests/plan.rs: const E: &str = "sqlite";
            library/T611.toml: engine = "sqlite"
        "#,
    );
}

#[test]
fn every_module_has_a_doc() {
    holds(
        every_module_says_what_it_is,
        r#"
            CODE: use std::fmt;
            CODE: //!\nuse std::fmt;
            CODE: \n
        "#,
        r#"
            CODE: //! Reads plans from TOML.\nuse std::fmt;
            crates/archive/build.rs: fn main() {}
        "#,
    );
}

#[test]
fn every_link_leads_somewhere() {
    holds(
        links_lead_somewhere,
        r#"
            docs/FORMAT.md: see [it](absent.md)
            docs/FORMAT.md: see [it](../absent.md#plans)
            docs/FORMAT.md: # Formats\n[below](#absent)
            README.md: ![the report](docs/absent.png)
            README.md: <img src="docs/absent.png">
            README.md: [out](../../elsewhere.md)
        "#,
        r#"
            docs/FORMAT.md: # `JSON`, and more\n[itself](FORMAT.md#json-and-more), [folder](../docs), [up](../docs/FORMAT.md)
            README.md: [TPC](https://www.tpc.org) and [below](#below)\n## Below
        "#,
    );
}

#[test]
fn no_work_is_left_in_comments() {
    let (one, other) = (["// TO", "DO: later"].concat(), ["# FIX", "ME"].concat());
    holds_samples(
        nothing_is_left_to_do,
        &[(CODE, &one), ("Makefile", &other)],
        &[(CODE, "// what there is to do")],
    );
}

#[test]
fn the_changelog_has_an_unreleased_section() {
    holds(
        changes_have_a_place,
        r#"
            CHANGELOG.md: # Changelog\n\n## 0.1.0\n
            docs/CHANGELOG.md: ## Unreleased\n
        "#,
        r#"
            CHANGELOG.md: # Changelog\n\n## Unreleased\n
        "#,
    );
}
