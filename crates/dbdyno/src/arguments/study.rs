//! Arguments of `dbdyno study`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use columnar::memory::bytes_of;

use super::common::MeasureOptions;
use super::judging::Judging;
use super::secret::SecretText;

#[derive(Debug, Args)]
#[command(
    after_help = "Studies before and after a change (--pause, --hook) have the runs NAME-before and NAME-after. One is made after the other, so that anything else that changed in between is in the difference \
too: verdicts stay inconclusive unless you vouch for that with --trust-sequential. What a command can switch back and forth is better \
measured with `dbdyno ab`. docs/STUDIES.md describes every study"
)]
pub struct StudyArguments {
    /// Built-in study (`dbdyno list studies`); required unless --resume is given
    #[arg(required_unless_present = "resume")]
    pub study: Option<String>,
    /// Measure, say TEXT, wait for Enter, and measure again
    #[arg(long, value_name = "TEXT", conflicts_with = "hook")]
    pub pause: Option<String>,
    /// Measure, run CMD with sh, and measure again; CMD finds the name of the study in $DBDYNO_STUDY
    #[arg(long, value_name = "CMD")]
    pub hook: Option<SecretText>,
    /// Order and repetitions: ours, or those of the document, with what is unsound in them said on the page
    #[arg(long, value_enum, default_value_t, conflicts_with = "resume")]
    pub protocol: Protocol,
    /// Setting to vary, with two values, such as target.work_mem=4MB,64MB (of plans and databases as in `dbdyno ab --a`). Several
    /// --vary: a screening of all of them, with the effect of each
    #[arg(long, value_name = "KEY=A,B")]
    pub vary: Vec<SecretText>,
    /// Configurations of a screening: 4, 8, 12 or 16 (default: the fewest that its settings need)
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub configurations: Option<usize>,
    /// Layouts to compare, in `study layouts`: built-in ones or files (default: five built-in ones)
    #[arg(
        long,
        value_name = "NAME,…",
        value_delimiter = ',',
        conflicts_with = "resume"
    )]
    pub layouts: Vec<String>,
    /// How large: a try, for an hour or two, or as published (default: quick; with --protocol published: published)
    #[arg(long, value_enum)]
    pub size: Option<Size>,
    /// All the memory of the database, in studies that halve it, such as 500MB or 4GiB (default: as the size has it)
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    pub memory: Option<u64>,
    /// Pairs of blocks, in studies that compare two sides (default: as many as their verdict needs); rounds of a study of more
    #[arg(long, visible_alias = "rounds", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(lab::study::PAIRS_MAX)))]
    pub pairs: Option<u32>,
    /// Database to measure (default: SQLite and DuckDB in files, see --work-dir)
    #[arg(long = "target", value_name = "URL")]
    pub targets: Vec<SecretText>,
    /// Resume a study: with the run that was interrupted, or with the change; of several runs, repeat --size and --set
    #[arg(long, value_name = "NAME", conflicts_with_all = ["study", "pairs", "targets", "name", "seed", "ssh", "allow_busy"])]
    pub resume: Option<String>,
    /// Output file of the page
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        default_value = "dbdyno-report.html"
    )]
    pub output: PathBuf,
    /// Give verdicts although one run was made after the other: you vouch that nothing but the update changed in between
    #[arg(long)]
    pub trust_sequential: bool,
    #[command(flatten)]
    pub judging: Judging,
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
    /// As large as in the document
    Published,
}
