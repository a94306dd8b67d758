//! `dbdyno columnar run`: the plan that its flags stand for, on the database and a replica at each level.

use std::path::PathBuf;

use anyhow::Result;
use column_store::{Level, urls};
use toml::{Table, Value};
use workload::columnar::memory::usable_bytes;

use crate::arguments::RunArguments;
use crate::arguments::columnar::StudyArguments;
use crate::command::plan_text::{number, numbers, step, table};
use crate::command::run;
use crate::exit::Status;

/// The parameters of the study are those whose answers are known: nothing is drawn.
const SEED: u64 = 1;
/// Users are at work for so long before they are measured.
const RAMP_UP_S: f64 = 5.0;

pub(super) fn study(asked: &StudyArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let levels = if asked.levels.is_empty() {
        Level::ALL.to_vec()
    } else {
        asked.levels.clone()
    };
    // All levels are in memory at the same time.
    let usable = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let memory = asked.memory.or(usable);
    let targets = asked.from.iter().cloned().collect();
    let arguments = RunArguments {
        replicas: urls(&levels, memory, None),
        cache_bytes: memory,
        ..asked.occasion.run_of(&plan(asked), targets, Some(SEED))
    };
    run::run(arguments, archive)
}

/// Order entry alone, and with one user's queries beside it at the highest degree.
fn mixed(asked: &StudyArguments, users: u32) -> Table {
    let users = table([
        ("do", Some("run".into())),
        ("warehouses", Some(number(asked.oltp_warehouses))),
        ("users", Some(number(users))),
    ]);
    let queries = table([
        ("do", Some("run".into())),
        ("scale", Some(asked.scale.factor().into())),
        ("queries", asked.queries.as_deref().map(numbers)),
        ("dop", asked.dop.iter().max().map(|dop| numbers(&[*dop]))),
        ("query_limit_seconds", asked.query_limit.map(Value::from)),
    ]);
    let ramp_up_s = RAMP_UP_S.min(asked.oltp_seconds / 4.0);
    table([
        ("use", Some("mixed".into())),
        ("seconds", Some(asked.oltp_seconds.into())),
        ("ramp_up_seconds", Some(ramp_up_s.into())),
        ("oltp", Some(users.into())),
        ("olap", Some(queries.into())),
    ])
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
    let mut steps = vec![
        step("olap", load),
        step("columnar", lift),
        step("columnar", change.clone()),
        step("olap", ask),
        step("columnar", change),
    ];
    steps.extend(asked.oltp_users.map(|users| mixed(asked, users).into()));
    table([
        ("name", Some("columnar".into())),
        ("sample_ms", Some(number(250))),
        ("repeat", Some(number(asked.occasion.repeat))),
        ("step", Some(steps.into())),
    ])
}
