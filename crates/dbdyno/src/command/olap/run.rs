//! `dbdyno olap run`: the plan that its flags stand for, carried out as any other.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::RunArguments;
use crate::arguments::olap::AskArguments;
use crate::command::plan_text::{table, word};
use crate::command::run;
use crate::exit::Status;

pub fn run(asked: &AskArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let arguments = RunArguments {
        plan: "olap".into(),
        plan_text: Some(plan(asked).to_string()),
        targets: asked.targets.clone(),
        name: asked.name.clone(),
        seed: asked.seed,
        server: asked.server.clone(),
        permission: asked.permission.clone(),
        ..RunArguments::default()
    };
    run::run(arguments, archive)
}

fn plan(asked: &AskArguments) -> Table {
    let number = |n: u32| Value::from(i64::from(n));
    let numbers = |numbers: &Vec<u32>| {
        let numbers = numbers.iter().map(|n| number(*n));
        Value::Array(numbers.collect())
    };
    let olap = table([
        ("do", Some("run".into())),
        (
            "scale",
            asked.scale.map(|scale| Value::from(scale.factor())),
        ),
        ("queries", asked.queries.as_ref().map(numbers)),
        ("iterations", asked.iterations.map(number)),
        ("streams", asked.streams.map(number)),
        ("parameters", Some(word(asked.parameters).into())),
        ("cache", Some(word(asked.cache).into())),
        ("query_limit_seconds", asked.query_limit.map(Value::from)),
    ]);
    let step = table([
        ("use", Some("olap".into())),
        ("olap", Some(Value::Table(olap))),
    ]);
    table([
        ("name", Some("olap".into())),
        ("repeat", Some(number(asked.repeat))),
        ("step", Some(Value::Array(vec![Value::Table(step)]))),
    ])
}
