//! `dbdyno observe`: a plan built from its flags.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use super::plan_text::{number, table};
use super::requests::{PlanSource, RunRequest};
use super::run;
use crate::arguments::MeasureOptions;
use crate::arguments::observe::ObserveArguments;
use crate::exit::Status;

const PLAN: &str = "observe";

pub fn observe(options: &ObserveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let request = RunRequest {
        plan: PlanSource::Text(plan(options).to_string()),
        targets: vec![options.target.of(PLAN)?],
        options: MeasureOptions {
            name: options.name.clone(),
            // An observation draws nothing at random.
            seed: Some(1),
            server: options.server.clone(),
            watch: options.watch.clone(),
            results: options.results.clone(),
            ..MeasureOptions::default()
        },
        ..RunRequest::default()
    };
    run::measure(&request, archive)
}

fn plan(options: &ObserveArguments) -> Table {
    let observe = table([("sql", options.no_sql.then(|| false.into()))]);
    let step = table([
        ("use", Some("observe".into())),
        ("seconds", Some(options.time.as_secs_f64().into())),
        ("observe", Some(observe.into())),
    ]);
    table([
        ("name", Some(PLAN.into())),
        ("sample_ms", Some(number(1000))),
        (
            "primary",
            Some(vec!["OBSERVE.operations_per_s", "OBSERVE.active_sessions_mean"].into()),
        ),
        ("step", Some(vec![Value::from(step)].into())),
    ])
}
