//! Arguments of `dbdyno report`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Exit status: 0 written, and with --limits all limits met · 3 with --limits: the run is incomplete or was altered \
after it was measured · 4 with --limits: a limit was missed, or there is no valid point to judge it by"
)]
pub struct ReportArguments {
    /// Run: number, label, or "last"; or the name of a study
    pub run: String,
    /// Form of the report (default: as the name of -o ends, else html)
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// File to write (default: pages/NAME.html next to the archive for the page, with the summary, else standard output)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Check the run against the limits of a file (docs/FORMAT.md), as text, JSON or JUnit
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["against", "array", "prices", "replay"])]
    pub limits: Option<PathBuf>,
    /// Show the run on the page that --live serves, as if it were measured now, this many times as fast (default: 10)
    #[arg(long, value_name = "SPEED", num_args = 0..=1, require_equals = true, default_missing_value = "10", value_parser = speed,
          conflicts_with_all = ["format", "output", "against", "array", "prices"])]
    pub replay: Option<f64>,
    #[allow(rustdoc::broken_intra_doc_links)] // Brackets of the help, no link.
    /// Address of the replay: [IP:]PORT (default: 127.0.0.1:7411)
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:7411", requires = "replay")]
    pub live: Option<live::Address>,
    /// Run, or reference as ref:NAME, to show side by side with it on the page
    #[arg(long, value_name = "RUN")]
    pub against: Vec<String>,
    /// Response-time histograms for the page, exported as CSV by the storage array's own monitoring (docs/VDBENCH.md); RUN=FILE
    /// for a run given with --against
    #[arg(long, value_name = "[RUN=]FILE.csv")]
    pub array: Vec<String>,
    /// Prices of the platform for the page or JSON (docs/FORMAT.md): add its total and what the figures cost; RUN=FILE for one of
    /// several runs
    #[arg(long, value_name = "[RUN=]FILE.toml")]
    pub prices: Vec<String>,
}

/// Form of a report. A file's name ends in that of its form, except as in [`Format::of_file`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A self-contained page
    Html,
    /// All tables, as on a terminal
    Text,
    /// Everything, histograms included (docs/FORMAT.md)
    Json,
    /// One row per point
    Csv,
    /// Markdown, one table per test
    Md,
    /// The result of --limits for build servers, as XML
    Junit,
    /// A plan whose load has the profile of an observation (docs/OBSERVE.md)
    Plan,
}

impl Format {
    fn of_file(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "txt" => Some(Self::Text),
            "xml" => Some(Self::Junit),
            "toml" => Some(Self::Plan),
            end => Self::from_str(end, false).ok(),
        }
    }
}

impl ReportArguments {
    pub fn format(&self) -> Format {
        let default = match self.limits {
            Some(_) => Format::Text,
            None => Format::Html,
        };
        let of_file = || self.output.as_deref().and_then(Format::of_file);
        self.format.or_else(of_file).unwrap_or(default)
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|n: &f64| (1e-3..=1e6).contains(n));
    speed.ok_or_else(|| "expected a number from 0.001 to 1000000".to_owned())
}
