//! How two runs are judged, as it is typed.

use clap::{Args, ValueEnum};
use stats::compare::Band;
use verdict::compare::BAND_DEFAULT;
use verdict::metric::{Metric, MetricError};

/// How two runs are judged, for `compare` and `ab`.
#[derive(Debug, Clone, Args)]
pub struct Judging {
    /// Practical band: equivalent if the whole confidence interval of the ratio B/A lies within 1 ± PCT %, better or
    /// worse if all of it lies outside, else inconclusive. "learned": 2, and better or worse must also exceed the noise
    /// of A/A studies of the same plan in the archive
    #[arg(long, value_name = "PCT|learned", default_value = "2", value_parser = band)]
    pub band: BandAsked,
    /// Smallest effect, in percent, that you want to detect; used to recommend the number of pairs
    #[arg(long, value_name = "PCT", default_value = "5", value_parser = share)]
    pub effect: f64,
    /// Primary metric, instead of the plan's: `[TARGET:]TEST[@JOBS[xTHREADS]].FIGURE`
    #[arg(long, value_name = "METRIC")]
    pub primary: Vec<String>,
    /// Exit with status 4 if a primary metric is worse (or inconclusive)
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// Prices of the platforms (docs/FORMAT.md): add what the change costs beside what it brings; A=FILE and B=FILE, or RUN=FILE, for each side
    /// its own
    #[arg(long, value_name = "[RUN=]FILE.toml")]
    pub prices: Vec<String>,
    /// Show all secondary metrics and all configuration differences
    #[arg(long)]
    pub all: bool,
    /// Print JSON (docs/FORMAT.md)
    #[arg(long)]
    pub json: bool,
}

/// Which verdict makes the command fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A primary metric is worse
    Worse,
    /// A primary metric is worse or inconclusive
    Inconclusive,
}

impl Judging {
    /// The practical band.
    pub fn band(&self) -> Band {
        match self.band {
            BandAsked::Share(band) => Band::of(band),
            BandAsked::Learned => Band::of(BAND_DEFAULT),
        }
    }

    /// Primary metrics that replace those of the plan.
    ///
    /// # Errors
    /// When one is none.
    pub fn primary(&self) -> Result<Vec<Metric>, MetricError> {
        self.primary.iter().map(|text| text.parse()).collect()
    }
}

/// How wide the practical band is asked to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BandAsked {
    /// A share.
    Share(f64),
    /// From earlier studies.
    Learned,
}

fn band(text: &str) -> Result<BandAsked, String> {
    match text {
        "learned" => Ok(BandAsked::Learned),
        "0" => Ok(BandAsked::Share(0.0)),
        other => share(other).map(BandAsked::Share),
    }
}

/// A share from percent.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>().ok();
    number
        .filter(|pct| *pct > 0.0 && *pct < 100.0)
        .map(|pct| pct / 100.0)
        .ok_or_else(|| "expected a percentage above 0 and below 100".to_owned())
}
