//! `dbdyno observe`: a plan built from its flags.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use super::plan_text::{number, table};
use super::requests::{PlanSource, RunRequest, placed};
use super::run;
use crate::arguments::MeasureOptions;
use crate::arguments::observe::ObserveArguments;
use crate::exit::Status;

const PLAN: &str = "observe";

pub fn observe(options: &ObserveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let plan = plan(options);
    let request = RunRequest {
        targets: vec![options.target.of(PLAN)?],
        options: MeasureOptions {
            name: options.name.clone(),
            settings: placed(&options.settings, &plan)?,
            // An observation draws nothing at random.
            seed: Some(1),
            server: options.server.clone(),
            watch: options.watch.clone(),
            results: options.results.clone(),
            ..MeasureOptions::default()
        },
        plan: PlanSource::Text(plan.to_string()),
        ..RunRequest::default()
    };
    run::measure(&request, archive)
}

fn plan(options: &ObserveArguments) -> Table {
    let step = table([
        ("use", Some("observe".into())),
        ("seconds", Some(options.time.as_secs_f64().into())),
        ("observe", Some(Table::new().into())),
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
