//! `dbdyno observe`: the plan that its flags stand for, carried out as any other.

use std::path::PathBuf;

use anyhow::Result;
use archive::Archive;
use toml::{Table, Value};

use super::plan_text::{number, table};
use super::{run, twin};
use crate::arguments::RunArguments;
use crate::arguments::observe::ObserveArguments;
use crate::exit::Status;
use crate::place;

/// Name of the plan of observations.
const PLAN: &str = "observe";

pub fn observe(asked: &ObserveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    // A plan that could not be written is known before the observation.
    if let Some(path) = &asked.plan {
        twin::check_place(path)?;
    }
    if let Some((name, path)) = asked.of.as_ref().zip(asked.plan.as_ref()) {
        let archive = Archive::open_read_only(place::archive(archive)?)?;
        return twin::write(&archive.load_run(&name.parse()?)?, path).map(|()| Status::Fine);
    }
    let arguments = RunArguments {
        plan: PLAN.into(),
        plan_text: Some(plan(asked).to_string()),
        targets: asked.target.iter().cloned().collect(),
        name: asked.name.clone(),
        // Nothing is drawn.
        seed: Some(1),
        server: asked.server.clone(),
        watch: asked.watch.clone(),
        ..RunArguments::default()
    };
    let run = run::carry_out(&arguments, archive)?;
    let status = run::show(&run)?;
    match &asked.plan {
        Some(path) => twin::write_beside(&run, path, status),
        None => Ok(status),
    }
}

fn plan(asked: &ObserveArguments) -> Table {
    let observe = table([
        ("sql", asked.no_sql.then(|| false.into())),
        ("lines", Some(number(asked.lines))),
    ]);
    let step = table([
        ("use", Some("observe".into())),
        ("seconds", Some(asked.length.as_secs_f64().into())),
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
