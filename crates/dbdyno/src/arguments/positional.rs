//! Positional arguments: a plan, study or workload and any number of targets, in any order.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use engine::{Engine, Reach, UrlError};
use lab::{LabError, Plan};

use super::SecretText;
use crate::console::say;
use crate::exit::invalid;

/// Names that a positional argument may have besides a target.
#[derive(Debug, Clone)]
pub struct Kind {
    pub noun: &'static str,
    pub names: Vec<String>,
    /// Verb that lists the names.
    pub lister: &'static str,
}

impl Kind {
    /// A built-in plan, or the path of a plan file.
    pub fn plan() -> Self {
        Self {
            noun: "plan",
            names: Plan::built_in().into_iter().map(str::to_owned).collect(),
            lister: "list plans",
        }
    }
}

/// Positional arguments in their parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Plan, study or workload.
    pub subject: Option<String>,
    pub targets: Vec<SecretText>,
}

/// Splits positional texts into at most one subject and the targets. `verb` is the command as typed, for messages.
///
/// # Errors
/// On two subjects, a host in place of a URL, and a URL of no engine.
pub fn split(verb: &str, kind: Option<&Kind>, texts: &[SecretText]) -> Result<Split> {
    let mut split = Split::default();
    for text in texts {
        if is_target(text.expose()) {
            check_engine(verb, text)?;
            split.targets.push(text.clone());
            continue;
        }
        let name = subject(verb, kind, text.expose())?;
        if let (Some(first), Some(kind)) = (&split.subject, kind) {
            let noun = kind.noun;
            return invalid(format!(
                "\"{first}\" and \"{name}\" are two {}, and {verb} takes one; type: dbdyno {verb} {first} [TARGET…]",
                plural(noun)
            ));
        }
        split.subject = Some(name);
    }
    Ok(split)
}

fn plural(noun: &str) -> String {
    noun.strip_suffix('y')
        .map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies"))
}

/// Refuses a measurement without a database, with the commands to type.
///
/// # Errors
/// Without targets and without --demo, and with both.
pub fn check_targets(verb: &str, targets: &[SecretText], demo: bool) -> Result<()> {
    match (targets.is_empty(), demo) {
        (true, false) => {
            // An error is a sentence, and ends the output.
            for line in commands_with_targets(verb) {
                say(&line);
            }
            invalid("no database is given")
        }
        (false, true) => invalid(format!(
            "--demo measures SQLite and DuckDB; type: dbdyno {verb} TARGET, or: dbdyno {verb} --demo"
        )),
        (true, true) | (false, false) => Ok(()),
    }
}

fn commands_with_targets(verb: &str) -> [String; 2] {
    let mut examples = engines::engines().iter().copied().map(example);
    let mut server = |url: &String| url.contains("//");
    let first = examples.find(&mut server).unwrap_or_default();
    let own = format!("dbdyno {verb} {first}");
    let demo = format!("dbdyno {verb} --demo");
    let width = own.chars().count();
    [
        format!("{own}   measures that database; `dbdyno list engines` has the other URLs"),
        format!("{demo:<width$}   measures SQLite and DuckDB in temporary files"),
    ]
}

/// The databases of a verb, as positional arguments or with `--target`.
#[derive(Debug, Clone, Default, Args)]
pub struct Targets {
    /// Database, as ENGINE://USER@HOST/DATABASE or ENGINE:PATH
    #[arg(value_name = "TARGET")]
    texts: Vec<SecretText>,
    /// Database, in place of a positional TARGET
    #[arg(long = "target", value_name = "URL", hide_short_help = true)]
    targets: Vec<SecretText>,
}

impl Targets {
    /// All databases.
    ///
    /// # Errors
    /// As [`split`].
    pub fn all(&self, verb: &str) -> Result<Vec<SecretText>> {
        let mut targets = split(verb, None, &self.texts)?.targets;
        targets.extend(self.targets.iter().cloned());
        Ok(targets)
    }

