//! The ordinary ssh client as a child process, with all interactive prompts switched off.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use super::RemoteError;
use super::address::SshAddress;
use crate::trusted;

/// Variable that names another program than `ssh`, which gets the same arguments.
const PROGRAM_VARIABLE: &str = "DBDYNO_SSH";
/// Most bytes of the client's messages that are messages, the last ones.
const MESSAGES_BYTES_MAX: usize = 4096;
/// Longest answer to one command: the inventory of a machine with thousands of devices.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// Longest time of a command other than sampling; a machine that hangs must not hold up a run for ever.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// No prompts, and a connection that is silent for 15 seconds is given up. The other machine gets no use of this
/// one's keys or screen, whatever the user's configuration allows.
const OPTIONS: &[&str] = &[
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ClearAllForwardings=yes",
    "ForwardAgent=no",
    "ForwardX11=no",
];

#[derive(Debug)]
pub(super) struct Client {
    child: Child,
    messages: Option<JoinHandle<Vec<u8>>>,
}

pub(super) struct Pipes {
    pub input: ChildStdin,
    pub output: ChildStdout,
}

impl Client {
    /// Starts the client with a script for the other machine's `sh`. Fails if there is no ssh client.
    pub(super) fn start(address: &SshAddress, script: &str) -> Result<(Self, Pipes), RemoteError> {
        let named = std::env::var_os(PROGRAM_VARIABLE).filter(|name| !name.is_empty());
        let program = match named {
            Some(named) => named,
            None => installed()?,
        };
        let no_client = |cause: std::io::Error| RemoteError::NoClient {
            program: program.display().to_string(),
            cause,
        };
        let mut command = Command::new(&program);
        for option in OPTIONS {
            command.args(["-o", option]);
        }
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_password(name)) {
            command.env_remove(name);
        }
        command.arg("-T");
        if let Some(port) = address.port {
            command.args(["-p", &port.to_string()]);
        }
        let mut child = command
            .args(["--", &address.destination(), &quoted(script)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(no_client)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(no_client(std::io::Error::other("it has no pipes")));
        };
        let messages = std::thread::Builder::new()
            .name("ssh messages".into())
            .spawn(move || last_of(errors))
            .map_err(no_client)?;
        let client = Self {
            child,
            messages: Some(messages),
        };
        Ok((client, Pipes { input, output }))
    }

    /// Ends the client and returns its last complaint, or that of the other machine.
    pub(super) fn last_words(&mut self) -> String {
        // It has ended already, or is no longer needed.
        let _ = self.child.kill();
        let status = self.child.wait();
        let words = self.messages.take().and_then(|thread| thread.join().ok());
        let words = String::from_utf8_lossy(&words.unwrap_or_default()).into_owned();
        let last = words.lines().map(str::trim).rfind(|line| !line.is_empty());
        match (last, status) {
            (Some(line), _) => line.trim_end_matches('.').to_owned(),
            (None, Ok(status)) => format!("ssh ended with {status}"),
            (None, Err(error)) => format!("ssh is lost: {error}"),
        }
    }
}

/// True if a variable has the password of a database: ssh needs none, and a configuration may send them on.
fn is_password(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.ends_with(b"PASSWORD") || name.ends_with(b"_PWD")
}

/// The first `ssh` in `$PATH`, unless others could have put it there.
fn installed() -> Result<OsString, RemoteError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut there = std::env::split_paths(&path).map(|folder| folder.join("ssh"));
    match there.find(|program| program.is_file()) {
        // The error of starting it reports that there is none.
        None => Ok(OsString::from("ssh")),
        Some(program) => match trusted(&program) {
            Ok(program) => Ok(program.into_os_string()),
            Err(cause) => Err(RemoteError::Untrusted {
                program: program.display().to_string(),
                cause,
            }),
        },
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.messages.is_some() {
            self.last_words();
        }
    }
}

/// Runs a script on the other machine and returns its output after `mark`, which separates it from the output of the
/// user's start-up files. Fails if the machine cannot be reached, or does not answer.
pub(super) fn ask(address: &SshAddress, script: &str, mark: &str) -> Result<String, RemoteError> {
    let (mut client, pipes) = Client::start(address, script)?;
    drop(pipes.input);
    let (sender, receiver) = mpsc::channel();
    let reading = std::thread::Builder::new().name("ssh answer".into());
    let output = pipes.output;
    reading
        .spawn(move || {
            let mut bytes = Vec::new();
            let read = output.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes);
            // The receiver may have given up.
            let _ = sender.send(read.map(|_| bytes));
        })
        .map_err(|cause| RemoteError::NoClient {
            program: "ssh".into(),
            cause,
        })?;
    let unreachable = |cause: String| RemoteError::Unreachable {
        address: address.clone(),
        cause,
    };
    let bytes = match receiver.recv_timeout(ANSWER_TIME_MAX) {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(error)) => return Err(unreachable(error.to_string())),
        Err(_) => {
            let seconds = ANSWER_TIME_MAX.as_secs();
            return Err(unreachable(format!("no answer in {seconds} s")));
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    match text.split_once(&format!("{mark}\n")) {
        Some((_, answer)) => Ok(answer.to_owned()),
        None => Err(unreachable(client.last_words())),
    }
}

/// The script in one argument that any login shell hands to `sh` unchanged; even a csh, which would not take a quoted
/// line end.
fn quoted(script: &str) -> String {
    // Every build checks the text that another machine executes.
    assert!(!script.contains(['\'', '!']), "no shell may see these");
    let lines: Vec<&str> = script.lines().map(str::trim).collect();
    format!("exec sh -c '{}'", lines.join(" ").trim())
}

fn last_of(mut errors: ChildStderr) -> Vec<u8> {
    let (mut messages, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(count @ 1..) = errors.read(&mut chunk) {
        messages.extend_from_slice(&chunk[..count]);
        let too_many = messages.len().saturating_sub(MESSAGES_BYTES_MAX);
        messages.drain(..too_many);
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_one_line_in_quotes() {
        assert_eq!(quoted("a;\n  b \"c\";\n"), "exec sh -c 'a; b \"c\";'");
    }
}
