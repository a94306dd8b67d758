//! Files of prices beside runs: `--prices`.

use std::path::Path;

use ::archive::Run;
use anyhow::Result;
use report::Prices;
use verdict::compare::Comparison;
use verdict::price::{Bill, Change, PriceList, bill, change};

use crate::exit::InvalidInput;

/// Sides of a comparison, by which its runs may be called too.
const SIDES: [&str; 2] = ["A", "B"];

/// Reads the files, each as `[RUN=]FILE`: a run by its label or number, or A and B where `runs` are two sides. Without a
/// run it is for every run that has no file of its own.
///
/// # Errors
/// When a file is none of prices, or two are for the same run.
pub fn load(asked: &[String], runs: &[&Run]) -> Result<Prices> {
    let mut prices = Prices::default();
    for asked in asked {
        let named = asked.split_once('=').and_then(|(name, file)| {
            let is_it = |(at, run): &(usize, &&Run)| {
                let is_side = runs.len() == 2 && SIDES.get(*at) == Some(&name);
                run.label == name || run.id.to_string() == name || is_side
            };
            let (_, run) = runs.iter().enumerate().find(is_it)?;
            Some((run.label.clone(), file))
        });
        let twice = || {
            InvalidInput(format!(
                "--prices {asked}: there is already a file for the same run; leave one out"
            ))
        };
        match named {
            Some((label, _)) if prices.of_run.iter().any(|(other, _)| *other == label) => {
                return Err(twice().into());
            }
            Some((label, file)) => prices
                .of_run
                .push((label, PriceList::load(Path::new(file))?)),
            None if prices.of_all.is_some() => return Err(twice().into()),
            None => prices.of_all = Some(PriceList::load(Path::new(asked))?),
        }
    }
    Ok(prices)
}

/// Refuses wrong files before anything is measured: the runs that they name are not there yet.
///
/// # Errors
/// When one is no file of prices.
pub fn check(asked: &[String]) -> Result<()> {
    for asked in asked {
        let whole = Path::new(asked);
        let file = match asked.split_once('=') {
            Some((_, file)) if !whole.exists() => Path::new(file),
            _ => whole,
        };
        PriceList::load(file)?;
    }
    Ok(())
}

/// The bills of two runs and what the change between them costs; `None` unless both have prices.
pub fn of_sides(
    a: &Run,
    b: &Run,
    compared: &Comparison,
    prices: &Prices,
) -> Option<([Bill; 2], Change)> {
    let of_run = |run: &Run| prices.of(&run.label).map(|list| bill(list, run));
    let bills = [of_run(a)?, of_run(b)?];
    let change = change(&bills[0], &bills[1], compared);
    Some((bills, change))
}
