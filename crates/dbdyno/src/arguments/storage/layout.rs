//! Arguments of `dbdyno storage layout`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(
    after_help = "A layout names devices, what is built on them, and where a database puts data, log and temporary files \
(docs/LAYOUTS.md). Making and removing one needs root. A block device that carries a file system, a volume or a partition \
table is refused"
)]
pub struct LayoutArguments {
    #[command(subcommand)]
    pub verb: LayoutVerb,
}

#[derive(Debug, Subcommand)]
pub enum LayoutVerb {
    /// Make a layout: attach its devices, build and mount its volumes
    Make {
        /// Built-in layout, or a file
        #[arg(value_name = "NAME|FILE")]
        layout: String,
    },
    /// Show built-in layouts and those that were made, or one of them
    Show {
        /// Built-in layout, one that was made, or a file
        #[arg(value_name = "NAME|FILE")]
        layout: Option<String>,
    },
    /// Remove a layout with everything on it
    Remove {
        /// Layout that was made
        name: String,
    },
}
