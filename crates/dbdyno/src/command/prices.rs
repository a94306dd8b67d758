//! Price files of runs: `--prices`.

use std::path::Path;

use ::archive::Run;
use anyhow::Result;
use report::Prices;
use verdict::compare::Comparison;
use verdict::price::{Bill, Change, PriceList, bill, change};

use crate::exit::InvalidInput;

/// Names of the sides, which may stand for their runs.
const SIDES: [&str; 2] = ["A", "B"];

/// Reads the files, each as `[RUN=]FILE`: a run is given by its label or number, or by A and B if `runs` are two sides. A file without a
/// run applies to every run without its own.
pub fn load(arguments: &[String], runs: &[&Run]) -> Result<Prices> {
    let mut prices = Prices::default();
    for argument in arguments {
        let named = argument.split_once('=').and_then(|(name, file)| {
            let is_it = |(at, run): &(usize, &&Run)| {
                let is_side = runs.len() == 2 && SIDES.get(*at) == Some(&name);
                run.label == name || run.id.to_string() == name || is_side
            };
            let (_, run) = runs.iter().enumerate().find(is_it)?;
            Some((run.label.clone(), file))
        });
        let twice = || {
            InvalidInput(format!(
                "--prices {argument}: there is already a file for the same run; leave one out"
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
            None => prices.of_all = Some(PriceList::load(Path::new(argument))?),
        }
    }
    Ok(prices)
}

/// Refuses invalid files before the measurement, when the named runs do not exist yet.
pub fn check(arguments: &[String]) -> Result<()> {
    for argument in arguments {
        let whole = Path::new(argument);
        let file = match argument.split_once('=') {
            Some((_, file)) if !whole.exists() => Path::new(file),
            _ => whole,
        };
        PriceList::load(file)?;
    }
    Ok(())
}

/// The bills of two runs and the cost of the change; `None` unless both have prices.
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
