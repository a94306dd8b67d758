use std::collections::BTreeMap;

use super::Workspace;

const TEXT: &str = "histogram=(default,100u,1m,1s)\nsd=sd1,lun=$dir/f\nsd=sd2,lun=$dir/g\nwd=wd1,sd=sd*,rdpct=70,skew=70,xf=4k\nwd=wd2,sd=sd1,xf=8k,seekpct=0\n\
    rd=rd1,wd=*,iorate=2000,elapsed=3,interval=1\nrd=rd2,wd=wd2,iorate=100,elapsed=2,warmup=1\n";

fn rows(page: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = page.lines().filter(|line| !line.starts_with(['*', '<']));
    let names: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let rows = lines.map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), names.len(), "{line}");
        names
            .iter()
            .zip(cells)
            .map(|(name, cell)| ((*name).to_owned(), cell.to_owned()))
            .collect()
    });
    rows.collect()
}

#[test]
fn pages_tell_what_was_done() {
    let place = Workspace::new();
    place.file("f", 8 << 20);
    place.file("g", 8 << 20);
    let text = TEXT.replace(",skew=70", "");
    let played = place.play(&text);
    assert!(played.ended.is_ok(), "{:?}", played.ended);

    let rows = rows(&place.page("flatfile"));
    let intervals: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row["Run"].as_str(), row["Interval"].as_str()))
        .collect();
    let rows_of = |run| ["1", "2", "3", "net_2-3", "avg_2-3"].map(|interval| (run, interval));
    let (rd1, rd2) = (rows_of("rd1"), rows_of("rd2"));
    assert_eq!(intervals, [rd1, rd2].concat());
    let number = |row: usize, column: &str| -> f64 { rows[row][column].parse().unwrap() };
    let (operations, rate) = (
        played.onlooker.done[0].operations,
        played.onlooker.done[0].rate,
    );
    assert!((number(3, "rate") - rate).abs() < 0.001);
    assert!(
        (number(1, "rate") + number(2, "rate") - operations as f64).abs() < 0.001,
        "sums of the intervals"
    );
    assert_eq!(number(3, "reqrate"), 2000.0);
    assert_eq!(number(8, "xfersize"), 8192.0);
    assert_eq!(rows[3]["xfersize"].as_str(), "n/a");
    assert_eq!(rows[3]["rdpct"].as_str(), "n/a");
    assert_eq!(number(3, "lunsize"), 0.0156);
    assert!(number(3, "resp_p50") <= number(3, "resp_p99") && number(3, "resp") > 0.0);
    assert_eq!(rows[1]["resp_p50"], "n/a");
    // The original's line is the mean of only the intervals that it names.
    let mean = |column: &str| (number(1, column) + number(2, column)) / 2.0;
    let figures = |row: usize| {
        let mut row = rows[row].clone();
        row.remove("Interval");
        row
    };
    assert_eq!(figures(3), figures(4));
    assert!((number(4, "rate") - mean("rate")).abs() < 0.001);
    for (of_read, of_all) in [("read_max", "resp_max"), ("write_max", "resp_max")] {
        assert!(number(4, of_read) <= number(4, of_all));
    }
    assert!(number(4, "read_std") > 0.0 && number(4, "write_std") > 0.0);

    // The summary, the totals and the terminal show the same figures.
    let average = format!("avg_2-3 {:>10.1} ", number(4, "rate"));
    for text in [
        &place.page("summary"),
        &place.page("totals"),
        &played.onlooker.shown,
    ] {
        assert!(text.contains(&average), "{average}\n{text}");
    }
    for page in ["sd1", "sd2", "wd1", "wd2"] {
        let text = place.page(page);
        assert!(
            text.starts_with("<title>Vdbench ") && text.contains("avg_2-3"),
            "{page}: {text}"
        );
    }
    assert!(
        !place.page("sd2").contains("Starting RD=rd2"),
        "rd2 leaves sd2 alone"
    );
    let status = place.page("status");
    let events: Vec<&str> = status
        .lines()
        .filter_map(|line| line.split('\t').nth(1))
        .collect();
    let run = ["Starting", "Warmup done", "Workload done", "Slaves done"];
    assert!(events[1].starts_with("Slave localhost-0 (pid ") && events[2] == "Slaves connected");
    assert_eq!(
        events[5..],
        [
            run.as_slice(),
            run.as_slice(),
            &["Shutting down slaves", "Vdbench complete"]
        ]
        .concat()
    );
}

#[test]
fn skew_and_histogram_have_their_tables() {
    let place = Workspace::new();
    place.file("f", 8 << 20);
    place.file("g", 8 << 20);
    let text = TEXT
        .replace("wd=wd2,iorate=100", "wd=wd1,sd=sd2,iorate=100")
        .replace("rd=rd2", "* rd=rd2");
    let played = place.play(&text);
    assert!(played.ended.is_ok(), "{:?}", played.ended);
    let skew = place.page("skew");
    let observed = |name: &str| -> f64 {
        let line = skew
            .lines()
            .find(|line| line.contains(&format!(" {name} ")) && line.contains('%'))
            .unwrap();
        let shares: Vec<&str> = line
            .split_whitespace()
            .filter(|word| word.ends_with('%'))
            .collect();
        shares[1].trim_end_matches('%').parse().unwrap()
    };
    let done = &played.onlooker.done[0];
    for workload in ["wd1", "wd2"] {
        let streams = done.run.streams.iter().zip(&done.shares);
        let own = streams.filter(|(stream, _)| stream.workload == workload);
        let share_pct = own.map(|(_, share)| share * 100.0).sum::<f64>();
        assert!((observed(workload) - share_pct).abs() < 0.0051, "{skew}");
    }
    let histogram = place.page("histogram");
    for title in ["Reads and writes:", "Reads:", "Writes:"] {
        assert!(
            histogram.lines().any(|line| line == title),
            "{title}\n{histogram}"
        );
    }
    let table = histogram
        .split("Reads and writes:")
        .nth(1)
        .unwrap()
        .split("Reads:")
        .next()
        .unwrap();
    let counts = table
        .lines()
        .filter(|line| line.contains(" < ") && !line.contains("min(ms)"));
    let counts: Vec<u64> = counts
        .map(|line| {
            line.split_whitespace()
                .nth(3)
                .unwrap()
                .replace(',', "")
                .parse()
                .unwrap()
        })
        .collect();
    assert_eq!(counts.len(), 4, "three bounds");
    assert_eq!(
        counts.iter().sum::<u64>(),
        played.onlooker.done[0].operations
    );
}
