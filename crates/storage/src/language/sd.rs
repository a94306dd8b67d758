//! Storage definitions (SDs): the files and devices of a list.

use std::path::PathBuf;

use super::error::{Position, Result};
use super::flags;
use super::general::DedupParameters;
use super::lexer::Parameter;
use super::limits::{BYTES_MAX, SECTOR, THREADS_MAX};
use super::refused::{NO_REPLAY, host};
use super::value::Unit;
use super::words::{Definition, Keywords, Section, keywords, put};
use crate::run::{OpenFlags, Range};

const SOLARIS: &str = "applies only to Solaris; leave it out";

#[derive(Debug, Clone, Default)]
pub(super) struct Sd {
    pub name: String,
    pub place: Position,
    pub lun: Option<String>,
    count: Option<(u64, u64)>,
    pub size_bytes: Option<u64>,
    pub threads: Option<u32>,
    pub hit_area_bytes: Option<u64>,
    pub offset_bytes: u64,
    pub align_bytes: Option<u64>,
    pub open_flags: OpenFlags,
    pub range: Range,
    pub journal: Option<PathBuf>,
    pub dedup: DedupParameters,
}

impl Definition for Sd {
    fn label(&self) -> (&str, &Position) {
        (&self.name, &self.place)
    }

    fn named(self, name: String, place: Position) -> Self {
        Self {
            name,
            place,
            ..self
        }
    }
}

impl Section for Sd {
    const HEAD: &'static str = "sd";
    const KEYWORDS: Keywords<Self> = keywords! {
        "host" "hd" => |_, p| host(p);
        "lun" => Self::set_lun;
        "count" => |sd, p| put(&mut sd.count, count(p).map(Some));
        "size" => |sd, p| put(&mut sd.size_bytes, divided(p, SECTOR, BYTES_MAX).map(Some));
        "threads" => |sd, p| put(&mut sd.threads, divided(p, 1, THREADS_MAX).map(|n| Some(n as u32)));
        "hitarea" => |sd, p| put(&mut sd.hit_area_bytes, p.whole(SECTOR, BYTES_MAX, Unit::Amount).map(Some));
        "offset" => |sd, p| put(&mut sd.offset_bytes, sectors(p, 0));
        "align" => |sd, p| put(&mut sd.align_bytes, sectors(p, SECTOR).map(Some));
        "kstat" "instance" => |_, p| Err(p.wrong(SOLARIS));
        "replay" => |_, p| Err(p.wrong(NO_REPLAY));
        "resetlun" "resetbus" => |_, p| Err(p.wrong(SOLARIS));
        "journal" => |sd, p| put(&mut sd.journal, p.word().map(|word| Some(word.into())));
        "openflags" => |sd, p| put(&mut sd.open_flags, flags::open_flags(p));
        "range" => |sd, p| put(&mut sd.range, flags::range(p));
        "dedupratio" "dedupunit" "dedupsets" "deduphotsets" "dedupflipflop" => |sd, p| sd.dedup.set(p);
        "streams" => |_, p| Err(p.wrong("streams= belongs to wd="));
    };
}

impl Sd {
    fn set_lun(&mut self, parameter: &Parameter) -> Result<()> {
        if self.lun.is_some() && !self.name.is_empty() {
            let what = "an SD has one lun=; several are for several machines, but workloads run only on this one";
            return Err(parameter.wrong(what));
        }
        self.lun = Some(parameter.word()?.to_owned());
        Ok(())
    }

    pub fn path(&self) -> Result<PathBuf> {
        match &self.lun {
            Some(lun) => Ok(PathBuf::from(lun)),
            None => Err(self.place.wrong(format!(
                "sd={} has no lun=; give the path of a file or device",
                self.name
            ))),
        }
    }

    /// The SDs that this one defines: itself, or those of `count=(start,n)`.
    pub fn replicas(&self) -> Result<Vec<Self>> {
        let Some((start, many)) = self.count else {
            return Ok(vec![self.clone()]);
        };
        let lun = self.path()?.display().to_string();
        let numbers = start..start + many;
        let replicas = numbers.map(|number| Self {
            name: format!("{}{number}", self.name),
            lun: Some(numbered(&lun, number)),
            count: None,
            ..self.clone()
        });
        Ok(replicas.collect())
    }
}

/// A path with its number, in place of `%04d` or `%d`, or at the end.
fn numbered(lun: &str, number: u64) -> String {
    const WIDTH_MAX: usize = 20;
    if let Some((before, rest)) = lun.split_once('%')
        && let Some((width, after)) = rest.split_once('d')
        && width.chars().all(|c| c.is_ascii_digit())
    {
        let digits = width.trim_start_matches('0').parse().unwrap_or(0);
        let digits = WIDTH_MAX.min(digits);
        let blanks = if width.starts_with('0') { "0" } else { " " };
        let number = number.to_string();
        let blanks = blanks.repeat(digits.saturating_sub(number.len()));
        return format!("{before}{blanks}{number}{after}");
    }
    format!("{lun}{number}")
}

fn count(parameter: &Parameter) -> Result<(u64, u64)> {
    const MANY_MAX: u64 = 4096;
    let numbers = parameter.numbers(Unit::Amount)?;
    let [start, many] = numbers[..] else {
        return Err(parameter.wrong("give count=(first,how_many)"));
    };
    Ok((
        parameter.whole_of(start, 0, u64::from(u32::MAX))?,
        parameter.whole_of(many, 1, MANY_MAX)?,
    ))
}

/// Value of `x`, or of `(x,n)`: x divided by n.
fn divided(parameter: &Parameter, low: u64, high: u64) -> Result<u64> {
    let numbers = parameter.numbers(Unit::Amount)?;
    let value = match numbers[..] {
        [value] => value,
        [value, parts] if parts >= 1.0 => (value / parts).floor(),
        _ => return Err(parameter.wrong("give a number, or (number,n) to divide it by n")),
    };
    parameter.whole_of(value, low, high)
}

fn sectors(parameter: &Parameter, low: u64) -> Result<u64> {
    let value = parameter.whole(low, BYTES_MAX, Unit::Amount)?;
    if value % SECTOR != 0 {
        return Err(parameter.wrong("must be a multiple of 512"));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn replicas_have_paths_with_numbers() {
        for (lun, number, path) in [
            ("/d/f", 3, "/d/f3"),
            ("/d/f%04d.dat", 3, "/d/f0003.dat"),
            ("/d/f%dx", 12, "/d/f12x"),
            ("/d/f%99999999999999999999d", 1, "/d/f1"),
            ("/d/50%", 1, "/d/50%1"),
        ] {
            assert_eq!(numbered(lun, number), path);
        }
    }
}
