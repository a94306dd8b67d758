//! Format of a script's TOML file; docs/SCRIPT.md describes it for its users.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;

use archive::Remark;
use lab::InSlices;
use toml::{Table, Value};

pub use super::definition::*;
use super::table::Section;
use super::{draw_file, names, sql};

/// A script that loads data does it with statements, not with rows of its own.
const FILE_BYTES_MAX: u64 = 4 << 20;
pub const TRANSACTIONS_MAX: usize = 64;
pub const STATEMENTS_MAX: usize = 256;
const WEIGHT_MAX: i64 = 1_000_000;
const NAME_LETTERS_MAX: usize = 40;
const RETRIES_MAX: i64 = 1_000_000;
const OPERATIONS_MAX: i64 = 1_000_000_000;

impl Script {
    /// Reads a script's file and the files that it names.
    ///
    /// # Errors
    /// Sentence with the position of the error.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = read_limited(path)?;
        let directory = path.parent().unwrap_or(Path::new("."));
        Self::parse(&text, directory)
    }

    /// Parses a script; `directory` has the files that it names.
    ///
    /// # Errors
    /// Sentence with the position of the error.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, String> {
        let table: Table = toml::from_str(text).map_err(|e| {
            if is_of_pgbench(text) {
                PGBENCH.to_owned()
            } else {
                format!("not valid TOML: {}", archive::toml_sentence(text, &e))
            }
        })?;
        let known = [
            "name",
            "about",
            "operations",
            "retries",
            "think_ms",
            "pipeline",
            "setup",
            "teardown",
            "transaction",
        ];
        let section = Section::new("the script".into(), &table, &known)?;
        let name = checked_name(&section)?;
        let mut files = String::new();
        let (when, set_up) = set_up(&section, directory, &mut files)?;
        let script = Self {
            name,
            about: section.text("about")?.unwrap_or_default().to_owned(),
            operations: section
                .number("operations", 1, OPERATIONS_MAX)?
                .unwrap_or(1000) as u64,
            retries: section.number("retries", 0, RETRIES_MAX)?.unwrap_or(10) as u32,
            think_ms: think_ms(&section)?,
            pipeline: pipeline(&section)?,
            when,
            set_up,
            teardown: sql_of(&section, "teardown", &[], directory, &mut files)?,
            transactions: transactions(&section)?,
            text: format!("{text}\0{files}"),
        };
        Ok(script)
    }

    /// Reason why the script cannot be run on an engine: a statement that is not written for it.
    pub fn lacks(&self, engine: &str) -> Option<Remark> {
        let mut statements = self.statements();
        let (transaction, _) = statements.find(|(_, s)| s.sql.of(engine).is_empty())?;
        Some(Remark::ScriptWithoutSql {
            engine: engine.to_owned(),
            transaction: transaction.name.clone(),
        })
    }

    /// Sentence about a question mark, which an engine would misread as a parameter.
    pub fn misread(&self, engine: &str) -> Option<String> {
        let has_mark = |text: &String| sql::mark(text).has_question_mark;
        let mut statements = self.statements();
        let (transaction, _) = statements.find(|(_, s)| s.sql.of(engine).iter().any(has_mark))?;
        (!engines::has_question_mark_operators(engine)).then(|| {
            format!(
                "script \"{}\", transaction \"{}\": {}",
                self.name,
                transaction.name,
                sql::no_question_mark(engine)
            )
        })
    }

    fn statements(&self) -> impl Iterator<Item = (&Transaction, &Statement)> {
        let transactions = self.transactions.iter();
        transactions.flat_map(|t| t.statements.iter().map(move |s| (t, s)))
    }

    /// True if it creates or removes data on an engine before or after its transactions.
    pub fn makes_data(&self, engine: &str) -> bool {
        !self.set_up.of(engine).is_empty() || !self.teardown.of(engine).is_empty()
    }

    /// Use of the tables when it is measured in slices in turn with another configuration.
    pub fn in_slices(&self) -> InSlices {
        let made: Vec<&str> = (self.set_up.texts().chain(self.teardown.texts()))
            .map(String::as_str)
            .collect();
        let named = made.iter().find_map(|sql| sql::named_with_schema(sql));
        let statements = self.transactions.iter().flat_map(|t| &t.statements);
        let mut changed = statements.flat_map(|s| s.sql.texts());
        let changed = changed.find_map(|sql| sql::written_with_schema(sql));
        let changed =
            changed.map(|name| format!("it writes to {name}, which is one table for both sides"));
        let not_beside = match (named, self.writes()) {
            (Some(name), _) => Some(format!(
                "its set-up makes {name} in one place for both sides; leave the schema out of the name"
            )),
            (None, true) if self.set_up.texts().next().is_none() => Some(
                "it writes to tables that it does not make, and both sides would change the same rows; give it a [setup]"
                    .into(),
            ),
            (None, _) => changed,
        };
        InSlices {
            reads: (!self.writes()).then(|| format!("{:?} {}", self.when, made.join("\0"))),
            not_beside,
        }
    }

    pub fn writes(&self) -> bool {
        let reads = |text: &String| {
            let word = sql::first_word(text);
            ["select", "values", "show", "table", "explain"].contains(&word.as_str())
        };
        let mut writing = self.transactions.iter().filter(|t| !t.read_only);
        writing.any(|t| t.statements.iter().any(|s| !s.sql.texts().all(reads)))
    }
}

