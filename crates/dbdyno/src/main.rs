//! dbdyno, a dynamometer for database platforms: the command.

mod arguments;
mod command;
mod exit;
mod fault;
mod place;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Verb};

fn main() -> ExitCode {
    // Before anything else uses SQLite, the archive included.
    target::sqlite::configure_library();
    let arguments = Arguments::parse();
    let result = match arguments.verb {
        Verb::Run(run) => command::run::run(run, &arguments.archive),
        Verb::List(list) => command::list::list(&list, &arguments.archive),
        Verb::Export(export) => command::export::export(&export, &arguments.archive),
        Verb::Report(report) => command::report::report(&report, &arguments.archive),
    };
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            eprintln!("dbdyno: {error:#}");
            exit::status_of(&error).into()
        }
    }
}
