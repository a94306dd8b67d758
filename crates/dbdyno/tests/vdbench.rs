//! Parameter files of vdbench, from the command line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
#[path = "common/disk.rs"]
mod disk;
#[path = "../../storage/tests/shared/loop_device.rs"]
mod loop_device;
#[path = "vdbench/protection.rs"]
mod protection;

use common::{Workspace, repository};
use disk::Disk;
use serde_json::Value;
use testing::Says;

const FAILED: i32 = 157;

#[test]
fn the_list_of_the_published_appendix_is_printed() {
    let workspace = Workspace::new();
    let data = repository("crates/storage/tests/vdbench");
    let file = data.join("appendix_f.txt").display().to_string();
    let options = ["vdbench", "-f", &file, "-s", "dir=/d", "size=1g"];
    let listed = workspace.fine(&options).stdout;
    let expected = std::fs::read_to_string(data.join("appendix_f.runs")).unwrap();
    assert_eq!(expected.lines().count(), 31);
    let lines: Vec<&str> = listed.lines().collect();
    for (line, expected) in lines.iter().zip(expected.lines()) {
        assert_eq!(line.strip_prefix("Simulating "), Some(expected));
    }
    assert_eq!(lines[31], "Vdbench simulation completed successfully");
    assert_eq!(lines.len(), 32);
}

#[test]
fn errors_end_with_the_status_that_wrappers_know() {
    let workspace = Workspace::new();
    workspace.file(
        "p.txt",
        "sd=sd1,lun=f
wd=wd1,sd=sd1,xf=(4k,50)
",
    );
    workspace.file(
        "r.txt",
        "sd=sd1,lun=f
rd=rd1,sd=sd1,iorate=max
",
    );
    workspace.refuses(
        FAILED,
        "
        vdbench -f p.txt -s      => p.txt:2: xf=(4k,50): the percentages of sizes add up to 50; they must add up to 100
        vdbench -f none.txt      => none.txt cannot be read
        vdbench -f r.txt -e 3 -i 2 => elapsed=3
        vdbench -f r.txt -q      => the option -q is unknown
        vdbench                  => no parameter file is named
        ",
    );
    assert!(!workspace.path("f").exists(), "nothing was made");
}

#[test]
fn a_file_is_carried_out_into_pages_and_the_archive() {
    let workspace = Workspace::new();
    let text = "sd=sd1,lun=\"$dir/f.dat\",size=4m,threads=2\nwd=wd1,sd=sd1,rdpct=70\n\
        rd=rd1,wd=wd1,iorate=(200,max),elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    let directory = format!("dir={}", workspace.path("").display());
    let ended = workspace.fine(&["vdbench", "-f", &file, &directory, "-o", "out.d+"]);
    let last = ended.stdout.lines().last().unwrap();
    assert!(
        last.contains("Vdbench execution completed successfully. Output directory: /")
            && last.ends_with("/out.d"),
        "{last}"
    );
    assert!(ended.stdout.contains("Starting RD=SD_format"));
    ended.stderr.says("out.d/summary.html");
    let page = workspace.path("pages/out.d.html");
    ended.stderr.says(&format!("Page: {}", page.display()));
    assert!(std::fs::read_to_string(page).unwrap().contains("rd1"));
    assert_eq!(
        std::fs::metadata(workspace.path("f.dat")).unwrap().len(),
        4 << 20
    );
    let parameters = workspace.text("out.d/parmfile.html");
    assert!(parameters.contains("iorate=(200,max)"));

    let exported = workspace.export("last");
    assert_eq!(exported["run"]["valid"], true, "{exported}");
    let points = common::points(&exported);
    let codes: Vec<&str> = points.iter().filter_map(|p| p["test"].as_str()).collect();
    assert_eq!(codes, ["rd1 iorate=200", "rd1 iorate=max"]);
    let rate = points[0]["operations_per_s"].as_f64().unwrap();
    assert!((100.0..300.0).contains(&rate), "200 requested, done {rate}");
    let page = workspace.path("page.html").display().to_string();
    workspace.fine(&["report", "last", "-o", &page]);
    assert!(std::fs::read_to_string(page).unwrap().contains("rd1"));

    // Existing output stays, and the second run gets a new folder.
    workspace.fine(&["vdbench", "-f", &file, &directory, "-o", "out.d+", "-e2"]);
    workspace.fine(&[
        "vdbench",
        "--no-page",
        "-f",
        &file,
        &directory,
        "-o",
        "out.d+",
        "-e2",
    ]);
    assert!(workspace.path("pages/out.d-2.html").exists());
    assert!(!workspace.path("pages/out.d-3.html").exists());
    assert!(workspace.path("out.d001/totals.html").exists());
}

