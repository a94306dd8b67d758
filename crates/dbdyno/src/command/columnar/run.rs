//! `dbdyno columnar run`: a plan for the database and a replica at each level.

use std::path::PathBuf;

use anyhow::Result;
use column_store::{Level, urls};
use columnar::memory::usable_bytes;
use toml::{Table, Value};

use crate::arguments::MeasureOptions;
use crate::arguments::columnar::StudyArguments;
use crate::command::plan_text::{number, numbers, step, table};
use crate::command::requests::RunRequest;
use crate::command::run;
use crate::exit::Status;

/// The parameters are those with known answers, so that nothing is drawn.
const SEED: u64 = 1;
const RAMP_UP_S: f64 = 5.0;

pub(super) fn study(study: &StudyArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let levels = if study.levels.is_empty() {
        Level::ALL.to_vec()
    } else {
        study.levels.clone()
    };
    // All levels are in memory at the same time.
    let usable = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let memory = study.memory.or(usable);
    let targets = study.from.iter().cloned().collect();
    let options = MeasureOptions {
        seed: study.occasion.options.seed.or(Some(SEED)),
        ..study.occasion.options.clone()
    };
    let request = RunRequest {
        replicas: urls(&levels, memory, None),
        cache_bytes: memory,
        ..RunRequest::of_plan(&plan(study), &options, targets)
    };
    run::run(&request, archive)
}

/// Order entry alone, and during one user's queries at the highest degree.
fn mixed(study: &StudyArguments, users: u32) -> Table {
    let users = table([
        ("do", Some("run".into())),
        ("warehouses", Some(number(study.oltp_warehouses))),
        ("users", Some(number(users))),
    ]);
    let queries = table([
        ("do", Some("run".into())),
        ("scale", Some(study.scale.factor().into())),
        ("queries", study.queries.as_deref().map(numbers)),
        ("dop", study.dop.iter().max().map(|dop| numbers(&[*dop]))),
        ("query_limit_seconds", study.query_limit.map(Value::from)),
    ]);
    let ramp_up_s = RAMP_UP_S.min(study.oltp_seconds / 4.0);
    table([
        ("use", Some("mixed".into())),
        ("seconds", Some(study.oltp_seconds.into())),
        ("ramp_up_seconds", Some(ramp_up_s.into())),
        ("oltp", Some(users.into())),
        ("olap", Some(queries.into())),
    ])
}

fn plan(study: &StudyArguments) -> Table {
    let scale = || Some(Value::from(study.scale.factor()));
    let load = table([("do", Some("load".into())), ("scale", scale())]);
    let lift = table([("do", Some("lift".into()))]);
    let ask = table([
        ("do", Some("run".into())),
        ("scale", scale()),
        ("queries", study.queries.as_deref().map(numbers)),
        ("streams", Some(number(study.users))),
        ("dop", Some(numbers(&study.dop))),
        ("query_limit_seconds", study.query_limit.map(Value::from)),
    ]);
    let change = table([
        ("do", Some("change".into())),
        ("dop", Some(numbers(&study.dop))),
    ]);
    let mut steps = vec![
        step("olap", load),
        step("columnar", lift),
        step("columnar", change.clone()),
        step("olap", ask),
        step("columnar", change),
    ];
    steps.extend(study.oltp_users.map(|users| mixed(study, users).into()));
    table([
        ("name", Some("columnar".into())),
        ("sample_ms", Some(number(250))),
        ("repeat", Some(number(study.occasion.repeat))),
        ("step", Some(steps.into())),
    ])
}
