//! Surprises of the language, each as observed.

use storage::language::{FormatPolicy, Repeat, read_file};
use storage::run::{
    Arrivals, DataLimit, DuplicateSets, Range, Rate, RateStep, Seek, Sizes, Stride, curve_rate_iops,
};

use super::{only_run, read, refusal, runs};
use testing::Says;

#[test]
fn a_blank_ends_what_counts_of_a_line() {
    let run = only_run("", "xfersize=8k, rdpct=0", "elapsed=60, interval=5");
    assert_eq!(run.streams[0].sizes, Sizes::Fixed(8192));
    assert_eq!(run.streams[0].read_pct, 100.0);
    assert_eq!(run.elapsed_s, Some(60));
    assert_eq!(run.interval_s, 1);
}

/// The original ignores these comments silently, and so does a list without an error.
#[test]
fn a_comment_that_looks_like_a_parameter_is_named() {
    let list = |sd: &str, rd: &str| {
        format!("sd=sd1,lun=/d/f{sd}\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9{rd}\n")
    };
    for (sd, rd, line, comment) in [
        (", size=64m", "", 1, "size=64m"),
        (" , size=64m", "", 1, ", size=64m"),
        (" threads=4", "", 1, "threads=4"),
        (",threads=4,\tsize=64m", "", 1, "size=64m"),
        ("", ", elapsed=60 ,interval=1", 3, "elapsed=60 ,interval=1"),
        (",size = 64m", "", 1, "= 64m"),
    ] {
        let text = list(sd, rd);
        let message = match read(&text) {
            Ok(script) => script.hints.concat(),
            Err(error) => error.to_string(),
        };
        let hint = format!("p:{line}: a blank begins a comment, so \"{comment}\" is ignored");
        assert!(message.contains(&hint), "{text}: {message}");
    }
    for (sd, rd) in [
        ("", ""),
        (", the file of size 64m", ",elapsed=60 seconds"),
        (" a = b", " * x = 5"),
        (",threads=4 see http://host/?a=b", ""),
    ] {
        let text = list(sd, rd);
        assert_eq!(read(&text).unwrap().hints, Vec::<String>::new(), "{text}");
    }
    let whole = refusal("sd=sd1, lun=/d/f, size=64m\nrd=rd1, wd=wd1, iorate=max\n");
    assert!(whole.contains("p:1: a blank begins a comment"), "{whole}");
}

#[test]
fn a_byte_order_mark_and_any_ends_of_lines_are_read() {
    let list = "sd=sd1,lun=/d/f\nwd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=9,elapsed=7";
    for text in [
        format!("\u{feff}{list}"),
        list.replace('\n', "\r\n"),
        list.replace('\n', "\r"),
        format!("\u{feff}* comment\r{}", list.replace('\n', "\r")),
        format!("* mixed \u{fffd} read\n{list} with \u{fffd}"),
    ] {
        assert_eq!(runs(&text)[0].elapsed_s, Some(7), "{text:?}");
    }
    let said = refusal("sd=sd1,lun=/d/caf\u{fffd}\nrd=rd1,sd=sd1,iorate=9");
    assert!(
        said.starts_with("p:1: ") && said.contains("UTF-8"),
        "{said}"
    );
}

#[test]
fn other_encodings_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p");
    let text = "sd=sd1,lun=/d/f\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [
        [&[0xFF, 0xFE], &little[..]].concat(),
        [&[0xFE, 0xFF], &big[..]].concat(),
        little,
    ] {
        std::fs::write(&path, bytes).unwrap();
        let said = read_file(&path).unwrap_err().to_string();
        assert!(said.contains("UTF-16") && said.contains("iconv"), "{said}");
    }
    std::fs::write(&path, b"* \x96\nsd=sd1,lun=/d/f\n").unwrap();
    assert!(read_file(&path).is_ok());
}