#[test]
fn a_list_can_be_watched() {
    let workspace = Workspace::new();
    let file = workspace.file(
        "p.txt",
        "sd=sd1,lun=data,size=4m,threads=3\nwd=wd1,sd=sd1,xf=4k,rdpct=50\n\
         rd=rd1,wd=wd1,iorate=200,elapsed=2,interval=1\n",
    );
    let events = workspace.path("run.jsonl");
    let events_path = events.to_str().unwrap();
    workspace.fine(&["vdbench", "--events", events_path, "-f", &file]);
    let text = std::fs::read_to_string(&events).unwrap();
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| -> Vec<&Value> {
        let events = events.iter();
        events.filter(|event| event["event"] == kind).collect()
    };
    assert_eq!(of("run_begins")[0]["planned"], 1);
    // The format has no point in the archive, but watchers see it.
    let begun = of("point_begins");
    assert_eq!(begun.last().unwrap()["key"]["test"], "rd1");
    assert_eq!(begun.last().unwrap()["key"]["jobs"], 3);
    let ended = of("point_ends");
    assert_eq!(ended.len(), 1);
    assert_eq!(of("run_ends")[0]["complete"], true);
    let last = |event: &&Value| **event == *begun[begun.len() - 1];
    let from = events.iter().position(|event| last(&event)).unwrap();
    let snapshots: Vec<&Value> = events[from..]
        .iter()
        .filter(|event| event["event"] == "snapshot")
        .collect();
    assert_eq!(snapshots.len(), 2, "one for each interval");
    // As with the original, the first interval is no part of the totals.
    assert_eq!(
        ended[0]["operations"].as_f64(),
        snapshots[1]["operations"].as_f64()
    );
    for snapshot in snapshots {
        assert!(snapshot["response_us_mean"].as_f64() > Some(0.0));
        assert_eq!(snapshot["users"], 3);
    }
}

#[test]
fn a_failed_run_is_reported_and_stored_up_to_its_failure() {
    let workspace = Workspace::new();
    let text = "formatsds=no\nsd=sd1,lun=a.dat,size=1m\nsd=sd2,lun=full,size=1m\n\
        rd=rd1,sd=sd1,iorate=100,elapsed=2\nrd=rd2,sd=sd2,iorate=100,elapsed=2,rdpct=0\n\
        rd=rd3,sd=sd1,iorate=100,elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    std::fs::write(workspace.path("a.dat"), vec![0_u8; 1 << 20]).unwrap();
    std::os::unix::fs::symlink("/dev/full", workspace.path("full")).unwrap();
    let ended = workspace.ends(FAILED, &["vdbench", "-f", &file]);
    let sentence = ended.sentence();
    sentence.says_all(&["SD sd2", "device is full"]);
    let runs = workspace.fine("runs list").stdout;
    runs.says_all(&["interrupted", "2/3"]);
    let resumed = workspace.ends(2, "run --resume last");
    let sentence = resumed.sentence();
    assert!(sentence.contains("run the file again"), "{sentence}");
    let page = workspace.page("last");
    assert!(page.contains("Run the parameter file again") && !page.contains("run --resume"));
}

#[test]
fn a_run_is_named_like_its_folder() {
    let workspace = Workspace::new();
    let text = "sd=sd1,lun=f,size=1m\nrd=rd1,sd=sd1,iorate=100,elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    let run = |more: &str| {
        let more = more.split(' ').filter(|word| !word.is_empty());
        let command: Vec<&str> = ["vdbench", "-f", &file].into_iter().chain(more).collect();
        workspace.fine(&command).stderr
    };
    run("-o before.tod").says("dbdyno report before");
    run("-o after.tod").says("dbdyno report after");
    run("-o before.tod").says("dbdyno report before-2");
    run("-o before.tod --name mine").says("dbdyno report mine");
    run("-o run-9").says("dbdyno report run-5");
    run("").says("dbdyno report run-6");
    workspace.fine("compare before after");
    let refused = workspace.ends(FAILED, &["vdbench", "-f", &file, "--name", "last"]);
    refused.sentence().says("cannot be the label of a run");
}

