//! Arguments of `dbdyno storage`.

pub mod fleet;
mod layout;
mod vdbench;

use clap::{Args, Subcommand};

pub use layout::LayoutVerb;
pub use vdbench::{VdbenchArguments, with_options_first as with_vdbench_options_first};

#[derive(Debug, Args)]
pub struct StorageArguments {
    #[command(subcommand)]
    pub verb: StorageVerb,
}

#[derive(Debug, Subcommand)]
pub enum StorageVerb {
    /// Run vdbench parameter files on the storage below the database
    Vdbench(VdbenchArguments),
    /// Make, show or remove a trial layout of devices, file systems and a database's files
    Layout(layout::LayoutArguments),
    /// Import histograms of many systems before and after an update, judge the shift, export
    Fleet(fleet::FleetArguments),
}
