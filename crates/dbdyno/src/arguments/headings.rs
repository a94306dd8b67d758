//! Groups of options in the help of every verb: an option has the same group, and the same rank in it, everywhere.

use clap::{Arg, ArgAction, Command};

/// Groups of options that many verbs share, in the order of their help; `-h` shows only the frequent options.
const GROUPS: &[(&str, &[(&str, Rank)])] = &[
    (
        "Comparison",
        &[
            ("band", Rank::Frequent),
            ("primary", Rank::Frequent),
            ("fail_on", Rank::Frequent),
            ("prices", Rank::Frequent),
            ("array", Rank::Rare),
            ("trust_sequential", Rank::Frequent),
            ("allow_mismatch", Rank::Frequent),
        ],
    ),
    ("Common options", COMMON_OPTIONS),
];

const COMMON_OPTIONS: &[(&str, Rank)] = &[
    ("demo", Rank::Frequent),
    ("name", Rank::Frequent),
    ("settings", Rank::Frequent),
    ("seed", Rank::Rare),
    ("resume", Rank::Frequent),
    ("work_dir", Rank::Rare),
    ("platform", Rank::Rare),
    ("ssh", Rank::Frequent),
    ("yes", Rank::Frequent),
    ("allow_busy", Rank::Frequent),
    ("page", Rank::Frequent),
    ("no_page", Rank::Frequent),
    ("full", Rank::Frequent),
    ("live", Rank::Frequent),
    ("events", Rank::Rare),
    ("archive", Rank::Frequent),
    ("verbose", Rank::Frequent),
    ("log_file", Rank::Frequent),
    ("help", Rank::Frequent),
];

#[derive(Clone, Copy, PartialEq)]
enum Rank {
    Frequent,
    Rare,
}

/// Moves the common options of a command and of its subcommands to the end of the help.
pub(super) fn with_headings(command: Command) -> Command {
    placed(command.disable_help_flag(true).arg(help()))
}

/// The option that clap would add itself, without a group.
fn help() -> Arg {
    Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .global(true)
        .help("Print help (-h: without the rare options)")
}

fn placed(command: Command) -> Command {
    command.mut_args(place).mut_subcommands(placed)
}

fn place(arg: Arg) -> Arg {
    let id = arg.get_id().as_str();
    let in_group = |(title, options): &(&'static str, &[(&str, Rank)])| {
        let at = options.iter().position(|(option, _)| *option == id)?;
        Some((*title, at, options[at].1))
    };
    match GROUPS.iter().find_map(in_group) {
        // The options of the verb itself come first.
        Some((title, at, rank)) => arg
            .help_heading(title)
            .display_order(900 + at)
            .hide_short_help(rank == Rank::Rare),
        None => arg,
    }
}
