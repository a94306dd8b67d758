//! Options for the comparison of two runs.

use clap::{Args, ValueEnum};
use stats::compare::Band;
use verdict::compare::BAND_DEFAULT;
use verdict::metric::{Metric, MetricError};

use super::TextOrJson;

/// Options for the comparison of two runs, for `compare` and `ab`.
#[derive(Debug, Clone, Args)]
pub struct Judging {
    /// Difference, in percent, that does not matter in practice
    ///
    /// Equivalent if the whole confidence interval of the ratio B/A lies within 1 ± PCT %, better or worse if all of it lies
    /// outside, else inconclusive. "learned": 2, and better or worse must also exceed the noise of A/A studies of the same plan
    /// in the archive.
    #[arg(long, value_name = "PCT|learned", default_value = "2", value_parser = band)]
    pub band: BandOption,
    /// Primary metric, instead of the plan's: `[TARGET:]TEST[@JOBS[xTHREADS]].FIGURE`
    #[arg(long, value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Exit with status 4 if a primary metric is worse (or inconclusive)
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// Prices of the platforms: compare the cost of the change with its effect
    ///
    /// A file as in docs/FORMAT.md; A=FILE and B=FILE, or RUN=FILE, for prices of one side.
    #[arg(long, value_name = "[RUN=]FILE.toml")]
    pub prices: Vec<String>,
    /// Format: text, or JSON (docs/FORMAT.md)
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide_possible_values = true
    )]
    pub format: TextOrJson,
}

/// Verdict for which the command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A primary metric is worse
    Worse,
    /// A primary metric is worse or inconclusive
    Inconclusive,
}

impl Judging {
    pub fn band(&self) -> Band {
        match self.band {
            BandOption::Share(band) => Band::of(band),
            BandOption::Learned => Band::of(BAND_DEFAULT),
        }
    }

    /// Primary metrics that replace those of the plan.
    pub fn primary(&self) -> Result<Vec<Metric>, MetricError> {
        self.primary.iter().map(|text| text.parse()).collect()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BandOption {
    Share(f64),
    Learned,
}

fn band(text: &str) -> Result<BandOption, String> {
    match text {
        "learned" => Ok(BandOption::Learned),
        "0" => Ok(BandOption::Share(0.0)),
        other => share(other).map(BandOption::Share),
    }
}

pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|pct| *pct > 0.0 && *pct < 100.0)
        .map(|pct| pct / 100.0)
        .ok_or_else(|| "expected a percentage above 0 and below 100".to_owned())
}
