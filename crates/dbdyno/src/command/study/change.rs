//! The change between the two runs of a study, made by the user or by a command.

use std::io::{BufRead, IsTerminal};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::arguments::SecretText;
use crate::arguments::study::StudyArguments;
use crate::console::say;
use crate::exit::invalid;

/// Interval at which a wait checks for interruption.
const LOOK: Duration = Duration::from_millis(200);
/// Variable with the name of the study for a command.
const STUDY: &str = "DBDYNO_STUDY";

pub enum Change {
    /// Instruction for the user, who then presses Enter.
    Instruction(String),
    Command(SecretText),
}

impl Change {
    /// The requested change; an error if there is none, or no terminal for the instruction.
    pub fn from_arguments(arguments: &StudyArguments) -> Result<Self> {
        let why = match (&arguments.change_cmd, &arguments.change) {
            (Some(command), _) => return Ok(Self::Command(command.clone())),
            (None, Some(text)) if std::io::stdin().is_terminal() => {
                return Ok(Self::Instruction(text.clone()));
            }
            (None, Some(_)) => {
                "--change waits for Enter, and standard input is no terminal; name the command that makes the change with --change-cmd"
            }
            (None, None) => {
                "this study measures before and after a change; say what is to be changed with --change TEXT, or name the command that \
                 makes the change with --change-cmd CMD"
            }
        };
        invalid(why)
    }

    /// Note on both runs; it omits commands because they may hold secrets.
    pub fn note(&self) -> String {
        match self {
            Self::Instruction(text) => text.clone(),
            Self::Command(_) => "the change was made by a command (--change-cmd)".into(),
        }
    }

    /// Makes the change; `false` if it was interrupted.
    pub fn make(&self, study: &str) -> Result<bool> {
        match self {
            Self::Instruction(text) => {
                say(&format!(
                    "{study}-before is measured. Now: {text}. Press Enter to measure again"
                ));
                entered()
            }
            Self::Command(command) => carry_out(command, study),
        }
    }
}

/// Waits for Enter; `false` if interrupted.
fn entered() -> Result<bool> {
    let (sender, receiver) = mpsc::channel();
    // A blocking read of a terminal cannot be cancelled, so the thread lives until the process ends.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        // The waiting side may have been interrupted.
        let _ = sender.send(read);
    });
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(Ok(0)) => bail!("standard input ended before the change was confirmed"),
            Ok(read) => {
                read.context("cannot read the confirmation of the change")?;
                return Ok(true);
            }
            Err(RecvTimeoutError::Timeout) if is_interrupted() => return Ok(false),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => bail!("nobody can be waited for"),
        }
    }
}

/// Output of the command is no result and goes to standard error.
fn carry_out(command: &SecretText, study: &str) -> Result<bool> {
    say("the change is made by the command of --change-cmd");
    let said = std::io::stderr().as_fd().try_clone_to_owned();
    let said = said.context("cannot run the command of --change-cmd")?;
    let status = Command::new("sh")
        .arg("-c")
        .arg(command.expose())
        .env(STUDY, study)
        .stdin(Stdio::null())
        .stdout(said)
        .status()
        .context("cannot run the command of --change-cmd")?;
    if is_interrupted() {
        return Ok(false);
    }
    if !status.success() {
        bail!("the command of --change-cmd failed ({status})");
    }
    Ok(true)
}

fn is_interrupted() -> bool {
    lab::signal::stop_flag().load(Ordering::SeqCst)
}
