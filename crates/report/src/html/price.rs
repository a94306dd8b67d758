//! Prices: the bill of the platform, the cost of its figures, and the cost and benefit of a change.

use archive::Run;
use verdict::compare::compare;
use verdict::price::{Bill, PriceList, Worth, bill, change, worth};

use super::options::HtmlOptions;
use super::section::Fragment;
use crate::cores;
use crate::prices;
use crate::scorecard::Against;
use crate::section::of_texts;

const WORTH_HOW: &str = "Total divided by the figure: the median of the repetitions, in parentheses the highest and lowest repetition. GB \
     of tables: what the memory of the platform holds at that level, as large as it is on disk.";

pub fn view(run: &Run, against: &[Against<'_>], options: &HtmlOptions) -> Fragment {
    let prices = &options.prices;
    let others = against.iter().filter_map(|other| match other {
        Against::Run(other) => Some(*other),
        Against::Reference(_) => None,
    });
    let bill_of = |run: &Run| prices.of(&run.label).map(|list| bill(list, run));
    let mut changes = Fragment::default();
    let mut bills = Fragment::default();
    for (at, of) in std::iter::once(run).chain(others).enumerate() {
        if let Some(list) = prices.of(&of.label) {
            add_bill(&mut bills, of, list);
        }
        if let (Some(a), Some(b), true) = (bill_of(of), bill_of(run), at > 0) {
            add_change(&mut changes, [of, run], [&a, &b], options);
        }
    }
    if !bills.is_empty() {
        changes.add(&bills);
        return changes.section("prices", "Prices");
    }
    bills
}

fn add_bill(parts: &mut Fragment, run: &Run, list: &PriceList) {
    let bill = bill(list, run);
    let label = &run.label;
    let found: Vec<Worth> = worth(&bill, run);
    parts
        .heading(3, &format!("Prices of “{label}”"))
        .element("p", "summary", &prices::total(&bill))
        .caution(&bill.for_ratios().err().map(refused).unwrap_or_default());
    if !found.is_empty() {
        let rows = found.iter().map(|of| prices::worth(of, &bill.currency));
        let label = format!("Price of the figures of {label}");
        parts
            .table("words", &label, &of_texts(&prices::WORTH_HEADS, rows))
            .how(WORTH_HOW);
    }
    for sentence in found.iter().filter_map(prices::disks) {
        parts.sentence(&sentence);
    }
    for (head, lines) in cores::all_saved(list, run) {
        parts.sentence(&head).list(lines);
    }
    let items = of_texts(&prices::ITEM_HEADS, bill.lines.iter().map(prices::item));
    let mut table = Fragment::default();
    table.table("words", &format!("Items of {label}"), &items);
    parts.add(&table.folded(&format!("Items, from {}", bill.file), true));
}

fn refused(why: String) -> String {
    format!("No ratios: {why}.")
}

fn add_change(parts: &mut Fragment, [a, b]: [&Run; 2], bills: [&Bill; 2], options: &HtmlOptions) {
    let label = &a.label;
    parts.heading(
        3,
        &format!("What the change from “{label}” (A) to this run (B) costs, and what it brings"),
    );
    let compared = match compare(a, b, &options.of_two()) {
        Ok(compared) => compared,
        Err(why) => {
            parts.caution(&refused(why.to_string()));
            return;
        }
    };
    let found = change(bills[0], bills[1], &compared);
    parts
        .element("p", "summary", &prices::extra(&found).unwrap_or_default())
        .caution(&found.refused.clone().map(refused).unwrap_or_default());
    if !found.gains.is_empty() {
        let label = format!("Price and performance against {label}");
        parts
            .table("", &label, &prices::gains(&found))
            .how(prices::GAIN_HOW);
    }
}
