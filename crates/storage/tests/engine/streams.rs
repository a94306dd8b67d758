//! Operation, size and offset of every kind of stream, by the recording, in virtual time.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use storage::engine::{MockDevice, Outcome, TraceRecord};
use storage::run::{Arrivals, Range, Rate, Run, Seek, Sizes, Stream, Stride, WeightedSize};

use super::common::{KIB, MIB, assert_share, fast, mocked, of, of_size, reads, run, stream};

const SIZE: u64 = 64 * MIB;
const BLOCK: u64 = 4 * KIB;
const IOPS: f64 = 1500.0;

fn percent(low_pct: f64, high_pct: f64) -> Range {
    Range::Percent { low_pct, high_pct }
}

fn mixed(name: &str, sd: usize) -> Stream {
    Stream {
        read_pct: 70.0,
        sizes: Sizes::Weighted(
            [(4, 60.0), (8, 30.0), (64, 10.0)]
                .map(|(kib, pct)| WeightedSize {
                    bytes: kib * KIB,
                    pct,
                })
                .to_vec(),
        ),
        ..stream(name, sd)
    }
}

type Change = fn(Stream) -> Stream;

/// One stream of each kind, each on a separate file.
fn kinds() -> Vec<(&'static str, Stream)> {
    let all: Vec<(&str, Change)> = vec![
        ("random", |s| s),
        ("mixed", |s| mixed("mixed", s.storage[0])),
        ("seekpct", |s| Stream {
            seek: Seek::Random { pct: 20.0 },
            ..s
        }),
        ("sequential", |s| Stream {
            seek: Seek::Sequential,
            read_pct: 0.0,
            range: percent(25.0, 26.5625),
            ..s
        }),
        ("hits", |s| Stream {
            read_pct: 50.0,
            read_hit_pct: 80.0,
            write_hit_pct: 30.0,
            ..s
        }),
        ("stride", |s| Stream {
            stride: Some(Stride {
                min_bytes: 8 * KIB,
                max_bytes: 16 * KIB,
            }),
            ..s
        }),
        ("poisson", |s| Stream {
            seek: Seek::Poisson { divisor: 3.0 },
            ..s
        }),
        ("wrapping", |s| Stream {
            range: percent(80.0, 120.0),
            ..s
        }),
        ("aligned", |s| Stream {
            sizes: Sizes::Uniform {
                min_bytes: 4 * KIB,
                max_bytes: 32 * KIB,
                align_bytes: 4 * KIB,
            },
            ..s
        }),
        ("hot", |s| Stream {
            hot_band: Some(percent(10.0, 30.0)),
            ..s
        }),
        ("parts", |s| Stream {
            seek: Seek::Sequential,
            sequential_streams: 4,
            ..s
        }),
        ("from_random", |s| Stream {
            seek: Seek::SequentialFromRandom,
            ..s
        }),
        ("offset", |s| s),
    ];
    let made = all.into_iter().enumerate();
    made.map(|(i, (name, change))| (name, change(stream(name, i))))
        .collect()
}

static ALL: LazyLock<Outcome> = LazyLock::new(|| {
    let (names, streams): (Vec<&str>, Vec<Stream>) = kinds().into_iter().unzip();
    let sds = names
        .iter()
        .map(|name| {
            let mut sd = of_size(name, SIZE);
            if *name == "aligned" {
                sd.align_bytes = Some(64 * KIB);
            }
            if *name == "offset" {
                sd.offset_bytes = 512;
            }
            sd
        })
        .collect();
    let rate = Rate::Fixed {
        iops: IOPS * streams.len() as f64,
    };
    let requested = Run {
        rate,
        ..run(sds, streams)
    };
    mocked(&requested, &fast())
});

fn named(name: &str) -> Vec<TraceRecord> {
    let number = kinds().iter().position(|(known, _)| *known == name);
    let records = of(&ALL, number.unwrap());
    assert!(records.len() > 500, "{name}: only {}", records.len());
    records
}

fn assert_within(records: &[TraceRecord], low: u64, high: u64) {
    for record in records {
        let end = record.offset_bytes + record.size_bytes;
        assert!(record.offset_bytes >= low && end <= high, "{record:?}");
        assert_eq!(record.result as u64, record.size_bytes, "{record:?}");
    }
}

#[test]
fn random_reads_are_spread_over_whole_blocks() {
    let records = named("random");
    assert_within(&records, 0, SIZE);
    assert_share("reads", &records, 1.0, reads);
    assert_share("whole blocks", &records, 1.0, |r| {
        r.offset_bytes % BLOCK == 0
    });
    for eighth in 0..8 {
        assert_share("one eighth", &records, 0.125, |r| {
            r.offset_bytes / (SIZE / 8) == eighth
        });
    }
}

#[test]
fn operations_and_sizes_are_mixed_as_requested() {
    let records = named("mixed");
    assert_within(&records, 0, SIZE);
    assert_share("reads", &records, 0.7, reads);
    for (kib, share) in [(4, 0.6), (8, 0.3), (64, 0.1)] {
        assert_share("a size", &records, share, |r| r.size_bytes == kib * KIB);
        let of_size: Vec<TraceRecord> = records
            .iter()
            .filter(|r| r.size_bytes == kib * KIB)
            .copied()
            .collect();
        let is_placed = |r: &TraceRecord| r.offset_bytes.is_multiple_of(r.size_bytes);
        assert!(of_size.iter().all(is_placed), "multiples of the size");
    }
}

