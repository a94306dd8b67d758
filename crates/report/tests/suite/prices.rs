//! The section of prices: totals, the cost of figures and changes, and reasons for missing quotients.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use report::{Against, HtmlOptions, Prices, html};
use verdict::price::PriceList;

use crate::fixture::run;

fn priced(text: &str) -> Prices {
    Prices {
        of_all: Some(PriceList::parse("prices.toml", text).unwrap()),
        of_run: Vec::new(),
    }
}

fn page(prices: Prices, against: &[Against<'_>]) -> String {
    let options = HtmlOptions {
        prices,
        ..HtmlOptions::default()
    };
    html(&run(), against, &options)
}

#[test]
fn totals_and_cost_of_figures() {
    let slide = include_str!("../../../../docs/examples/prices.toml");
    let page = page(priced(slide), &[]);
    for words in [
        "<a href=\"#prices\">Prices</a>",
        "Total: 1,465,000 USD net, 1,465,000 USD list.",
        "I/O per second",
        "disks with 15,000 rpm",
        "Violin VMA 3205, two of them: 10.5 TB usable, RAID-3",
        "2012-04",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("No ratios"));
}

#[test]
fn without_a_source_nothing_is_divided() {
    let text = "currency = \"USD\"\n[[item]]\npart = \"<b>EE</b>\"\nquantity = 1\nlist = 5\n";
    let page = page(priced(text), &[]);
    assert!(page.contains("No ratios: a price without source and date is no basis for a ratio"));
    assert!(page.contains("Total: 5 USD net"));
    assert!(!page.contains("<b>EE</b>"), "a part is text");
}

#[test]
fn two_runs_of_one_price_list_cost_the_same() {
    let mut other = run();
    other.id += 1;
    other.label = "other".into();
    let slide = include_str!("../../../../docs/examples/prices.toml");
    let page = page(priced(slide), &[Against::Run(&other)]);
    assert!(page.contains("A and B cost the same: 1,465,000 USD net."));
    assert!(!html(&run(), &[], &HtmlOptions::default()).contains("id=\"prices\""));
}