#[test]
fn lines_go_on_behind_a_comma_and_need_not() {
    let text = "sd=sd1,\n  lun=/d/f, the file\n\n* a comment\n  threads=3\nopenflags=fsync\n\
        wd=wd1,sd=sd1,xf=(4k,40,\n 8k,60)\nrd=rd1,wd=wd1,iorate=1k\neof\nnonsense";
    let run = &runs(text)[0];
    assert_eq!(run.storage[0].threads, 3);
    assert!(run.storage[0].open_flags.fsync_at_close);
    assert_eq!(run.rate, Rate::Fixed { iops: 1024.0 });
    let Sizes::Weighted(sizes) = &run.streams[0].sizes else {
        panic!("weighted")
    };
    assert_eq!(sizes[1].bytes, 8192);
}

#[test]
fn quotes_keep_blanks_commas_and_equals() {
    let run = &runs("sd=sd1,lun=\"/d/a b,c=(d).dat\"\nrd=rd1,sd=sd1,iorate=max")[0];
    assert_eq!(run.storage[0].path.to_str(), Some("/d/a b,c=(d).dat"));
}

#[test]
fn a_default_is_copied_as_it_stands() {
    let text = "sd=default,threads=4\nsd=sd1,lun=/d/1\nsd=default,openflags=o_direct\nsd=sd2,lun=/d/2\nsd=sd3,lun=/d/3,threads=1\n\
        wd=default,rdpct=50\nwd=wd1,sd=*\nrd=default,elapsed=10,iorate=5\nrd=rd1,wd=wd1\nrd=rd2,wd=wd1,elapsed=20";
    let runs = runs(text);
    let sds: Vec<_> = runs[0]
        .storage
        .iter()
        .map(|sd| (sd.threads, sd.open_flags.direct))
        .collect();
    assert_eq!(sds, [(4, false), (4, true), (1, true)]);
    assert_eq!(runs[0].streams[0].read_pct, 50.0);
    assert_eq!((runs[0].elapsed_s, runs[1].elapsed_s), (Some(10), Some(20)));
}

#[test]
fn sections_have_an_order() {
    let said = refusal("wd=wd1,sd=sd1\nsd=sd1,lun=/d/f\nrd=rd1,wd=wd1,iorate=1");
    assert_eq!(
        said,
        "p:2: lun=/d/f: Unknown keyword: lun; wd= has no such keyword; lun= belongs to sd= (the order is general, hd, sd, wd, rd)"
    );
}

#[test]
fn keywords_and_words_may_be_cut_short() {
    let text = "con=no\nsd=sd1,lun=/d/f,si=1g,th=2\nwd=wd1,sd=sd1,xf=8k,rdp=30,se=seq,sk=100\nrd=rd1,wd=wd1,io=100,el=1m,in=5,dist=d,pa=2m";
    let run = &runs(text)[0];
    assert_eq!(run.storage[0].size_bytes, Some(1 << 30));
    assert_eq!(run.storage[0].threads, 2);
    assert_eq!(run.streams[0].seek, Seek::Sequential);
    assert_eq!(run.streams[0].read_pct, 30.0);
    assert_eq!(run.elapsed_s, Some(60));
    assert_eq!(run.interval_s, 5);
    assert_eq!(run.pause_s, 0);
    assert_eq!(run.arrivals, Arrivals::Deterministic);
}

#[test]
fn shares_are_requested_or_equal() {
    let wds = "sd=sd1,lun=/d/f\nwd=wd1,sd=sd1,skew=60\nwd=wd2,sd=sd1\nwd=wd3,sd=sd1\nwd=wd4,sd=sd1,skew=40\n";
    let shares = |rd: &str| -> Vec<f64> {
        let run = &runs(&format!("{wds}rd=rd1,iorate=max,wd={rd}"))[0];
        assert_eq!(
            run.rate,
            Rate::Max {
                controlled: !rd.contains("wd3)") || rd.contains("wd1"),
                curve: false
            }
        );
        run.streams.iter().map(|stream| stream.share).collect()
    };
    assert_eq!(shares("(wd1-wd3)"), [0.6, 0.2, 0.2]);
    assert_eq!(shares("(wd1,wd4)"), [0.6, 0.4]);
    assert_eq!(shares("(wd2,wd3)"), [0.5, 0.5]);
    let alone = refusal(&format!("{wds}rd=rd1,iorate=max,wd=wd1"));
    alone.says("Total skew must add up to 100: 60.00");
    let all = refusal(&format!("{wds}rd=rd1,iorate=max,wd=*"));
    assert!(all.contains("nothing is left"), "{all}");
}

