//! Output of a measurement, for every verb that measures.

use std::path::PathBuf;

use clap::Args;

/// Amount of text at the end of a measurement, and its page.
#[derive(Debug, Clone, Default, Args)]
pub struct ResultOptions {
    /// Print all tables before the summary
    #[arg(long)]
    pub full: bool,
    /// Output file of the page, or - for standard output (default: pages/NAME.html next to the archive)
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FILE.html",
        conflicts_with = "no_page"
    )]
    pub page: Option<PathBuf>,
    /// Write no page
    #[arg(long)]
    pub no_page: bool,
}
