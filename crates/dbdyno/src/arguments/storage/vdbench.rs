//! Arguments of `dbdyno storage vdbench`, and of `dbdyno vdbench`, as who has such files types it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::event_outputs::WatchArguments;

/// Its options are those that wrappers and scripts of vdbench use, which clap would read differently (`-vr`, `-f a b`, `name=value`, `+`);
/// they are passed through.
#[derive(Debug, Args)]
#[command(
    override_usage = "dbdyno [--archive PATH] vdbench [--force[=DEVICE]] [--check] [--name NAME] [--find-rate p99=1ms] [--live[=ADDR]] [--events FILE] [--no-page] -f FILE… [-s] [-o DIR] [-e N] [-i N] [-w N] [-l N] [-v[rwt]] [-j[rnmois]] [NAME=VALUE…] [+ PARAMETERS…]",
    after_help = "-f FILE…        parameter files, read in order (docs/VDBENCH.md lists what is supported); built in are\n\
                profile:database and profile:mixed, with lun=PATH (which is overwritten) and size=N\n\
-s              simulate: print the list of runs and exit\n\
-o DIR          output directory and name of the run (default: output, run-N); DIR+ adds a number, DIR.tod the time\n\
-e, -i, -w N    elapsed time, interval and warm-up of all runs, in seconds or with m or h\n\
-l N            repeat the whole list N times, or for a time with s, m or h\n\
-v, -j          data validation and journaling, with the letters of the original\n\
NAME=VALUE      value of $NAME and !NAME in the files\n\
+ PARAMETERS…   append to every one-line rd=\n\n\
Exit status: 0 done · 157 anything else"
)]
pub struct VdbenchArguments {
    /// Write to DEVICE although it holds a file system, volume or partition table, or is given to a profile; repeatable.
    /// Without DEVICE: overwrite files that exist and are not of the size in the parameter file, or are given to a profile
    #[arg(long, value_name = "DEVICE", num_args = 0..=1, require_equals = true, default_missing_value = "", value_parser = path)]
    pub force: Vec<PathBuf>,
    /// With -s: also check that the files and devices can be used as requested, and list those that are overwritten; nothing is
    /// created or written
    #[arg(long)]
    pub check: bool,
    /// Name of the run, to refer to it later (default: the name of -o); a second run of that name is NAME-2
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
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

/// The arguments with dbdyno's own options directly after the verb, where clap expects them: `vdbench -f F --check -s` is
/// `vdbench --check -f F -s`. `root` has the options of every verb.
pub fn with_options_first(typed: &[OsString], root: Command) -> Vec<OsString> {
    let is_verb = |word: &OsString| word == "vdbench";
    let Some(verb) = typed.iter().position(is_verb) else {
        return typed.to_vec();
    };
    let (before, rest) = typed.split_at(verb + 1);
    let end = rest.iter().position(|word| word == "+");
    let (words, extra) = rest.split_at(end.unwrap_or(rest.len()));
    let mut command = VdbenchArguments::augment_args(root);
    command.build();
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_str().and_then(|word| word.strip_prefix("--"));
        let name = text.map(|text| text.split('=').next().unwrap_or(text));
        let mut options = command.get_arguments();
        let Some(option) =
            options.find(|option| option.get_long().is_some() && option.get_long() == name)
        else {
            others.push(word.clone());
            continue;
        };
        own.push(word.clone());
        let is_attached =
            text.is_some_and(|text| text.contains('=')) || option.is_require_equals_set();
        if option.get_action().takes_values() && !is_attached {
            own.extend(words.next().cloned());
        }
    }
    [before, &own, &others, extra].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_dbdyno_stand_anywhere() {
        for (typed, expected) in [
            (
                "dbdyno vdbench -f p.txt --check -s",
                "dbdyno vdbench --check -f p.txt -s",
            ),
            (
                "dbdyno storage vdbench -f p.txt --name before --force=/dev/x -o out --archive a",
                "dbdyno storage vdbench --name before --force=/dev/x --archive a -f p.txt -o out",
            ),
            (
                "dbdyno vdbench -f p.txt --force a=b + --check",
                "dbdyno vdbench --force -f p.txt a=b + --check",
            ),
            (
                "dbdyno vdbench -f p.txt --none",
                "dbdyno vdbench -f p.txt --none",
            ),
        ] {
            let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
            let archive = clap::Arg::new("archive").long("archive");
            let moved = with_options_first(&typed, Command::new("dbdyno").arg(archive));
            let words: Vec<&str> = moved.iter().filter_map(|word| word.to_str()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }
}
