//! `dbdyno columnar run`: the plan that its flags stand for, on the database and a replica at each level.

use std::path::PathBuf;

use anyhow::Result;
use target::lifted::{Level, urls};
use toml::{Table, Value};
use workload::columnar::memory::usable_bytes;

use crate::arguments::RunArguments;
use crate::arguments::columnar::StudyArguments;
use crate::command::plan_text::table;
use crate::command::run;
use crate::exit::Status;

pub(super) fn study(asked: &StudyArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let levels = match asked.levels.is_empty() {
        true => Level::ALL.to_vec(),
        false => asked.levels.clone(),
    };
    // All levels are in memory at the same time.
    let usable = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let memory = asked.memory.or(usable);
    let arguments = RunArguments {
        plan: "columnar".into(),
        plan_text: Some(plan(asked).to_string()),
        targets: asked.from.iter().cloned().collect(),
        replicas: urls(&levels, memory, None),
        cache_bytes: memory,
        name: asked.name.clone(),
        seed: 1,
        server: asked.server.clone(),
        permission: asked.permission.clone(),
        ..RunArguments::default()
    };
    run::run(arguments, archive)
}

fn plan(asked: &StudyArguments) -> Table {
    let number = |n: u32| Value::from(i64::from(n));
    let numbers = |numbers: &[u32]| Value::Array(numbers.iter().map(|n| number(*n)).collect());
    let scale = || Some(Value::from(asked.scale.factor()));
    let step = |uses: &str, entries: Table| {
        let entries = Some(Value::Table(entries));
        let mut step = table([("use", Some(uses.into()))]);
        step.extend(table([(uses, entries)]));
        Value::Table(step)
    };
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
    let steps = vec![
        step("olap", load),
        step("columnar", lift),
        step("olap", ask),
    ];
    table([
        ("name", Some("columnar".into())),
        ("sample_ms", Some(number(250))),
        ("repeat", Some(number(asked.repeat))),
        ("step", Some(Value::Array(steps))),
    ])
}
