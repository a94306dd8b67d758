//! `dbdyno check`: a database's version, its user's rights, gaps of a run on it, and on request its conformance and the correctness of
//! measurements.

mod machine;
mod method;
mod show;
mod suite;

use std::path::Path;

use anyhow::Result;
use host::inventory::Stated;
use lab::LabError;

use crate::arguments::check::CheckArguments;
use crate::console::say;
use crate::exit::Status;
use crate::output;
use machine::Machine;
use method::Method;
use show::Checked;
use suite::Carried;

pub fn check(arguments: &CheckArguments) -> Result<Status> {
    let permission = &arguments.permission;
    let url = arguments.target.url()?;
    let url = permission
        .share(std::slice::from_ref(&url))?
        .pop()
        .unwrap_or(url);
    let engine = engines::find(&url)?;
    let found = engine.inspect(&url).map_err(LabError::from)?;
    let machine = Machine::of(&url, &arguments.server, &found)?;
    // A database that a run refuses would fail the suite for the same reasons.
    let suite = if arguments.engine && found.is_fit() {
        Some(Carried::out(&url, permission)?)
    } else {
        None
    };
    let method = if arguments.method && found.is_fit() {
        let host = super::server_host(&arguments.server, &Stated::default())?;
        match Method::of(&url, &found, arguments.seconds, &host, permission)? {
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
    let is_json_file = |path: &Path| path.extension().is_some_and(|end| end == "json");
    let is_json =
        arguments.format.is_json() || arguments.output.as_deref().is_some_and(is_json_file);
    let text = if is_json {
        checked.json()?
    } else {
        checked.text()
    };
    match &arguments.output {
        Some(path) => output::write(path, &text, "result", "--output")?,
        None => super::print(&text)?,
    }
    Ok(if is_sound {
        Status::Fine
    } else {
        Status::CheckFailed
    })
}

fn interrupted() -> Status {
    say("dbdyno: interrupted; what --method created was removed");
    Status::Interrupted
}
