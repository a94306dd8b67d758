//! Arguments of `dbdyno storage vdbench`, and of `dbdyno vdbench`, as who has such files types it.

use std::path::PathBuf;

use clap::Args;

use crate::event_outputs::WatchArguments;

/// Its options are those that wrappers and scripts of vdbench use, which clap would read differently (`-vr`, `-f a b`, `name=value`, `+`);
/// they are passed through.
#[derive(Debug, Args)]
#[command(
    override_usage = "dbdyno [--archive PATH] vdbench [--force[=DEVICE]] [--check] [--find-rate p99=1ms] [--live[=ADDR]] [--events FILE] [--no-page] -f FILE… [-s] [-o DIR] [-e N] [-i N] [-w N] [-l N] [-v[rwt]] [-j[rnmois]] [NAME=VALUE…] [+ PARAMETERS…]",
    after_help = "-f FILE…        parameter files, read in order (docs/VDBENCH.md lists what is supported); built in are\n\
                profile:database and profile:mixed, with lun=PATH (which is overwritten) and size=N\n\
-s              simulate: print the list of runs and exit\n\
-o DIR          output directory (default: output; DIR+ adds a number, DIR.tod the time of day)\n\
-e, -i, -w N    elapsed time, interval and warm-up of all runs, in seconds or with m or h\n\
-l N            repeat the whole list N times, or for a time with s, m or h\n\
-v, -j          data validation and journaling, with the letters of the original\n\
NAME=VALUE      value of $NAME and !NAME in the files\n\
+ PARAMETERS…   append to every one-line rd=\n\n\
Exit status: 0 done · 157 anything else"
)]
pub struct VdbenchArguments {
    /// Write to DEVICE although it holds a file system, volume or partition table, or is given to a profile; repeatable.
    /// Without DEVICE: let a profile overwrite an existing file
    #[arg(long, value_name = "DEVICE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = path)]
    pub force: Vec<PathBuf>,
    /// With -s: also check that the files and devices can be used as requested; nothing is created or written
    #[arg(long)]
    pub check: bool,
    /// Find the highest rate of each run that meets a response time, counted from the intended start
    #[arg(long, value_name = "p95=50ms")]
    pub find_rate: Option<String>,
    #[command(flatten)]
    pub watch: WatchArguments,
    /// Write no page next to the archive; the pages of -o stay
    #[arg(long)]
    pub no_page: bool,
    // `-v` validates data here, so that the verbosity of the other verbs has only its long form.
    #[arg(id = "verbose", long, action = clap::ArgAction::Count, hide = true)]
    pub verbose: u8,
    /// Options and variables, in any order
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    pub options: Vec<String>,
}

/// An empty path means `--force` without a device.
fn path(text: &str) -> Result<PathBuf, std::convert::Infallible> {
    Ok(PathBuf::from(text))
}
