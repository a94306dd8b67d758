//! Programs that must not outlive dbdyno.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the kernel kill a program when the thread that starts it ends, which must wait for it: also when dbdyno is
/// killed. A change of user in the command takes place before.
pub fn die_with_parent(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: `tie` makes system calls only, as required between fork and exec.
    unsafe { command.pre_exec(move || tie(parent)) };
}

fn tie(parent: u32) -> io::Result<()> {
    // SAFETY: plain system calls on values.
    let (set, now) = unsafe {
        (
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL),
            libc::getppid(),
        )
    };
    match (set, now as u32 == parent) {
        (-1, _) => Err(io::Error::last_os_error()),
        // It died before the signal was set.
        (_, false) => Err(io::Error::from_raw_os_error(libc::ESRCH)),
        _ => Ok(()),
    }
}