/// An endless input or a pipe is no parameter file, and is neither read nor waited for.
#[test]
fn parameter_files_are_of_a_kind_and_size() {
    let workspace = Workspace::new();
    let fifo = workspace.path("fifo").display().to_string();
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    workspace.refuses(
        FAILED,
        "
        vdbench -f /dev/zero -s => is larger than 4 MiB
        vdbench -f fifo -s      => it is a FIFO
        ",
    );
}

#[test]
fn pages_are_written_over_nothing_of_others() {
    let workspace = Workspace::new();
    let text = "sd=sd1,lun=f,size=1m\nrd=rd1,sd=sd1,iorate=100,elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    std::fs::create_dir(workspace.path("out")).unwrap();
    let own = workspace.path("out/summary.html");
    std::fs::write(&own, "<title>My holiday</title>").unwrap();
    let refused = workspace.ends(FAILED, &["vdbench", "-f", &file, "-o", "out"]);
    refused.sentence().says("not a page of dbdyno");
    assert_eq!(
        std::fs::read_to_string(own).unwrap(),
        "<title>My holiday</title>"
    );
    assert!(!workspace.path("f").exists(), "nothing was made");
}

/// The times of an exported point by one observer, operation and part.
fn times<'a>(point: &'a Value, observer: &str, operation: &str, phase: &str) -> Vec<&'a Value> {
    let all = point["operation_times"].as_array().unwrap().iter();
    all.filter(|t| t["observer"] == observer && t["operation"] == operation && t["phase"] == phase)
        .collect()
}

#[test]
fn two_runs_are_compared_with_device_and_array() {
    let workspace = Workspace::new();
    let text = "sd=sd1,lun=\"$dir/f.dat\",size=16m,threads=2,openflags=o_direct\n\
        wd=wd1,sd=sd1,rdpct=50,xfersize=$size\nrd=rd1,wd=wd1,iorate=max,warmup=1,elapsed=3\n";
    let file = workspace.file("parm.txt", text);
    // The build directory is on a disk; one for temporary files may be in memory.
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let directory = format!("dir={}", disk.path().display());
    for size in ["size=4k", "size=64k"] {
        workspace.fine(&["vdbench", "-f", &file, &directory, size, "-o", "out+"]);
    }
    let [before, after] = ["1", "2"].map(|run| common::points(&workspace.export(run))[0].clone());
    for (point, operation) in [(&before, "read"), (&after, "write")] {
        let driver = times(point, "driver", operation, "service");
        let count = driver[0]["count"].as_u64().unwrap();
        assert!(count > 0 && driver[0]["histogram"].is_string());
        let samples = point["operation_samples"].as_array().unwrap().iter();
        let own = samples.filter(|s| s["operation"] == operation);
        let sum: u64 = own.map(|s| s["operations"].as_u64().unwrap()).sum();
        assert_eq!(sum, count, "intervals hold what the distribution holds");
        // Each direct I/O is at least one request, unless the kernel merged some; others may use the device too.
        let device = times(point, "device", operation, "whole");
        let requests = device[0]["count"].as_u64().unwrap();
        assert!(requests > count / 4, "{requests} requests of {count} I/Os");
        let remark = device[0]["remark"].as_str().unwrap();
        assert!(remark.contains("/proc/diskstats"), "{remark}");
        assert_eq!(
            device[0]["histogram"].is_null(),
            remark.contains("alone:"),
            "{remark}"
        );
    }

    let csv = workspace.file(
        "array.csv",
        "run,operation,up_to_us,count\nrd1,read,125,40\nrd1,read,,2\n",
    );
    let of_before = format!("1={csv}");
    let array = ["--array", &csv, "--array", &of_before];
    let page = workspace.path("shift.html").display().to_string();
    let options = ["report", "2", "--against", "1", "-o", &page];
    workspace.fine(&[&options[..], &array[..]].concat());
    let page = std::fs::read_to_string(page).unwrap();
    page.says_all(&[
        "Before and after: storage I/O times",
        "Storage, below the database",
        "read, at the array",
        "Too few repetitions for a verdict",
    ]);
    // The sizes differ, as intended.
    let compared = workspace.fine("compare 1 2 --allow-mismatch").stdout;
    compared.says("Before and after: storage I/O times");
    compared.says("run both lists with -l 6 and pass --trust-sequential");
    assert!(compared.contains("write, service time"), "{compared}");

    let wrong = workspace.file(
        "wrong.csv",
        "run,operation,up_to_us,count\nrd9,read,125,40\n",
    );
    let refused = workspace.ends(2, &["report", "2", "--array", &wrong]);
    refused.sentence().says("line 2: \"rd9\" matches 0 points");
    let fifo = workspace.path("fifo").display().to_string();
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let waits = workspace.dbdyno(&["report", "2", "--array", &fifo]);
    waits.sentence().says("it is a FIFO");
}

