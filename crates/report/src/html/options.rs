//! Options of a page.

use verdict::compare::{self, Terms};
use verdict::contrasts;
use verdict::metric::Metric;

use crate::prices::Prices;

#[derive(Debug, Clone, Default)]
pub struct HtmlOptions {
    /// Title of the page; "dbdyno · LABEL" by default.
    pub title: Option<String>,
    /// Time of rendering, printed at the foot; omitted by default.
    pub generated_at: Option<String>,
    pub prices: Prices,
    pub terms: Terms,
    /// Primary metrics that replace those of the plan.
    pub primary: Vec<Metric>,
}

impl HtmlOptions {
    /// Options of a comparison of two runs; differently measured runs are compared too, and labelled as such.
    pub fn of_two(&self) -> compare::Options<'_> {
        compare::Options {
            terms: self.terms,
            primary: &self.primary,
            allow_mismatch: true,
            ..compare::Options::default()
        }
    }

    /// Options for the sides of a study with more than two.
    pub fn of_rounds(&self) -> contrasts::Options<'_> {
        contrasts::Options {
            band: self.terms.band,
            primary: &self.primary,
        }
    }
}
