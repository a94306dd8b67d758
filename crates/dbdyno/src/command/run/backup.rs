//! `dbdyno run backup`: a plan built from its options.

use std::path::Path;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::run::BackupRunArguments;
use crate::command::plan_text::{number, numbers, step, table};
use crate::command::requests::RunRequest;
use crate::exit::InvalidInput;

pub fn request(options: BackupRunArguments) -> Result<RunRequest> {
    let targets = options.targets.one_at_most("run backup")?;
    let targets = targets.into_iter().collect();
    RunRequest::of_workload("backup", &plan(&options)?, targets, options.occasion)
}

fn plan(options: &BackupRunArguments) -> Result<Table> {
    let repository = options
        .occasion
        .options
        .work_dir
        .as_deref()
        .map(text)
        .transpose()?;
    let methods: Vec<Value> = options.methods.iter().cloned().map(Value::from).collect();
    let several = options.clients != 1;
    let backup = table([
        ("methods", (!methods.is_empty()).then(|| methods.into())),
        (
            "channels",
            (!options.dop.is_empty()).then(|| numbers(&options.dop)),
        ),
        ("warehouses", Some(number(options.warehouses))),
        ("users", several.then(|| number(options.clients))),
        ("during_per_s", options.rate.map(Value::from)),
        ("repository", repository.map(Value::from)),
    ]);
    Ok(table([
        ("name", Some("backup".into())),
        ("step", Some(vec![step("backup", backup)].into())),
    ]))
}

/// A path in a plan: absolute, because a resumed run may begin elsewhere.
fn text(path: &Path) -> Result<String> {
    let path = std::path::absolute(path)?;
    path.into_os_string().into_string().map_err(|path| {
        let path = path.display();
        InvalidInput(format!("the path {path} is not UTF-8; choose another")).into()
    })
}
