use std::io::{Read, Write};

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use stats::Histogram;
use stats::histogram::LATENCY_NS_MAX;
use testing::{each_seed, peak_bytes};

/// A histogram takes 270 kB, and reading one a few times that.
const MEMORY_BYTES_MAX: usize = 4 << 20;

fn inflate(encoded: &[u8]) -> Vec<u8> {
    let mut inner = Vec::new();
    ZlibDecoder::new(&encoded[8..])
        .read_to_end(&mut inner)
        .unwrap();
    inner
}

fn deflate(inner: &[u8]) -> Vec<u8> {
    let mut stream = ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    stream.write_all(inner).unwrap();
    let stream = stream.finish().unwrap();
    let mut encoded = 0x1c84_9314_u32.to_be_bytes().to_vec();
    encoded.extend((stream.len() as u32).to_be_bytes());
    encoded.extend(stream);
    encoded
}

fn some() -> Histogram {
    let mut some = Histogram::new();
    (0..1000).for_each(|n| some.record_ns(n * n * 977));
    some.record_ns(LATENCY_NS_MAX);
    some
}

#[test]
fn lengths_and_bounds_are_checked_before_memory_is_taken_for_them() {
    let inner = inflate(&some().encode());
    assert_eq!(Histogram::decode(&deflate(&inner)).unwrap(), some());
    let with = |at: usize, number: &[u8]| {
        let mut inner = inner.clone();
        inner[at..at + number.len()].copy_from_slice(number);
        deflate(&inner)
    };
    let hostile = [
        with(4, &u32::MAX.to_be_bytes()),
        with(12, &5_u32.to_be_bytes()),
        with(24, &(u64::MAX / 2).to_be_bytes()),
        // Forty bytes that become 64 MiB.
        deflate(&vec![0; 64 << 20]),
    ];
    for blob in hostile {
        let (decoded, taken) = peak_bytes(|| Histogram::decode(&blob));
        assert!(decoded.is_err());
        assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes");
    }
}

#[test]
fn a_changed_histogram_is_read_or_refused() {
    let encoded = some().encode();
    let inner = inflate(&encoded);
    each_seed(5_000, |source| {
        let blob = match source.below(4) {
            0 => {
                let mut blob = encoded.clone();
                source.mutate(&mut blob);
                blob
            }
            _ => {
                let mut changed = inner.clone();
                source.mutate(&mut changed);
                deflate(&changed)
            }
        };
        let (decoded, taken) = peak_bytes(|| Histogram::decode(&blob));
        assert!(taken < MEMORY_BYTES_MAX, "{taken} bytes");
        if let Ok(read) = decoded {
            assert!(read.max_us() <= LATENCY_NS_MAX as f64 / 1e3 * 1.01);
            read.buckets_us().for_each(drop);
        }
    });
}
