//! `dbdyno oltp run`: the plan that its flags stand for, carried out as any other.

use std::path::PathBuf;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::{Check, UsersArguments};
use crate::command::plan_text::{number, step, table, word};
use crate::command::run;
use crate::exit::{InvalidInput, Status};

pub fn run(asked: &UsersArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let plan = plan(asked)?;
    let targets = vec![asked.target.clone()];
    let arguments = asked.occasion.run_of(&plan, targets, asked.seed);
    run::run(arguments, archive)
}

/// The plan: a load before every repetition where there is more than one, then the users.
fn plan(asked: &UsersArguments) -> Result<Table> {
    let mut steps = Vec::new();
    if asked.occasion.repeat > 1 {
        let warehouses = asked.warehouses.ok_or_else(|| {
            InvalidInput("--repeat needs --warehouses W, because the database is restored before each repetition".into())
        })?;
        let load = table([
            ("do", Some("load".into())),
            ("warehouses", Some(number(warehouses))),
            (
                "warehouse_rows",
                asked.warehouse_rows.map(|rows| word(rows).into()),
            ),
        ]);
        steps.push(step("oltp", load));
    }
    steps.push(users_step(asked).into());
    Ok(table([
        ("name", Some("oltp".into())),
        ("primary", Some(vec!["OLTP.new_orders_per_min"].into())),
        ("repeat", Some(number(asked.occasion.repeat))),
        ("step", Some(steps.into())),
    ]))
}

fn users_step(asked: &UsersArguments) -> Table {
    let oltp = table([
        ("do", Some("run".into())),
        ("warehouses", asked.warehouses.map(number)),
        (
            "warehouse_rows",
            asked.warehouse_rows.map(|rows| word(rows).into()),
        ),
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
