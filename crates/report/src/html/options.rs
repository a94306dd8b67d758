//! What may be chosen about a page.

use verdict::compare::{self, Terms};
use verdict::metric::Metric;
use verdict::screening;

use crate::prices::Prices;

/// What may be chosen about a page.
#[derive(Debug, Clone, Default)]
pub struct HtmlOptions {
    /// Title of the page; "dbdyno · LABEL" when there is none.
    pub title: Option<String>,
    /// When the page was made, as printed at its foot; left out when there is none.
    pub generated_at: Option<String>,
    pub prices: Prices,
    /// By what a comparison judges.
    pub terms: Terms,
    /// Primary metrics that replace those of the plan.
    pub primary: Vec<Metric>,
}

impl HtmlOptions {
    /// How two runs are compared. Whoever sets runs beside each other sees what was measured differently, with that label.
    pub fn of_two(&self) -> compare::Options<'_> {
        compare::Options {
            terms: self.terms,
            primary: &self.primary,
            anyway: true,
            ..compare::Options::default()
        }
    }

    /// How the sides of a study of more than two are judged.
    pub fn of_rounds(&self) -> screening::Options<'_> {
        screening::Options {
            band: self.terms.band,
            primary: &self.primary,
        }
    }
}
