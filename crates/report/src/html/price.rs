//! Prices: the bill of the platform, the cost of its figures, and the cost and benefit of a change.

use archive::Run;
use askama::Template;
use verdict::compare::compare;
use verdict::price::{Bill, PriceList, Worth, bill, change, worth};

use super::options::HtmlOptions;
use crate::cores;
use crate::prices;
use crate::scorecard::Against;

#[derive(Template)]
#[template(path = "price.html", whitespace = "minimize")]
pub struct View {
    bills: Vec<BillView>,
    changes: Vec<ChangeView>,
}

struct BillView {
    label: String,
    file: String,
    items: Vec<[String; 8]>,
    total: String,
    refused: Option<String>,
    worth: Vec<[String; 5]>,
    disks: Vec<String>,
    /// Savings without the spare cores: heads and lines.
    saved: Vec<(String, Vec<String>)>,
}

struct ChangeView {
    label: String,
    extra: Option<String>,
    refused: Option<String>,
    gains: Vec<[String; 4]>,
}

pub fn view(run: &Run, against: &[Against<'_>], options: &HtmlOptions) -> View {
    let prices = &options.prices;
    let others: Vec<&Run> = (against.iter())
        .filter_map(|other| match other {
            Against::Run(other) => Some(*other),
            Against::Reference(_) => None,
        })
        .collect();
    let bill_of = |run: &Run| prices.of(&run.label).map(|list| bill(list, run));
    let of_run = |run: &Run| prices.of(&run.label).map(|list| shown(run, list));
    let runs = std::iter::once(run).chain(others.iter().copied());
    let changes = others.iter().filter_map(|other| {
        Some(changed(
            [other, run],
            &bill_of(other)?,
            &bill_of(run)?,
            options,
        ))
    });
    View {
        bills: runs.filter_map(of_run).collect(),
        changes: changes.collect(),
    }
}

impl View {
    pub fn is_empty(&self) -> bool {
        self.bills.is_empty()
    }
}

fn shown(run: &Run, list: &PriceList) -> BillView {
    let bill = bill(list, run);
    let found: Vec<Worth> = worth(&bill, run);
    BillView {
        label: run.label.clone(),
        file: bill.file.clone(),
        items: bill.lines.iter().map(prices::item).collect(),
        total: prices::total(&bill),
        refused: bill.for_ratios().err(),
        worth: found
            .iter()
            .map(|of| prices::worth(of, &bill.currency))
            .collect(),
        disks: found.iter().filter_map(prices::disks).collect(),
        saved: cores::all_saved(list, run),
    }
}

fn changed([other, run]: [&Run; 2], a: &Bill, b: &Bill, options: &HtmlOptions) -> ChangeView {
    let label = other.label.clone();
    match compare(other, run, &options.of_two()) {
        Ok(compared) => {
            let found = change(a, b, &compared);
            let gains = found.gains.iter();
            ChangeView {
                label,
                extra: prices::extra(&found),
                gains: gains
                    .map(|gain| prices::gain(gain, &found.currency))
                    .collect(),
                refused: found.refused,
            }
        }
        Err(why) => ChangeView {
            label,
            extra: None,
            refused: Some(why.to_string()),
            gains: Vec::new(),
        },
    }
}
