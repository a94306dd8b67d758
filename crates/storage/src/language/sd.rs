//! Storage definitions (SDs): the files and devices of a list.

use std::path::PathBuf;

use super::error::{Position, Result};
use super::flags;
use super::general::{DEDUP, DedupParameters};
use super::lexer::Parameter;
use super::limits::{BYTES_MAX, SECTOR, THREADS_MAX};
use super::refused::{NO_REPLAY, host};
use super::value::Unit;
use super::words::{Definition, Section, Setter, put};
use crate::run::{OpenFlags, Range};

const SOLARIS: &str = "applies only to Solaris; leave it out";
const THREADS_DEFAULT: f64 = 8.0;
const HIT_AREA_DEFAULT: u64 = 1 << 20;

#[derive(Debug, Clone)]
pub(super) struct Sd {
    pub name: String,
    pub place: Position,
    pub lun: Option<String>,
    count: Option<(u64, u64)>,
    pub size_bytes: Option<u64>,
    pub threads: u32,
    pub hit_area_bytes: u64,
    pub requested_hit_area: bool,
    pub offset_bytes: u64,
    pub align_bytes: Option<u64>,
    pub open_flags: OpenFlags,
    pub range: Range,
    pub journal: Option<PathBuf>,
    pub dedup: DedupParameters,
}

impl Default for Sd {
    fn default() -> Self {
        Self {
            name: String::new(),
            place: Position::default(),
            lun: None,
            count: None,
            size_bytes: None,
            threads: THREADS_DEFAULT as u32,
            hit_area_bytes: HIT_AREA_DEFAULT,
            requested_hit_area: false,
            offset_bytes: 0,
            align_bytes: None,
            open_flags: OpenFlags::default(),
            range: Range::Whole,
            journal: None,
            dedup: DedupParameters::default(),
        }
    }
}

impl Definition for Sd {
    fn name(&self) -> &str {
        &self.name
    }

    fn label(&mut self) -> (&mut String, &mut Position) {
        (&mut self.name, &mut self.place)
    }
}

impl Section for Sd {
    const HEAD: &'static str = "sd";
    const KEYWORDS: &'static [(&'static [&'static str], Setter<Self>)] = &[
        (&["host", "hd"], |_, p| host(p)),
        (&["lun"], Self::set_lun),
        (&["count"], |sd, p| put(&mut sd.count, count(p).map(Some))),
        (&["size"], |sd, p| {
            put(&mut sd.size_bytes, divided(p, SECTOR, BYTES_MAX).map(Some))
        }),
        (&["threads"], |sd, p| {
            put(
                &mut sd.threads,
                divided(p, 1, THREADS_MAX).map(|n| n as u32),
            )
        }),
        (&["hitarea"], |sd, p| {
            sd.requested_hit_area = true;
            put(
                &mut sd.hit_area_bytes,
                p.whole(SECTOR, BYTES_MAX, Unit::Amount),
            )
        }),
        (&["offset"], |sd, p| {
            put(&mut sd.offset_bytes, sectors(p, 0))
        }),
        (&["align"], |sd, p| {
            put(&mut sd.align_bytes, sectors(p, SECTOR).map(Some))
        }),
        (&["kstat", "instance"], |_, p| Err(p.wrong(SOLARIS))),
        (&["replay"], |_, p| Err(p.wrong(NO_REPLAY))),
        (&["resetlun", "resetbus"], |_, p| Err(p.wrong(SOLARIS))),
        (&["journal"], |sd, p| {
            put(&mut sd.journal, p.word().map(|word| Some(word.into())))
        }),
        (&["openflags"], |sd, p| {
            put(&mut sd.open_flags, flags::open_flags(p))
        }),
        (&["range"], |sd, p| put(&mut sd.range, flags::range(p))),
        (DEDUP, |sd, p| sd.dedup.set(p)),
        (&["streams"], |_, p| Err(p.wrong("streams= belongs to wd="))),
    ];
}

impl Sd {
    fn set_lun(&mut self, parameter: &Parameter) -> Result<()> {
        if self.lun.is_some() && !self.name.is_empty() {
            return Err(parameter.wrong(
                "an SD has one lun=; several are for several machines, but workloads run only \
                                        on this one",
            ));
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
        let replicas = numbers.map(|number| {
            let name = format!("{}{number}", self.name);
            let mut replica = self.clone().named(&name, &self.place);
            replica.lun = Some(numbered(&lun, number));
            replica.count = None;
            replica
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
        let digits = width
            .trim_start_matches('0')
            .parse()
            .unwrap_or(0)
            .min(WIDTH_MAX);
        return if width.starts_with('0') {
            format!("{before}{number:0digits$}{after}")
        } else {
            format!("{before}{number:digits$}{after}")
        };
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
        assert_eq!(numbered("/d/f", 3), "/d/f3");
        assert_eq!(numbered("/d/f%04d.dat", 3), "/d/f0003.dat");
        assert_eq!(numbered("/d/f%dx", 12), "/d/f12x");
        assert_eq!(numbered("/d/f%99999999999999999999d", 1), "/d/f1");
        assert_eq!(numbered("/d/50%", 1), "/d/50%1");
    }
}
