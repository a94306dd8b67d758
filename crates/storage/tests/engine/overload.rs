//! A device that is offered more than it gives: service time stays what it is, the time from the intended start shows
//! the queue. vdbench and most others show the first alone.

use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use storage::engine::{Latencies, Outcome};
use storage::run::{Arrivals, Rate, Run, Sizes, Stream};

use super::attempts::in_one_attempt;
use super::common::{KIB, MIB, file, one, sd, stream, try_run};

fn latencies(outcome: &Outcome) -> Latencies {
    outcome.latencies_of(|_, _, _| true)
}

fn told(is_right: bool, say: String) -> Result<(), String> {
    println!("{say}");
    if is_right { Ok(()) } else { Err(say) }
}

/// Asks for half and for twice of what is reached at most, and holds the two views against each other.
fn half_and_twice(asked: &Run) -> Result<(), String> {
    let maximum_iops = try_run(asked, |_| {}).unwrap().rate_iops();
    let offered = |share: f64| {
        let run = Run {
            rate: Rate::Fixed {
                iops: maximum_iops * share,
            },
            arrivals: Arrivals::Deterministic,
            elapsed_s: Some(4),
            ..asked.clone()
        };
        try_run(&run, |_| {}).unwrap()
    };
    let (half, twice) = (offered(0.5), offered(2.0));
    let (calm, flooded) = (latencies(&half), latencies(&twice));
    let p50_us = |view: &Latencies| {
        (
            view.service.percentile_us(50.0),
            view.response.percentile_us(50.0),
        )
    };
    // Flat but for the neighbours' load: an order of magnitude is far less than the queue.
    let flat = p50_us(&calm).0 * 10.0;
    let is_flat = p50_us(&flooded).0 < flat;
    // After four seconds at twice the rate half of what came is still waiting, the oldest for two seconds.
    let is_seen = p50_us(&flooded).1 > flat && flooded.response.max_us() > 0.5e6;
    let queues = maximum_iops > 10.0
        && twice.unserved as f64 > maximum_iops
        && twice.unserved_wait_max > Duration::from_millis(500)
        && twice.rate_iops() < maximum_iops * 1.6;
    told(
        is_flat && is_seen && queues,
        format!(
            "maximum {maximum_iops:.0}; p50 of service and response at half {:.0?} µs, at twice {:.0?} µs; not begun {}",
            p50_us(&calm),
            p50_us(&flooded),
            twice.unserved
        ),
    )
}

/// Copying 1 MiB from the page cache takes its time on every machine, and one at a time is a device of a fixed speed.
#[test]
fn a_slow_path_shows_its_queue() {
    let folder = tempfile::tempdir().unwrap();
    let large = Stream {
        sizes: Sizes::Fixed(MIB),
        ..stream("wd1", 0)
    };
    let mut asked = one(&file(folder.path(), "data", 64 * MIB), large);
    asked.storage[0].threads = 1;
    in_one_attempt(|| half_and_twice(&asked).unwrap());
}

const CHILD: &str = "DBDYNO_TEST_LIMITED_FILE";
const LIMIT_IOPS: f64 = 5000.0;
const SECONDS: u32 = 4;

/// The part that runs in the limited group; by itself it has nothing to do but to say so.
#[test]
fn within_the_limited_group() {
    let Some(path) = std::env::var_os(CHILD) else {
        println!("only does something when the test beside it starts it in a limited group");
        return;
    };
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let mut asked = one(Path::new(&path), stream("wd1", 0));
    asked.storage[0] = sd("sd1", Path::new(&path));
    asked.storage[0].threads = 4;
    asked.storage[0].open_flags.direct = true;
    asked.arrivals = Arrivals::Deterministic;
    asked.elapsed_s = Some(SECONDS);
    in_one_attempt(|| below_at_and_above(&asked).unwrap());
}

