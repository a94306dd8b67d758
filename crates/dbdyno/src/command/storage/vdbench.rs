//! `dbdyno storage vdbench`: execution of parameter files.

mod devices;
mod existing;
mod keep;
mod onlooker;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use anyhow::{Result, bail};
use archive::store::check_label;
use archive::{Archive, RunName};
use host::Reader;
use jiff::Timestamp;
use load::Objective;
use storage::engine::{self, Options, format_run};
use storage::execution::{self, Completion, Execution, Slo};
use storage::language::{self, CommandLine, FormatPolicy, Script, command_line, script};
use storage::pages::{Pages, folder, folder_name};
use storage::profile::Profile;
use storage::run::Run;

use crate::arguments::{ResultOptions, VdbenchArguments};
use crate::command::ending::{Ending, Outcome};
use crate::command::print;
use crate::console::say;
use crate::exit::{self, Status};
use crate::locations;
use devices::Devices;
use keep::Keeper;
use onlooker::Onlooker;

/// Seed of all random choices: the same file gives the same I/Os.
const SEED: u64 = 1;

/// Wrappers know a single status for every failure.
pub fn vdbench(command_line: &VdbenchArguments, archive: &Option<PathBuf>) -> Status {
    carry_out(command_line, archive).unwrap_or_else(|error| {
        say(&format!("dbdyno: {}", exit::sentence(&error)));
        Status::VdbenchFailed
    })
}

fn carry_out(arguments: &VdbenchArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let mut command_line = command_line(&arguments.options)?;
    let profiles = (command_line.files.iter()).map(|file| Profile::of(file));
    let has_profile = profiles
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .any(Option::is_some);
    if has_profile {
        quote(&mut command_line);
    }
    let (script, parameters) = read(&command_line)?;
    for hint in &script.hints {
        say(&format!("dbdyno: warning: {hint}"));
    }
    let slo = slo(arguments, &script)?;
    if command_line.simulate {
        print(&language::simulation(&script.runs))?;
        if arguments.check {
            for existing in &check(&script, has_profile, &arguments.force)? {
                say(existing);
            }
            say("all files and devices of the list can be used");
        }
        return Ok(Status::Fine);
    }
    if arguments.check {
        bail!("--check needs -s; without -s, the list is always checked before its first I/O");
    }
    let name = name(arguments, &command_line)?;
    // A list that cannot be executed leaves neither a run nor pages.
    check(&script, has_profile, &arguments.force)?;
    let archive = locations::archive(archive)?;
    let results = ResultOptions {
        no_page: arguments.no_page,
        ..ResultOptions::default()
    };
    let ending = Ending::new(&results, &archive)?;
    let watched = arguments.watch.open()?;
    lab::signal::install();
    let now = Timestamp::now();
    let folder = folder(command_line.output.as_deref(), now)?;
    let format = format(&script);
    let listed: Vec<Run> = format.iter().chain(&script.runs).cloned().collect();
    let mut pages = Pages::create(&folder, &listed, &parameters, &script.histogram, now)?;
    let devices = Rc::new(Devices::of(&script));
    let keeper = Keeper::enter(
        &archive,
        name.as_deref(),
        &script,
        &parameters,
        SEED,
        Rc::clone(&devices),
    )?;
    let mut onlooker = Onlooker::begin(keeper, watched)?;
    let stop = lab::signal::stop_flag();
    let execution = Execution {
        script: &script,
        format: format.as_ref(),
        pages: &mut pages,
        audience: &mut onlooker,
        carrier: &engine::run,
        options: Options {
            may_destroy: &arguments.force,
            ..Options::new(SEED, stop)
        },
        slo,
        stop,
        counters: Reader::open(Path::new("/"), devices.only()),
        requests: devices.watch(),
        monitored_since: SystemTime::now(),
    };
    let ended = execution.carry_out();
    let label = onlooker.end(&ended)?;
    say(&format!(
        "pages: {}/summary.html; run {label} in the archive: dbdyno report {label}",
        folder.display()
    ));
    let run = Archive::open_read_only(&archive)?.load_run(&RunName::Label(label))?;
    // Wrappers know no status for a missing page, and the run has the others of -o.
    ending.name_page(&Outcome::of_run(&run), Status::Fine);
    match ended? {
        Completion::Interrupted => {
            bail!("interrupted; the results so far are on the pages and in the archive")
        }
        Completion::Whole
        | Completion::ResponseTime
        | Completion::Monitor
        | Completion::Recovered => Ok(Status::Fine),
    }
}

/// Checks the list before its first I/O, and returns a sentence for each file and device that it overwrites.
fn check(script: &Script, has_profile: bool, may_destroy: &[PathBuf]) -> Result<Vec<String>> {
    let never = AtomicBool::new(false);
    let options = Options {
        may_destroy,
        ..Options::new(SEED, &never)
    };
    let format = format(script);
    let runs: Vec<&Run> = format.iter().chain(&script.runs).collect();
    if has_profile {
        existing::refuse_dangling(&runs)?;
    }
    let found = existing::existing(&runs);
    for existing in &found {
        if has_profile {
            existing.spare_from_profile(may_destroy)?;
        } else {
            existing.spare(may_destroy)?;
        }
    }
    execution::check(script, format.as_ref(), &options)?;
    Ok(found.iter().map(ToString::to_string).collect())
}

/// The name of the run: `--name`, or that of the output folder. A folder whose name cannot be that of a run gives none.
fn name(arguments: &VdbenchArguments, command_line: &CommandLine) -> Result<Option<String>> {
    if let Some(name) = &arguments.name {
        check_label(name)?;
        return Ok(Some(name.clone()));
    }
    let of_folder = command_line.output.as_deref().and_then(folder_name);
    Ok(of_folder.filter(|name| check_label(name).is_ok()))
}

/// A blank ends the value in a parameter file, but a profile's path may contain one.
fn quote(command_line: &mut CommandLine) {
    for variable in &mut command_line.variables {
        if variable.value.contains(' ') {
            variable.value = format!("\"{}\"", variable.value);
        }
    }
}

fn slo(arguments: &VdbenchArguments, script: &Script) -> Result<Option<Slo>> {
    let Some(text) = &arguments.find_rate else {
        return Ok(None);
    };
    Slo::check(&script.runs)?;
    Ok(Some(Slo::usual(text.parse::<Objective>()?)))
}

/// The script, and the text of all its files.
fn read(command_line: &CommandLine) -> Result<(Script, String)> {
    let texts: RefCell<Vec<(PathBuf, String)>> = RefCell::default();
    let script = script(command_line, &|path| {
        let text = match Profile::of(path) {
            Ok(Some(profile)) => profile.text().to_owned(),
            _ => language::read_file(path)?,
        };
        let mut texts = texts.borrow_mut();
        if !texts.iter().any(|(known, _)| known == path) {
            texts.push((path.to_owned(), text.clone()));
        }
        Ok(text)
    })?;
    let texts = texts.into_inner();
    Ok((
        script,
        texts
            .iter()
            .map(|(path, text)| format!("* {}\n{text}\n", path.display()))
            .collect(),
    ))
}

/// The run that extends files to their size.
fn format(script: &Script) -> Option<Run> {
    match script.format.policy {
        FormatPolicy::Never => None,
        policy => format_run(
            &script.runs,
            policy == FormatPolicy::Always,
            script.format.transfer_bytes,
        ),
    }
}
