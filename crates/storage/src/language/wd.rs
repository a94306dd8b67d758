//! Workload definitions (WDs): the I/Os that SDs receive.

use super::error::{Position, Result};
use super::flags;
use super::lexer::Parameter;
use super::limits::{BYTES_MAX, IOPS_MAX, SECTOR, THREADS_MAX, TRANSFER_BYTES_MAX};
use super::refused::host;
use super::value::{Unit, begins, number};
use super::words::{Definition, Keywords, Section, keywords, put};
use crate::run::{OpenFlags, Range, Seek, Sizes, Stride, WeightedSize};

const TRANSFER_BYTES_DEFAULT: u64 = 4096;
/// Tolerance of the sum of percentages that must be 100.
pub(super) const PERCENT_TOLERANCE: f64 = 1e-4;
const POISSON_DIVISOR: f64 = 3.0;
const STREAMS_MAX: u64 = 65_536;

#[derive(Debug, Clone)]
pub(super) struct Wd {
    pub name: String,
    pub place: Position,
    pub sds: Vec<String>,
    pub skew_pct: f64,
    pub sizes: Sizes,
    pub read_pct: f64,
    pub range: Option<Range>,
    pub hot_band: Option<Range>,
    pub seek: Seek,
    pub stride: Option<Stride>,
    pub priority: Option<u32>,
    pub iops: Option<f64>,
    pub read_hit_pct: f64,
    pub write_hit_pct: f64,
    pub open_flags: Option<OpenFlags>,
    pub threads: Option<u32>,
    pub streams: u32,
}

impl Default for Wd {
    fn default() -> Self {
        Self {
            name: "default".to_owned(),
            place: Position::default(),
            sds: Vec::new(),
            skew_pct: 0.0,
            sizes: Sizes::Fixed(TRANSFER_BYTES_DEFAULT),
            read_pct: 100.0,
            range: None,
            hot_band: None,
            seek: Seek::Random { pct: 100.0 },
            stride: None,
            priority: None,
            iops: None,
            read_hit_pct: 0.0,
            write_hit_pct: 0.0,
            open_flags: None,
            threads: None,
            streams: 1,
        }
    }
}

