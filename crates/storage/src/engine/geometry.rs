//! From a run to addresses: the space of each stream, its range, its areas, its pace.

use stats::random::Random;

use super::address::{Area, Rule};
use super::arrival::ArrivalProcess;
use super::error::EngineError;
use super::files::{Extent, SECTOR_BYTES};
use super::source::{Pace, Source};
use crate::run::{Arrivals, Range, Rate, Run, Seek, Stream};

const PHYSICAL_BYTES: u64 = 4096;
const HOT_BAND_BYTES_MIN: u64 = 1 << 20;
/// Rate by which a controlled maximum orders its I/Os.
const CONTROLLED_IOPS: f64 = 9_999_988.0;

/// Addresses of one stream: those of its SDs, concatenated.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    members: Vec<Member>,
    /// First usable address.
    first: u64,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    start: u64,
    end: u64,
    first: u64,
}

impl Space {
    /// Concatenated SDs give whole transfers of the smallest size, so that the addresses of the next SD are aligned
    /// as well, and every device spares its first block.
    pub fn new(run: &Run, stream: &Stream, storage: &[Extent]) -> Self {
        let largest = block_bytes(run, stream);
        let spared = |sd: usize| {
            if storage[sd].spare_first_block {
                largest
            } else {
                0
            }
        };
        if let [only] = stream.storage[..] {
            let (first, end) = (spared(only), storage[only].size_bytes);
            let alone = Member {
                start: 0,
                end,
                first: 0,
            };
            return Self {
                members: vec![alone],
                first,
            };
        }
        let mut end = 0;
        let member = |&sd: &usize| {
            let (start, first) = (end, spared(sd));
            let unit = run.transfer_bytes_min(sd);
            end += storage[sd].size_bytes.saturating_sub(first) / unit * unit;
            Member { start, end, first }
        };
        let members = stream.storage.iter().map(member).collect();
        Self { members, first: 0 }
    }

    pub fn size(&self) -> u64 {
        self.members.last().map_or(0, |member| member.end)
    }

    fn narrowest(&self) -> u64 {
        let widths = self.members.iter().map(|member| member.end - member.start);
        widths.min().unwrap_or(0)
    }

    /// Index of the member, and address on its SD; an I/O that would straddle two goes to the start of the second.
    #[inline]
    pub fn place(&self, address: u64, size: u64) -> (usize, u64) {
        if self.members.len() == 1 {
            return (0, address);
        }
        let number = self.members.partition_point(|member| member.end <= address);
        match self.members.get(number) {
            Some(member) if address + size <= member.end => {
                (number, address - member.start + member.first)
            }
            _ => {
                let next = (number + 1) % self.members.len();
                (next, self.members[next].first)
            }
        }
    }
}

pub(crate) fn source(
    run: &Run,
    index: usize,
    storage: &[Extent],
    seed: u64,
) -> Result<Source, EngineError> {
    let stream = &run.streams[index];
    let space = Space::new(run, stream, storage);
    let block = block_bytes(run, stream);
    let wrap_at = space.size() / block * block;
    let first = space.first;
    let banded = stream.hot_band.is_some();
    let range = stream.hot_band.unwrap_or(stream.range);
    let (low, high) = bounds(range, space.size(), banded);
    let low = (low / block * block).max(first);
    let high = (high / block * block).min(low.saturating_add(wrap_at));
    let narrow = |width| EngineError::Narrow {
        workload: stream.workload.clone(),
        sds: sd_names(run, stream),
        width_bytes: width,
        size_bytes: block,
    };
    let width = high.saturating_sub(low);
    if width < 2 * block || space.narrowest() < stream.size_bytes_max() {
        return Err(narrow(width.min(space.narrowest())));
    }
    let mut random = Random::stream(seed, index as u64);
    let (hit_area, rest) = hit_area(run, stream, low, high, block).ok_or_else(|| narrow(width))?;
    let mut areas = rest.split(u64::from(stream.sequential_streams), block);
    if areas.iter().any(|area| area.width() < block) {
        return Err(narrow(width));
    }
    if stream.seek == Seek::SequentialFromRandom {
        for area in &mut areas {
            area.begin_anywhere(block, &mut random);
        }
    }
    let mut sds = stream.storage.iter().map(|sd| &run.storage[*sd]);
    let align_bytes = sds.find_map(|sd| sd.align_bytes.filter(|align| *align > 0));
    Ok(Source {
        random,
        pace: pace(run, stream),
        sizes: stream.sizes.clone(),
        read_pct: stream.read_pct,
        hit_pct: [stream.read_hit_pct, stream.write_hit_pct],
        hit_area,
        turn: areas.len() - 1,
        areas,
        rule: Rule {
            seek: stream.seek,
            stride: stream.stride,
            align_bytes,
            jump_bytes: align_bytes.unwrap_or_else(|| jump_bytes(run, stream, storage)),
            hot: banded,
        },
        wrap_at,
        first,
    })
}

