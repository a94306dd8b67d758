//! Example files give the same runs in the same order as real outputs.

use std::path::Path;

use storage::engine::format_run;
use storage::language::{simulation, workloads};
use storage::run::{CurvePoint, Range, Rate, Run, Seek, Sizes, WeightedSize};

use super::{example, read, read_example};

/// Lines of `NAME.runs`, taken from real outputs.
fn shown(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(example(name)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn listed(runs: &[Run]) -> Vec<String> {
    let text = simulation(runs);
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines.pop(),
        Some("Vdbench simulation completed successfully")
    );
    let lines = lines
        .into_iter()
        .map(|line| line.strip_prefix("Simulating ").unwrap().to_owned());
    lines.collect()
}

#[test]
fn curves_and_loops_are_expanded_as_shown() {
    let script = read_example("parm1.txt", &[]);
    assert_eq!(listed(&script.runs), shown("parm1.runs"));
    let point = &script.runs[8];
    let expected = CurvePoint {
        pct: 75.0,
        maximum_run: 5,
        shares_observed: true,
    };
    assert_eq!(point.rate, Rate::Curve(expected));
    assert_eq!(point.storage[0].threads, 1);
    assert_eq!(point.streams[0].sizes, Sizes::Fixed(8192));
    let last = script.runs.last().unwrap();
    assert_eq!(last.storage[0].threads, 4);
    assert!(last.storage[0].open_flags.direct);
    let half = |bytes| WeightedSize { bytes, pct: 50.0 };
    assert_eq!(
        last.streams[0].sizes,
        Sizes::Weighted(vec![half(4096), half(8192)])
    );
}

#[test]
fn plain_runs_are_as_shown() {
    let script = read_example("parm2.txt", &[]);
    assert_eq!(listed(&script.runs), shown("parm2.runs"));
    let [max, paced] = script.runs.as_slice() else {
        panic!("two runs")
    };
    // Both outputs end with avg_2-5.
    assert_eq!(max.intervals(), Some(5));
    assert_eq!(max.first_counted_interval(), 2);
    assert_eq!(paced.intervals(), Some(5));
    assert_eq!(paced.first_counted_interval(), 2);
    assert_eq!(paced.storage[0].threads, 16);
    assert_eq!(paced.streams[0].read_pct, 70.0);
    // Without a size no file needs a format.
    assert_eq!(format_run(&script.runs, false, None), None);
}

#[test]
fn skew_single_and_format_are_as_shown() {
    let script = read_example("parm3.txt", &[]);
    let format = format_run(&script.runs, false, None).unwrap();
    let all: Vec<Run> = [format.clone()]
        .into_iter()
        .chain(script.runs.clone())
        .collect();
    assert_eq!(listed(&all), shown("parm3.runs"));

    // wd1 on sd1 has 70 %; wd2 has the rest, half on each SD.
    let shares: Vec<_> = script.runs[0]
        .streams
        .iter()
        .map(|s| (s.workload.as_str(), s.storage[0], s.share))
        .collect();
    assert_eq!(
        shares,
        [("wd1", 0, 0.7), ("wd2", 0, 0.15), ("wd2", 1, 0.15)]
    );
    assert!(script.runs[0].writes_to(0) && script.runs[0].writes_to(1));
    assert!(!script.runs[1].writes_to(0), "wd3 reads alone");
    let alone: Vec<_> = script.runs[1..3]
        .iter()
        .map(|run| run.storage[0].name.as_str())
        .collect();
    assert_eq!(alone, ["sd1", "sd2"]);
    assert_eq!(script.runs[3].streams[0].seek, Seek::Random { pct: 20.0 });

    let names: Vec<_> = format
        .streams
        .iter()
        .map(|s| (s.workload.as_str(), s.share, &s.sizes))
        .collect();
    let blocks = Sizes::Fixed(128 << 10);
    assert_eq!(
        names,
        [
            ("SD_format_sd1", 0.5, &blocks),
            ("SD_format_sd2", 0.5, &blocks)
        ]
    );
    assert!(
        format
            .streams
            .iter()
            .all(|s| s.read_pct == 0.0 && s.seek == Seek::SequentialToEnd)
    );
}

#[test]
fn only_what_is_missing_is_formatted() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a"), vec![0; (1 << 20) + 5]).unwrap();
    std::fs::write(path("b"), vec![0; 2 << 20]).unwrap();
    let text = format!(
        "sd=default,size=2m\nsd=a,lun={0}/a\nsd=b,lun={0}/b\nsd=c,lun={0}/c\nrd=rd1,sd=single,iorate=1",
        folder.path().display()
    );
    let runs = read(&text).unwrap().runs;
    let parts = |rewrite| -> Vec<(String, Range)> {
        let format = format_run(&runs, rewrite, Some(64 << 10)).unwrap();
        let streams = format.streams.into_iter();
        streams.map(|s| (s.workload, s.range)).collect()
    };
    let part = |name: &str, low| {
        let range = Range::Bytes { low, high: 2 << 20 };
        (format!("SD_format_{name}"), range)
    };
    assert_eq!(parts(false), [part("a", 1 << 20), part("c", 0)]);
    assert_eq!(parts(true), [part("a", 0), part("b", 0), part("c", 0)]);
}

