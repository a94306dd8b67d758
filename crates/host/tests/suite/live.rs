//! The samplers against the machine they run on.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use archive::{InterfaceKind, InterfaceUse};
use host::{Reader, Sampler, SamplerOptions, Stack, ThreadClock, device_of, facts};
use testing::Says;

const WRITTEN_BYTES: usize = 32 << 20;

fn sampler(interval: Duration, device: Option<String>) -> Sampler {
    let named = |name: String| Stack::named(Path::new("/"), &name);
    let options = SamplerOptions {
        interval,
        devices: device.map(named).unwrap_or_default(),
        ..SamplerOptions::default()
    };
    Sampler::start(options).expect("a Linux host has counters")
}

#[test]
fn a_directory_without_a_device_is_named() {
    let nowhere = Path::new("/proc/self");
    let reason = device_of(nowhere).unwrap_err().to_string();
    assert!(reason.contains("/proc/self"), "{reason}");
    let sampler = sampler(Duration::from_secs(1), None);
    let used = sampler.finish(sampler.mark());
    assert_eq!(used.rates.write_iops, None);
    assert!(used.io_reason.is_some());
}

#[test]
fn a_synced_file_shows_as_writes_of_its_device() {
    let directory = tempfile::tempdir().unwrap();
    let device = match device_of(directory.path()) {
        Ok(device) => device,
        Err(reason) => testing::skip!("{reason}"),
    };
    let sampler = sampler(Duration::from_millis(50), Some(device.clone()));
    let mark = sampler.mark();
    let mut file = File::create(directory.path().join("written")).unwrap();
    let block: Vec<u8> = (0..1u32 << 18)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    for _ in 0..WRITTEN_BYTES / block.len() {
        file.write_all(&block).unwrap();
    }
    testing::sync_data(&file);
    let used = sampler.finish(mark);
    assert_eq!(used.io_reason, None);
    let rates = used.rates;
    let write_mb = rates.write_mb_per_s.unwrap() * rates.elapsed_s;
    println!(
        "{device}: {write_mb:.1} MB in {:.2} s, {:?} writes/s, {:?} ms each",
        rates.elapsed_s, rates.write_iops, rates.write_await_ms
    );
    assert!(
        write_mb * 1e6 + 1.0 >= WRITTEN_BYTES as f64,
        "only {write_mb} MB reached {device}"
    );
    assert!(rates.write_iops.unwrap() > 0.0);
    assert!(rates.write_await_ms.is_some());
}

/// Data from a server of this machine to a client passes the loopback, and nothing else.
#[test]
fn bytes_between_programs_of_this_machine_are_those_of_the_loopback() {
    const SENT_BYTES: u64 = 8 << 20;
    let sampler = sampler(Duration::from_secs(1), None);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mark = sampler.mark();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.write_all(&vec![7; SENT_BYTES as usize]).unwrap();
    });
    let mut received = Vec::new();
    let mut client = TcpStream::connect(address).unwrap();
    client.read_to_end(&mut received).unwrap();
    server.join().unwrap();
    let used = sampler.finish(mark);
    assert_eq!(received.len() as u64, SENT_BYTES);
    let is_loopback = |i: &&InterfaceUse| i.kind == InterfaceKind::Loopback;
    let loopbacks: Vec<_> = used.interfaces.iter().filter(is_loopback).collect();
    let [loopback] = loopbacks[..] else {
        panic!("{:?}", used.interfaces)
    };
    assert_eq!(loopback.name, "lo");
    assert!(loopback.sent.bytes >= SENT_BYTES, "{loopback:?}");
    assert!(loopback.received.bytes >= SENT_BYTES, "{loopback:?}");
    assert!(loopback.sent.packets > 0 && loopback.elapsed_s == Some(used.rates.elapsed_s));
}

