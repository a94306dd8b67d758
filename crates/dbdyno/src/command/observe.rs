//! `dbdyno observe`: a plan built from its flags.

use std::path::PathBuf;

use anyhow::Result;
use archive::Archive;
use toml::{Table, Value};

use super::plan_text::{number, table};
use super::requests::{PlanSource, RunRequest};
use super::{run, twin};
use crate::arguments::MeasureOptions;
use crate::arguments::observe::ObserveArguments;
use crate::exit::Status;
use crate::locations;

const PLAN: &str = "observe";

pub fn observe(options: &ObserveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    // An unusable file is reported before the observation.
    if let Some(path) = &options.plan {
        twin::check_place(path)?;
    }
    if let Some((name, path)) = options.of.as_ref().zip(options.plan.as_ref()) {
        let archive = Archive::open_read_only(locations::archive(archive)?)?;
        return twin::write(&archive.load_run(&name.parse()?)?, path).map(|()| Status::Fine);
    }
    let request = RunRequest {
        plan: PlanSource::Text(plan(options).to_string()),
        targets: options.target.iter().cloned().collect(),
        options: MeasureOptions {
            name: options.name.clone(),
            // An observation draws nothing at random.
            seed: Some(1),
            server: options.server.clone(),
            watch: options.watch.clone(),
            ..MeasureOptions::default()
        },
        ..RunRequest::default()
    };
    let run = run::carry_out(&request, archive)?;
    let status = run::show(&run)?;
    match &options.plan {
        Some(path) => twin::write_beside(&run, path, status),
        None => Ok(status),
    }
}

fn plan(options: &ObserveArguments) -> Table {
    let observe = table([
        ("sql", options.no_sql.then(|| false.into())),
        ("lines", Some(number(options.lines))),
    ]);
    let step = table([
        ("use", Some("observe".into())),
        ("seconds", Some(options.length.as_secs_f64().into())),
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