impl Definition for Wd {
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

impl Section for Wd {
    const HEAD: &'static str = "wd";
    const KEYWORDS: Keywords<Self> = keywords! {
        "sd" => |wd, p| put(&mut wd.sds, Ok(p.values.clone()));
        "skew" => |wd, p| put(&mut wd.skew_pct, p.percent());
        "xfersize" => |wd, p| put(&mut wd.sizes, sizes(p));
        "rdpct" "readpct" => |wd, p| put(&mut wd.read_pct, p.percent().map(f64::trunc));
        "writepct" "wrpct" => |wd, p| put(&mut wd.read_pct, p.percent().map(|pct| 100.0 - pct.trunc()));
        "range" => |wd, p| put(&mut wd.range, flags::range(p).map(Some));
        "hotband" => |wd, p| put(&mut wd.hot_band, flags::range(p).map(Some));
        "seekpct" => |wd, p| put(&mut wd.seek, seek(p));
        "stride" => |wd, p| put(&mut wd.stride, stride(p).map(Some));
        "priority" => |wd, p| put(&mut wd.priority, count(p, 1, 1000).map(Some));
        "iorate" => |wd, p| put(&mut wd.iops, fixed_rate(p).map(Some));
        "rhpct" => |wd, p| put(&mut wd.read_hit_pct, p.percent());
        "whpct" => |wd, p| put(&mut wd.write_hit_pct, p.percent());
        "host" "hd" => |_, p| host(p);
        "openflags" => |wd, p| put(&mut wd.open_flags, flags::open_flags(p).map(Some));
        "user" => |_, p| Err(p.wrong("user classes are not supported; leave it out"));
        "threads" => |wd, p| put(&mut wd.threads, count(p, 1, THREADS_MAX).map(Some));
        "streams" => |wd, p| put(&mut wd.streams, count(p, 2, STREAMS_MAX));
    };
}

fn count(parameter: &Parameter, low: u64, high: u64) -> Result<u32> {
    Ok(parameter.whole(low, high, Unit::Amount)? as u32)
}

/// One size, pairs of size and percentage, or bounds with their step.
fn sizes(parameter: &Parameter) -> Result<Sizes> {
    let numbers = parameter.numbers(Unit::Amount)?;
    match numbers[..] {
        [bytes] => Ok(Sizes::Fixed(parameter.whole_of(bytes, 1, TRANSFER_BYTES_MAX)?)),
        [min, max, align] => uniform(parameter, min, max, align),
        _ if numbers.len() % 2 == 0 => weighted(parameter, &numbers),
        _ => Err(parameter.wrong(
            "give one size, pairs (size,percent,…) or (min,max,align); to loop over sizes, use xfersize= of rd=",
        )),
    }
}

fn uniform(parameter: &Parameter, min: f64, max: f64, align: f64) -> Result<Sizes> {
    let sectors = |value| parameter.whole_of(value, SECTOR, TRANSFER_BYTES_MAX);
    let (min_bytes, max_bytes, align_bytes) = (sectors(min)?, sectors(max)?, sectors(align)?);
    let all = [min_bytes, max_bytes, align_bytes];
    if all.iter().any(|bytes| bytes % SECTOR != 0) {
        return Err(parameter.wrong("min, max and align must be multiples of 512"));
    }
    if min_bytes % align_bytes != 0 || max_bytes % align_bytes != 0 || max_bytes < min_bytes {
        return Err(parameter.wrong(
            "three sizes mean (min,max,align): min and max must be multiples of align, and max at least min; a list of \
             sizes is a loop at the rd=",
        ));
    }
    Ok(Sizes::Uniform {
        min_bytes,
        max_bytes,
        align_bytes,
    })
}

fn weighted(parameter: &Parameter, numbers: &[f64]) -> Result<Sizes> {
    let mut found = Vec::with_capacity(numbers.len() / 2);
    for pair in numbers.chunks_exact(2) {
        let bytes = parameter.whole_of(pair[0], SECTOR, TRANSFER_BYTES_MAX)?;
        if bytes % SECTOR != 0 {
            return Err(parameter.wrong("sizes in a list must be multiples of 512"));
        }
        // `50%` means 50 here.
        found.push(WeightedSize {
            bytes,
            pct: pair[1].abs(),
        });
    }
    let total: f64 = found.iter().map(|size| size.pct).sum();
    if (total - 100.0).abs() > PERCENT_TOLERANCE {
        let hint = if found.iter().all(|size| size.pct >= SECTOR as f64) {
            "; wd= takes pairs of size and percentage, and a list of sizes is a loop at the rd="
        } else {
            ""
        };
        return Err(parameter.wrong(format!(
            "the percentages of sizes add up to {total}; they must add up to 100{hint}"
        )));
    }
    Ok(Sizes::Weighted(found))
}

/// A percentage of random I/Os, or the name of an order.
fn seek(parameter: &Parameter) -> Result<Seek> {
    let wrong = || {
        let what =
            "give a percentage, random, sequential, seqnz, eof, poisson or (poisson,divisor)";
        parameter.wrong(what)
    };
    if let [word, divisor] = parameter.values.as_slice() {
        let divisor = number(divisor, Unit::Amount).filter(|divisor| *divisor > 0.0);
        return match divisor {
            Some(divisor) if begins("poisson", word) => Ok(Seek::Poisson { divisor }),
            _ => Err(wrong()),
        };
    }
    let word = parameter.word()?;
    if let Some(pct) = number(word, Unit::Amount) {
        return seek_of(parameter, pct);
    }
    let divisor = POISSON_DIVISOR;
    let orders = [
        ("sequential", Seek::Sequential),
        ("seqnz", Seek::SequentialFromRandom),
        ("sequentialnz", Seek::SequentialFromRandom),
        ("random", Seek::Random { pct: 100.0 }),
        ("eof", Seek::SequentialToEnd),
        ("poisson", Seek::Poisson { divisor }),
    ];
    let found = orders.into_iter().find(|(name, _)| begins(name, word));
    found.map(|(_, order)| order).ok_or_else(wrong)
}

/// Order of addresses for a percentage of random I/Os.
pub(super) fn seek_of(parameter: &Parameter, pct: f64) -> Result<Seek> {
    if pct == -1.0 {
        Ok(Seek::SequentialToEnd)
    } else if pct == 0.0 {
        Ok(Seek::Sequential)
    } else if (0.0..=100.0).contains(&pct) {
        Ok(Seek::Random { pct })
    } else {
        Err(parameter.wrong("must be a percentage from 0 to 100, or -1 to stop at the end"))
    }
}

fn stride(parameter: &Parameter) -> Result<Stride> {
    let numbers = parameter.numbers(Unit::Amount)?;
    let [min, max] = numbers[..] else {
        return Err(parameter.wrong("give stride=(min,max) in bytes"));
    };
    let bytes = |value| parameter.whole_of(value, 0, BYTES_MAX);
    let stride = Stride {
        min_bytes: bytes(min)?,
        max_bytes: bytes(max)?,
    };
    if stride.max_bytes < stride.min_bytes {
        return Err(parameter.wrong("max is below min; give stride=(min,max)"));
    }
    Ok(stride)
}

fn fixed_rate(parameter: &Parameter) -> Result<f64> {
    let iops = parameter.number(Unit::Amount)?;
    if iops <= 0.0 || iops > IOPS_MAX {
        return Err(parameter.wrong("must be a number of I/Os per second above 0"));
    }
    Ok(iops)
}
