//! `dbdyno backup run`: the plan that its flags stand for, carried out as any other.

use std::path::{Path, PathBuf};

use anyhow::Result;
use toml::{Table, Value};

use super::plan_text::{number, numbers, step, table, word};
use super::run;
use crate::arguments::BackupVerb;
use crate::arguments::backup::BackupRunArguments;
use crate::exit::{InvalidInput, Status};

pub fn backup(verb: &BackupVerb, archive: &Option<PathBuf>) -> Result<Status> {
    let BackupVerb::Run(asked) = verb;
    let plan = plan(asked)?;
    let targets = asked.target.iter().cloned().collect();
    let arguments = asked.occasion.run_of(&plan, targets, asked.seed);
    run::run(arguments, archive)
}

fn plan(asked: &BackupRunArguments) -> Result<Table> {
    let repository = asked.repository.as_deref().map(text).transpose()?;
    let methods: Vec<Value> = asked.methods.iter().cloned().map(Value::from).collect();
    let backup = table([
        (
            "methods",
            (!methods.is_empty()).then(|| Value::Array(methods)),
        ),
        (
            "channels",
            (!asked.channels.is_empty()).then(|| numbers(&asked.channels)),
        ),
        ("warehouses", Some(number(asked.warehouses))),
        (
            "warehouse_rows",
            asked.warehouse_rows.map(|rows| word(rows).into()),
        ),
        ("work_seconds", Some(asked.work_seconds.into())),
        ("users", (asked.users != 1).then(|| number(asked.users))),
        ("beside_per_s", asked.beside.map(Value::from)),
        ("point_in_time", asked.point_in_time.then(|| true.into())),
        ("max_mb_per_s", asked.max_mb_per_s.map(number)),
        ("processors", asked.processors.as_deref().map(processors)),
        ("repository", repository.map(Value::from)),
    ]);
    Ok(table([
        ("name", Some("backup".into())),
        ("repeat", Some(number(asked.occasion.repeat))),
        ("step", Some(vec![step("backup", backup)].into())),
    ]))
}

/// A word or a number, which the plan checks.
fn processors(text: &str) -> Value {
    text.parse().map_or_else(
        |_| text.into(),
        |number: u32| super::plan_text::number(number),
    )
}

/// A path as a plan has it: absolute, because a resumed run may begin elsewhere.
fn text(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)?;
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        InvalidInput(format!("the path {path} is not UTF-8; choose another")).into()
    })
}
