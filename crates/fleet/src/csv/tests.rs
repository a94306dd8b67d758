//! Accepted files, and the errors of all mistakes.

use super::*;

const HEAD: &str = "system,time,side,operation,read_pct,low_us,high_us,count";

fn entries(text: &str) -> Result<Vec<Entry>, String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let mut entries = Vec::new();
    let mut take = |entry| {
        entries.push(entry);
        Ok(())
    };
    let name = file.path().display().to_string();
    read(file.path(), &mut take)
        .map_err(|error| error.to_string().replace(&name, "FILE"))
        .map(|_| entries)
}

fn line(rest: &str) -> String {
    format!("a,2026-01-31T12:00:00Z,before,write,{rest}\n")
}

fn refused(lines: &[&str]) -> String {
    let text: String = lines.iter().map(|rest| line(rest)).collect();
    entries(&format!("{HEAD}\n{text}")).unwrap_err()
}

#[test]
fn lines_of_a_histogram_stay_together() {
    let text = format!(
        "\u{feff}{HEAD}\r\n{}{}\n{}b,2026-01-31T13:00:00+01:00,after,read,,0,120,9\n",
        line("30,0,120,5"),
        line("30,120,1000,7"),
        line("30,1000,,1")
    );
    let entries = entries(&text).unwrap();
    assert_eq!(entries.len(), 2);
    let [a, b] = &entries[..] else { panic!() };
    assert_eq!((a.line, a.buckets.len(), b.buckets.len()), (2, 3, 1));
    assert_eq!(
        a.key.began_us, b.key.began_us,
        "noon in UTC and one o'clock an hour east of it"
    );
    assert_eq!((a.mix.read_pct, b.mix.read_pct), (Some(30.0), None));
    assert_eq!(a.buckets[2].high_us, None);
    assert!(!a.is_empty());
}

#[test]
fn an_encoded_histogram_is_a_line() {
    let mut histogram = stats::Histogram::new();
    histogram.record_many_ns(100_000, 40);
    histogram.record_many_ns(2_000_000, 60);
    let encoded = BASE64_STANDARD.encode(histogram.encode());
    let text = format!(
        "histogram,side,operation,system,time\n{encoded},after,read,\"a,b\",2026-01-31T12:00:00Z\n"
    );
    let entries = entries(&text).unwrap();
    assert_eq!(entries[0].key.system, "a,b");
    let counts: Vec<u64> = entries[0].buckets.iter().map(|b| b.count).collect();
    assert_eq!(counts, [40, 60]);
    let bucket = entries[0].buckets[0];
    assert!(bucket.low_us <= 100.0 && bucket.high_us.unwrap() > 100.0);
}

#[test]
fn every_mistake_names_its_line_and_what_would_be_right() {
    for (lines, part) in [
        (
            &["30,0,120"][..],
            "line 2: it has 7 fields, but the head names 8",
        ),
        (
            &["30,0,120,-5"],
            "line 2: count is \"-5\", not a whole number",
        ),
        (&["30,0,120,1.5"], "line 2: count is \"1.5\""),
        (&["30,x,120,1"], "low_us is \"x\", not a time in µs"),
        (&["30,0,-120,1"], "high_us is \"-120\""),
        (&["30,120,120,1"], "ends at 120 µs, not above its beginning"),
        (
            &["30,0,120,1", "30,100,200,1"],
            "line 3: the bucket begins at 100 µs, below the end",
        ),
        (
            &["30,0,120,1", "30,0,120,1"],
            "line 3: the bucket begins at 0 µs",
        ),
        (
            &["30,500,,1", "30,1000,2000,1"],
            "line 3: a bucket without an upper end",
        ),
        (
            &["30,0,120,1", "31,120,200,1"],
            "line 3: read_pct, size_kib or iops differ from those of line 2",
        ),
        (
            &["130,0,120,1"],
            "read_pct is \"130\", not a number of percent from 0 to 100",
        ),
        (
            &["0.3,0,120,1"],
            "line 2: read_pct is at most 0.3 in the whole file",
        ),
        (
            &["30,0,0.12,1", "30,0.12,1,1"],
            "line 3: no bucket of the file that holds I/Os goes beyond 1;",
        ),
        (&["30,120000,1000000,1"], "these look like nanoseconds"),
        (&["30,0,120,999999999999999999"], "count is"),
    ] {
        let refused = refused(lines);
        assert!(refused.contains(part), "{part}: {refused}");
        assert!(refused.starts_with("FILE: line "), "{refused}");
    }
}

