//! Arguments of `dbdyno storage fleet`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use fleet::{Observer, Source};
use verdict::fleet::{Figure, LIMITS, Measure, Operation};

use crate::arguments::TextOrJson;

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
#[command(
    after_help = "Exit status: 0 imported, now or before · 1 a file cannot be read, or the engine is not installed · 2 invalid input; the \
fleet is unchanged"
)]
pub struct FleetImport {
    /// CSV files (docs/FLEET.md), archives, or directories of files that end in .csv or .dbdyno. An archive takes keys as in a URL,
    /// FILE?before=RUN&after=RUN&system=NAME&observer=driver (default: its runs before and after, the name of the machine, and the
    /// times of the block device)
    #[arg(required = true, value_name = "DIR|FILE", value_parser = source)]
    pub from: Vec<Source>,
    /// File of the fleet
    #[arg(short, long, value_name = "FILE", default_value = FLEET)]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The result is observational: it does not show that the update is the cause.\nExit status: 0 judged, whatever was found · 1 the file \
cannot be read, or the engine is not installed · 2 invalid input, or no system has the primary measure"
)]
pub struct FleetReport {
    /// File of the fleet
    #[arg(default_value = FLEET)]
    pub fleet: PathBuf,
    /// limits=US,US: the two times up to which I/Os are counted, in µs; buckets must end there (default: 120,1000)
    #[arg(long = "set", value_name = "KEY=VALUE", default_value = "limits=120,1000", hide_default_value = true, value_parser = limits)]
    pub limits: Limits,
    /// The measure that decides the call: `read` or `write`, with `.within` (share up to the first limit) or `.mean`. Choose it before
    /// you see the results
    #[arg(long, value_name = "METRIC", default_value = "write.within", value_parser = primary)]
    pub primary: Measure,
    /// Random seed of the bootstrap over systems
    #[arg(long, value_name = "N", default_value_t = 1)]
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
    /// File of the fleet
    #[arg(default_value = FLEET)]
    pub fleet: PathBuf,
    /// File to write; an existing one is not overwritten
    #[arg(
        short,
        long,
        value_name = "FILE.parquet",
        default_value = "fleet.parquet"
    )]
    pub output: PathBuf,
}

const FLEET: &str = "fleet.duckdb";
/// Largest limit: an hour, the range of histograms.
const LIMIT_US_MAX: f64 = 3.6e9;

fn source(text: &str) -> Result<Source, String> {
    let (path, keys) = match text.split_once('?') {
        Some(parts) if !Path::new(text).exists() => parts,
        _ => (text, ""),
    };
    let mut source = Source::from(PathBuf::from(path));
    for pair in keys.split('&').filter(|pair| !pair.is_empty()) {
        let runs = &mut source.runs;
        match pair.split_once('=') {
            Some(("before", run)) => runs.before = run.to_owned(),
            Some(("after", run)) => runs.after = run.to_owned(),
            Some(("system", name)) => runs.system = Some(name.to_owned()),
            Some(("observer", "device")) => runs.observer = Observer::Device,
            Some(("observer", "driver")) => runs.observer = Observer::Driver,
            _ => {
                return Err(format!(
                    "{pair} is not before=RUN, after=RUN, system=NAME, observer=device or observer=driver"
                ));
            }
        }
    }
    if source.runs.system.is_some() && source.path.is_dir() {
        return Err(format!(
            "system= is for one archive, and {path} is a directory; name its archives one by one"
        ));
    }
    Ok(source)
}

fn limits(text: &str) -> Result<Limits, String> {
    let times = text.strip_prefix("limits=").unwrap_or_default();
    let numbers: Vec<f64> = times
        .split(',')
        .filter_map(|part| part.trim().parse().ok())
        .filter(|us| *us > 0.0 && *us <= LIMIT_US_MAX)
        .collect();
    match numbers[..] {
        [first, second] if first != second && times.matches(',').count() == 1 => {
            Ok(Limits([first, second]))
        }
        _ => Err("expected two different times in µs, such as limits=120,1000".to_owned()),
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