#[test]
fn the_first_loop_is_outermost_and_the_rate_innermost() {
    let text = "sd=sd1,lun=/d/f\nwd=wd1,sd=sd1\nrd=rd1,iorate=(10,20),wd=wd1,rdpct=(0,100),forx=(1k-2k,d),elapsed=2";
    let labels: Vec<String> = runs(text).into_iter().map(|run| run.loops).collect();
    assert_eq!(
        labels,
        [
            "rdpct=0 xfersize=1k iorate=10",
            "rdpct=0 xfersize=1k iorate=20",
            "rdpct=0 xfersize=2k iorate=10",
            "rdpct=0 xfersize=2k iorate=20",
            "rdpct=100 xfersize=1k iorate=10",
            "rdpct=100 xfersize=1k iorate=20",
            "rdpct=100 xfersize=2k iorate=10",
            "rdpct=100 xfersize=2k iorate=20",
        ]
    );
}

/// The user guide counts the same: 7 runs of a curve for 7 sizes and 7 numbers of threads.
#[test]
fn curves_multiply_with_loops() {
    let sd = "sd=sd1,lun=/d/f\nwd=wd1,sd=sd1,rdpct=100\nrd=run1,wd=wd1,io=curve,el=10,in=1,forx=(1k-64k,d)";
    assert_eq!(runs(sd).len(), 49);
    assert_eq!(runs(&format!("{sd},forthreads=(1-64,d)")).len(), 343);
    let Rate::Curve(point) = runs(sd)[8].rate else {
        panic!("a point of a curve")
    };
    assert_eq!((point.pct, point.maximum_run), (10.0, 7));
    assert_eq!(curve_rate_iops(46_756.0, 50.0), 23_400.0);
}