/// Offers a tenth less than the limit, the limit and a tenth more: the limit holds, the service time stays what it is, and
/// what is offered above it waits, as much as it must.
fn below_at_and_above(asked: &Run) -> Result<(), String> {
    let offered = [0.9, 1.0, 1.1].map(|share| {
        let iops = LIMIT_IOPS * share;
        let run = Run {
            rate: Rate::Fixed { iops },
            ..asked.clone()
        };
        try_run(&run, |_| {}).unwrap()
    });
    let views = offered.each_ref().map(latencies);
    let p50_us = |view: usize| {
        let Latencies {
            service, response, ..
        } = &views[view];
        (service.percentile_us(50.0), response.percentile_us(50.0))
    };
    let unserved = offered.each_ref().map(|outcome| outcome.unserved as f64);
    let rates = offered.each_ref().map(Outcome::rate_iops);
    // In four seconds a tenth too much leaves 2000 I/Os behind. Below the limit they wait for a slice of 0.1 s at most.
    let excess = LIMIT_IOPS * 0.1 * f64::from(SECONDS);
    let holds = rates
        .iter()
        .all(|rate| (LIMIT_IOPS * 0.8..LIMIT_IOPS * 1.05).contains(rate));
    let is_flat = p50_us(2).0 < p50_us(0).0 * 10.0;
    let queues = unserved[2] > excess / 2.0 && unserved[0] < excess / 2.0;
    let is_seen =
        p50_us(2).1 > 0.05e6 && p50_us(2).1 > p50_us(0).1 && p50_us(2).1 > 20.0 * p50_us(2).0;
    told(
        holds && is_flat && queues && is_seen,
        format!(
            "rates {rates:.0?}, not begun {unserved:.0?}, p50 of service and response {:.0?} {:.0?} {:.0?} µs",
            p50_us(0),
            p50_us(1),
            p50_us(2)
        ),
    )
}

/// The kernel holds a group of processes to so many reads a second of the device under the file.
#[test]
fn a_limited_device_shows_its_queue() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", 0);
    let data: Vec<u8> = (0..4 * MIB).map(|i| i as u8).collect();
    std::fs::write(&path, &data).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    let group = match Group::limited(&path) {
        Ok(group) => group,
        Err(reason) => {
            println!(
                "the device cannot be limited here ({reason}); the slow path stands in for it"
            );
            return;
        }
    };
    // What is looked at is the limit, not who else wants the processors.
    let mut child = Command::new("nice")
        .args(["-n", "-20"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "overload::within_the_limited_group",
            "--nocapture",
        ])
        .env(CHILD, &path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let entered = group.take(child.id());
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let status = child.wait().unwrap();
    entered.unwrap();
    assert!(status.success());
}

/// A control group with a limit on reads, removed when dropped.
struct Group(PathBuf);

impl Group {
    fn limited(path: &Path) -> Result<Self, String> {
        let device = std::fs::metadata(path).map_err(|e| e.to_string())?.dev();
        let number = format!("{}:{}", libc::major(device), libc::minor(device));
        let name = format!("dbdyno-test-{}", std::process::id());
        let old = Path::new("/sys/fs/cgroup/blkio");
        let (group, file, limit) = if old.is_dir() {
            let limit = format!("{number} {LIMIT_IOPS}");
            (old.join(name), "blkio.throttle.read_iops_device", limit)
        } else {
            let limit = format!("{number} riops={LIMIT_IOPS}");
            (Path::new("/sys/fs/cgroup").join(name), "io.max", limit)
        };
        std::fs::create_dir(&group).map_err(|e| format!("{}: {e}", group.display()))?;
        let group = Self(group);
        std::fs::write(group.0.join(file), limit).map_err(|e| format!("{file}: {e}"))?;
        Ok(group)
    }

    fn take(&self, process: u32) -> std::io::Result<()> {
        std::fs::write(self.0.join("cgroup.procs"), process.to_string())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Both figures of an unhurried device are alike: what the views differ by is the queue and nothing else.
#[test]
fn without_a_queue_the_views_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "data", MIB);
    let asked = Run {
        rate: Rate::Fixed { iops: 200.0 },
        ..one(
            &path,
            Stream {
                sizes: Sizes::Fixed(64 * KIB),
                ..stream("wd1", 0)
            },
        )
    };
    let views = latencies(&try_run(&asked, |_| {}).unwrap());
    // A wake-up that comes late is part of the response; on a busy machine that is milliseconds.
    let gap_us = views.response.percentile_us(50.0) - views.service.percentile_us(50.0);
    assert!((0.0..20_000.0).contains(&gap_us), "{gap_us} µs");
}