/// True for a pgbench script: lines of SQL, with commands that begin with a backslash.
pub fn is_of_pgbench(text: &str) -> bool {
    let is_sql = |line: &str| {
        let words = [
            "select", "insert", "update", "delete", "begin", "with", "end", "commit", "call",
        ];
        words.contains(&sql::first_word(line).as_str())
    };
    let mut lines = text.lines().map(str::trim_start);
    let has_tables = lines.clone().any(|line| line.starts_with('['));
    !has_tables
        && lines.any(|line| {
            let command = line.strip_prefix('\\').unwrap_or_default();
            let command = command.split_whitespace().next().unwrap_or_default();
            PGBENCH_COMMANDS.contains(&command) || is_sql(line) && line.trim_end().ends_with(';')
        })
}

const PGBENCH_COMMANDS: [&str; 12] = [
    "set",
    "sleep",
    "setshell",
    "shell",
    "if",
    "elif",
    "else",
    "endif",
    "gset",
    "aset",
    "startpipeline",
    "endpipeline",
];
pub const PGBENCH: &str = "this is a script of pgbench or plain SQL, and dbdyno's scripts are TOML (docs/SCRIPT.md): each statement \
     becomes [[transaction.statement]] with sql = '…', BEGIN and END go, and each \\set a generator in [transaction.draw]: \
     x = { uniform = [a, b] } for random(a, b), { zipf = [a, b], exponent = s } for random_zipfian(a, b, s), { nurand = … } in \
     the section of random_gaussian and random_exponential; \\sleep is think_ms, \\gset is keep, and several files are several \
     [[transaction]] with a weight";

fn read_limited(path: &Path) -> Result<String, String> {
    let cannot = |what: String| format!("{} cannot be read: {what}", path.display());
    archive::read_text(path, FILE_BYTES_MAX).map_err(|e| cannot(e.to_string()))
}

fn checked_name(section: &Section) -> Result<String, String> {
    let name = section.needed_text("name")?;
    is_name(name)
        .then(|| name.to_owned())
        .ok_or_else(|| section.wrong(&format!("name = \"{name}\" {NAME_RULE}")))
}

const NAME_RULE: &str = "is not a valid name: use up to 40 letters, digits, - and _";

/// Names are used in test codes, metrics and files.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (1..=NAME_LETTERS_MAX).contains(&name.len()) && name.chars().all(is_letter)
}

fn think_ms(section: &Section) -> Result<Option<f64>, String> {
    match section.real("think_ms")? {
        Some(ms) if !(0.0..=3.6e6).contains(&ms) => {
            Err(section.wrong(&format!("think_ms = {ms} is not between 0 and 3600000")))
        }
        other => Ok(other),
    }
}

