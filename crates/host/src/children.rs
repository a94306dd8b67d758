//! Programs that must not outlive dbdyno.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::io::Errno;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};

/// Makes the kernel kill a program when the thread that starts it ends, which must wait for it: also when dbdyno is
/// killed. A change of user in the command takes place before.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: `tie` makes system calls only, as required between fork and exec.
    unsafe { command.pre_exec(move || tie(parent)) };
}

fn tie(parent: u32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let now = getppid().map(|pid| pid.as_raw_pid());
    if now == i32::try_from(parent).ok() {
        Ok(())
    } else {
        // It died before the signal was set.
        Err(Errno::SRCH.into())
    }
}
