//! `dbdyno run olap`: a plan built from its options.

use std::time::Duration;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::run::OlapRunArguments;
use crate::command::plan_text::{number, numbers, step, table};
use crate::command::requests::RunRequest;

pub fn request(options: OlapRunArguments) -> Result<RunRequest> {
    let targets = options.targets.all("run olap")?;
    RunRequest::of_workload("olap", &plan(&options), targets, options.occasion)
}

fn plan(options: &OlapRunArguments) -> Table {
    let timeout_s = options.timeout.as_ref().map(Duration::as_secs_f64);
    let scale = options.scale.map(|scale| Value::from(scale.factor()));
    let dop = (!options.dop.is_empty()).then(|| numbers(&options.dop));
    let olap = table([
        ("do", Some("run".into())),
        ("scale", scale),
        ("queries", options.queries.as_deref().map(numbers)),
        ("streams", options.clients.map(number)),
        ("dop", dop),
        ("query_limit_seconds", timeout_s.map(Value::from)),
    ]);
    table([
        ("name", Some("olap".into())),
        ("step", Some(vec![step("olap", olap)].into())),
    ])
}