fn pipeline(section: &Section) -> Result<Pipeline, String> {
    let known = ["off", "ends", "all"];
    match section.text("pipeline")? {
        None | Some("ends") => Ok(Pipeline::Ends),
        Some("off") => Ok(Pipeline::Off),
        Some("all") => Ok(Pipeline::All),
        Some(other) => Err(section.wrong(&format!(
            "pipeline = \"{other}\" is unknown{}; choose off, ends or all",
            archive::nearest(other, known)
        ))),
    }
}

fn set_up(
    section: &Section,
    directory: &Path,
    files: &mut String,
) -> Result<(When, PerEngine), String> {
    let sql = sql_of(section, "setup", &["when"], directory, files)?;
    let when = match section.table("setup")?.and_then(|table| table.get("when")) {
        None => When::Point,
        Some(Value::String(when)) if when == "point" => When::Point,
        Some(Value::String(when)) if when == "run" => When::Run,
        Some(other) => {
            return Err(section.wrong(&format!(
                "setup: when = {other} must be \"point\" or \"run\""
            )));
        }
    };
    Ok((when, sql))
}

/// SQL of `[setup]` or `[teardown]`: a text, a list of texts, or a file, each for all engines or for one.
fn sql_of(
    section: &Section,
    key: &str,
    more: &[&str],
    directory: &Path,
    files: &mut String,
) -> Result<PerEngine, String> {
    let Some(table) = section.table(key)? else {
        return Ok(PerEngine::default());
    };
    let known: Vec<&str> = ["sql", "file", "sql_for", "file_for"]
        .iter()
        .chain(more)
        .copied()
        .collect();
    let section = Section::new(key.to_owned(), table, &known)?;
    let mut sql = PerEngine {
        common: texts(&section, "sql", table.get("sql"))?,
        own: engines(&section, "sql_for")?,
    };
    let mut read = |name: &Value| -> Result<Vec<String>, String> {
        let name = name
            .as_str()
            .ok_or_else(|| section.wrong("file must be a text"))?;
        let text = read_limited(&directory.join(name)).map_err(|what| section.wrong(&what))?;
        files.push_str(&text);
        files.push('\0');
        Ok(vec![text])
    };
    if let Some(name) = table.get("file") {
        sql.common.extend(read(name)?);
    }
    for (engine, name) in section.table("file_for")?.into_iter().flatten() {
        known_engine(&section, engine)?;
        sql.own
            .entry(engine.clone())
            .or_default()
            .extend(read(name)?);
    }
    if sql.texts().next().is_none() {
        return Err(section.wrong("sql or file is required"));
    }
    Ok(sql)
}

fn texts(section: &Section, key: &str, value: Option<&Value>) -> Result<Vec<String>, String> {
    let wrong = || section.wrong(&format!("{key} must be a text or a list of texts"));
    let list = match value {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) => return Ok(vec![text.clone()]),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong()),
    };
    let texts = list.iter().map(|text| text.as_str().map(str::to_owned));
    texts.collect::<Option<Vec<_>>>().ok_or_else(wrong)
}

fn engines(section: &Section, key: &str) -> Result<BTreeMap<String, Vec<String>>, String> {
    let mut own = BTreeMap::new();
    for (engine, sql) in section.table(key)?.into_iter().flatten() {
        known_engine(section, engine)?;
        own.insert(
            engine.clone(),
            texts(section, &format!("{key}.{engine}"), Some(sql))?,
        );
    }
    Ok(own)
}

fn known_engine(section: &Section, engine: &str) -> Result<(), String> {
    let schemes = engines::engines().iter().map(|e| e.scheme());
    let known: Vec<&str> = schemes.filter(|s| !s.contains('+')).collect();
    if known.contains(&engine) {
        Ok(())
    } else {
        Err(section.wrong(&format!(
            "there is no engine \"{engine}\"{}; the engines are {}",
            archive::nearest(engine, &known),
            known.join(", ")
        )))
    }
}