#[test]
fn a_wrong_key_is_reported() {
    for (line, part) in [
        (
            ",2026-01-31T12:00:00Z,before,write,,0,120,1",
            "the system has no name",
        ),
        (
            "a\u{1b},2026-01-31T12:00:00Z,before,write,,0,120,1",
            "control characters",
        ),
        (
            "a,31.1.2026,before,write,,0,120,1",
            "the time \"31.1.2026\" is not of the form",
        ),
        (
            "a,2026-01-31T12:00:00,before,write,,0,120,1",
            "with an offset or Z",
        ),
        (
            "a,2026-01-31T12:00:00Z,Before,write,,0,120,1",
            "write before or after",
        ),
        (
            "a,2026-01-31T12:00:00Z,before,trim,,0,120,1",
            "write read or write",
        ),
        (
            "\"a,2026-01-31T12:00:00Z,before,write,,0,120,1",
            "none ends it",
        ),
    ] {
        let refused = entries(&format!("{HEAD}\n{line}\n")).unwrap_err();
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

/// A spreadsheet of a country with a decimal comma writes it like this, with the array's own columns.
#[test]
fn semicolons_decimal_commas_and_other_columns_are_read() {
    let semicolons = "system;time;side;operation;firmware;read_pct;low_us;high_us;count\n\
        a;2026-01-31T12:00:00Z;before;write;3.1;62,5;0;62,5;5\n";
    let commas = "system,time,side,operation,firmware,read_pct,low_us,high_us,count\n\
        a,2026-01-31T12:00:00Z,before,write,3.1,\"62,5\",0,\"62,5\",5\n";
    for text in [semicolons, commas, &semicolons.replace(';', "\t")] {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut found = Vec::new();
        let mut take = |entry: Entry| {
            found.push((entry.mix.read_pct, entry.buckets[0].high_us));
            Ok(())
        };
        let ignored = read(file.path(), &mut take).unwrap();
        assert_eq!(ignored, ["firmware"]);
        assert_eq!(found, [(Some(62.5), Some(62.5))]);
    }
}

#[test]
fn a_wrong_head_is_reported() {
    for (head, part) in [
        ("", "the column system is missing"),
        (
            "System,time,side,operation,histogram",
            "the column system is missing; unknown are System",
        ),
        ("system,time,side,operation", "low_us, high_us and count"),
        (
            "system,time,side,operation,low_us,count",
            "a bucket takes all of",
        ),
        (
            "system,time,side,operation,low_ms,high_ms,count",
            "name it low_us and multiply its values by 1,000",
        ),
        (
            "system,time,side,operation,low_us,high_ns,count",
            "name it high_us and divide its values by 1,000",
        ),
        (
            "system,time,side,operation,low_us,high,count",
            "it must be high_us",
        ),
        (
            "system,time,side,operation,read_share,histogram",
            "name it read_pct and multiply its values by 100",
        ),
        (
            "system,time,side,low_us,high_us,count",
            "the column operation is missing",
        ),
        (
            "system,time,side,operation,system,histogram",
            "the column system is there twice",
        ),
        ("system,time,side,operation,count,histogram", "it has both"),
    ] {
        let refused = entries(&format!("{head}\nx\n")).unwrap_err();
        assert!(
            refused.contains("line 1") && refused.contains(part),
            "{part}: {refused}"
        );
    }
    assert!(entries("").unwrap_err().contains("it is empty"));
    assert!(
        entries(&format!("{HEAD}\n"))
            .unwrap_err()
            .contains("no line below")
    );
    let histogram = "system,time,side,operation,histogram\na,2026-01-31T12:00:00Z,before,write,";
    assert!(
        entries(&format!("{histogram}@\n"))
            .unwrap_err()
            .contains("is not base64")
    );
    assert!(
        entries(&format!("{histogram}AAAA\n"))
            .unwrap_err()
            .contains("cannot be read")
    );
}

mod hostile {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Any text is read or refused; accepted histograms keep the invariants.
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z0-9_,\"\\-.:TZ\\n ]{0,200}", from in 0..3_usize) {
            let begin = ["", HEAD, "system,time,side,operation,histogram"][from];
            for entry in entries(&format!("{begin}\n{text}")).unwrap_or_default() {
                prop_assert!(entry.buckets.iter().all(|b| b.high_us.is_none_or(|high| high > b.low_us)));
            }
        }
    }
}
