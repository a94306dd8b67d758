//! Prices as JSON, for programs (docs/FORMAT.md).

use serde_json::{Value, json as value};
use stats::Interval;

use super::bill::{Bill, Line, Money};
use super::change::{Change, Gain};
use super::worth::{What, Worth, disks_15k};

/// A bill and what its run's figures cost.
pub fn json(bill: &Bill, worth: &[Worth]) -> Value {
    value!({
        "file": bill.file,
        "currency": bill.currency,
        "term_years": bill.term_years,
        "total_list": bill.total.map(|total| total.list),
        "total_net": bill.total.map(|total| total.net),
        "no_ratios_because": bill.for_ratios().err(),
        "items": bill.lines.iter().map(line).collect::<Vec<_>>(),
        "prices": worth.iter().map(of_worth).collect::<Vec<_>>(),
    })
}

/// Cost and gain of a change.
pub fn change(change: &Change) -> Value {
    let net = |money: Option<Money>| money.map(|money| money.net);
    value!({
        "currency": change.currency,
        "net_a": net(change.totals[0]),
        "net_b": net(change.totals[1]),
        "extra_net": change.extra(),
        "no_ratios_because": change.refused,
        "metrics": change.gains.iter().map(gain).collect::<Vec<_>>(),
    })
}

fn line(line: &Line) -> Value {
    let item = &line.item;
    let quantity = line.quantity.as_ref();
    value!({
        "part": item.part,
        "description": item.description,
        "quantity": quantity.ok().map(|quantity| quantity.number),
        "quantity_from": quantity.ok().map(|quantity| &quantity.how),
        "quantity_unknown": quantity.err(),
        "list": item.list,
        "discount_pct": item.discount * 100.0,
        "term_years": item.term_years,
        "amount_list": line.amount.map(|amount| amount.list),
        "amount_net": line.amount.map(|amount| amount.net),
        "source": item.source,
        "date": item.date,
    })
}

fn of_worth(worth: &Worth) -> Value {
    let figure = worth.figure.as_ref().ok();
    let price = |at: usize| worth.price.map(|prices| prices[at].net);
    value!({
        "per": worth.what.name(),
        "target": worth.target,
        "place": worth.place,
        "repetitions": worth.repetitions,
        "figure": figure.map(|f| f[0]),
        "figure_low": figure.map(|f| f[1]),
        "figure_high": figure.map(|f| f[2]),
        "unknown": worth.figure.as_ref().err(),
        "price_list": worth.price.map(|prices| prices[0].list),
        "price_net": price(0),
        "price_net_low": price(1),
        "price_net_high": price(2),
        "disks_15k": figure.filter(|_| worth.what == What::Iops).map(|f| disks_15k(f[0])),
    })
}

fn gain(gain: &Gain) -> Value {
    value!({
        "metric": gain.metric.to_string(),
        "unit": gain.unit,
        "performance": interval(Some(gain.performance)),
        "price_of_performance": interval(gain.price_of_performance),
        "price_per_unit_gained": interval(gain.per_unit),
    })
}

fn interval(of: Option<Interval>) -> Value {
    of.map_or(Value::Null, |of| {
        value!({
            "estimate": of.estimate, "low": of.low, "high": of.high, "confidence": of.confidence,
        })
    })
}
