//! `dbdyno olap run`: a plan built from its flags.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::olap::OlapRunArguments;
use crate::command::plan_text::{number, numbers, step, table, word};
use crate::command::requests::RunRequest;
use crate::command::run;
use crate::exit::Status;

pub fn run(options: &OlapRunArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let targets = options.targets.clone();
    let request = RunRequest::of_plan(&plan(options), &options.occasion.options, targets);
    run::run(&request, archive)
}

fn plan(options: &OlapRunArguments) -> Table {
    let olap = table([
        ("do", Some("run".into())),
        (
            "scale",
            options.scale.map(|scale| Value::from(scale.factor())),
        ),
        ("queries", options.queries.as_deref().map(numbers)),
        ("iterations", options.iterations.map(number)),
        ("rounds", options.rounds.map(number)),
        ("streams", options.streams.map(number)),
        (
            "dop",
            (!options.dop.is_empty()).then(|| numbers(&options.dop)),
        ),
        ("refresh", options.refresh.then_some(Value::from(true))),
        ("parameters", Some(word(options.parameters).into())),
        ("cache", Some(word(options.cache).into())),
        ("query_limit_seconds", options.query_limit.map(Value::from)),
    ]);
    table([
        ("name", Some("olap".into())),
        ("repeat", Some(number(options.occasion.repeat))),
        ("step", Some(vec![step("olap", olap)].into())),
    ])
}
