//! I/Os of one stream in their order.
//!
//! Read or write, intended start, size, hit or miss, random or sequential, address: always in this order and from the
//! stream's own generator, so that a seed repeats the run whatever the device does.

use stats::random::Random;

use super::address::{Area, Rule};
use super::arrival::ArrivalProcess;
use super::error::Operation;
use crate::run::{Seek, Sizes};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Planned {
    pub operation: Operation,
    /// Since the start of the run; 0 without a pace.
    pub intended_ns: u64,
    pub size: u64,
    pub address: u64,
}

/// Origin of the intended starts of a stream.
#[derive(Debug, Clone)]
pub(crate) enum Pace {
    None,
    Clock(ArrivalProcess),
    /// Arrivals only order the streams.
    Order(ArrivalProcess),
}

#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub random: Random,
    pub pace: Pace,
    pub sizes: Sizes,
    pub read_pct: f64,
    /// Percent of hits, of reads and of writes.
    pub hit_pct: [f64; 2],
    pub hit_area: Option<Area>,
    /// Areas of the misses: one, or one for each sequential stream, in turn.
    pub areas: Vec<Area>,
    pub turn: usize,
    pub rule: Rule,
    /// End of the address space in whole blocks: a range beyond it continues at the beginning.
    pub wrap_at: u64,
    pub first: u64,
}

impl Source {
    #[inline(always)] // drawn in place: a copy of what was just put together stalls
    pub fn next(&mut self) -> Option<Planned> {
        let operation = if chance(&mut self.random, self.read_pct) {
            Operation::Read
        } else {
            Operation::Write
        };
        let intended_ns = match &mut self.pace {
            Pace::None => 0,
            Pace::Clock(arrivals) | Pace::Order(arrivals) => arrivals.next_ns(&mut self.random),
        };
        let size = draw_size(&self.sizes, &mut self.random);
        let hit_pct = self.hit_pct[operation.index()];
        let area = match &mut self.hit_area {
            Some(hits) if chance(&mut self.random, hit_pct) => hits,
            _ => {
                self.turn = if self.turn + 1 < self.areas.len() {
                    self.turn + 1
                } else {
                    0
                };
                &mut self.areas[self.turn]
            }
        };
        let address = area.next(&self.rule, size, &mut self.random)?;
        Some(Planned {
            operation,
            intended_ns,
            size,
            address: self.wrap(address, size),
        })
    }

    /// Draws only the next intended start, to count I/Os that were due and not carried out.
    pub fn next_intended_ns(&mut self) -> Option<u64> {
        match &mut self.pace {
            Pace::Clock(arrivals) => Some(arrivals.next_ns(&mut self.random)),
            Pace::None | Pace::Order(_) => None,
        }
    }

    pub fn ends(&self) -> bool {
        matches!(self.rule.seek, Seek::SequentialToEnd)
    }

    #[inline]
    fn wrap(&self, address: u64, size: u64) -> u64 {
        if address + size <= self.wrap_at {
            return address;
        }
        address.saturating_sub(self.wrap_at).max(self.first)
    }
}

#[inline]
fn chance(random: &mut Random, pct: f64) -> bool {
    pct >= 100.0 || (pct > 0.0 && random.unit() * 100.0 < pct)
}

#[inline]
fn draw_size(sizes: &Sizes, random: &mut Random) -> u64 {
    match sizes {
        Sizes::Fixed(bytes) => *bytes,
        Sizes::Weighted(sizes) => {
            let mut point = random.unit() * 100.0;
            let mut bytes = 0;
            for size in sizes {
                bytes = size.bytes;
                if point < size.pct {
                    break;
                }
                point -= size.pct;
            }
            bytes
        }
        Sizes::Uniform {
            min_bytes,
            max_bytes,
            align_bytes,
        } => {
            let align = (*align_bytes).max(1);
            let steps = max_bytes.saturating_sub(*min_bytes) / align;
            min_bytes + random.range(0, steps) * align
        }
    }
}
