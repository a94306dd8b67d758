//! Files of prices: `[[item]]` tables in TOML, described in docs/FORMAT.md.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

const FILE_BYTES_MAX: u64 = 1 << 20;
pub const ITEMS_MAX: usize = 1_000;

#[derive(Debug, Clone, PartialEq)]
pub struct PriceList {
    pub file: String,
    pub currency: String,
    /// Years for which the items with a term are paid; `None` if all are paid once.
    pub term_years: Option<f64>,
    pub items: Vec<Item>,
    /// Facts of the file about the platform, which override those of the run.
    pub stated: Stated,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub part: String,
    pub description: Option<String>,
    pub rule: Rule,
    pub list: f64,
    /// Discount on the list price, as a share.
    pub discount: f64,
    /// Years for which it is paid: the list price is that of one year.
    pub term_years: Option<f64>,
    pub source: Option<String>,
    pub date: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    Number(f64),
    /// Cores times a factor, rounded up.
    PerCore {
        factor: Factor,
        least: f64,
    },
    PerSocket,
    /// Storage capacity in 10^12 bytes.
    PerTb,
    /// Hours of the term, in which it always runs.
    PerHour,
    /// Users, with a minimum per processor licence.
    PerUser {
        least_per_licence: f64,
        factor: Factor,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    Number(f64),
    Table(FactorTable),
}

#[derive(Debug, Clone, PartialEq)]
pub struct FactorTable {
    pub name: String,
    pub source: Option<String>,
    pub date: Option<String>,
    /// Words in the name of a processor, and its factor.
    pub factors: Vec<(String, f64)>,
    /// Factor of every other processor.
    pub others: Option<f64>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stated {
    pub processor: Option<String>,
    pub cores: Option<f64>,
    pub sockets: Option<f64>,
    pub storage_tb: Option<f64>,
    pub memory_gb: Option<f64>,
    pub users: Option<f64>,
}

#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error("the prices file {} cannot be read: {reason}", path.display())]
    Unreadable {
        path: PathBuf,
        reason: std::io::Error,
    },
    #[error("prices file {file}: {what}")]
    Wrong { file: String, what: String },
}

impl FactorTable {
    /// Factor of a processor, by the entry with the most words in its name; `None` without one.
    pub fn of(&self, processor: &str) -> Option<f64> {
        let name = processor.to_lowercase();
        let words = |entry: &str| entry.split_whitespace().count();
        let is_for = |entry: &str| {
            let mut words = entry.split_whitespace();
            words.all(|word| name.contains(&word.to_lowercase()))
        };
        let fit = self.factors.iter().filter(|(entry, _)| is_for(entry));
        // Of entries with equally many words the first counts: `max_by_key` would take the last.
        let most = fit.rev().max_by_key(|(entry, _)| words(entry));
        most.map(|(_, factor)| *factor).or(self.others)
    }
}

impl PriceList {
    /// Reads a file of prices.
    pub fn load(path: &Path) -> Result<Self, PriceError> {
        let unreadable = |reason| PriceError::Unreadable {
            path: path.to_owned(),
            reason,
        };
        let text = archive::read_text(path, FILE_BYTES_MAX).map_err(unreadable)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Parses the text of the file called `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, PriceError> {
        let wrong = |what| PriceError::Wrong {
            file: file.to_owned(),
            what,
        };
        let read: Read =
            toml::from_str(text).map_err(|e| wrong(archive::toml_sentence(text, &e)))?;
        read.checked(file).map_err(|(at, what)| {
            let lines = text.get(..at.start).unwrap_or_default().matches('\n');
            wrong(format!("line {}: {what}", lines.count() + 1))
        })
    }
}

type Fault = (Range<usize>, String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    currency: Option<Spanned<String>>,
    term_years: Option<Spanned<f64>>,
    platform: Option<Spanned<Stated>>,
    #[serde(default)]
    core_factors: Vec<Spanned<ReadFactors>>,
    #[serde(default)]
    item: Vec<Spanned<ReadItem>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFactors {
    name: String,
    source: Option<String>,
    date: Option<Spanned<toml::Value>>,
    others: Option<Spanned<f64>>,
    factors: Vec<Spanned<ReadFactor>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFactor {
    processor: String,
    factor: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadItem {
    part: String,
    description: Option<String>,
    quantity: Spanned<toml::Value>,
    core_factor: Option<Spanned<toml::Value>>,
    least: Option<Spanned<f64>>,
    least_per_licence: Option<Spanned<f64>>,
    list: Spanned<f64>,
    discount_pct: Option<Spanned<f64>>,
    currency: Option<Spanned<String>>,
    term_years: Option<Spanned<f64>>,
    yearly: Option<Spanned<bool>>,
    source: Option<String>,
    date: Option<Spanned<toml::Value>>,
}

impl Read {
    fn checked(self, file: &str) -> Result<PriceList, Fault> {
        if self.item.is_empty() {
            return Err((
                0..0,
                "there is no item; write at least one [[item]] table".into(),
            ));
        }
        if self.item.len() > ITEMS_MAX {
            let what = format!(
                "there are {} items; the maximum is {ITEMS_MAX}",
                self.item.len()
            );
            return Err((0..0, what));
        }
        let mut tables = Vec::new();
        for table in self.core_factors {
            tables.push(factors(table)?);
        }
        let mut whole = Whole {
            currency: self.currency.map(currency).transpose()?,
            term_years: self.term_years.map(positive("term_years")).transpose()?,
            term_used: false,
        };
        let mut items = Vec::new();
        for item in self.item {
            items.push(whole.item(item, &tables)?);
        }
        Ok(PriceList {
            file: file.to_owned(),
            currency: whole.currency.unwrap_or_default(),
            term_years: whole.term_years.filter(|_| whole.term_used),
            items,
            stated: self.platform.map(stated).transpose()?.unwrap_or_default(),
        })
    }
}

struct Whole {
    currency: Option<String>,
    term_years: Option<f64>,
    term_used: bool,
}

impl Whole {
    fn item(&mut self, item: Spanned<ReadItem>, tables: &[FactorTable]) -> Result<Item, Fault> {
        let at = item.span();
        let item = item.into_inner();
        self.agree_on_currency(&at, &item)?;
        let is_per_hour = item.quantity.get_ref().as_str() == Some(PER_HOUR);
        let term_years = self.term(&at, &item, is_per_hour)?;
        self.term_used |= term_years.is_some();
        Ok(Item {
            rule: rule(&at, &item, tables)?,
            list: number(&item.list, "list", 0.0..=f64::MAX)?,
            discount: match &item.discount_pct {
                Some(pct) => number(pct, "discount_pct", 0.0..=100.0)? / 100.0,
                None => 0.0,
            },
            term_years,
            date: item.date.map(date).transpose()?,
            source: item.source.filter(|source| !source.trim().is_empty()),
            description: item.description,
            part: item.part,
        })
    }

    /// All items have one currency, because a file has no rates of exchange.
    fn agree_on_currency(&mut self, at: &Range<usize>, item: &ReadItem) -> Result<(), Fault> {
        let Some(own) = item.currency.clone() else {
            return match self.currency {
                Some(_) => Ok(()),
                None => Err((
                    at.clone(),
                    format!(
                        "\"{}\" has no currency; add currency = \"USD\" to it, or at the top for all",
                        item.part
                    ),
                )),
            };
        };
        let at = own.span();
        let own = currency(own)?;
        match &self.currency {
            Some(first) if *first != own => Err((
                at,
                format!(
                    "\"{}\" is in {own}, what stands before it in {first}; convert all prices to one currency",
                    item.part
                ),
            )),
            _ => {
                self.currency = Some(own);
                Ok(())
            }
        }
    }

    /// Term of an item that is paid by the year or the hour. All items share one, because a total over different
    /// times has none.
    fn term(
        &mut self,
        at: &Range<usize>,
        item: &ReadItem,
        is_per_hour: bool,
    ) -> Result<Option<f64>, Fault> {
        let own = item.term_years.clone().map(|years| {
            let at = years.span();
            positive("term_years")(years).map(|years| (at, years))
        });
        let own = own.transpose()?;
        let is_yearly = item.yearly.as_ref().map(|yearly| *yearly.get_ref());
        if let Some((at, own)) = own {
            if self.term_years.is_some_and(|term| term != own) {
                let term = self.term_years.unwrap_or_default();
                return Err((
                    at,
                    format!(
                        "\"{}\" is paid for {own} years, what stands before it for {term}; a total needs one term_years for all",
                        item.part
                    ),
                ));
            }
            if is_yearly == Some(false) {
                return Err((
                    at,
                    format!(
                        "\"{}\" has a term, but yearly = false; leave one of the two out",
                        item.part
                    ),
                ));
            }
            self.term_years = Some(own);
            return Ok(Some(own));
        }
        match (is_per_hour || is_yearly == Some(true), self.term_years) {
            (false, _) => Ok(None),
            (true, Some(term)) => Ok(Some(term)),
            (true, None) => Err((
                at.clone(),
                format!(
                    "\"{}\" is paid by time, but for how long is not said; add term_years = 3",
                    item.part
                ),
            )),
        }
    }
}

const PER_HOUR: &str = "per hour";
const QUANTITIES: &str =
    "a number, or \"per core\", \"per socket\", \"per TB\", \"per hour\" or \"per user\"";

fn rule(at: &Range<usize>, item: &ReadItem, tables: &[FactorTable]) -> Result<Rule, Fault> {
    let value = item.quantity.get_ref();
    let wrong = |what: String| (item.quantity.span(), what);
    let rule = match value {
        toml::Value::Integer(n) if *n >= 0 => Rule::Number(*n as f64),
        toml::Value::Float(n) if n.is_finite() && *n >= 0.0 => Rule::Number(*n),
        toml::Value::String(text) => match text.as_str() {
            "per core" => Rule::PerCore {
                factor: factor(item, tables)?,
                least: least(&item.least, "least")?,
            },
            "per socket" => Rule::PerSocket,
            "per TB" => Rule::PerTb,
            PER_HOUR => Rule::PerHour,
            "per user" => Rule::PerUser {
                least_per_licence: least(&item.least_per_licence, "least_per_licence")?,
                factor: factor(item, tables)?,
            },
            other => {
                return Err(wrong(format!(
                    "\"{other}\" is no quantity; write {QUANTITIES}"
                )));
            }
        },
        other => return Err(wrong(format!("{other} is no quantity; write {QUANTITIES}"))),
    };
    let is_by_core = matches!(rule, Rule::PerCore { .. });
    let is_by_user = matches!(rule, Rule::PerUser { .. });
    let unused = [
        (
            "core_factor",
            item.core_factor.is_some() && !is_by_core && !is_by_user,
        ),
        ("least", item.least.is_some() && !is_by_core),
        (
            "least_per_licence",
            item.least_per_licence.is_some() && !is_by_user,
        ),
    ];
    match unused.iter().find(|(_, is_unused)| *is_unused) {
        Some((key, _)) => Err((
            at.clone(),
            format!(
                "\"{}\": {key} has no meaning for the quantity {value}; remove it",
                item.part
            ),
        )),
        None => Ok(rule),
    }
}

fn factor(item: &ReadItem, tables: &[FactorTable]) -> Result<Factor, Fault> {
    let Some(spanned) = &item.core_factor else {
        return Ok(Factor::Number(1.0));
    };
    let wrong = |what: String| (spanned.span(), what);
    match spanned.get_ref() {
        toml::Value::Float(n) if n.is_finite() && *n > 0.0 => Ok(Factor::Number(*n)),
        toml::Value::Integer(n) if *n > 0 => Ok(Factor::Number(*n as f64)),
        toml::Value::String(name) => match tables.iter().find(|table| table.name == *name) {
            Some(table) => Ok(Factor::Table(table.clone())),
            None => {
                let known = tables.iter().map(|table| table.name.as_str());
                let hint = archive::nearest(name, known);
                Err(wrong(format!(
                    "there is no [[core_factors]] table with name = \"{name}\"{hint}; add it, or write a number such as 0.5"
                )))
            }
        },
        other => Err(wrong(format!(
            "{other} is no core factor; write a number above 0, or the name of a [[core_factors]] table"
        ))),
    }
}

fn factors(table: Spanned<ReadFactors>) -> Result<FactorTable, Fault> {
    let table = table.into_inner();
    let mut factors = Vec::new();
    for entry in table.factors {
        let at = entry.span();
        let entry = entry.into_inner();
        let is_right = entry.factor > 0.0 && entry.factor.is_finite();
        if !is_right || entry.processor.trim().is_empty() {
            let what = "a factor needs the words of a processor's name and a number above 0; write { processor = \"Intel Xeon\", factor = 0.5 }";
            return Err((at, what.into()));
        }
        factors.push((entry.processor, entry.factor));
    }
    Ok(FactorTable {
        name: table.name,
        source: table.source.filter(|source| !source.trim().is_empty()),
        date: table.date.map(date).transpose()?,
        factors,
        others: table.others.map(positive("others")).transpose()?,
    })
}

fn stated(stated: Spanned<Stated>) -> Result<Stated, Fault> {
    let at = stated.span();
    let stated = stated.into_inner();
    let numbers = [
        ("cores", stated.cores),
        ("sockets", stated.sockets),
        ("storage_tb", stated.storage_tb),
        ("memory_gb", stated.memory_gb),
        ("users", stated.users),
    ];
    let is_wrong = |number: &Option<f64>| number.is_some_and(|n| !n.is_finite() || n <= 0.0);
    match numbers.iter().find(|(_, number)| is_wrong(number)) {
        Some((key, _)) => Err((at, format!("platform: {key} must be a number above 0"))),
        None => Ok(stated),
    }
}

fn least(value: &Option<Spanned<f64>>, key: &str) -> Result<f64, Fault> {
    value
        .as_ref()
        .map_or(Ok(0.0), |value| number(value, key, 0.0..=1e9))
}

fn number(
    value: &Spanned<f64>,
    key: &str,
    within: std::ops::RangeInclusive<f64>,
) -> Result<f64, Fault> {
    let n = *value.get_ref();
    if within.contains(&n) {
        return Ok(n);
    }
    let right = match *within.end() {
        most if most < 1e9 => format!("from {} to {most}", within.start()),
        _ => format!("of at least {}", within.start()),
    };
    Err((
        value.span(),
        format!("{key} = {n} is not possible; write a number {right}"),
    ))
}

fn positive(key: &'static str) -> impl Fn(Spanned<f64>) -> Result<f64, Fault> {
    move |value| {
        let n = *value.get_ref();
        if n > 0.0 && n.is_finite() {
            Ok(n)
        } else {
            Err((
                value.span(),
                format!("{key} = {n} is not possible; write a number above 0"),
            ))
        }
    }
}

fn currency(value: Spanned<String>) -> Result<String, Fault> {
    let text = value.get_ref();
    let is_code = text.len() == 3 && text.bytes().all(|b| b.is_ascii_uppercase());
    if is_code {
        Ok(text.clone())
    } else {
        Err((
            value.span(),
            format!(
                "\"{text}\" is no currency; write its three letters (ISO 4217), such as \"USD\""
            ),
        ))
    }
}

/// A day, a month or a year, as in price lists.
fn date(value: Spanned<toml::Value>) -> Result<String, Fault> {
    let text = match value.get_ref() {
        toml::Value::String(text) => text.clone(),
        toml::Value::Datetime(date) => date.to_string(),
        other => other.to_string(),
    };
    let parts: Vec<&str> = text.split('-').collect();
    let is = |part: &str, digits: usize, most: u32| {
        let n: Option<u32> = part.parse().ok().filter(|_| part.len() == digits);
        n.is_some_and(|n| (1..=most).contains(&n))
    };
    let lengths = [(4, 9999), (2, 12), (2, 31)];
    let is_date = (1..=3).contains(&parts.len())
        && parts
            .iter()
            .zip(lengths)
            .all(|(part, (digits, most))| is(part, digits, most));
    if is_date {
        Ok(text)
    } else {
        Err((
            value.span(),
            format!(
                "\"{text}\" is no date; write the day, the month or the year, such as \"2025-03-31\", \"2025-03\" or \"2025\""
            ),
        ))
    }
}

#[cfg(test)]
mod tests;
