//! The first screen of the help: verbs by purpose, and the first commands to type.

use clap::Command;

/// Groups of verbs by purpose; clap has groups for options only.
const GROUPS: &[(&str, &[&str])] = &[
    ("Measure", &["run", "ab", "study", "observe"]),
    ("Compare", &["compare"]),
    ("Results", &["report", "runs"]),
    ("Prepare", &["check", "data", "storage"]),
    ("Look up", &["list", "docs"]),
];

const REST: &str = "\
Options: -h, --help · -V, --version; with every command: --archive, -v

Start with:
  dbdyno run postgres://me@db/test  Measure a database
  dbdyno run --demo                 Measure SQLite and DuckDB on this machine
  dbdyno COMMAND --help             Show the options of a command";

pub(super) fn with_first_screen(command: Command) -> Command {
    let about = |name: &str| {
        let verb = command.find_subcommand(name);
        verb.and_then(Command::get_about)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let mut verbs = String::new();
    for (title, names) in GROUPS {
        verbs.push_str(&format!("{title}:\n"));
        for name in *names {
            verbs.push_str(&format!("  {name:<9} {}\n", about(name)));
        }
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}\n{REST}\n"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn every_verb_stands_in_one_group() {
        let grouped = GROUPS.iter().flat_map(|(_, names)| *names);
        let mut grouped: Vec<&str> = grouped.copied().collect();
        let command = Arguments::command();
        let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
        let mut verbs: Vec<&str> = shown.map(Command::get_name).collect();
        grouped.sort_unstable();
        verbs.sort_unstable();
        assert_eq!(grouped, verbs);
    }
}