/// Alignment of strides without `align=`: the device's unit, the physical block of most devices if transfers are
/// multiples of it, or a validated block.
fn jump_bytes(run: &Run, stream: &Stream, storage: &[Extent]) -> u64 {
    let mut sds = stream.storage.iter();
    if let Some(sd) = sds.find(|sd| run.storage[**sd].content.validation.is_some()) {
        return run.transfer_bytes_min(*sd);
    }
    let mut parts = stream.sizes.parts_bytes().into_iter();
    let of_transfers = if parts.all(|bytes| bytes.is_multiple_of(PHYSICAL_BYTES)) {
        PHYSICAL_BYTES
    } else {
        SECTOR_BYTES
    };
    let units = stream.storage.iter().map(|sd| storage[*sd].unit_bytes);
    units.fold(of_transfers, u64::max)
}

pub(crate) fn sd_names(run: &Run, stream: &Stream) -> String {
    let sds = stream.storage.iter().map(|sd| &run.storage[*sd]);
    let names: Vec<&str> = sds.map(|sd| sd.name.as_str()).collect();
    names.join(" and ")
}

/// Largest transfer of all streams on the same SDs, to which bounds are aligned.
fn block_bytes(run: &Run, stream: &Stream) -> u64 {
    let beside = |other: &&Stream| other.storage.iter().any(|sd| stream.storage.contains(sd));
    let sizes = run.streams.iter().filter(beside);
    sizes.map(Stream::size_bytes_max).max().unwrap_or(1).max(1)
}

fn bounds(range: Range, size: u64, banded: bool) -> (u64, u64) {
    let percent = |pct: f64| (size as f64 * pct / 100.0) as u64;
    let (low, high) = match range {
        Range::Whole => (0, size),
        Range::Percent { low_pct, high_pct } => (percent(low_pct), percent(high_pct)),
        Range::Bytes { low, high } => (low, high.min(size)),
    };
    if banded {
        (low, high.max(low + HOT_BAND_BYTES_MIN))
    } else {
        (low, high)
    }
}

/// The hit area at the start of the range, and the rest of it; `None` when nothing remains.
fn hit_area(
    run: &Run,
    stream: &Stream,
    low: u64,
    high: u64,
    block: u64,
) -> Option<(Option<Area>, Area)> {
    if stream.read_hit_pct <= 0.0 && stream.write_hit_pct <= 0.0 {
        return Some((None, Area::new(low, high)));
    }
    let sd = stream.storage.first();
    let requested = sd.map_or(0, |sd| run.storage[*sd].hit_area_bytes);
    let end = low + (requested / block * block).max(block);
    (end + block <= high).then(|| (Some(Area::new(low, end)), Area::new(end, high)))
}

fn pace(run: &Run, stream: &Stream) -> Pace {
    if let Some(iops) = stream.iops {
        return Pace::Clock(ArrivalProcess::fixed(iops, run.arrivals));
    }
    let of_clock =
        |iops: f64| Pace::Clock(ArrivalProcess::fixed(iops * stream.share, run.arrivals));
    match &run.rate {
        rate if rate.is_controlled() => Pace::Order(ArrivalProcess::fixed(
            CONTROLLED_IOPS * stream.share,
            // Spikes depend on the clock; only the order matters here.
            match run.arrivals {
                Arrivals::Spike => Arrivals::Deterministic,
                other => other,
            },
        )),
        Rate::Max { .. } => Pace::None,
        Rate::Fixed { iops } => of_clock(*iops),
        // `resolve` makes both of them fixed rates before a run begins.
        Rate::Curve(_) | Rate::PercentOfPrevious { .. } => of_clock(0.0),
        Rate::Variable { steps } => {
            Pace::Clock(ArrivalProcess::variable(steps, stream.share, run.arrivals))
        }
    }
}

/// Mean distance of two I/Os of a stream, by which a controlled maximum orders them.
pub(crate) fn controlled_gap_ns(share: f64) -> f64 {
    1e9 / (CONTROLLED_IOPS * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Sizes, StorageDefinition, Stride};

    /// Addresses of reads of `size` in strides, on a device with units of `unit_bytes`.
    fn strides(size: u64, unit_bytes: u64) -> Vec<u64> {
        let sd = StorageDefinition::whole("sd1", "f");
        let stream = Stream {
            sizes: Sizes::Fixed(size),
            stride: Some(Stride {
                min_bytes: 8192,
                max_bytes: 32_768,
            }),
            ..Stream::random_reads("wd1", 0, size)
        };
        let run = Run::fill("rd1", String::new(), vec![sd], vec![stream]);
        let extent = Extent {
            size_bytes: 64 << 20,
            offset_bytes: 0,
            spare_first_block: true,
            unit_bytes,
        };
        let mut source = source(&run, 0, &[extent], 1).unwrap();
        (0..2000)
            .map_while(|_| source.next())
            .map(|io| io.address)
            .collect()
    }

    #[test]
    fn strides_lead_to_whole_blocks_of_the_device() {
        for (size, unit, multiple) in [
            (4096, 512, 4096),
            (4096, 4096, 4096),
            (65_536, 512, 4096),
            (65_536, 16_384, 16_384),
            (6144, 512, 512),
        ] {
            let all = strides(size, unit);
            let is_whole = |address: &u64| address.is_multiple_of(multiple);
            assert_eq!(all.len(), 2000);
            assert!(all.iter().all(is_whole), "{size} on {unit}");
            let is_odd = |address: &u64| !address.is_multiple_of(2 * multiple);
            assert!(all.iter().any(is_odd));
        }
    }
}
