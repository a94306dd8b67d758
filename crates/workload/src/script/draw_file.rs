//! Generators in a script's file.

use toml::{Table, Value};

use super::draw::{Draw, Zipf};
use super::table::Section;

const GENERATORS: [&str; 6] = ["uniform", "zipf", "nurand", "sequence", "pick", "letters"];
/// Most values of a transaction, and of a list.
const VALUES_MAX: usize = 256;
const LIST_MAX: usize = 100_000;
/// Numbers up to here survive every computation of NURand.
const NURAND_MAX: i64 = 1 << 53;
const LETTERS_MAX: i64 = 1 << 20;
/// With larger exponents only the first value ever comes.
const EXPONENT_MAX: f64 = 20.0;

pub fn draws(of: &Section, table: &Table) -> Result<Vec<(String, Draw)>, String> {
    if table.len() > VALUES_MAX {
        return Err(of.wrong(&format!("it draws more than {VALUES_MAX} values")));
    }
    let draws = table.iter().map(|(name, value)| {
        let called = format!("{}, draw {name}", of.name);
        let Some(table) = value.as_table() else {
            return Err(format!(
                "{called}: write {name} = {{ uniform = [1, 100] }} or another generator"
            ));
        };
        Ok((name.clone(), generator(called, table)?))
    });
    draws.collect()
}

fn generator(called: String, table: &Table) -> Result<Draw, String> {
    let options = ["exponent", "a"];
    let is_option = |key: &&String| options.contains(&key.as_str());
    let mut kinds = table.keys().filter(|key| !is_option(key));
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return Err(format!(
            "{called}: a value needs exactly one generator: {}",
            GENERATORS.join(", ")
        ));
    };
    if !GENERATORS.contains(&kind.as_str()) {
        return Err(format!(
            "{called}: there is no generator \"{kind}\"{}; the generators are {}",
            archive::nearest(kind, GENERATORS),
            GENERATORS.join(", ")
        ));
    }
    let known: &[&str] = match kind.as_str() {
        "zipf" => &["zipf", "exponent"],
        "nurand" => &["nurand", "a"],
        other => &[other],
    };
    let section = Section::new(called, table, known)?;
    read(&section, kind)
}

fn read(section: &Section, kind: &str) -> Result<Draw, String> {
    let range = || {
        let range = section.range(kind)?;
        range.ok_or_else(|| section.wrong("the range is missing"))
    };
    Ok(match kind {
        "uniform" => {
            let (low, high) = range()?;
            Draw::Uniform { low, high }
        }
        "zipf" => {
            let (low, high) = range()?;
            let exponent = section.real("exponent")?.unwrap_or(1.0);
            if !(exponent > 0.0 && exponent <= EXPONENT_MAX) {
                return Err(section.wrong(&format!(
                    "exponent = {exponent} must be above 0 and at most {EXPONENT_MAX}"
                )));
            }
            let count = high.checked_sub(low).and_then(|span| span.checked_add(1));
            let count = count.ok_or_else(|| section.wrong("the range is too large"))?;
            Draw::Zipf(Zipf::new(count as u64, exponent), low)
        }
        "nurand" => {
            let (low, high) = range()?;
            let a = section.number("a", 1, NURAND_MAX)?;
            let a =
                a.ok_or_else(|| section.wrong("nurand needs a, e.g. a = 1023 for 1 to 3000"))?;
            if low < 0 || high > NURAND_MAX {
                return Err(
                    section.wrong(&format!("nurand accepts numbers from 0 to {NURAND_MAX}"))
                );
            }
            Draw::NuRand { low, high, a }
        }
        "sequence" => {
            let start = section.number(kind, i64::MIN, i64::MAX)?;
            Draw::Sequence {
                start: start.unwrap_or(1),
            }
        }
        "letters" => {
            let length = section.number(kind, 0, LETTERS_MAX)?.unwrap_or(0);
            Draw::Letters(length as usize)
        }
        _ => list(section, kind)?,
    })
}

fn list(section: &Section, key: &str) -> Result<Draw, String> {
    let list = section.table.get(key).and_then(Value::as_array);
    let list = list.map(Vec::as_slice).unwrap_or_default();
    if list.is_empty() || list.len() > LIST_MAX {
        return Err(section.wrong(&format!(
            "{key} must be a list of 1 to {LIST_MAX} numbers or texts"
        )));
    }
    let numbers: Option<Vec<i64>> = list.iter().map(Value::as_integer).collect();
    if let Some(numbers) = numbers {
        return Ok(Draw::Numbers(numbers));
    }
    let texts = list.iter().map(|text| text.as_str().map(str::to_owned));
    let texts: Option<Vec<String>> = texts.collect();
    texts.map(Draw::Texts).ok_or_else(|| {
        section.wrong(&format!(
            "{key} mixes numbers and texts; use only one of them"
        ))
    })
}
