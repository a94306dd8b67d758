//! `dbdyno run oltp`: a plan built from its options.

use std::time::Duration;

use anyhow::Result;
use toml::{Table, Value};

use crate::arguments::run::OltpRunArguments;
use crate::command::plan_text::{number, step, table};
use crate::command::requests::RunRequest;
use crate::exit::InvalidInput;

/// The warm-up ends sooner, once throughput is steady.
const WARM_UP_MAX_S: f64 = 60.0;

pub fn request(options: OltpRunArguments) -> Result<RunRequest> {
    let targets = options.targets.all("run oltp")?;
    RunRequest::of_workload("oltp", &plan(&options)?, targets, options.occasion)
}

/// The plan: with several repetitions a load before each, then the clients.
fn plan(options: &OltpRunArguments) -> Result<Table> {
    let mut steps = Vec::new();
    if options.occasion.repeat.is_some_and(|times| times > 1) {
        let warehouses = options.warehouses.ok_or_else(|| {
            InvalidInput("--repeat needs --warehouses W, because the database is restored before each repetition".into())
        })?;
        let load = table([
            ("do", Some("load".into())),
            ("warehouses", Some(number(warehouses))),
        ]);
        steps.push(step("oltp", load));
    }
    steps.push(clients_step(options).into());
    Ok(table([
        ("name", Some("oltp".into())),
        ("primary", Some(vec!["OLTP.new_orders_per_min"].into())),
        ("step", Some(steps.into())),
    ]))
}

fn clients_step(options: &OltpRunArguments) -> Table {
    let timeout_s = options.timeout.as_ref().map(Duration::as_secs_f64);
    let oltp = table([
        ("do", Some("run".into())),
        ("warehouses", options.warehouses.map(number)),
        ("users", Some(options.clients.as_str().into())),
        ("pauses", options.think_time.then(|| true.into())),
        ("limit", options.limit.as_deref().map(Value::from)),
        ("slo", options.find_rate.as_deref().map(Value::from)),
        ("operation_limit_seconds", timeout_s.map(Value::from)),
        ("warm_up_max_seconds", Some(WARM_UP_MAX_S.into())),
    ]);
    table([
        ("use", Some("oltp".into())),
        ("seconds", Some(options.time.as_secs_f64().into())),
        (
            "ramp_up_seconds",
            Some(options.ramp_up.as_secs_f64().into()),
        ),
        ("rate_per_s", options.rate.map(Value::from)),
        ("driver_threads", options.threads.map(number)),
        ("oltp", Some(oltp.into())),
    ])
}
