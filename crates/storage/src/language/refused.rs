//! Features of the language that dbdyno refuses.

use super::error::Result;
use super::lexer::Parameter;

pub(super) const ONE_MACHINE: &str =
    "workloads run only on this machine; leave hosts out, or name localhost alone";
pub(super) const NO_REPLAY: &str =
    "recorded traces cannot be replayed; describe the workload with wd= instead";
pub(super) const NO_FILE_SYSTEMS: &str = "workloads of directories and files (fsd, fwd) are not supported; use sd= and \
                                          wd= on files or devices";
pub(super) const NO_COMMANDS: &str = "commands in a parameter file are not executed; run them before and after, and \
                                      leave this out";

/// `host=` of SDs and WDs must name the one machine.
pub(super) fn host(parameter: &Parameter) -> Result<()> {
    let is_here = |name: &String| name == "localhost" || name == "*";
    if parameter.values.iter().all(is_here) {
        return Ok(());
    }
    Err(parameter.wrong(ONE_MACHINE))
}
