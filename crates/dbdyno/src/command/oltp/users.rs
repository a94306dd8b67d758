//! `dbdyno oltp run`: a plan built from its flags.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::{Check, UsersArguments};
use crate::command::plan_text::{number, step, table, word};
use crate::command::requests::RunRequest;
use crate::command::run;
use crate::exit::{InvalidInput, Status};

pub fn run(options: &UsersArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let plan = plan(options)?;
    let targets = vec![options.target.clone()];
    let request = RunRequest::of_plan(&plan, &options.occasion.options, targets);
    run::run(&request, archive)
}

/// The plan: with several repetitions a load before each, then the users.
fn plan(options: &UsersArguments) -> Result<Table> {
    let mut steps = Vec::new();
    if options.occasion.repeat > 1 {
        let warehouses = options.warehouses.ok_or_else(|| {
            InvalidInput("--repeat needs --warehouses W, because the database is restored before each repetition".into())
        })?;
        let load = table([
            ("do", Some("load".into())),
            ("warehouses", Some(number(warehouses))),
            (
                "warehouse_rows",
                options.warehouse_rows.map(|rows| word(rows).into()),
            ),
        ]);
        steps.push(step("oltp", load));
    }
    steps.push(users_step(options).into());
    Ok(table([
        ("name", Some("oltp".into())),
        ("primary", Some(vec!["OLTP.new_orders_per_min"].into())),
        ("repeat", Some(number(options.occasion.repeat))),
        ("step", Some(steps.into())),
    ]))
}

fn users_step(options: &UsersArguments) -> Table {
    let oltp = table([
        ("do", Some("run".into())),
        ("warehouses", options.warehouses.map(number)),
        (
            "warehouse_rows",
            options.warehouse_rows.map(|rows| word(rows).into()),
        ),
        ("users", Some(options.users.as_str().into())),
        ("connections", options.connections.map(number)),
        ("statements", Some(word(options.mode).into())),
        ("pauses", Some(options.pauses.into())),
        ("limit", options.limit.as_deref().map(Value::from)),
        ("slo", options.slo.as_deref().map(Value::from)),
        (
            "check",
            (options.check != Check::Full).then(|| word(options.check).into()),
        ),
        (
            "operation_limit_seconds",
            options.operation_limit.map(Value::from),
        ),
        ("warm_up_max_seconds", Some(options.warm_up_max.into())),
        ("journal", Some(options.journal.into())),
        ("stop", Some((!options.all_levels).into())),
    ]);
    table([
        ("use", Some("oltp".into())),
        ("seconds", Some(options.seconds.into())),
        ("ramp_up_seconds", Some(options.ramp_up.into())),
        ("rate_per_s", options.rate.map(Value::from)),
        (
            "arrivals",
            options.arrivals.map(|arrivals| word(arrivals).into()),
        ),
        ("driver_threads", options.driver_threads.map(number)),
        ("oltp", Some(oltp.into())),
    ])
}
