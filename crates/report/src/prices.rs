//! Cost of a platform and of its figures, in words: for pages and the terminal.

use stats::Interval;
use verdict::price::{
    Bill, Change, DISKS_SOURCE, Gain, Line, Money, NotKnown, PriceList, What, Worth, disks_15k,
};

use crate::number;
use crate::section::of_texts;
use crate::terminal::{self, Paint, clean, table};

/// Price lists for runs: a common one, or one for each.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    /// The list for every run without its own.
    pub of_all: Option<PriceList>,
    pub of_run: Vec<(String, PriceList)>,
}

impl Prices {
    pub fn of(&self, label: &str) -> Option<&PriceList> {
        let own = self.of_run.iter().find(|(name, _)| name == label);
        own.map(|(_, list)| list).or(self.of_all.as_ref())
    }
}

pub const ITEM_HEADS: [&str; 8] = [
    "part",
    "quantity",
    "list",
    "discount",
    "amount, list",
    "amount, net",
    "source",
    "date",
];
pub const WORTH_HEADS: [&str; 5] = [
    "price per",
    "measured at",
    "figure",
    "net price",
    "list price",
];
const GAIN_HEADS: [&str; 4] = [
    "metric",
    "performance, B ÷ A",
    "price ÷ performance, B ÷ A",
    "price of one more unit",
];

pub fn item(line: &Line) -> [String; 8] {
    let item = &line.item;
    let money = |of: fn(Money) -> f64| {
        line.amount
            .map_or(number::UNKNOWN.to_owned(), |m| amount(of(m)))
    };
    let quantity = match &line.quantity {
        Ok(quantity) if quantity.how.is_empty() => count(quantity.number),
        Ok(quantity) => format!("{} = {}", count(quantity.number), quantity.how),
        Err(_) => number::UNKNOWN.to_owned(),
    };
    let part = match &item.description {
        Some(description) => format!("{}: {description}", item.part),
        None => item.part.clone(),
    };
    let a_year = match item.term_years {
        Some(years) => format!(" × {years} years"),
        None => String::new(),
    };
    let unknown = || number::UNKNOWN.to_owned();
    [
        part,
        quantity,
        format!("{}{a_year}", amount(item.list)),
        format!("{} %", number::percent(item.discount)),
        money(|m| m.list),
        money(|m| m.net),
        item.source.clone().unwrap_or_else(unknown),
        item.date.clone().unwrap_or_else(unknown),
    ]
}

/// "Total: 1,465,000 USD net, 1,465,000 USD list, over 3 years".
pub fn total(bill: &Bill) -> String {
    let term = bill
        .term_years
        .map_or(String::new(), |years| format!(", over {years} years"));
    match bill.total {
        Some(Money { list, net }) => format!(
            "Total: {} {} net, {} {} list{term}.",
            amount(net),
            bill.currency,
            amount(list),
            bill.currency
        ),
        None => "Total: unknown.".to_owned(),
    }
}

pub fn worth(worth: &Worth, currency: &str) -> [String; 5] {
    let unknown = || number::UNKNOWN.to_owned();
    let figure = match &worth.figure {
        Ok([middle, low, high]) if low == high => {
            format!("{} {}", number::full(*middle), worth.what.figure_unit())
        }
        Ok([middle, low, high]) => format!(
            "{} {} ({} … {})",
            number::full(*middle),
            worth.what.figure_unit(),
            number::figure(*low),
            number::figure(*high)
        ),
        Err(NotKnown::NoLimit) => {
            "– no response-time limit was set; measure with limit.response_ms".to_owned()
        }
        Err(NotKnown::NotSupported) => {
            "– the limit was exceeded at the smallest number of users".to_owned()
        }
        Err(NotKnown::NoMemory) => {
            "– the memory of the platform is unknown; add memory_gb to [platform] of the prices file"
                .to_owned()
        }
    };
    let net = worth.price.map(|[middle, low, high]| {
        if low == high {
            format!("{} {currency}", price(middle.net))
        } else {
            format!(
                "{} {currency} ({} … {})",
                price(middle.net),
                price(low.net),
                price(high.net)
            )
        }
    });
    let list = worth
        .price
        .map(|[middle, ..]| format!("{} {currency}", price(middle.list)));
    [
        worth.what.unit().to_owned(),
        format!("{}, {}", worth.target, worth.place),
        figure,
        net.unwrap_or_else(unknown),
        list.unwrap_or_else(unknown),
    ]
}

