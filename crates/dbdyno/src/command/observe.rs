//! `dbdyno observe`: the plan that its flags stand for, carried out as any other, once or again and again.
//!
//! * `ring`: when its turns are, and which of their runs are kept.
//! * `times`: what they are called.
//! * `turn`: how a turn is carried out.

mod ring;
mod times;
mod turn;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use archive::Archive;
use archive::stream::StreamEvent;
use toml::{Table, Value};

use self::ring::Ring;
use self::times::Times;
use self::turn::{PLAN, Real};
use super::plan_text::{number, table};
use super::{run, twin};
use crate::arguments::observe::ObserveArguments;
use crate::arguments::{RunArguments, SecretText};
use crate::exit::Status;
use crate::place;

/// What a ring is called, where nothing is said.
const NAME: &str = "observe";

pub fn observe(asked: &ObserveArguments, archive: &Option<PathBuf>) -> Result<Status> {
    // A plan that could not be written is known before the observation.
    if let Some(path) = &asked.plan {
        twin::check_place(path)?;
    }
    if let Some((name, path)) = asked.of.as_ref().zip(asked.plan.as_ref()) {
        let archive = Archive::open_read_only(place::archive(archive))?;
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
    if let Some(every) = asked.every {
        return again(asked, every, arguments, archive);
    }
    let run = run::carry_out(&arguments, archive)?;
    let status = run::show(&run)?;
    match &asked.plan {
        Some(path) => twin::write_beside(&run, path, status),
        None => Ok(status),
    }
}

/// A ring of observations, until its user wants the end.
fn again(
    asked: &ObserveArguments,
    every: Duration,
    arguments: RunArguments,
    archive: &Option<PathBuf>,
) -> Result<Status> {
    let times = Times {
        name: asked.name.clone().unwrap_or_else(|| NAME.into()),
        every_s: every.as_secs(),
    };
    let ring = Ring {
        times: times.clone(),
        length_s: asked.length.as_secs_f64().ceil() as u64,
        keep_s: asked.keep.map(|keep| keep.as_secs()),
    };
    ring.check()?;
    let target = asked.target.as_ref().map(SecretText::url).transpose()?;
    lab::signal::install();
    let watched = asked.watch.open()?;
    let mut turns = Real {
        times,
        target: target.map_or_else(String::new, |url| url.to_string()),
        arguments,
        archive: place::archive(archive),
        watched: watched.clone(),
        has_measured: false,
        stay: HashSet::new(),
    };
    let turned = ring.turn(&mut turns);
    watched.tell(|| StreamEvent::RunEnds {
        run: None,
        complete: turned.is_ok(),
        problem: turned.as_ref().err().map(crate::exit::sentence),
    });
    turned
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