#[test]
fn what_workloads_do_is_written_in_one_form() {
    let sd = "sd=sd1,lun=/d/f\nsd=sd2,lun=/d/g,align=4k\n";
    let of = |text: &str| workloads(&read(&format!("{sd}{text}\n")).unwrap().runs[0]);
    let plain = of("wd=wd1,sd=sd*,xf=8192,rdpct=95,seekpct=rand\nrd=rd1,wd=wd1,iorate=max");
    assert_eq!(plain, "wd=wd1,xfersize=8k,seekpct=100,rdpct=95");
    let looped = of("wd=wd1,sd=sd1,xfersize=4k\nrd=rd1,wd=wd1,iorate=max,forxf=8k,forrdpct=95");
    assert_eq!(looped, plain, "what an RD says goes before its WD");
    assert_eq!(
        of(
            "wd=wd1,sd=sd1,xf=(4k,50,8k,50),seekpct=seq,range=(10,20),rhpct=5,stride=(1m,2m),priority=1\n\
            wd=wd2,sd=sd2,xf=(4k,64k,4k),seekpct=eof,iorate=10,priority=2\nwd=wd3,sd=sd2,priority=3\n\
            rd=rd1,wd=*,iorate=max"
        ),
        "wd=wd1,xfersize=(4k,50,8k,50),seekpct=0,rdpct=100,range=(10,20),rhpct=5,stride=(1m,2m),priority=1; \
         wd=wd2,xfersize=(4k,64k,4k),seekpct=eof,rdpct=100,iorate=10,priority=2; \
         wd=wd3,xfersize=4k,seekpct=100,rdpct=100,priority=3"
    );
    let many = |last: &str| {
        let wds: String = (0..60).map(|n| format!("wd=wd{n},sd=sd1\n")).collect();
        of(&format!(
            "{wds}wd=last,sd=sd1,xf={last}\nrd=rd1,wd=*,iorate=max"
        ))
    };
    assert!(many("4k").contains("; and 21 more ("), "{}", many("4k"));
    assert_ne!(many("4k"), many("8k"), "those that are not written out");
}

#[test]
fn appendix_f_of_the_published_study_has_its_31_runs() {
    let script = read_example("appendix_f.txt", &["dir=/data", "size=100GB"]);
    assert_eq!(script.runs.len(), 31);
    assert_eq!(listed(&script.runs), shown("appendix_f.runs"));
    for run in &script.runs {
        assert_eq!(run.storage.len(), 10, "{}", run.name);
        assert_eq!(run.streams.len(), 10, "{}", run.name);
        let sd10 = &run.storage[9];
        assert_eq!(sd10.name.as_str(), "sd10");
        assert_eq!(sd10.path.as_path(), Path::new("/data/mpath10.dat"));
        assert_eq!(sd10.size_bytes, Some(100 << 30));
        assert!(
            run.storage
                .iter()
                .all(|sd| sd.threads == 10 && sd.open_flags.direct)
        );
        assert_eq!((run.interval_s, run.first_counted_interval()), (5, 13));
        assert_eq!(
            run.rate,
            Rate::Max {
                controlled: false,
                curve: false
            }
        );

        // The name contains the written and the random share.
        let (read_pct, seek) = match run.name.as_str() {
            "rd_fill" => (0.0, Seek::Sequential),
            name => {
                let (kind, written) = name.strip_prefix("rd_").unwrap().rsplit_once('_').unwrap();
                let written: f64 = written.strip_suffix('w').unwrap().parse().unwrap();
                let seek = match kind {
                    "sequential" => Seek::Sequential,
                    "random" => Seek::Random { pct: 100.0 },
                    mixed => Seek::Random {
                        pct: mixed.strip_suffix("per_random").unwrap().parse().unwrap(),
                    },
                };
                (100.0 - written, seek)
            }
        };
        for (index, stream) in run.streams.iter().enumerate() {
            assert_eq!(stream.storage, [index]);
            assert_eq!(stream.read_pct, read_pct, "{}", run.name);
            assert_eq!(stream.seek, seek, "{}", run.name);
            assert_eq!((&stream.sizes, stream.share), (&Sizes::Fixed(8192), 0.1));
        }
    }
}