/// With seekpct=20 an I/O continues the previous one with a probability of 80 %.
#[test]
fn seekpct_mixes_random_and_sequential() {
    let records = named("seekpct");
    let pairs: Vec<TraceRecord> = records
        .windows(2)
        .map(|pair| TraceRecord {
            result: i32::from(pair[1].offset_bytes == pair[0].offset_bytes + BLOCK),
            ..pair[1]
        })
        .collect();
    assert_share("continued", &pairs, 0.8, |r| r.result == 1);
}

#[test]
fn sequential_writes_follow_each_other_and_wrap_within_their_range() {
    let records = named("sequential");
    let (low, high) = (SIZE / 4, SIZE / 4 + MIB);
    assert_within(&records, low, high);
    assert_share("writes", &records, 0.0, reads);
    let mut expected = low;
    for record in &records {
        assert_eq!(record.offset_bytes, expected);
        expected = if expected + 2 * BLOCK > high {
            low
        } else {
            expected + BLOCK
        };
    }
    assert!(records.len() as u64 > MIB / BLOCK, "it wrapped");
}

#[test]
fn hits_go_to_the_hit_area_by_operation() {
    let records = named("hits");
    assert_within(&records, 0, SIZE);
    let of = |reading: bool| -> Vec<TraceRecord> {
        let wanted = records.iter().filter(|r| reads(r) == reading);
        wanted.copied().collect()
    };
    assert_share("read hits", &of(true), 0.8, |r| r.offset_bytes < MIB);
    assert_share("write hits", &of(false), 0.3, |r| r.offset_bytes < MIB);
}

#[test]
fn strides_skip_ahead_and_begin_again() {
    let records = named("stride");
    assert_within(&records, 0, SIZE);
    let mut wraps = 0;
    for pair in records.windows(2) {
        if pair[1].offset_bytes == 0 {
            wraps += 1;
            continue;
        }
        let gap = pair[1].offset_bytes - pair[0].offset_bytes - BLOCK;
        assert!((8 * KIB - 512..16 * KIB).contains(&gap), "{pair:?}");
    }
    assert!(wraps <= records.len() / 1000, "{wraps} wraps");
}

#[test]
fn poisson_prefers_the_beginning() {
    let records = named("poisson");
    let near = (1.0 - (-1.0_f64).exp()) / (1.0 - (-3.0_f64).exp());
    assert_share("first third", &records, near, |r| r.offset_bytes < SIZE / 3);
}

#[test]
fn a_range_past_the_end_goes_on_at_the_beginning() {
    let records = named("wrapping");
    assert_within(&records, 0, SIZE);
    assert_share("behind 80 %", &records, 0.5, |r| {
        r.offset_bytes >= SIZE / 10 * 8
    });
    assert_share("before 20 %", &records, 0.5, |r| {
        r.offset_bytes < SIZE / 10 * 2
    });
}

#[test]
fn align_holds_for_every_size() {
    let records = named("aligned");
    assert_within(&records, 0, SIZE);
    assert_share("aligned", &records, 1.0, |r| {
        r.offset_bytes % (64 * KIB) == 0
    });
    for step in 1..=8 {
        assert_share("one of eight sizes", &records, 0.125, |r| {
            r.size_bytes == step * 4 * KIB
        });
    }
}

#[test]
fn the_hot_band_is_used_alone_and_unevenly() {
    let records = named("hot");
    let (low, width) = (SIZE / 10, SIZE / 5);
    assert_within(&records, low - BLOCK, low + width);
    assert_share("a fifth of it", &records, 0.8, |r| {
        r.offset_bytes < low + width / 5
    });
}

#[test]
fn sequential_streams_take_turns_on_parts_of_their_own() {
    let records = named("parts");
    let mut next: HashMap<u64, u64> = HashMap::new();
    for (turn, record) in records.iter().enumerate() {
        let part = record.offset_bytes / (SIZE / 4);
        assert_eq!(part, turn as u64 % 4);
        let expected = next.entry(part).or_insert(part * SIZE / 4);
        assert_eq!(record.offset_bytes, *expected);
        *expected += BLOCK;
    }
}

#[test]
fn a_sequential_stream_may_begin_anywhere() {
    let records = named("from_random");
    assert_ne!(records[0].offset_bytes, 0);
    for pair in records.windows(2) {
        let is_next = pair[1].offset_bytes == pair[0].offset_bytes + BLOCK;
        assert!(is_next || pair[1].offset_bytes == 0, "{pair:?}");
    }
}

#[test]
fn an_offset_moves_every_address() {
    let records = named("offset");
    assert_within(&records, 512, SIZE + 512);
    assert_share("moved", &records, 1.0, |r| r.offset_bytes % BLOCK == 512);
}

#[test]
fn a_seed_repeats_the_run() {
    let requested = Run {
        rate: Rate::Fixed { iops: 1000.0 },
        arrivals: Arrivals::Uniform,
        ..run(vec![of_size("sd1", SIZE)], vec![mixed("wd1", 0)])
    };
    let what = |outcome: &Outcome| -> Vec<(u64, u64, u64, bool)> {
        let records = of(outcome, 0);
        let all = records.iter();
        all.map(|r| (r.intended_ns, r.offset_bytes, r.size_bytes, reads(r)))
            .collect()
    };
    let slow = MockDevice::of(1, Duration::from_micros(1200));
    let (first, second, slow) = (
        mocked(&requested, &fast()),
        mocked(&requested, &fast()),
        mocked(&requested, &slow),
    );
    assert_eq!(what(&first), what(&second));
    let slow = what(&slow);
    assert!(slow.len() > 1000 && slow.len() < what(&first).len());
    assert_eq!(slow, what(&first)[..slow.len()], "whatever the device does");
}