#[test]
fn an_unknown_device_has_a_reason() {
    let sampler = sampler(Duration::from_secs(1), Some("no-such-device".into()));
    let used = sampler.finish(sampler.mark());
    used.io_reason.unwrap().to_string().says("no-such-device");
    assert_eq!(used.rates.read_iops, None);
    assert_eq!(used.rates.write_mb_per_s, None);
}

#[test]
fn a_sample_is_cheap_and_the_schedule_holds() {
    let device = device_of(Path::new("/")).ok();
    let interval = Duration::from_millis(50);
    let sampler = sampler(interval, device);
    let mark = sampler.mark();
    let mut spent = 0u64;
    let start = Instant::now();
    // Some work gives the window non-zero figures.
    while start.elapsed() < Duration::from_secs(3) {
        for n in 0..100_000u64 {
            spent = std::hint::black_box(spent.wrapping_add(n));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let used = sampler.finish(mark);
    let samples = used.samples.len() as f64;
    let us_per_sample = used.sampler_cpu_s * 1e6 / samples;
    println!(
        "{us_per_sample:.0} us of processor time a sample, {:.4} % of a core at one a second; {samples} samples, {} late",
        us_per_sample / 1e4,
        used.late_samples
    );
    assert!(used.sampler_cpu_s > 0.0);
    assert!(us_per_sample / 1e6 < 0.005, "{us_per_sample} us a sample");
    assert_eq!(used.samples_lost, 0);

    assert!(used.rates.cpu_pct.unwrap() > 0.0 && used.rates.cpu_pct.unwrap() <= 100.0);
    assert!(used.cpu_pct_peak >= used.cpu_pct_p95);
    assert!(used.memory_used_mb_peak.unwrap() > 0.0);
    assert!(used.process_rss_mb_peak.unwrap() > 0.5);
    assert!(used.rates.process_cpu_pct.unwrap() > 0.0);
    let ends: Vec<f64> = used.samples.iter().map(|sample| sample.at_s).collect();
    assert!(ends.is_sorted() && ends[0] >= 0.045 && *ends.last().unwrap() <= used.rates.elapsed_s);
    // Up to the last sample before the end, each tick was taken or is counted as late.
    let taken = &ends[..ends.len() - 1];
    let ticks = taken
        .last()
        .map_or(0.0, |at| (at / interval.as_secs_f64()).floor());
    let accounted = taken.len() as f64 + used.late_samples as f64;
    assert!(accounted >= ticks, "{accounted} of {ticks}");
}

#[test]
fn the_cost_of_a_snapshot_is_known() {
    let device = device_of(Path::new("/")).ok();
    let mut reader = Reader::open(Path::new("/"), device.as_deref());
    let clock = ThreadClock::open();
    let first = reader.snapshot();
    let start = clock.now();
    let mut last = first;
    for _ in 0..200 {
        last = reader.snapshot();
    }
    let us = clock.now().since(&start).cpu_ns as f64 / 1e3 / 200.0;
    println!("{us:.0} us of processor time a snapshot");
    assert!(us < 5_000.0);
    assert!(last.at_ns > first.at_ns);
    assert!(first.cpu.is_some() && first.memory.is_some() && first.process_rss_bytes.is_some());
    assert_eq!(first.disks.get(0).is_some(), device.is_some());
}

#[test]
fn a_sampler_stops_at_once() {
    let sampler = sampler(Duration::from_secs(3600), None);
    let start = Instant::now();
    drop(sampler);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn this_machine_shows_its_facts() {
    let platform = facts(Path::new("/"));
    println!("{platform:#?}");
    assert!(platform.kernel.is_some() && platform.architecture.is_some());
    assert!(platform.threads.unwrap() >= 1);
    assert!(platform.memory_bytes.unwrap() > 64 << 20);
    assert!(
        platform
            .cores
            .is_none_or(|cores| Some(cores) <= platform.threads)
    );
    if let Ok(device) = device_of(Path::new("/")) {
        let root = platform
            .block_devices
            .iter()
            .find(|known| known.name == device);
        assert!(
            root.is_some(),
            "{device} holds the root file system and must be listed"
        );
    }
}
