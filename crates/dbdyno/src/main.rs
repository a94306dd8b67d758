//! The command `dbdyno`, a dynamometer for database platforms.

mod arguments;
mod command;
mod command_line;
mod consent;
mod console;
mod event_outputs;
mod exit;
mod locations;
mod log;
mod output;
mod progress;
mod resumption;

use std::process::ExitCode;

use arguments::{Arguments, Verb};
use command_line::CommandLine;
use exit::Status;

/// The stack of the command: the shell's limit may be too low for parsing its arguments.
const STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    let command_line = CommandLine::take();
    engines::before_first_use();
    let run = || dbdyno(&command_line);
    std::thread::scope(|scope| {
        let named = std::thread::Builder::new().name("main".into());
        match named.stack_size(STACK_BYTES).spawn_scoped(scope, run) {
            // The panic has already printed its message.
            Ok(thread) => thread.join().unwrap_or(ExitCode::from(101)),
            Err(_) => dbdyno(&command_line),
        }
    })
}

fn dbdyno(command_line: &CommandLine) -> ExitCode {
    lab::signal::advise(|verb, label| format!("resume with: {}", resumption::command(verb, label)));
    let arguments = Arguments::parse_from_typed(command_line);
    if let Some(archive) = &arguments.archive {
        resumption::set_archive(archive);
    }
    let result = log::begin(arguments.verbose, arguments.log_file.as_deref());
    if let Some(warning) = command_line.warning() {
        console::say(&format!("dbdyno: warning: {warning}"));
    }
    for note in command_line.notes() {
        console::say(&format!("dbdyno: note: {note}"));
    }
    let result = result.and_then(|()| carry_out(arguments));
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            let sentence = exit::sentence(&error);
            tracing::info!("{sentence}");
            // An error caused by the interruption of its session does not mention the interruption.
            let (status, why) = match exit::status_of(&error) {
                Status::Environment if lab::signal::has_broken_off() => {
                    (Status::Interrupted, "interrupted: ")
                }
                status => (status, ""),
            };
            console::say(&format!("dbdyno: {why}{sentence}"));
            status.into()
        }
    }
}

fn carry_out(arguments: Arguments) -> anyhow::Result<Status> {
    match arguments.verb {
        Verb::Run(run) => command::run::run(*run, &arguments.archive),
        Verb::Ab(ab) => command::ab::ab(&ab, &arguments.archive),
        Verb::Study(study) => command::study::study(&study, &arguments.archive),
        Verb::Observe(observe) => command::observe::observe(&observe, &arguments.archive),
        Verb::Compare(compare) => command::compare::compare(&compare, &arguments.archive),
        Verb::List(list) => command::list::list(&list),
        Verb::Runs(runs) => command::runs::runs(&runs.verb, &arguments.archive),
        Verb::Report(report) => command::report::report(&report, &arguments.archive),
        Verb::Data(data) => command::data::data(&data.verb),
        Verb::Storage(storage) => command::storage::storage(&storage.verb, &arguments.archive),
        Verb::Vdbench(typed) => Ok(command::storage::vdbench::vdbench(
            &typed,
            &arguments.archive,
        )),
        Verb::Check(check) => command::check::check(&check, &arguments.archive),
        Verb::Docs(docs) => command::docs::docs(docs.verb.as_ref()),
    }
}
