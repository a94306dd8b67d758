//! `dbdyno data … oltp`: the order-entry database.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use engine::Cooled;
use lab::Setting;
use oltp::step::{Check, OltpStep};
use oltp::{Checked, Finding, LoadOptions, Verdict, Way};
use serde_json::{Value, json};

use super::database::{bar, open, show, sound};
use crate::arguments::SecretText;
use crate::arguments::data::{
    DropArguments, OltpCheckArguments, OltpLoadArguments, OltpRestoreArguments,
};
use crate::command::plan_text::table;
use crate::command::{print, print_json};
use crate::exit::{Status, invalid};

const FORMAT: u32 = 1;

pub(super) fn load(arguments: &OltpLoadArguments) -> Result<Status> {
    let keys = ["foreign_keys", "warehouse_rows"];
    let step = step_of("load", &keys, &arguments.settings)?;
    let (target, engine) = open(&arguments.target.of("data load oltp")?)?;
    let options = LoadOptions {
        warehouses: arguments.warehouses,
        rows: step.warehouse_rows.unwrap_or_default(),
        jobs: arguments.clients,
        seed: arguments.seed,
        foreign_keys: step.foreign_keys,
        replace: arguments.replace,
    };
    lab::signal::install();
    let begun = Instant::now();
    let bar = bar(arguments.warehouses, "warehouses");
    let outcome = oltp::load(
        target.as_ref(),
        &engine,
        &options,
        lab::signal::stop_flag(),
        &|event| show(&bar, event, "warehouses"),
    );
    bar.finish_and_clear();
    let loaded = outcome?;
    let (rows_s, all_s) = (
        loaded.rows_took.as_secs_f64(),
        begun.elapsed().as_secs_f64(),
    );
    print(&format!(
        "{}, {} of them now: {} rows in {rows_s:.3} s; {all_s:.3} s with keys, statistics and row counts\n",
        match arguments.warehouses {
            1 => "1 warehouse is loaded".to_owned(),
            many => format!("{many} warehouses are loaded"),
        },
        loaded.warehouses,
        loaded.rows,
    ))?;
    Ok(Status::Fine)
}

/// The settings of one command as a step of a plan, which checks their values.
fn step_of(action: &str, keys: &[&str], settings: &[String]) -> Result<OltpStep> {
    let mut given = table([("do", Some(action.into()))]);
    for text in settings {
        let Setting { key, value } = Setting::parse(text)?;
        if !keys.contains(&key.as_str()) {
            return invalid(format!(
                "data {action} oltp has no key \"{key}\" for --set{}; it takes {}",
                archive::nearest(&key, keys),
                keys.join(" and ")
            ));
        }
        given.insert(key, value);
    }
    let step = toml::Value::Table(given).try_into();
    step.or_else(|error: toml::de::Error| invalid(format!("--set: {}", error.message())))
}

pub(super) fn check(arguments: &OltpCheckArguments) -> Result<Status> {
    let target = arguments.target.of("data check oltp")?;
    if let Some(journal) = &arguments.journal {
        return check_journal(&target, journal);
    }
    let step = step_of("check", &["check"], &arguments.settings)?;
    if step.check == Check::None {
        return invalid("check=none leaves nothing to check; type check=light or check=full");
    }
    let (target, engine) = open(&target)?;
    let checked = oltp::check(target.as_ref(), &engine, step.check == Check::Light)?;
    if arguments.format.is_json() {
        print_json(&format!("{:#}\n", document(&checked, &target.record().url)))?
    } else {
        print(&lines(&checked))?
    }
    Ok(sound(checked.is_sound()))
}

/// Checks the database against a log of acknowledged transactions.
fn check_journal(target: &SecretText, journal: &Path) -> Result<Status> {
    let (target, _) = open(target)?;
    let found = oltp::reconcile(target.as_ref(), journal)?;
    print(&format!("{}\n", found.remark(None)))?;
    Ok(sound(found.is_sound()))
}

