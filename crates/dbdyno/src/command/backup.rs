//! `dbdyno backup run`: the plan that its flags stand for, carried out as any other.

use std::path::{Path, PathBuf};

use anyhow::Result;
use toml::{Table, Value};

use super::plan_text::{number, numbers, step, table, word};
use super::requests::RunRequest;
use super::run;
use crate::arguments::BackupVerb;
use crate::arguments::backup::BackupRunArguments;
use crate::exit::{InvalidInput, Status};

pub fn backup(verb: &BackupVerb, archive: &Option<PathBuf>) -> Result<Status> {
    let BackupVerb::Run(options) = verb;
    let plan = plan(options)?;
    let targets = options.target.iter().cloned().collect();
    let request = RunRequest::of_plan(&plan, &options.occasion.options, targets);
    run::run(&request, archive)
}

fn plan(options: &BackupRunArguments) -> Result<Table> {
    let repository = options.repository.as_deref().map(text).transpose()?;
    let methods: Vec<Value> = options.methods.iter().cloned().map(Value::from).collect();
    let backup = table([
        (
            "methods",
            (!methods.is_empty()).then(|| Value::Array(methods)),
        ),
        (
            "channels",
            (!options.channels.is_empty()).then(|| numbers(&options.channels)),
        ),
        ("warehouses", Some(number(options.warehouses))),
        (
            "warehouse_rows",
            options.warehouse_rows.map(|rows| word(rows).into()),
        ),
        ("work_seconds", Some(options.work_seconds.into())),
        ("users", (options.users != 1).then(|| number(options.users))),
        ("beside_per_s", options.beside.map(Value::from)),
        ("point_in_time", options.point_in_time.then(|| true.into())),
        ("max_mb_per_s", options.max_mb_per_s.map(number)),
        ("processors", options.processors.as_deref().map(processors)),
        ("repository", repository.map(Value::from)),
    ]);
    Ok(table([
        ("name", Some("backup".into())),
        ("repeat", Some(number(options.occasion.repeat))),
        ("step", Some(vec![step("backup", backup)].into())),
    ]))
}

fn processors(text: &str) -> Value {
    text.parse().map_or_else(
        |_| text.into(),
        |number: u32| super::plan_text::number(number),
    )
}

/// A path in a plan: absolute, because a resumed run may begin elsewhere.
fn text(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)?;
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        InvalidInput(format!("the path {path} is not UTF-8; choose another")).into()
    })
}
