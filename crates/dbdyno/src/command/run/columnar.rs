//! `dbdyno run columnar`: a plan for the database and a replica at each level.

use std::time::Duration;

use anyhow::Result;
use column_store::{Level, urls};
use columnar::memory::usable_bytes;
use lab::Setting;
use toml::{Table, Value};

use crate::arguments::run::ColumnarRunArguments;
use crate::command::plan_text::{number, numbers, step, table};
use crate::command::requests::RunRequest;
use crate::exit::invalid;

/// The parameters are those with known answers, so that nothing is drawn.
const SEED: u64 = 1;
const RAMP_UP_S: f64 = 5.0;

pub fn request(mut options: ColumnarRunArguments) -> Result<RunRequest> {
    let targets = options.targets.one_at_most("run columnar")?;
    let levels = match options.levels.as_slice() {
        [] => Level::ALL.to_vec(),
        some => some.to_vec(),
    };
    // All levels are in memory at the same time.
    let usable = usable_bytes().map(|bytes| bytes / levels.len().max(1) as u64);
    let memory = options.memory.or(usable);
    let order_entry = OrderEntry::taken_from(&mut options.occasion.options.settings)?;
    let plan = plan(&options, order_entry.as_ref());
    options.occasion.options.seed.get_or_insert(SEED);
    Ok(RunRequest {
        replicas: urls(&levels, memory, None),
        cache_bytes: memory,
        ..RunRequest::of_workload(
            "columnar",
            &plan,
            targets.into_iter().collect(),
            options.occasion,
        )?
    })
}

/// An order-entry load on the same server, requested by keys that the plan turns into a step.
struct OrderEntry {
    users: u32,
    warehouses: u32,
    seconds: f64,
}

impl OrderEntry {
    fn taken_from(settings: &mut Vec<String>) -> Result<Option<Self>> {
        let [mut users, mut warehouses, mut seconds] = [None; 3];
        let mut others = Vec::new();
        for text in std::mem::take(settings) {
            let Setting { key, value } = Setting::parse(&text)?;
            let value = value.as_float().or(value.as_integer().map(|n| n as f64));
            match key.as_str() {
                "oltp_users" => users = Some(value),
                "oltp_warehouses" => warehouses = Some(value),
                "oltp_seconds" => seconds = Some(value),
                _ => others.push(text),
            }
        }
        *settings = others;
        let whole = |n: f64| (n.fract() == 0.0 && (1.0..=1e6).contains(&n)).then_some(n as u32);
        let users = match (users, warehouses.is_some() || seconds.is_some()) {
            (None, false) => return Ok(None),
            (None, true) => {
                return invalid("oltp_warehouses and oltp_seconds need --set oltp_users=N");
            }
            (Some(users), _) => users.and_then(whole),
        };
        let warehouses = warehouses.unwrap_or(Some(1.0)).and_then(whole);
        match (users, warehouses, seconds.unwrap_or(Some(30.0))) {
            (Some(users), Some(warehouses), Some(seconds)) => Ok(Some(Self {
                users,
                warehouses,
                seconds,
            })),
            _ => invalid(
                "oltp_users and oltp_warehouses are whole numbers from 1, and oltp_seconds is a number of seconds",
            ),
        }
    }
}

/// Order entry alone, and during one user's queries at the highest degree.
fn mixed(options: &ColumnarRunArguments, order_entry: &OrderEntry) -> Table {
    let users = table([
        ("do", Some("run".into())),
        ("warehouses", Some(number(order_entry.warehouses))),
        ("users", Some(number(order_entry.users))),
    ]);
    let queries = table([
        ("do", Some("run".into())),
        ("scale", Some(options.scale.factor().into())),
        ("queries", options.queries.as_deref().map(numbers)),
        ("dop", options.dop.iter().max().map(|dop| numbers(&[*dop]))),
        ("query_limit_seconds", timeout_s(options)),
    ]);
    let ramp_up_s = RAMP_UP_S.min(order_entry.seconds / 4.0);
    table([
        ("use", Some("mixed".into())),
        ("seconds", Some(order_entry.seconds.into())),
        ("ramp_up_seconds", Some(ramp_up_s.into())),
        ("oltp", Some(users.into())),
        ("olap", Some(queries.into())),
    ])
}

fn plan(options: &ColumnarRunArguments, order_entry: Option<&OrderEntry>) -> Table {
    let scale = || Some(Value::from(options.scale.factor()));
    let load = table([("do", Some("load".into())), ("scale", scale())]);
    let lift = table([("do", Some("lift".into()))]);
    let ask = table([
        ("do", Some("run".into())),
        ("scale", scale()),
        ("queries", options.queries.as_deref().map(numbers)),
        ("streams", Some(number(options.clients))),
        ("dop", Some(numbers(&options.dop))),
        ("query_limit_seconds", timeout_s(options)),
    ]);
    let change = table([
        ("do", Some("change".into())),
        ("dop", Some(numbers(&options.dop))),
    ]);
    let mut steps = vec![
        step("olap", load),
        step("columnar", lift),
        step("columnar", change.clone()),
        step("olap", ask),
        step("columnar", change),
    ];
    steps.extend(order_entry.map(|order_entry| mixed(options, order_entry).into()));
    table([
        ("name", Some("columnar".into())),
        ("sample_ms", Some(number(250))),
        ("step", Some(steps.into())),
    ])
}

fn timeout_s(options: &ColumnarRunArguments) -> Option<Value> {
    let timeout_s = options.timeout.as_ref().map(Duration::as_secs_f64);
    timeout_s.map(Value::from)
}
