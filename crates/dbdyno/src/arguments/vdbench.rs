//! What can be typed behind `dbdyno vdbench`.

use clap::Args;

/// `dbdyno vdbench`. Its options are those that wrappers and scripts of vdbench use, which no parser of ours would read
/// alike (`-vr`, `-f a b`, `name=value`, `+`): they are taken as they stand.
#[derive(Debug, Args)]
#[command(
    override_usage = "dbdyno [--archive PATH] vdbench [--force] [--check] [--slo p99=1ms] -f FILE… | --profile database [-s] [-o DIR] [-e N] [-i N] [-w N] [-l N] [-v[rwt]] [-j[rnmois]] [NAME=VALUE…] [+ PARAMETERS…]",
    after_help = "-f FILE…        parameter files, read one after the other (docs/VDBENCH.md says what is known)\n\
-s              print the list of runs, and do nothing\n\
-o DIR          where the pages go (default: output; DIR+ counts on, DIR.tod takes the time of day)\n\
-e, -i, -w N    elapsed time, interval and warm-up of all runs, as seconds or with m or h\n\
-l N            the whole list N times, or for N with s, m or h behind it\n\
-v, -j          data validation and its journal, with the letters of the original\n\
NAME=VALUE      stands for $NAME and !NAME in the files\n\
+ PARAMETERS…   added to every rd= on one line\n\n\
Exit status: 0 done · 157 anything else"
)]
pub struct VdbenchArguments {
    /// Write to devices that are mounted or otherwise in use; what is on them is lost
    #[arg(long)]
    pub force: bool,
    /// With -s: look also whether the files and devices of the list can be used as it asks; nothing is made or written
    #[arg(long)]
    pub check: bool,
    /// Instead of a file: runs that come with dbdyno. `database` wants lun=PATH (which is written over) and size=N
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Search the highest rate of each run that holds a response time, counted from the intended start
    #[arg(long, value_name = "p99=1ms")]
    pub slo: Option<String>,
    /// Options and variables, in any order
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    pub options: Vec<String>,
}
