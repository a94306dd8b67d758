//! Arguments of `dbdyno study`.

use anyhow::Result;
use clap::{Args, ValueEnum};
use columnar::memory::bytes_of;

use super::common::MeasureOptions;
use super::judging::Judging;
use super::secret::SecretText;
use crate::exit::{InvalidInput, invalid};

#[derive(Debug, Args)]
#[command(
    override_usage = "dbdyno study NAME [TARGET…] [OPTIONS]\n       dbdyno study --resume NAME",
    after_help = "Keys of --set besides those of the plan: protocol=published repeats order and repetitions of the source, and states \
their weaknesses on the page; configurations=N is the size of a screening (4, 8, 12 or 16).\n\n\
Studies before and after a change have the runs NAME-before and NAME-after. One is made after the other, so anything else that changed \
in between is part of the difference: verdicts stay inconclusive unless you vouch with --trust-sequential that nothing did. Use `dbdyno ab` for a \
change that a command can switch back and forth. docs/STUDIES.md describes every study"
)]
pub struct StudyArguments {
    /// Built-in study (`dbdyno list studies`), and databases to measure
    ///
    /// A database is ENGINE://USER@HOST/DATABASE or ENGINE:PATH. The order does not matter.
    #[arg(value_name = "NAME|TARGET")]
    pub texts: Vec<SecretText>,
    /// Database to measure, in place of a positional TARGET
    #[arg(long = "target", value_name = "URL", hide_short_help = true)]
    pub targets: Vec<SecretText>,
    /// Measure, print TEXT, wait for Enter, and measure again
    #[arg(long, value_name = "TEXT", conflicts_with = "change_cmd")]
    pub change: Option<String>,
    /// Measure, run CMD with sh, and measure again
    ///
    /// CMD finds the name of the study in $DBDYNO_STUDY.
    #[arg(long, value_name = "CMD")]
    pub change_cmd: Option<SecretText>,
    /// Setting with two values to compare, such as target.work_mem=4MB,64MB
    ///
    /// Settings are those of `dbdyno ab --a`. Several --vary are a screening, which gives the effect of each. In `study layouts`,
    /// layout=NAME,FILE,… names the layouts to compare.
    #[arg(long, value_name = "KEY=A,B")]
    pub vary: Vec<SecretText>,
    /// Size: quick takes minutes, fit an hour or two, published is as large as the source's
    ///
    /// The default is quick, or published with --set protocol=published.
    #[arg(long, value_enum)]
    pub size: Option<Size>,
    /// Full memory of the database, in studies that halve it, such as 4GiB
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    pub memory: Option<u64>,
    /// Pairs of blocks, or rounds with more than two sides (default: as many as a verdict needs)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(lab::study::PAIRS_MAX)))]
    pub repeat: Option<u32>,
    /// Give verdicts although one run was made after the other
    ///
    /// You vouch that nothing but the update changed in between.
    #[arg(long)]
    pub trust_sequential: bool,
    #[command(flatten)]
    pub judging: Judging,
    /// Resume an interrupted study
    ///
    /// Interrupted before the change: repeat --change or --change-cmd. A study of several runs: repeat --size and --set.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["texts", "targets", "vary", "repeat", "name", "seed", "ssh", "allow_busy"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub options: MeasureOptions,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Sides in pairs of blocks where they can be, as often as a verdict needs
    #[default]
    Sound,
    /// As the document did it, even where that is unsound
    Published,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Size {
    /// Minutes on any machine: does it run, and what does its page look like?
    #[default]
    Quick,
    /// Figures to decide by, on the storage of one server
    Fit,
    /// As large as in the source
    Published,
}

/// Keys of --set and --vary, of the study and of its plan.
#[derive(Debug, Default, PartialEq)]
pub struct StudyKeys {
    pub protocol: Protocol,
    /// Configurations of a screening.
    pub configurations: Option<usize>,
    pub layouts: Vec<String>,
    /// Settings to vary.
    pub vary: Vec<SecretText>,
    /// Keys of the plan.
    pub settings: Vec<String>,
}

impl StudyKeys {
    /// # Errors
    /// On a value that a key of the study does not have, and on such a key for a study that has begun.
    pub fn of(arguments: &StudyArguments) -> Result<Self> {
        let mut keys = Self::default();
        for text in &arguments.options.settings {
            match text.split_once('=') {
                Some(("protocol", value)) => {
                    let wrong =
                        || InvalidInput(format!("--set {text}: protocol is sound or published"));
                    keys.protocol = Protocol::from_str(value, false).map_err(|_| wrong())?;
                }
                Some(("configurations", value)) => {
                    let wrong = |_| {
                        InvalidInput(format!(
                            "--set {text}: configurations is a number, such as 8"
                        ))
                    };
                    keys.configurations = Some(value.parse().map_err(wrong)?);
                }
                _ => {
                    keys.settings.push(text.clone());
                    continue;
                }
            }
            if arguments.resume.is_some() {
                return invalid(format!(
                    "--set {text} was settled at the start of the study; leave it out with --resume"
                ));
            }
        }
        for text in &arguments.vary {
            match text.expose().split_once('=') {
                Some(("layout", names)) if keys.layouts.is_empty() => {
                    keys.layouts = names.split(',').map(str::to_owned).collect();
                }
                _ => keys.vary.push(text.clone()),
            }
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        study: StudyArguments,
    }

    fn keys(line: &str) -> Result<StudyKeys> {
        let words = std::iter::once("study").chain(line.split_whitespace());
        StudyKeys::of(&Line::try_parse_from(words).unwrap().study)
    }

    #[test]
    fn keys_of_the_study_are_not_those_of_its_plan() {
        let found = keys(
            "--set protocol=published --set repeat=2 --set configurations=8 --vary layout=shared,a.toml --vary k=1,2",
        );
        let expected = StudyKeys {
            protocol: Protocol::Published,
            configurations: Some(8),
            layouts: vec!["shared".into(), "a.toml".into()],
            vary: vec![SecretText::from("k=1,2".to_owned())],
            settings: vec!["repeat=2".into()],
        };
        assert_eq!(found.unwrap(), expected);
    }

    #[test]
    fn wrong_values_of_keys_are_named() {
        for (line, says) in [
            ("--set protocol=ours", "sound or published"),
            ("--set configurations=many", "is a number"),
            ("--resume s --set protocol=published", "with --resume"),
        ] {
            let error = keys(line).unwrap_err().to_string();
            assert!(error.contains(says), "{line}: {error}");
        }
    }
}
