//! Golden tests of cost and gain of a change.

use super::*;
use crate::price::{PriceList, bill};

fn interval(low: f64, estimate: f64, high: f64) -> Interval {
    Interval {
        estimate,
        low,
        high,
        confidence: 0.95,
    }
}

#[test]
fn the_price_of_one_more_unit_carries_the_interval() {
    // 30,000 USD more for 1,000 ops/s times 1.2 (1.1 … 1.5): 200 (100 … 500) ops/s.
    let found = per_unit(30_000.0, 1_000.0, interval(1.1, 1.2, 1.5), Better::Higher).unwrap();
    let rounded = [found.low, found.estimate, found.high].map(f64::round);
    assert_eq!(rounded, [60.0, 150.0, 300.0]);
    // 10 s times 0.5 (0.4 … 0.8): 5 (2 … 6) s less.
    let found = per_unit(600.0, 10.0, interval(0.4, 0.5, 0.8), Better::Lower).unwrap();
    let rounded = [found.low, found.estimate, found.high].map(f64::round);
    assert_eq!(rounded, [100.0, 120.0, 300.0]);
}

#[test]
fn what_is_not_paid_or_not_gained_has_no_price() {
    let gain = interval(1.1, 1.2, 1.5);
    assert_eq!(per_unit(0.0, 1_000.0, gain, Better::Higher), None);
    assert_eq!(per_unit(-5.0, 1_000.0, gain, Better::Higher), None);
    assert_eq!(per_unit(5.0, 1_000.0, gain, Better::Lower), None);
    assert_eq!(
        per_unit(5.0, 1_000.0, interval(0.99, 1.2, 1.5), Better::Higher),
        None
    );
    assert_eq!(
        per_unit(5.0, 1_000.0, interval(1.0, 1.2, 1.5), Better::Higher),
        None
    );
}

#[test]
fn prices_that_do_not_compare_are_refused() {
    let of = |head: &str, item: &str| {
        let text = format!(
            "{head}\n[[item]]\npart = \"p\"\nquantity = 1\nlist = 7\nsource = \"s\"\n{item}\n"
        );
        bill(
            &PriceList::parse("f", &text).unwrap(),
            &archive::Run::planned("x"),
        )
    };
    let usd = of("currency = \"USD\"", "date = \"2025\"");
    let euro = of("currency = \"EUR\"", "date = \"2025\"");
    let yearly = of(
        "currency = \"USD\"\nterm_years = 3",
        "yearly = true\ndate = \"2025\"",
    );
    let undated = of("currency = \"USD\"", "");
    assert_eq!(refused(&usd, &usd), None);
    assert!(refused(&usd, &euro).unwrap().contains("USD and EUR"));
    assert!(
        refused(&usd, &yearly)
            .unwrap()
            .contains("(no term and 3 years)")
    );
    assert!(
        refused(&usd, &undated)
            .unwrap()
            .ends_with("add to f: p (date)")
    );
}
