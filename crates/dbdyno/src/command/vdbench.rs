//! `dbdyno vdbench`: parameter files as they stand.

use anyhow::{Result, bail};
use storage::language::{self, command_line, read_file, script};

use super::print;
use crate::arguments::VdbenchArguments;
use crate::exit::Status;
use crate::say::say;

/// Whatever fails, wrappers know one status.
pub fn vdbench(asked: &VdbenchArguments) -> Status {
    carry_out(asked).unwrap_or_else(|error| {
        say(&format!("dbdyno: {error:#}"));
        Status::VdbenchFailed
    })
}

fn carry_out(asked: &VdbenchArguments) -> Result<Status> {
    let asked = command_line(&asked.options)?;
    let script = script(&asked, &read_file)?;
    if asked.simulate {
        print(&language::simulation(&script.runs))?;
        return Ok(Status::Fine);
    }
    bail!("runs are listed with -s, and not yet carried out");
}
