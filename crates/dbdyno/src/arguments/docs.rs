//! Arguments of `dbdyno docs`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct DocsArguments {
    #[command(subcommand)]
    pub verb: Option<DocsVerb>,
}

#[derive(Debug, Subcommand)]
pub enum DocsVerb {
    /// Write a manual page for every verb
    Man {
        /// Directory to write them to
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// Shell to print it for
        shell: clap_complete::Shell,
    },
}
