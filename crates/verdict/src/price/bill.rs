//! Items of a price list for one platform: quantities, licences, amounts and totals.

use archive::{Fact, Run};

use super::file::{Factor, FactorTable, Item, PriceList, Rule};
use super::limit::users_at_limit;

/// Hours of a year, for a machine that always runs.
const HOURS_PER_YEAR: f64 = 8_760.0;
const GB_PER_GIB: f64 = 1.073_741_824;
/// Core factors have two digits, so their products miss a whole number by less than this.
const ROUNDING: f64 = 1e-9;

/// Platform data that determine quantities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Platform {
    pub processor: Option<(String, Origin)>,
    pub cores: Option<(f64, Origin)>,
    pub sockets: Option<(f64, Origin)>,
    pub storage_tb: Option<(f64, Origin)>,
    pub memory_gb: Option<(f64, Origin)>,
    pub users: Option<(f64, Origin)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Prices,
    /// The platform file (`--platform`).
    Stated,
    /// The machine that dbdyno ran on.
    Found,
    /// Users that the run supported within its limit.
    Measured,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Self::Prices => "prices file",
            Self::Stated => "stated",
            Self::Found => "this machine",
            Self::Measured => "supported users",
        }
    }
}

impl Platform {
    /// Known data: the file of prices first, then the stated, then the detected ones.
    pub fn of(list: &PriceList, run: &Run) -> Self {
        let file = &list.stated;
        let stated = |section: &str, name: &str| stated(&run.inventory.facts, section, name);
        let number = |section, name| stated(section, name).and_then(|text| text.parse().ok());
        let found = |n: Option<u32>| n.map(|n| (f64::from(n), Origin::Found));
        let pick = |file: Option<f64>, stated: Option<f64>| {
            let file = file.map(|n| (n, Origin::Prices));
            file.or(stated.map(|n| (n, Origin::Stated)))
        };
        let capacity = [
            number("storage", "usable disk tb"),
            number("storage", "usable flash tb"),
        ];
        let capacity: Vec<f64> = capacity.into_iter().flatten().collect();
        let capacity = (!capacity.is_empty()).then(|| capacity.iter().sum());
        let processor = (file.processor.clone().map(|name| (name, Origin::Prices)))
            .or_else(|| Some((stated("cpu", "type")?.to_owned(), Origin::Stated)))
            .or_else(|| Some((run.platform.processor.clone()?, Origin::Found)));
        let memory_gb = number("server", "main memory gib").map(|gib| gib * GB_PER_GIB);
        let memory_found = run.platform.memory_bytes.map(|bytes| bytes as f64 / 1e9);
        let users = users_at_limit(run).map(|users| (users, Origin::Measured));
        Self {
            processor,
            cores: pick(file.cores, number("server", "cores")).or(found(run.platform.cores)),
            sockets: pick(file.sockets, number("server", "sockets"))
                .or(found(run.platform.sockets)),
            storage_tb: pick(file.storage_tb, capacity),
            memory_gb: pick(file.memory_gb, memory_gb)
                .or(memory_found.map(|gb| (gb, Origin::Found))),
            users: pick(file.users, None).or(users),
        }
    }
}

fn stated<'a>(facts: &'a [Fact], section: &str, name: &str) -> Option<&'a str> {
    let mut stated = facts.iter().filter(|fact| fact.stated);
    let fact = stated.find(|fact| fact.section == section && fact.name == name)?;
    Some(&fact.value)
}

