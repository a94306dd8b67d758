//! `dbdyno observe`: the plan that its flags stand for, carried out as any other.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use super::plan_text::{number, table};
use super::run;
use crate::arguments::RunArguments;
use crate::arguments::observe::ObserveArguments;
use crate::exit::Status;

pub fn observe(asked: &ObserveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let arguments = RunArguments {
        plan: "observe".into(),
        plan_text: Some(plan(asked).to_string()),
        targets: vec![asked.target.clone()],
        name: asked.name.clone(),
        // Nothing is drawn.
        seed: Some(1),
        server: asked.server.clone(),
        watch: asked.watch.clone(),
        ..RunArguments::default()
    };
    run::run(arguments, archive)
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
        ("name", Some("observe".into())),
        ("sample_ms", Some(number(1000))),
        (
            "primary",
            Some(vec!["OBSERVE.operations_per_s", "OBSERVE.active_sessions_mean"].into()),
        ),
        ("step", Some(vec![Value::from(step)].into())),
    ])
}
