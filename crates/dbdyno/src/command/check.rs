//! `dbdyno check`: a database's version, its user's rights, gaps of a run on it, and on request its conformance and the correctness of
//! measurements; or the inventory of a machine.

mod inventory;
mod machine;
mod method;
mod show;
mod suite;

use std::path::PathBuf;

use anyhow::Result;
use host::inventory::Stated;
use lab::LabError;

use crate::arguments::check::CheckArguments;
use crate::console::say;
use crate::exit::{Status, invalid};
use crate::output;
use machine::Machine;
use method::Method;
use show::Checked;
use suite::Carried;

pub fn check(arguments: &CheckArguments, archive: &Option<PathBuf>) -> Result<Status> {
    if let Some(root) = &arguments.inventory {
        let text = inventory::show(arguments, root, archive)?;
        deliver(&text, arguments)?;
        return Ok(Status::Fine);
    }
    if arguments.needs_inventory() {
        return invalid(
            "--against and --platform are for the inventory of a machine; add --inventory",
        );
    }
    let permission = &arguments.permission;
    let url = arguments.target.of("check")?.url()?;
    let url = permission
        .share(std::slice::from_ref(&url))?
        .pop()
        .unwrap_or(url);
    let engine = engines::find(&url)?;
    let found = engine.inspect(&url).map_err(LabError::from)?;
    let machine = Machine::of(&url, &arguments.server, &found)?;
    // A database that a run refuses would fail the suite for the same reasons.
    let suite = if arguments.compatibility && found.is_fit() {
        Some(Carried::out(&url, permission)?)
    } else {
        None
    };
    let method = if arguments.self_test && found.is_fit() {
        let host = super::server_host(&arguments.server, &Stated::default())?;
        let seconds = arguments.time.as_secs_f64();
        match Method::of(&url, &found, seconds, &host, permission)? {
            None => return Ok(interrupted()),
            method => method,
        }
    } else {
        None
    };
    let is_sound = found.is_fit()
        && suite.as_ref().is_none_or(Carried::has_passed)
        && method.as_ref().is_none_or(Method::is_right);
    let checked = Checked {
        url: url.to_string(),
        machine,
        found,
        suite,
        method,
    };
    let is_whole = arguments.full || arguments.output.is_some();
    let text = match &checked.method {
        _ if arguments.is_json() => checked.json()?,
        Some(method) if !is_whole => checked.summary(method),
        _ => checked.text(),
    };
    deliver(&text, arguments)?;
    Ok(if is_sound {
        Status::Fine
    } else {
        Status::CheckFailed
    })
}

/// Prints a result, or writes it to the file of -o.
fn deliver(text: &str, arguments: &CheckArguments) -> Result<()> {
    match &arguments.output {
        Some(path) => output::write(path, text, "result", "--output"),
        None if arguments.is_json() => super::print_json(text),
        None => super::print(text),
    }
}

fn interrupted() -> Status {
    say("dbdyno: interrupted; what --self-test created was removed");
    Status::Interrupted
}