#[test]
fn tests_below_the_database_use_a_file_next_to_its_data() {
    let workspace = Workspace::new();
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let data = format!("sqlite:{}", disk.path().join("bench.db").display());
    let plan = "name = \"below\"\n[[step]]\nuse = \"library\"\ntests = [\"D112\", \"D121\"]\njobs = [4]\n\
        size = \"quick\"\nmode = \"time\"\nseconds = 2\n";
    let plan = workspace.file("below.toml", plan);
    // Another user's file stays under any name.
    let foreign = workspace.file("foreign", "precious");
    let link = disk.path().join("dbdyno-below.tmp");
    std::os::unix::fs::symlink(&foreign, &link).unwrap();
    workspace.fine(&["run", &plan, "--target", &data, "--yes"]);
    assert_eq!(std::fs::read(&foreign).unwrap(), b"precious");
    std::fs::remove_file(link).expect("the link is as it was");
    let exported = workspace.export("last");
    let points = common::points(&exported);
    assert_eq!(points.len(), 2, "{exported}");
    for (point, operation) in points.iter().zip(["write", "read"]) {
        assert_eq!(point["valid"], true, "{point}");
        assert_eq!(point["work"]["below_database"], true);
        assert_eq!(point["jobs"], 4);
        let count = times(point, "driver", operation, "service")[0]["count"].as_u64();
        assert!(count.is_some_and(|n| n > 0));
    }
    let names: Vec<_> = std::fs::read_dir(disk.path()).unwrap().flatten().collect();
    let left = names
        .iter()
        .any(|f| f.file_name().to_string_lossy().contains("below"));
    assert!(!left, "the file is gone: {names:?}");
}

/// A file that does not fit reports a full disk, instead of a file that is too short.
#[test]
fn a_test_below_the_database_says_that_its_disk_is_full() {
    let workspace = Workspace::new();
    let disk = match Disk::on_a_device(&workspace, 48 << 20) {
        Ok(disk) => disk,
        Err(reason) => testing::skip!("{reason}"),
    };
    let data = format!("sqlite:{}", disk.path("bench.db").display());
    let plan = "name = \"below\"\n[[step]]\nuse = \"library\"\ntests = [\"D112\"]\njobs = [2]\n\
        size = \"quick\"\nmode = \"time\"\nseconds = 2\n";
    let plan = workspace.file("below.toml", plan);
    workspace.ends(3, &["run", &plan, "--target", &data, "--yes"]);
    let point = common::points(&workspace.export("last"))[0].clone();
    let reasons = point["reasons"].to_string();
    reasons.says_all(&["file system", "is full"]);
    let folder = disk.path("").display().to_string();
    let workspace = format!("the temporary file in {}", folder.trim_end_matches('/'));
    assert!(reasons.contains(&workspace), "{reasons}");
}

#[test]
fn unsearchable_lists_are_refused_before_any_work() {
    let workspace = Workspace::new();
    let text = "sd=sd1,lun=f,size=1m\nrd=rd1,sd=sd1,iorate=200,elapsed=2\n";
    let file = workspace.file("parm.txt", text);
    let refused = workspace.ends(FAILED, &["vdbench", "--find-rate", "fast", "-f", &file]);
    refused.sentence().says("such as p95=50ms");
    let curve = workspace.file("curve.txt", &text.replace("iorate=200", "iorate=curve"));
    let refused = workspace.ends(
        FAILED,
        &["vdbench", "--find-rate", "p99=1ms", "-f", &curve, "-s"],
    );
    refused.sentence().says("cannot be searched");
    assert!(!workspace.path("f").exists(), "nothing was made");
}

