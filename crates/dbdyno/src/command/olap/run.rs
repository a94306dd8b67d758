//! `dbdyno olap run`: the plan that its flags stand for, carried out as any other.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::olap::AskArguments;
use crate::command::plan_text::{number, numbers, step, table, word};
use crate::command::run;
use crate::exit::Status;

pub fn run(asked: &AskArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let arguments = asked
        .occasion
        .run_of(&plan(asked), asked.targets.clone(), asked.seed);
    run::run(arguments, archive)
}

fn plan(asked: &AskArguments) -> Table {
    let olap = table([
        ("do", Some("run".into())),
        (
            "scale",
            asked.scale.map(|scale| Value::from(scale.factor())),
        ),
        ("queries", asked.queries.as_deref().map(numbers)),
        ("iterations", asked.iterations.map(number)),
        ("rounds", asked.rounds.map(number)),
        ("streams", asked.streams.map(number)),
        ("dop", (!asked.dop.is_empty()).then(|| numbers(&asked.dop))),
        ("refresh", asked.refresh.then_some(Value::from(true))),
        ("parameters", Some(word(asked.parameters).into())),
        ("cache", Some(word(asked.cache).into())),
        ("query_limit_seconds", asked.query_limit.map(Value::from)),
    ]);
    table([
        ("name", Some("olap".into())),
        ("repeat", Some(number(asked.occasion.repeat))),
        ("step", Some(vec![step("olap", olap)].into())),
    ])
}
