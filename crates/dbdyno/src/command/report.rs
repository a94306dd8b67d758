//! `dbdyno report`: a run as a page, as text or data, against limits, as a replay, or as a plan.

mod data;
mod limits;
mod page;
mod plan;
mod replay;

use std::path::PathBuf;

use anyhow::Result;

use super::{load_run, print_run, terminal_columns};
use crate::arguments::{Format, ReportArguments};
use crate::exit::{Status, invalid};
use crate::output;

pub fn report(arguments: &ReportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let format = arguments.format();
    if let Some(file) = &arguments.limits {
        return limits::judge(arguments, file, format, archive);
    }
    if let Some(speed) = arguments.replay {
        let at = arguments.live.unwrap_or_default();
        return replay::replay(&load_run(&arguments.run, archive)?, speed, at);
    }
    if !matches!(format, Format::Html | Format::Json) && !arguments.prices.is_empty() {
        return invalid(
            "--prices needs --format html or json: other formats have no place for prices",
        );
    }
    if format == Format::Html {
        return page::write(arguments, archive);
    }
    for (option, values) in [
        ("--against", &arguments.against),
        ("--array", &arguments.array),
    ] {
        if !values.is_empty() {
            return invalid(format!(
                "{option} is for the page; leave out --format, or use --format html"
            ));
        }
    }
    if format == Format::Junit {
        return invalid("--format junit needs the limits: add --limits FILE.toml");
    }
    let run = load_run(&arguments.run, archive)?;
    match (format, &arguments.output) {
        (Format::Plan, file) => plan::write(&run, file.as_deref())?,
        (Format::Text, None) => print_run(&run)?,
        (Format::Text, Some(file)) => {
            let text = ::report::terminal(&run, &[], terminal_columns(), false);
            output::write_and_tell(file, &text, "report", "-o")?;
        }
        (format, file) => data::write(&run, format, &arguments.prices, file.as_deref())?,
    }
    Ok(Status::Fine)
}