#[test]
fn rounds_are_stored_with_their_verdict() {
    let workspace = Workspace::new();
    let text =
        "precondition=1\nsd=sd1,lun=f,size=1m\nrd=rd1,sd=sd1,iorate=200,elapsed=2,steady=5\n";
    let file = workspace.file("parm.txt", text);
    let ended = workspace.fine(&["vdbench", "-f", &file]);
    let verdict = |text: &str| {
        text.contains("steady at round 5") || text.contains("not steady within 5 rounds")
    };
    assert!(verdict(&ended.stdout), "{}", ended.stdout);
    let exported = workspace.export("last");
    assert_eq!(exported["run"]["valid"], true, "{exported}");
    let points = common::points(&exported);
    let codes: Vec<&str> = points.iter().filter_map(|p| p["test"].as_str()).collect();
    assert_eq!(codes, ["SD_precondition time=1", "rd1"]);
    let notes = points[1]["notes"].to_string();
    assert!(
        verdict(&notes) && notes.contains("rounds, ms per I/O: "),
        "{notes}"
    );
}

/// A process is killed during journaled writes, and its writes are then verified repeatedly.
#[test]
fn a_journal_alone_is_verified_after_a_kill() {
    let workspace = Workspace::new();
    let text = "sd=sd1,lun=f,size=1m\nwd=wd1,sd=sd1,rdpct=0\nwd=wd2,sd=sd1\n\
        rd=rd1,wd=wd1,iorate=max,elapsed=600\nrd=rd2,wd=wd2,iorate=max,elapsed=600\n";
    let file = workspace.file("parm.txt", text);
    let mut child = workspace.begin(&["vdbench", "-f", &file, "-v", "-j"]);
    let entries = || std::fs::metadata(workspace.path("sd1.jnl")).map_or(0, |file| file.len() / 16);
    let begin = std::time::Instant::now();
    while entries() < 500 && begin.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(entries() >= 500, "the journal was being written");

    let recover = ["vdbench", "-f", &file, "-v", "-jro"];
    let said = "journal of SD sd1 recovered: ";
    for _ in 0..2 {
        let ended = workspace.fine(&recover);
        ended.stdout.says_all(&[
            said,
            " blocks verified, 0 corrupted; ",
            "completed successfully",
        ]);
        let summary = workspace.text("output/summary.html");
        assert!(
            summary.contains(said) && !summary.contains("avg_"),
            "{summary}"
        );
        let exported = workspace.export("last");
        assert_eq!(exported["run"]["valid"], true, "{exported}");
        let point = common::only_point(&exported);
        assert_eq!(point["test"], "rd1");
        assert!(point["operations"].is_null() && point["operations_per_s"].is_null());
        assert!(point["notes"].to_string().contains(said), "{point}");
    }

    std::fs::write(workspace.path("f"), vec![7; 1 << 20]).unwrap();
    let ended = workspace.ends(FAILED, &recover);
    ended.sentence().says("not a block of dbdyno");
    assert_eq!(workspace.export("last")["run"]["valid"], false);
}

#[test]
fn the_message_of_the_system_appears_once() {
    let workspace = Workspace::new();
    std::fs::write(workspace.path("f"), vec![7; 1 << 20]).unwrap();
    let list = "sd=sd1,lun=f\nrd=rd1,sd=sd1,iorate=100,elapsed=2\n";
    let nowhere = workspace.file(
        "nowhere.txt",
        &format!("validate=yes\njournal=recover\n{list}"),
    );
    let pattern = workspace.file("pattern.txt", &format!("pattern=none\n{list}"));
    for arguments in [
        vec!["vdbench", "-f", &nowhere],
        vec!["vdbench", "-f", &pattern],
        vec!["vdbench", "-f", "none.txt"],
        vec!["vdbench", "-f", &pattern, "-o", "f/x"],
    ] {
        let ended = workspace.ends(FAILED, &arguments);
        let sentence = ended.sentence();
        let causes = sentence.matches("(os error ").count();
        assert_eq!(causes, 1, "{arguments:?}: {sentence}");
    }
}
