//! `dbdyno columnar run`: the plan that its flags stand for, on the database and a replica at each level.

use std::path::PathBuf;

use anyhow::Result;
use target::lifted::{Level, urls};
use toml::{Table, Value};
use workload::columnar::memory::usable_bytes;

use crate::arguments::RunArguments;
use crate::arguments::columnar::StudyArguments;
use crate::command::plan_text::{number, numbers, step, table};
use crate::command::run;
use crate::exit::Status;

/// The parameters of the study are those whose answers are known: nothing is drawn.
const SEED: u64 = 1;

pub(super) fn study(asked: &StudyArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let levels = match asked.levels.is_empty() {
        true => Level::ALL.to_vec(),
        false => asked.levels.clone(),
    };
    // All levels are in memory at the same time.
    let usable = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let memory = asked.memory.or(usable);
    let targets = asked.from.iter().cloned().collect();
    let arguments = RunArguments {
        replicas: urls(&levels, memory, None),
        cache_bytes: memory,
        ..asked.occasion.run_of(&plan(asked), targets, SEED)
    };
    run::run(arguments, archive)
}

fn plan(asked: &StudyArguments) -> Table {
    let scale = || Some(Value::from(asked.scale.factor()));
    let load = table([("do", Some("load".into())), ("scale", scale())]);
    let lift = table([("do", Some("lift".into()))]);
    let ask = table([
        ("do", Some("run".into())),
        ("scale", scale()),
        ("queries", asked.queries.as_deref().map(numbers)),
        ("streams", Some(number(asked.users))),
        ("dop", Some(numbers(&asked.dop))),
        ("query_limit_seconds", asked.query_limit.map(Value::from)),
    ]);
    let change = table([
        ("do", Some("change".into())),
        ("dop", Some(numbers(&asked.dop))),
    ]);
    let steps = vec![
        step("olap", load),
        step("columnar", lift),
        step("columnar", change.clone()),
        step("olap", ask),
        step("columnar", change),
    ];
    table([
        ("name", Some("columnar".into())),
        ("sample_ms", Some(number(250))),
        ("repeat", Some(number(asked.occasion.repeat))),
        ("step", Some(steps.into())),
    ])
}
