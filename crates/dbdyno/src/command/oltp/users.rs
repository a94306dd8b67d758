//! `dbdyno oltp run`: the plan that its flags stand for, carried out as any other.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::{Check, RunArguments, UsersArguments};
use crate::command::plan_text::{table, word};
use crate::command::run;
use crate::exit::{Status, Wrong};

pub fn run(asked: &UsersArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let plan = plan(asked)?;
    let arguments = RunArguments {
        plan: "oltp".into(),
        plan_text: Some(plan.to_string()),
        targets: vec![asked.target.clone()],
        name: asked.name.clone(),
        seed: asked.seed,
        server: asked.server.clone(),
        permission: asked.permission.clone(),
        ..RunArguments::default()
    };
    run::run(arguments, archive)
}

/// The plan: a load before every repetition where there is more than one, then the users.
fn plan(asked: &UsersArguments) -> Result<Table> {
    let mut steps = Vec::new();
    if asked.repeat > 1 {
        let warehouses = asked.warehouses.ok_or_else(|| {
            Wrong("--repeat needs --warehouses W: the database is brought back to its load before each repetition".into())
        })?;
        let load = table([
            ("do", Some("load".into())),
            ("warehouses", Some(i64::from(warehouses).into())),
        ]);
        steps.push(table([
            ("use", Some("oltp".into())),
            ("oltp", Some(load.into())),
        ]));
    }
    steps.push(users_step(asked));
    let steps = steps.into_iter().map(Value::Table).collect();
    Ok(table([
        ("name", Some("oltp".into())),
        (
            "primary",
            Some(Value::Array(vec!["OLTP.new_orders_per_min".into()])),
        ),
        ("repeat", Some(i64::from(asked.repeat).into())),
        ("step", Some(Value::Array(steps))),
    ]))
}

fn users_step(asked: &UsersArguments) -> Table {
    let number = |n: u32| Value::from(i64::from(n));
    let oltp = table([
        ("do", Some("run".into())),
        ("warehouses", asked.warehouses.map(number)),
        ("users", Some(asked.users.as_str().into())),
        ("connections", asked.connections.map(number)),
        ("statements", Some(word(asked.mode).into())),
        ("pauses", Some(asked.pauses.into())),
        ("limit", asked.limit.as_deref().map(Value::from)),
        ("slo", asked.slo.as_deref().map(Value::from)),
        (
            "check",
            (asked.check != Check::Full).then(|| word(asked.check).into()),
        ),
        (
            "operation_limit_seconds",
            asked.operation_limit.map(Value::from),
        ),
        ("warm_up_max_seconds", Some(asked.warm_up_max.into())),
        ("journal", Some(asked.journal.into())),
        ("stop", Some((!asked.all_levels).into())),
    ]);
    table([
        ("use", Some("oltp".into())),
        ("seconds", Some(asked.seconds.into())),
        ("ramp_up_seconds", Some(asked.ramp_up.into())),
        ("rate_per_s", asked.rate.map(Value::from)),
        (
            "arrivals",
            asked.arrivals.map(|arrivals| word(arrivals).into()),
        ),
        ("driver_threads", asked.driver_threads.map(number)),
        ("oltp", Some(oltp.into())),
    ])
}