/// Disks that the I/Os of a line need.
pub fn disks(worth: &Worth) -> Option<String> {
    let [iops, ..] = *worth.figure.as_ref().ok()?;
    (worth.what == What::Iops).then(|| {
        format!(
            "{} IOPS of {} ({}) are the random I/O of about {} conventional disks with 15,000 rpm ({DISKS_SOURCE}). This holds for \
             random I/O of small blocks without a cache.",
            number::figure(iops),
            worth.target,
            worth.place,
            number::whole(Some(disks_15k(iops)))
        )
    })
}

/// "B costs 300,000 USD more than A: 1,465,000 instead of 1,165,000 USD net (1.258 times)."
pub fn extra(change: &Change) -> Option<String> {
    let [a, b] = change.totals;
    let (a, b, extra) = (a?.net, b?.net, change.extra()?);
    let currency = &change.currency;
    let times = if a > 0.0 {
        format!(" ({:.3} times)", b / a)
    } else {
        String::new()
    };
    Some(match extra {
        0.0 => format!("A and B cost the same: {} {currency} net.", amount(a)),
        extra => format!(
            "B costs {} {currency} {} than A: {} instead of {} {currency} net{times}.",
            amount(extra.abs()),
            if extra > 0.0 { "more" } else { "less" },
            amount(b),
            amount(a)
        ),
    })
}

/// Performance and price of each metric of a change.
pub fn gains(change: &Change) -> archive::Table {
    let rows = change.gains.iter().map(|of| gain(of, &change.currency));
    of_texts(&GAIN_HEADS, rows)
}

fn gain(gain: &Gain, currency: &str) -> [String; 4] {
    let ratio = |of: &Interval| format!("{:.3} ({:.3} … {:.3})", of.estimate, of.low, of.high);
    let unknown = || number::UNKNOWN.to_owned();
    let per_unit = gain.per_unit.map(|of| {
        format!(
            "{} {currency} ({} … {}) per {}",
            price(of.estimate),
            price(of.low),
            price(of.high),
            gain.unit
        )
    });
    [
        gain.metric.to_string(),
        ratio(&gain.performance),
        gain.price_of_performance
            .as_ref()
            .map_or_else(unknown, ratio),
        per_unit.unwrap_or_else(unknown),
    ]
}

pub const GAIN_HOW: &str = "Performance: above 1, B is better (times are inverted). Price ÷ performance: net total divided by performance; below 1, B \
     gives more for the money. Price of one more unit: extra price divided by what is gained; “–” where nothing more is paid, or where the \
     interval does not exclude that nothing is gained. Intervals are those of the comparison; prices have none.";

/// The bills of both sides and what the change costs, for a terminal.
pub fn prices(bills: [&Bill; 2], change: &Change, width: usize, colour: bool) -> String {
    let paint = Paint { colour };
    let mut out = format!("\n{}\n", paint.bold("Prices"));
    let mut put = |text: &str| out.push_str(&format!("{}\n", table::wrap(&clean(text), width, 4)));
    for (side, bill) in ["A", "B"].into_iter().zip(bills) {
        put(&format!("  {side} ({}): {}", bill.file, total(bill)));
    }
    if let Some(extra) = extra(change) {
        put(&format!("  {extra}"));
    }
    if let Some(why) = &change.refused {
        put(&format!("  No ratios: {why}."));
        return out;
    }
    if !change.gains.is_empty() {
        out.push_str(&terminal::section::table(&gains(change), width, &paint));
    }
    out
}

/// An amount of money: whole units, and cents if they matter.
pub(crate) fn amount(value: f64) -> String {
    match value.abs() < 1_000.0 {
        true if value.fract() != 0.0 => format!("{value:.2}"),
        true => format!("{value:.0}"),
        false => number::full(value.round()),
    }
}

/// The price of one unit with at least three digits.
fn price(value: f64) -> String {
    number::full(value)
}

fn count(number: f64) -> String {
    if number.fract() == 0.0 {
        number::whole(Some(number))
    } else {
        format!("{number}")
    }
}