#[test]
fn sds_are_taken_singly_growing_and_in_sets() {
    let sds = "sd=sd,lun=/d/f,count=(1,3)\nwd=wd1,sd=sd1\n";
    let names = |choice: &str| -> Vec<(String, usize)> {
        let runs = runs(&format!("{sds}rd=r,wd=wd1,iorate=1,sd={choice}"));
        runs.into_iter()
            .map(|run| (run.name, run.storage.len()))
            .collect()
    };
    let expected = |list: &[(&str, usize)]| {
        list.iter()
            .map(|(n, s)| ((*n).to_owned(), *s))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names("single"),
        expected(&[("r_sd1", 1), ("r_sd2", 1), ("r_sd3", 1)])
    );
    assert_eq!(
        names("range"),
        expected(&[("r_sd1", 1), ("r_sd1-sd2", 2), ("r_sd1-sd3", 3)])
    );
    assert_eq!(names("sd*"), expected(&[("r", 3)]));
    let sets = names("setsof2");
    assert_eq!(sets.iter().map(|(_, sds)| *sds).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(
        sets,
        names("setsof2"),
        "drawn by lot, and the same every time"
    );
}

#[test]
fn an_rd_needs_no_wd() {
    let run =
        &runs("sd=sd1,lun=/d/f\nwd=default,xfersize=16k\nrd=rd1,sd=sd1,iorate=max,rdpct=0")[0];
    assert_eq!(run.streams[0].workload.as_str(), "default");
    assert_eq!(run.streams[0].sizes, Sizes::Fixed(16384));
    assert_eq!(run.loops.as_str(), "rdpct=0");
    assert_eq!(run.streams[0].read_pct, 0.0);
}

#[test]
fn ranges_are_percent_until_they_cannot_be() {
    let range = |text: &str| only_run("range=(10,20)", text, "").streams[0].range;
    assert_eq!(
        range(""),
        Range::Percent {
            low_pct: 10.0,
            high_pct: 20.0
        }
    );
    assert_eq!(
        range("range=(90,110)"),
        Range::Percent {
            low_pct: 90.0,
            high_pct: 110.0
        }
    );
    assert_eq!(
        range("range=(1g,2g)"),
        Range::Bytes {
            low: 1 << 30,
            high: 2 << 30
        }
    );
    let band = only_run("", "hotband=(10,20),stride=(1m,2m)", "").streams[0].clone();
    assert_eq!(
        band.hot_band,
        Some(Range::Percent {
            low_pct: 10.0,
            high_pct: 20.0
        })
    );
    assert_eq!(
        band.stride,
        Some(Stride {
            min_bytes: 1 << 20,
            max_bytes: 2 << 20
        })
    );
}

#[test]
fn addresses_have_orders() {
    let seek = |text: &str| only_run("", &format!("seekpct={text}"), "").streams[0].seek;
    for (text, expected) in [
        ("seq", Seek::Sequential),
        ("0", Seek::Sequential),
        ("rand", Seek::Random { pct: 100.0 }),
        ("20", Seek::Random { pct: 20.0 }),
        ("-1", Seek::SequentialToEnd),
        ("eof", Seek::SequentialToEnd),
        ("seqnz", Seek::SequentialFromRandom),
        ("sequentialnz", Seek::SequentialFromRandom),
        ("poisson", Seek::Poisson { divisor: 3.0 }),
        ("(poisson,5)", Seek::Poisson { divisor: 5.0 }),
    ] {
        assert_eq!(seek(text), expected, "{text}");
    }
}

#[test]
fn rates_vary_in_pairs_or_follow_the_run_before() {
    let steps = runs("sd=sd1,lun=/d/f\nrd=rd1,sd=sd1,iorate=(100,10,1000,5),dist=(u,variable)");
    let step = |iops, seconds| RateStep { iops, seconds };
    assert_eq!(
        steps[0].rate,
        Rate::Variable {
            steps: vec![step(100.0, 10), step(1000.0, 5)]
        }
    );
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].arrivals, Arrivals::Uniform);
    assert_eq!(steps[0].loops.as_str(), "");

    let shares =
        runs("sd=sd1,lun=/d/f\nrd=rd1,sd=sd1,iorate=max\nrd=rd2,sd=sd1,iorate=(50%,80%),pause=3");
    assert_eq!(shares[2].rate, Rate::PercentOfPrevious { pct: 80.0 });
    assert_eq!(shares[2].loops.as_str(), "iorate=80%");
    assert_eq!(shares[2].pause_s, 3);
}

#[test]
fn limits_count_bytes_or_sizes() {
    let stop = only_run("", "", "maxdata=5,maxdataw=200g,stopcurve=2.5").stop;
    assert_eq!(stop.data_max, Some(DataLimit::TimesSize(5.0)));
    assert_eq!(stop.written_max, Some(DataLimit::Bytes(200 << 30)));
    assert_eq!((stop.read_max, stop.response_ms_max), (None, Some(2.5)));
}

