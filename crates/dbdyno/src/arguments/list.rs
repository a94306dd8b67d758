//! Arguments of `dbdyno list`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct ListArguments {
    /// Kind of item to list
    pub what: Listing,
    /// Reference to show completely, with every row, figure, note and source (only for references)
    pub name: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Listing {
    /// Component tests
    Tests,
    /// Built-in plans
    Plans,
    /// Built-in studies and their sizes
    Studies,
    /// Database engines
    Engines,
    /// Published figures of other platforms
    References,
}
