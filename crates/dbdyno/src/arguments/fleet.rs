//! Arguments of `dbdyno fleet`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use verdict::fleet::{Figure, LIMITS, Measure, Operation};

use super::TextOrJson;

#[derive(Debug, Args)]
pub struct FleetArguments {
    #[command(subcommand)]
    pub verb: FleetVerb,
}

#[derive(Debug, Subcommand)]
pub enum FleetVerb {
    /// Add histograms of many systems, from CSV files and archives: all files or none
    Import(FleetImport),
    /// Judge how the systems shifted, and write a self-contained HTML page
    Report(FleetReport),
    /// Write all histograms to a Parquet file, for other programs
    Export(FleetExport),
}

#[derive(Debug, Args)]
pub struct FleetFile {
    /// File of the fleet
    #[arg(long, value_name = "FILE", default_value = "fleet.duckdb")]
    pub fleet: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 imported, or there already · 1 a file cannot be read, or the engine is not installed · 2 invalid input; the \
fleet is unchanged"
)]
pub struct FleetImport {
    /// CSV files (docs/FLEET.md), archives, or directories of files that end in .csv or .dbdyno
    #[arg(required = true, value_name = "DIR|FILE")]
    pub from: Vec<PathBuf>,
    #[command(flatten)]
    pub file: FleetFile,
    /// Run of an archive to take as before: number or label
    #[arg(long, value_name = "RUN", default_value = "before")]
    pub before: String,
    /// Run of an archive to take as after
    #[arg(long, value_name = "RUN", default_value = "after")]
    pub after: String,
    /// Name of the system, for a single archive (default: the name of the machine)
    #[arg(long, value_name = "NAME")]
    pub system: Option<String>,
    /// Observer whose times to take from an archive
    #[arg(long, value_enum, value_name = "OBSERVER", default_value = "device")]
    pub observer: ObserverOption,
}

/// Observer of an archive's I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ObserverOption {
    /// The kernel, at the block device
    Device,
    /// dbdyno's own times of I/Os below a database
    Driver,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The result is observational: it does not show that the update is the cause.\nExit status: 0 judged, whatever was found · 1 the file \
cannot be read, or the engine is not installed · 2 invalid input, or no system has the primary measure"
)]
pub struct FleetReport {
    #[command(flatten)]
    pub file: FleetFile,
    /// The two times up to which I/Os are counted, in µs; buckets must end there
    #[arg(long, value_name = "US,US", default_value = "120,1000", value_parser = limits)]
    pub limits: Limits,
    /// The one measure that a shift is called by: `read` or `write`, with `.within` (share up to the first limit) or `.mean`.
    /// Name it before you look at the figures
    #[arg(long, value_name = "MEASURE", default_value = "write.within", value_parser = primary)]
    pub primary: Measure,
    /// Random seed of the bootstrap over systems
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// File to write the page to
    #[arg(
        short,
        long,
        value_name = "FILE.html",
        default_value = "dbdyno-fleet.html"
    )]
    pub output: PathBuf,
    /// Format: text, or JSON (docs/FLEET.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}

/// Limits of shares, µs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits(pub [f64; LIMITS]);

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 written · 1 the file cannot be read or written, or the engine is not installed · 2 invalid input"
)]
pub struct FleetExport {
    /// File to write; an existing one is left as it is
    #[arg(value_name = "FILE.parquet")]
    pub to: PathBuf,
    #[command(flatten)]
    pub file: FleetFile,
}

/// Largest limit: an hour, the range of histograms.
const LIMIT_US_MAX: f64 = 3.6e9;

fn limits(text: &str) -> Result<Limits, String> {
    let numbers: Vec<f64> = text
        .split(',')
        .filter_map(|part| part.trim().parse().ok())
        .filter(|us| *us > 0.0 && *us <= LIMIT_US_MAX)
        .collect();
    match numbers[..] {
        [first, second] if first != second && text.matches(',').count() == 1 => {
            Ok(Limits([first, second]))
        }
        _ => Err("expected two different times in µs, such as 120,1000".to_owned()),
    }
}

fn primary(text: &str) -> Result<Measure, String> {
    let (operation, figure) = text.split_once('.').unwrap_or((text, "within"));
    let figure = match figure {
        "within" => Some(Figure::Within(0)),
        "mean" => Some(Figure::Mean),
        _ => None,
    };
    let measure = Operation::named(operation).zip(figure);
    measure
        .map(|(operation, figure)| Measure { operation, figure })
        .ok_or_else(|| "expected read or write, with .within or .mean".to_owned())
}