#[test]
fn concatenated_sds_are_one_space_with_threads_in_common() {
    let sds = "concatenate=yes\nsd=sd1,lun=/d/1\nsd=sd2,lun=/d/2\n";
    let run = &runs(&format!(
        "{sds}wd=wd1,sd=(sd2,sd1),threads=6\nwd=wd2,sd=sd*,threads=2\nrd=rd1,wd=*,iorate=max"
    ))[0];
    let spaces: Vec<Vec<&str>> = run
        .streams
        .iter()
        .map(|s| {
            s.storage
                .iter()
                .map(|i| run.storage[*i].name.as_str())
                .collect()
        })
        .collect();
    assert_eq!(spaces, [["sd2", "sd1"], ["sd1", "sd2"]]);
    assert_eq!(run.threads_shared, Some(8));
    let looped = &runs(&format!("{sds}rd=rd1,sd=*,iorate=max,threads=(4,9)"))[1];
    assert_eq!(looped.threads_shared, Some(9));
    assert_eq!(looped.loops.as_str(), "threads=9");
    let without = refusal(&format!("{sds}rd=rd1,sd=*,iorate=max"));
    assert!(without.contains("threads= of wd= or rd="), "{without}");
    let proven = &runs(&format!(
        "validate=yes\n{sds}wd=wd1,sd=sd*,stride=(8k,16k)\nrd=rd1,wd=wd1,iorate=1,threads=2"
    ))[0];
    let is_proven = |index: &usize| proven.storage[*index].content.validation.is_some();
    assert!(proven.streams[0].storage.iter().all(is_proven));
}

#[test]
fn what_is_written_and_proven_is_general_or_of_an_sd() {
    let text = "compratio=2:1\ndedupratio=3\ndedupunit=4k\ndata_errors=(7,60)\nvalidate=(read_after,no_pre)\njournal=recover\n\
        formatsds=no\nloop=3\nhistogram=(default,1m,suppress)\nabort_failed_skew=5\nmonitor=/tmp/m\nmessagescan=no\n\
        sd=sd1,lun=/d/f,journal=/j,dedupsets=10\nrd=rd1,sd=sd1,iorate=1,compratio=(1,4)";
    let script = read(text).unwrap();
    let content = &script.runs[1].storage[0].content;
    assert_eq!(script.runs[0].storage[0].content.compression_ratio, 1.0);
    assert_eq!(content.compression_ratio, 4.0);
    let dedup = content.dedup.unwrap();
    assert_eq!(dedup.ratio, 3.0);
    assert_eq!(dedup.unit_bytes, 4096);
    assert_eq!(dedup.sets, DuplicateSets::Count(10));
    let validation = content.validation.as_ref().unwrap();
    assert!(validation.read_after_write && validation.no_preread && !validation.ignore_zero_reads);
    let journal = validation.journal.as_ref().unwrap();
    assert_eq!(
        (journal.recover, journal.directory.as_deref()),
        (true, Some(std::path::Path::new("/j")))
    );
    let errors = script.runs[0].errors;
    assert_eq!((errors.count_max, errors.after_first_s), (7, Some(60)));
    assert_eq!(script.format.policy, FormatPolicy::Never);
    assert_eq!(script.repeat, Repeat::Times(3));
    assert_eq!(script.histogram.bounds_us.as_slice(), [1000.0].as_slice());
    assert!(script.histogram.suppress);
    assert_eq!(
        (script.skew_tolerance_pct, script.monitor.as_deref()),
        (Some(5.0), Some(std::path::Path::new("/tmp/m")))
    );
}

#[test]
fn sizes_and_threads_may_be_divided() {
    let run = only_run("size=(10g,4),threads=(64,8)", "", "");
    assert_eq!(run.storage[0].size_bytes, Some(10 << 28));
    assert_eq!(run.storage[0].threads, 8);
}

#[test]
fn workloads_with_a_rate_of_their_own_share_nothing() {
    let text = "sd=sd1,lun=/d/f\nwd=wd1,sd=sd1,iorate=50,priority=1\nwd=wd2,sd=sd1,priority=2\nrd=rd1,wd=*,iorate=max";
    let run = &runs(text)[0];
    let parts: Vec<_> = run
        .streams
        .iter()
        .map(|s| (s.share, s.iops, s.priority))
        .collect();
    assert_eq!(parts, [(0.0, Some(50.0), Some(1)), (1.0, None, Some(2))]);
    assert_eq!(
        run.rate,
        Rate::Max {
            controlled: true,
            curve: false
        }
    );
}
