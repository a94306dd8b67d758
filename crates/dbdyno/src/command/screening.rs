//! The result of a screening, printed: for `study` and `compare`.

use ::archive::Run;
use anyhow::Result;
use archive::stream::StreamEvent;
use stats::compare::{Band, Verdict};
use verdict::compare::BAND_DEFAULT;
use verdict::screening::{Options, Screening, json, screening};

use super::{primary_metrics, print_coloured, print_json, shown};
use crate::arguments::{BandAsked, FailOn, Judging};
use crate::exit::Status;
use crate::watch::Watched;

/// Evaluates the runs of a screening, prints that, and gives the status that was asked for.
///
/// # Errors
/// When they are not all configurations of one screening, or nothing can be printed.
pub fn screen_and_show(runs: &[&Run], judging: &Judging, watched: &Watched) -> Result<Status> {
    let primary = primary_metrics(judging)?;
    let band = match judging.band {
        BandAsked::Share(band) => band,
        BandAsked::Learned => BAND_DEFAULT,
    };
    let options = Options {
        band: Band::of(band),
        primary: &primary,
    };
    let screened = screening(runs, &options)?;
    watched.tell(|| StreamEvent::Verdict {
        text: report::screening(
            &screened,
            report::Shown {
                width: 100,
                ..report::Shown::default()
            },
        ),
    });
    if judging.json {
        print_json(&format!("{:#}\n", json(&screened)))?;
    } else {
        print_coloured(&report::screening(&screened, shown(judging)))?;
    }
    Ok(status(&screened, judging.fail_on))
}

fn status(screened: &Screening, fail_on: Option<FailOn>) -> Status {
    let is = |verdict| screened.any(verdict);
    let failed = match fail_on {
        None => false,
        Some(FailOn::Worse) => is(Verdict::Worse),
        Some(FailOn::Inconclusive) => {
            is(Verdict::Worse) || is(Verdict::Inconclusive) || screened.lacks_effects()
        }
    };
    if failed { Status::Missed } else { Status::Fine }
}
