//! The parameter file of the published appendix: what its list says is what a recording of every I/O shows.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use storage::engine::{self, Operation, Options, TraceRecord};
use storage::language::{Asked, Variable, script};
use storage::run::{Run, Seek};

use super::Place;

const SD_BYTES: u64 = 64 << 20;
const BLOCK: u64 = 8192;
/// I/Os of each worker that are recorded.
const TRACE_MAX: usize = 200_000;
/// I/Os among which the one before in the order of addresses is looked for.
const NEAR: usize = 16;

fn appendix(place: &Place) -> Vec<Run> {
    let variable = |name: &str, value: String| Variable {
        name: name.to_owned(),
        value,
    };
    let asked = Asked {
        files: vec![PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/vdbench/appendix_f.txt"
        ))],
        variables: vec![
            variable("dir", place.folder.path().display().to_string()),
            variable("size", SD_BYTES.to_string()),
        ],
        ..Asked::default()
    };
    script(&asked, &storage::language::read_file).unwrap().runs
}

/// One second of a run, through the page cache so that it goes on any file system.
fn recorded(mut run: Run) -> Vec<TraceRecord> {
    run.elapsed_s = Some(1);
    run.interval_s = 1;
    run.warmup_s = 0;
    run.storage
        .iter_mut()
        .for_each(|sd| sd.open_flags.direct = false);
    let stop = AtomicBool::new(false);
    let options = Options {
        trace_max: TRACE_MAX,
        ..Options::new(7, &stop)
    };
    let outcome = engine::run(&run, &options, &mut |_| {}).unwrap();
    assert_eq!(outcome.faults_count, 0, "{:?}", outcome.faults);
    outcome.trace.unwrap().records
}

/// Asserts that `found` of `of` is `wanted`, within five deviations of a draw.
fn share(what: &str, found: usize, of: usize, wanted: f64) {
    let deviation = (wanted * (1.0 - wanted) / of as f64).sqrt();
    let found = found as f64 / of as f64;
    assert!(
        (found - wanted).abs() <= 5.0 * deviation + 0.01,
        "{what}: {found} of {of}, wanted {wanted}"
    );
}

/// I/Os that do not go to the block behind one that began shortly before or after.
fn jumps(records: &[&TraceRecord]) -> usize {
    let near =
        |index: usize| &records[index.saturating_sub(NEAR)..(index + NEAR).min(records.len())];
    let jumps = records.iter().enumerate().filter(|(index, record)| {
        let before = (record.offset_bytes + SD_BYTES - BLOCK) % SD_BYTES;
        !near(*index)
            .iter()
            .any(|other| other.offset_bytes == before)
    });
    jumps.count()
}

#[test]
fn every_kind_of_the_appendix_does_what_its_list_says() {
    let place = Place::new();
    for number in 1..=10 {
        place.file(&format!("mpath{number}.dat"), SD_BYTES);
    }
    let runs = appendix(&place);
    let names = [
        "rd_fill",
        "rd_random_5w",
        "rd_75per_random_10w",
        "rd_50per_random_15w",
        "rd_25per_random_20w",
        "rd_sequential_30w",
    ];
    for name in names {
        let run = runs.iter().find(|run| run.name == name).unwrap();
        let records = recorded(run.clone());
        assert!(records.len() > 1000, "{name}: only {} I/Os", records.len());
        let reads = records
            .iter()
            .filter(|record| record.operation == Operation::Read)
            .count();
        share(name, reads, records.len(), run.streams[0].read_pct / 100.0);

        let mut by_sd: BTreeMap<usize, Vec<&TraceRecord>> = BTreeMap::new();
        for record in &records {
            assert_eq!((record.size_bytes, record.offset_bytes % BLOCK), (BLOCK, 0));
            assert!(record.offset_bytes + BLOCK <= SD_BYTES && record.stream == record.storage);
            by_sd.entry(record.storage).or_default().push(record);
        }
        assert_eq!(by_sd.len(), 10, "{name}: every SD is used");
        let (mut jumped, mut of) = (0, 0);
        for records in by_sd.values_mut() {
            records.sort_by_key(|record| record.issued_ns);
            jumped += jumps(records);
            of += records.len();
            // At most 10 in flight: the eleventh begins when one has ended.
            let most = in_flight_max(records);
            assert!((1..=10).contains(&most), "{name}: {most} in flight");
        }
        let random = match run.streams[0].seek {
            Seek::Random { pct } => pct / 100.0,
            _ => 0.0,
        };
        share(name, jumped, of, random);
    }
}

fn in_flight_max(records: &[&TraceRecord]) -> i64 {
    let begin = records.iter().map(|record| (record.submitted_ns, 1));
    let end = records.iter().map(|record| (record.completed_ns, -1));
    let mut changes: Vec<(u64, i64)> = begin.chain(end).collect();
    changes.sort_unstable();
    let mut now = 0;
    changes
        .iter()
        .map(|(_, change)| {
            now += change;
            now
        })
        .max()
        .unwrap_or(0)
}