/// Number of units of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    pub number: f64,
    /// Derivation: "32 cores × 0.5 (this machine)"; empty if the file states the number.
    pub how: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Money {
    pub list: f64,
    pub net: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub item: Item,
    pub quantity: Result<Quantity, String>,
    /// Amount of the line over its term; `None` without a quantity.
    pub amount: Option<Money>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bill {
    pub file: String,
    pub currency: String,
    pub term_years: Option<f64>,
    pub lines: Vec<Line>,
    pub memory_gb: Option<f64>,
    /// Sum of all lines; `None` if a quantity is unknown.
    pub total: Option<Money>,
    /// Items without source or date: "Oracle EE: no date". Any of them prevents ratios.
    pub without_source: Vec<String>,
}

impl Bill {
    /// The total for ratios.
    pub fn for_ratios(&self) -> Result<Money, String> {
        let unknown = self
            .lines
            .iter()
            .filter_map(|line| line.quantity.as_ref().err());
        if let Some(why) = unknown.clone().next() {
            return Err(format!("the total is not known: {why}"));
        }
        if self.without_source.is_empty() {
            self.total
                .ok_or_else(|| "the total is not known".to_owned())
        } else {
            Err(format!(
                "a price without source and date is no basis for a ratio; add to {}: {}",
                self.file,
                self.without_source.join("; ")
            ))
        }
    }
}

pub fn bill(list: &PriceList, run: &Run) -> Bill {
    bill_of(list, &Platform::of(list, run))
}

pub fn bill_of(list: &PriceList, platform: &Platform) -> Bill {
    let lines: Vec<Line> = (list.items.iter())
        .map(|item| line(item, platform))
        .collect();
    let amounts: Option<Vec<Money>> = lines.iter().map(|line| line.amount).collect();
    let total = amounts.map(|amounts| Money {
        list: amounts.iter().map(|money| money.list).sum(),
        net: amounts.iter().map(|money| money.net).sum(),
    });
    Bill {
        file: list.file.clone(),
        currency: list.currency.clone(),
        term_years: list.term_years,
        total,
        without_source: without_source(list),
        memory_gb: platform.memory_gb.map(|(gb, _)| gb),
        lines,
    }
}

fn line(item: &Item, platform: &Platform) -> Line {
    let quantity = quantity(item, platform);
    let amount = quantity.as_ref().ok().map(|quantity| {
        // An hourly price already includes the term in its hours.
        let years = match item.rule {
            Rule::PerHour => 1.0,
            _ => item.term_years.unwrap_or(1.0),
        };
        let list = quantity.number * item.list * years;
        Money {
            list,
            net: list * (1.0 - item.discount),
        }
    });
    Line {
        item: item.clone(),
        quantity,
        amount,
    }
}

fn quantity(item: &Item, platform: &Platform) -> Result<Quantity, String> {
    let by = |of: &Option<(f64, Origin)>, key: &str, noun: &str| match of {
        Some((number, origin)) => Ok(Quantity {
            number: *number,
            how: format!("{number} {noun} ({})", origin.name()),
        }),
        None => Err(format!(
            "\"{}\" is priced by {noun}, which are not known; add {key} to [platform] of the prices file",
            item.part
        )),
    };
    match &item.rule {
        Rule::Number(number) => Ok(Quantity {
            number: *number,
            how: String::new(),
        }),
        Rule::PerSocket => by(&platform.sockets, "sockets", "sockets"),
        Rule::PerTb => by(&platform.storage_tb, "storage_tb", "TB of storage"),
        Rule::PerHour => {
            let years = item.term_years.unwrap_or_default();
            Ok(Quantity {
                number: HOURS_PER_YEAR * years,
                how: format!("{HOURS_PER_YEAR} hours × {years} years"),
            })
        }
        Rule::PerCore { factor, least } => {
            let cores = by(&platform.cores, "cores", "cores")?;
            let factor = factor_of(item, factor, platform)?;
            let licences = licences(cores.number, factor).max(*least);
            let how = match factor {
                1.0 => cores.how,
                factor => format!("{} × core factor {factor}", cores.how),
            };
            Ok(Quantity {
                number: licences,
                how: with_least(how, licences, *least),
            })
        }
        Rule::PerUser {
            least_per_licence,
            factor,
        } => {
            let users = by(&platform.users, "users", "users")?;
            if *least_per_licence == 0.0 {
                return Ok(users);
            }
            let cores = by(&platform.cores, "cores", "cores")?;
            let factor = factor_of(item, factor, platform)?;
            let least = licences(cores.number, factor) * least_per_licence;
            let number = users.number.max(least);
            Ok(Quantity {
                number,
                how: with_least(users.how, number, least),
            })
        }
    }
}

fn with_least(how: String, number: f64, least: f64) -> String {
    if least > 0.0 && number == least {
        format!("{how}, at least {least}")
    } else {
        how
    }
}

/// Number of licences for `cores`, rounded up.
pub fn licences(cores: f64, factor: f64) -> f64 {
    (cores * factor - ROUNDING).ceil().max(0.0)
}

fn factor_of(item: &Item, factor: &Factor, platform: &Platform) -> Result<f64, String> {
    let table = match factor {
        Factor::Number(factor) => return Ok(*factor),
        Factor::Table(table) => table,
    };
    let Some((processor, _)) = &platform.processor else {
        return Err(format!(
            "\"{}\" needs the processor for its core factor, which is not known; add processor to [platform] of the prices file",
            item.part
        ));
    };
    table.of(processor).ok_or_else(|| {
        format!(
            "\"{}\" needs the core factor of \"{processor}\", which the table \"{}\" does not have; add it there, or others = 1",
            item.part, table.name
        )
    })
}

/// Items without source or date, each once.
fn without_source(list: &PriceList) -> Vec<String> {
    let lacks = |name: &str, source: &Option<String>, date: &Option<String>| {
        let what = match (source, date) {
            (Some(_), Some(_)) => return None,
            (None, Some(_)) => "source",
            (Some(_), None) => "date",
            (None, None) => "source and date",
        };
        Some(format!("{name} ({what})"))
    };
    let mut all = Vec::new();
    for item in &list.items {
        all.extend(lacks(&item.part, &item.source, &item.date));
        if let Some(table) = table_of(&item.rule) {
            let name = format!("core_factors {}", table.name);
            all.extend(lacks(&name, &table.source, &table.date));
        }
    }
    let mut once: Vec<String> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

fn table_of(rule: &Rule) -> Option<&FactorTable> {
    match rule {
        Rule::PerCore {
            factor: Factor::Table(table),
            ..
        }
        | Rule::PerUser {
            factor: Factor::Table(table),
            ..
        } => Some(table),
        _ => None,
    }
}

/// Savings of fewer cores on one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Saved {
    pub part: String,
    /// Licences, or other units that are priced by cores.
    pub fewer: f64,
    pub amount: Money,
}

/// Savings of `fewer` cores on each item that is priced by cores.
pub fn saved_by_cores(
    list: &PriceList,
    processor: Option<(String, Origin)>,
    cores: f64,
    cores_left: f64,
) -> Result<Vec<Saved>, String> {
    let of = |cores: f64| Platform {
        processor: processor.clone(),
        cores: Some((cores, Origin::Stated)),
        ..Platform::default()
    };
    let by_core = |item: &&Item| matches!(item.rule, Rule::PerCore { .. });
    let saved = list.items.iter().filter(by_core).map(|item| {
        let [all, left] = [cores, cores_left].map(|cores| line(item, &of(cores)));
        let fewer = all.quantity?.number - left.quantity?.number;
        let [all, left] = [all.amount, left.amount].map(Option::unwrap_or_default);
        Ok(Saved {
            part: item.part.clone(),
            fewer,
            amount: Money {
                list: all.list - left.list,
                net: all.net - left.net,
            },
        })
    });
    saved.collect()
}

#[cfg(test)]
mod tests;
