//! What happens between the two runs of a study: somebody changes something, or a command does.

use std::io::{BufRead, IsTerminal};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::arguments::SecretText;
use crate::arguments::study::StudyArguments;
use crate::exit::InvalidInput;
use crate::say::say;

/// How often somebody who is waited for may interrupt.
const LOOK: Duration = Duration::from_millis(200);
/// Variable in which a hook finds the name of the study.
const STUDY: &str = "DBDYNO_STUDY";

pub enum Change {
    /// Somebody, who is told what to do and presses Enter when it is done.
    Pause(String),
    Hook(SecretText),
}

impl Change {
    /// What is asked for, before anything is measured.
    ///
    /// # Errors
    /// When nobody would make the change, or nobody is there to say that it is made.
    pub fn asked(arguments: &StudyArguments) -> Result<Self> {
        let why = match (&arguments.hook, &arguments.pause) {
            (Some(hook), _) => return Ok(Self::Hook(hook.clone())),
            (None, Some(text)) if std::io::stdin().is_terminal() => {
                return Ok(Self::Pause(text.clone()));
            }
            (None, Some(_)) => {
                "--pause waits for Enter, and standard input is no terminal; name the command that makes the change with --hook"
            }
            (None, None) => {
                "this study measures before and after a change; say what is to be changed with --pause TEXT, or name the command that \
                 makes the change with --hook CMD"
            }
        };
        Err(InvalidInput(why.into()).into())
    }

    /// What stands beside both runs; commands may hold secrets.
    pub fn note(&self) -> String {
        match self {
            Self::Pause(text) => text.clone(),
            Self::Hook(_) => "the change was made by a command (--hook)".into(),
        }
    }

    /// Has the change made. `false` when it was interrupted.
    ///
    /// # Errors
    /// When the command fails, or nobody can be waited for any more.
    pub fn make(&self, study: &str) -> Result<bool> {
        match self {
            Self::Pause(text) => {
                say(&format!(
                    "{study}-before is measured. Now: {text}. Press Enter to measure again"
                ));
                entered()
            }
            Self::Hook(command) => carry_out(command, study),
        }
    }
}

/// Waits for Enter; `false` when interrupted.
fn entered() -> Result<bool> {
    let (sender, receiver) = mpsc::channel();
    // Nothing ends a read of a terminal from outside: the thread goes with the process.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        // Who was waiting may have been interrupted.
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

/// What the command prints is no result: it goes to standard error.
fn carry_out(command: &SecretText, study: &str) -> Result<bool> {
    say("the change is made by the command of --hook");
    let said = std::io::stderr().as_fd().try_clone_to_owned();
    let said = said.context("cannot run the command of --hook")?;
    let status = Command::new("sh")
        .arg("-c")
        .arg(command.expose())
        .env(STUDY, study)
        .stdin(Stdio::null())
        .stdout(said)
        .status()
        .context("cannot run the command of --hook")?;
    if is_interrupted() {
        return Ok(false);
    }
    if !status.success() {
        bail!("the command of --hook failed ({status})");
    }
    Ok(true)
}

fn is_interrupted() -> bool {
    lab::signal::stop_flag().load(Ordering::SeqCst)
}