fn lines(checked: &Checked) -> String {
    let mut text = format!(
        "order-entry database of {}, seed {}, {}\n",
        checked.metadata.rows.size(checked.metadata.warehouses),
        checked.metadata.seed,
        if checked.metadata.transactions_since_load {
            "transactions have run since the load"
        } else {
            "as loaded"
        }
    );
    for Finding {
        number,
        title,
        verdict,
    } in &checked.findings
    {
        let name = match number {
            0 => "rows".to_owned(),
            number => number.to_string(),
        };
        let _ = match verdict {
            Verdict::Holds => writeln!(text, "{name:>4}  holds    {title}"),
            Verdict::PutOff(why) => writeln!(text, "{name:>4}  skipped  {title} ({why})"),
            Verdict::Broken { .. } => writeln!(text, "{name:>4}  BROKEN   {title}"),
        };
        if let Verdict::Broken { count, places } = verdict {
            for place in places {
                let _ = writeln!(text, "               {place}");
            }
            if *count > places.len() as u64 {
                let more = count - places.len() as u64;
                let _ = writeln!(text, "               and {more} more");
            }
        }
    }
    text
}

fn document(checked: &Checked, url: &str) -> Value {
    let finding = |finding: &Finding| {
        let mut value = json!({
            "condition": finding.number,
            "title": finding.title,
        });
        match &finding.verdict {
            Verdict::Holds => value["verdict"] = json!("holds"),
            Verdict::PutOff(why) => {
                value["verdict"] = json!("put_off");
                value["reason"] = json!(why);
            }
            Verdict::Broken { count, places } => {
                value["verdict"] = json!("broken");
                value["places"] = json!(count);
                value["first_places"] = json!(places);
            }
        }
        value
    };
    json!({
        "format": FORMAT,
        "target": url,
        "warehouses": checked.metadata.warehouses,
        "warehouse_rows": checked.metadata.rows,
        "seed": checked.metadata.seed,
        "c_last_load": checked.metadata.c_last_load,
        "foreign_keys": checked.metadata.foreign_keys,
        "transactions_since_load": checked.metadata.transactions_since_load,
        "sound": checked.is_sound(),
        "findings": checked.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

pub(super) fn restore(arguments: &OltpRestoreArguments) -> Result<Status> {
    let (target, engine) = open(&arguments.target.of("data restore oltp")?)?;
    lab::signal::install();
    let stop = lab::signal::stop_flag();
    let bar = bar(0, "warehouses");
    let outcome = oltp::restore(
        target.as_ref(),
        &engine,
        arguments.clients,
        stop,
        &|event| {
            show(&bar, event, "warehouses");
        },
    );
    bar.finish_and_clear();
    let restored = outcome?;
    let way = match &restored.way {
        Way::CopyTaken => "unchanged since its load; a copy is kept now".to_owned(),
        Way::CopyRestored => "restored from its copy".to_owned(),
        Way::Untouched { no_copy } => {
            format!("unchanged since its load; no copy is kept: {no_copy}")
        }
        Way::Reloaded { no_copy: None } => "loaded again; a copy is kept now".into(),
        Way::Reloaded { no_copy: Some(why) } => {
            format!("loaded again; no copy is kept: {why}")
        }
    };
    let caches = match &restored.cooled {
        Cooled::Cold => "its caches are cold".to_owned(),
        Cooled::Lukewarm(why) => format!("its caches may be warm: {why}"),
    };
    print(&format!(
        "the order-entry database of {} is as loaded after {:.3} s: {way}; {caches}\n",
        restored.metadata.rows.size(restored.metadata.warehouses),
        restored.took.as_secs_f64(),
    ))?;
    Ok(Status::Fine)
}

pub(super) fn drop_tables(arguments: &DropArguments) -> Result<Status> {
    let (target, engine) = open(&arguments.target.of("data drop oltp")?)?;
    print(if oltp::drop_all(target.as_ref(), &engine)? {
        "the order-entry database was dropped\n"
    } else {
        "there was no order-entry database\n"
    })?;
    Ok(Status::Fine)
}