    /// At most one database.
    ///
    /// # Errors
    /// As [`split`], and with several.
    pub fn one_at_most(&self, verb: &str) -> Result<Option<SecretText>> {
        let mut targets = self.all(verb)?;
        match targets.len() {
            0 | 1 => Ok(targets.pop()),
            many => invalid(format!(
                "{many} databases are given, and {verb} takes one; type a command for each"
            )),
        }
    }
}

/// The one database of a verb.
#[derive(Debug, Clone, Default, Args)]
pub struct OneTarget {
    #[command(flatten)]
    targets: Targets,
}

impl OneTarget {
    /// The database.
    ///
    /// # Errors
    /// As [`Targets::one_at_most`], and without a target.
    pub fn of(&self, verb: &str) -> Result<SecretText> {
        match self.targets.one_at_most(verb)? {
            Some(target) => Ok(target),
            None => invalid(format!(
                "no database is given; type: dbdyno {verb} postgres://USER@HOST/DATABASE"
            )),
        }
    }
}

/// True for `SCHEME:…` and for libpq's `KEY=VALUE …`; a host with its port is neither.
pub fn is_target(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return text.contains('=') && engines::parse(text).is_ok();
    };
    let port = rest.split('/').next().unwrap_or_default();
    let is_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let may_be_scheme = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '-';
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(may_be_scheme)
        && !text.contains(":\\");
    is_scheme
        && (engine(scheme).is_some() || rest.starts_with("//") || !(is_port || rest.contains('@')))
}

fn engine(scheme: &str) -> Option<&'static dyn Engine> {
    engines::all().of(scheme)
}

/// An error for a URL of no engine; all else about a URL is said by whoever uses it.
fn check_engine(verb: &str, text: &SecretText) -> Result<()> {
    let unknown = match text.url() {
        Ok(url) => engines::find(&url).err(),
        Err(LabError::Url(error)) => Some(error),
        Err(_) => None,
    };
    match unknown {
        Some(UrlError::UnknownEngine { scheme, .. }) if scheme == "ssh" => invalid(format!(
            "an ssh URL is no database; type: dbdyno {verb} postgres://USER@HOST/DATABASE --ssh ssh://USER@HOST"
        )),
        Some(error @ UrlError::UnknownEngine { .. }) => Err(LabError::Url(error).into()),
        _ => Ok(()),
    }
}

/// The name of a plan, study or workload; an error for what can only have been meant as a database.
fn subject(verb: &str, kind: Option<&Kind>, text: &str) -> Result<String> {
    let is_known = kind.is_some_and(|kind| kind.names.iter().any(|name| name == text));
    if is_known {
        return Ok(text.to_owned());
    }
    if let Some(url) = file_url(text) {
        return invalid(format!(
            "\"{text}\" is not a URL; type: dbdyno {verb} {url}"
        ));
    }
    let is_of_tests =
        kind.is_some_and(|kind| kind.noun == "plan") && Plan::tests_of(text).is_some();
    if is_of_tests {
        return Ok(text.to_owned());
    }
    let is_file = text.ends_with(".toml") || text.contains("./") || Path::new(text).is_file();
    if kind.is_some() && is_file {
        return Ok(text.to_owned());
    }
    if let Some(engine) = engine(text) {
        return invalid(format!(
            "\"{text}\" is an engine, not a URL; type: dbdyno {verb} {}",
            example(engine)
        ));
    }
    if let Some(kind) = kind
        && !is_host(text)
    {
        if text.contains('/') || !archive::nearest(text, &kind.names).is_empty() {
            // The message about unknown names has the similar ones.
            return Ok(text.to_owned());
        }
        return invalid(format!(
            "\"{text}\" is neither a {} nor a URL; type: dbdyno {}, or, for a server: dbdyno {verb} {}",
            kind.noun,
            kind.lister,
            server_url(text)
        ));
    }
    invalid(format!(
        "\"{}\" is not a URL; type: dbdyno {verb} {}",
        without_user(text),
        server_url(text)
    ))
}