fn transactions(section: &Section) -> Result<Vec<Transaction>, String> {
    let tables = section.tables("transaction")?;
    if tables.is_empty() || tables.len() > TRANSACTIONS_MAX {
        return Err(section.wrong(&format!(
            "the number of [[transaction]] tables, {}, is not between 1 and {TRANSACTIONS_MAX}",
            tables.len()
        )));
    }
    let mut all: Vec<Transaction> = Vec::new();
    for (number, table) in (1..).zip(tables) {
        let transaction = transaction(number, table)?;
        if all.iter().any(|t| t.name == transaction.name) {
            return Err(section.wrong(&format!(
                "two transactions are called \"{}\"",
                transaction.name
            )));
        }
        all.push(transaction);
    }
    Ok(all)
}

fn transaction(number: usize, table: &Table) -> Result<Transaction, String> {
    let name = table.get("name").and_then(Value::as_str);
    let called = name.map_or(format!("transaction {number}"), |name| {
        format!("transaction \"{name}\"")
    });
    let known = [
        "name",
        "weight",
        "read_only",
        "autocommit",
        "draw",
        "statement",
    ];
    let section = Section::new(called, table, &known)?;
    let name = checked_name(&section)?;
    let weight = section.number("weight", 1, WEIGHT_MAX)?.unwrap_or(1) as u64;
    let draws = match section.table("draw")? {
        Some(table) => draw_file::draws(&section, table)?,
        None => Vec::new(),
    };
    let tables = section.tables("statement")?;
    if tables.is_empty() || tables.len() > STATEMENTS_MAX {
        return Err(section.wrong(&format!(
            "the number of [[transaction.statement]] tables, {}, is not between 1 and {STATEMENTS_MAX}",
            tables.len()
        )));
    }
    let statements = (1..)
        .zip(&tables)
        .map(|(number, table)| statement(&section, number, table))
        .collect::<Result<Vec<_>, _>>()?;
    let transaction = Transaction {
        name,
        weight,
        read_only: section.flag("read_only")?.unwrap_or(false),
        autocommit: section.flag("autocommit")?.unwrap_or(statements.len() == 1),
        draws,
        statements,
    };
    names::check(&section, &transaction)?;
    Ok(transaction)
}

fn statement(of: &Section, number: usize, table: &Table) -> Result<Statement, String> {
    let called = format!("{}, statement {number}", of.name);
    let section = Section::new(called, table, &["sql", "sql_for", "rows", "keep"])?;
    let common = section.text("sql")?.map(str::to_owned);
    let sql = PerEngine {
        common: common.into_iter().collect(),
        own: engines(&section, "sql_for")?,
    };
    if sql.texts().next().is_none() || sql.texts().any(|text| text.trim().is_empty()) {
        return Err(section.wrong("sql is missing or empty"));
    }
    if sql.own.values().any(|texts| texts.len() != 1) {
        return Err(section.wrong("sql_for must give a single text per engine, not a list"));
    }
    let keep = section
        .table("keep")?
        .into_iter()
        .flatten()
        .map(|(name, column)| {
            let column = column.as_integer().filter(|n| (1..=1000).contains(n));
            let wrong = || {
                section.wrong(&format!(
                    "keep: {name} must be a column number from 1 to 1000"
                ))
            };
            Ok((name.clone(), column.ok_or_else(wrong)? as usize - 1))
        });
    let keep = keep.collect::<Result<Vec<_>, String>>()?;
    Ok(Statement {
        rows: rows(&section, !keep.is_empty())?,
        sql,
        keep,
    })
}

/// `rows = 1` or `rows = [0, 5]`. A stored value needs a row; without the key nothing is checked.
fn rows(section: &Section, is_stored: bool) -> Result<RangeInclusive<u64>, String> {
    let rows = match section.table.get("rows") {
        None if is_stored => 1..=u64::MAX,
        None => 0..=u64::MAX,
        Some(Value::Integer(n)) if *n >= 0 => *n as u64..=*n as u64,
        Some(Value::Array(_)) => match section.range("rows")? {
            Some((low @ 0.., high)) => low as u64..=high as u64,
            _ => return Err(section.wrong("rows contains a negative number")),
        },
        Some(_) => return Err(section.wrong("rows must be a number from 0 or [SMALLEST, LARGEST]")),
    };
    Ok(rows)
}