/// The URL of a database file that was given by its path alone, if its suffix names the engine.
fn file_url(text: &str) -> Option<String> {
    let suffix = Path::new(text).extension()?.to_str()?;
    let is_named = |e: &&&dyn Engine| e.scheme() == suffix || e.info().aliases.contains(&suffix);
    let engine = engines::engines().iter().find(is_named)?;
    (!text.contains([':', '@'])).then(|| format!("{}:{text}", engine.scheme()))
}

fn example(engine: &dyn Engine) -> String {
    let scheme = engine.scheme();
    match engine.reach() {
        Reach::Network => format!("{scheme}://USER@HOST/DATABASE"),
        Reach::Embedded => format!("{scheme}:FILE"),
        Reach::LocalServer | Reach::Nowhere | Reach::Replica => format!("{scheme}:"),
    }
}

/// True for a host with user, port or domain, or the name of this one.
fn is_host(text: &str) -> bool {
    text.contains(['@', ':']) || text == "localhost" || (text.contains('.') && !text.contains("./"))
}

/// The text without a user and its password.
fn without_user(text: &str) -> &str {
    text.rsplit_once('@').map_or(text, |(_, address)| address)
}

/// The URL that a host, perhaps with user, port and database, stands for, with each engine that has servers.
fn server_url(text: &str) -> String {
    let address = without_user(text);
    let (place, database) = address.split_once('/').unwrap_or((address, "DATABASE"));
    let user = text.rsplit_once('@').map_or("USER", |(user, _)| {
        user.split(':').next().unwrap_or_default()
    });
    let servers = engines::engines().iter();
    let mut servers = servers.filter(|engine| engine.reach() == Reach::Network);
    let first = servers.next().map_or("ENGINE", |engine| engine.scheme());
    let others: Vec<String> = servers
        .map(|engine| format!("{}://…", engine.scheme()))
        .collect();
    let others = others.join(", ");
    format!("{first}://{user}@{place}/{database} (or {others})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<SecretText> {
        let words = words
            .iter()
            .map(|word| SecretText::from((*word).to_owned()));
        words.collect()
    }

    fn split_of(words: &[&str]) -> Result<Split> {
        split("run", Some(&Kind::plan()), &texts(words))
    }

    fn refusal(words: &[&str]) -> String {
        split_of(words).unwrap_err().to_string()
    }

    #[test]
    fn plan_and_targets_stand_in_any_order() {
        let expected = Split {
            subject: Some("quick".into()),
            targets: texts(&["postgres://me@db/test", "sqlite:"]),
        };
        for words in [
            ["quick", "postgres://me@db/test", "sqlite:"],
            ["postgres://me@db/test", "quick", "sqlite:"],
            ["postgres://me@db/test", "sqlite:", "quick"],
        ] {
            assert_eq!(split_of(&words).unwrap(), expected);
        }
        assert_eq!(split_of(&[]).unwrap(), Split::default());
    }

    #[test]
    fn a_scheme_makes_a_target() {
        for target in [
            "sqlite:",
            "sqlite:/data/bench.db",
            "sqlite:5432",
            "postgres+local:",
            "mysql2://me@db/test",
            "jdbc:postgresql://db/test",
            "host=db1 dbname=test",
        ] {
            assert!(is_target(target), "{target}");
        }
        for other in [
            "quick",
            "plans/mine.toml",
            "./a:b.toml",
            "db1",
            "localhost:5432",
            "db1.example.com:5432/test",
            "me:secret@db1/test",
        ] {
            assert!(!is_target(other), "{other}");
        }
    }

    #[test]
    fn a_plan_file_needs_neither_to_exist_nor_to_be_near() {
        for path in ["mine.toml", "../plans/mine", "qick"] {
            assert_eq!(split_of(&[path]).unwrap().subject.as_deref(), Some(path));
        }
    }

    #[test]
    fn two_plans_are_one_too_many() {
        assert_eq!(
            refusal(&["quick", "sqlite:", "smoke"]),
            "\"quick\" and \"smoke\" are two plans, and run takes one; type: dbdyno run quick [TARGET…]"
        );
    }

    #[test]
    fn a_host_is_answered_with_its_url() {
        for (typed, said) in [
            (
                "db1.example.com",
                "\"db1.example.com\" is not a URL; type: dbdyno run postgres://USER@db1.example.com/DATABASE (or mysql://…, oracle://…)",
            ),
            (
                "localhost:5432",
                "\"localhost:5432\" is not a URL; type: dbdyno run postgres://USER@localhost:5432/DATABASE (or mysql://…, oracle://…)",
            ),
            (
                "db1:3306/shop",
                "\"db1:3306/shop\" is not a URL; type: dbdyno run postgres://USER@db1:3306/shop (or mysql://…, oracle://…)",
            ),
            (
                "me:secret@db1/test",
                "\"db1/test\" is not a URL; type: dbdyno run postgres://me@db1/test (or mysql://…, oracle://…)",
            ),
            (
                "dbserver",
                "\"dbserver\" is neither a plan nor a URL; type: dbdyno list plans, or, for a server: dbdyno run \
                 postgres://USER@dbserver/DATABASE (or mysql://…, oracle://…)",
            ),
            (
                "duckdb",
                "\"duckdb\" is an engine, not a URL; type: dbdyno run duckdb:FILE",
            ),
            (
                "data/bench.sqlite",
                "\"data/bench.sqlite\" is not a URL; type: dbdyno run sqlite:data/bench.sqlite",
            ),
        ] {
            assert_eq!(refusal(&[typed]), said);
        }
    }

    #[test]
    fn a_scheme_of_no_engine_is_refused_with_the_nearest() {
        assert_eq!(
            refusal(&["postgers://me@db/test"]),
            "unknown engine \"postgers\" (did you mean \"postgres\"?)"
        );
        assert!(refusal(&["ssh://me@db"]).contains("--ssh ssh://USER@HOST"));
    }

    #[test]
    fn a_measurement_needs_a_database_or_the_demonstration() {
        let sqlite = texts(&["sqlite:"]);
        assert!(check_targets("run", &[], false).is_err());
        assert_eq!(
            commands_with_targets("run"),
            [
                "dbdyno run postgres://USER@HOST/DATABASE   measures that database; `dbdyno list engines` has the other URLs",
                "dbdyno run --demo                          measures SQLite and DuckDB in temporary files",
            ]
        );
        assert!(check_targets("run", &sqlite, true).is_err());
        assert!(check_targets("run", &sqlite, false).is_ok());
        assert!(check_targets("run", &[], true).is_ok());
    }

    #[test]
    fn one_target_is_one() {
        let of = |typed: &[&str], option: &[&str]| {
            let (texts, targets) = (texts(typed), texts(option));
            let target = OneTarget {
                targets: Targets { texts, targets },
            };
            target.of("check").map_err(|error| error.to_string())
        };
        assert_eq!(of(&["sqlite:a"], &[]), Ok(texts(&["sqlite:a"]).remove(0)));
        assert_eq!(of(&[], &["sqlite:a"]), Ok(texts(&["sqlite:a"]).remove(0)));
        assert_eq!(
            of(&[], &[]).unwrap_err(),
            "no database is given; type: dbdyno check postgres://USER@HOST/DATABASE"
        );
        assert_eq!(
            of(&["sqlite:a"], &["sqlite:b"]).unwrap_err(),
            "2 databases are given, and check takes one; type a command for each"
        );
        assert_eq!(
            of(&["quick"], &[]).unwrap_err(),
            "\"quick\" is not a URL; type: dbdyno check postgres://USER@quick/DATABASE (or mysql://…, oracle://…)"
        );
    }
}
