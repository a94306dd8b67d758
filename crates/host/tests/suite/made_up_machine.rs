//! A whole made-up machine in a directory: its facts, its counters and a window over them.

use std::fs::{create_dir_all, write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use archive::{BlockDevice, ControlGroup, DeviceCap, Figures, InterfaceKind, Platform};
use host::{Reader, Sampler, SamplerOptions, Stack, facts};

const CPUINFO: &str = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) CPU X7560  @ 2.27GHz\ncpu MHz\t\t: 2266.5\n\
    physical id\t: 0\ncore id\t\t: 0\nflags\t\t: fpu sse2 hypervisor\n\n\
    processor\t: 1\nmodel name\t: Intel(R) Xeon(R) CPU X7560  @ 2.27GHz\nphysical id\t: 1\ncore id\t\t: 0\n\n";
const MOUNTINFO: &str = "22 27 0:21 / /proc rw - proc proc rw\n27 1 8:1 / / rw,noatime - ext4 /dev/sda1 rw\n\
    28 27 253:0 / /data\\040one rw - xfs /dev/mapper/vg-data rw\n29 27 253:0 / /data\\040one rw - xfs /dev/mapper/vg-data rw\n\
    30 27 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
const NET_HEAD: &str = "Inter-|   Receive |  Transmit\n face |bytes packets errs drop\n";

fn files() -> Vec<(&'static str, String)> {
    let fixed = [
        ("proc/cpuinfo", CPUINFO),
        (
            "proc/meminfo",
            "MemTotal:       2000000 kB\nMemAvailable:    500000 kB\nSwapTotal:       1000 kB\n",
        ),
        ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
        ("proc/sys/kernel/arch", "x86_64\n"),
        ("proc/sys/kernel/hostname", "bench\n"),
        ("proc/self/mountinfo", MOUNTINFO),
        ("proc/self/statm", "4000 250 100 1 0 500 0\n"),
        (
            "proc/stat",
            "cpu  100 0 50 800 30 10 10 0 0 0\ncpu0 1 2 3\n",
        ),
        (
            "proc/diskstats",
            "   8       0 sda 10 0 1000 40 7 0 500 20 0 0 0\n   8       1 sda1 9 0 9 9 9 0 9 9 0 0 0\n",
        ),
        ("proc/net/snmp", "Tcp: InSegs RetransSegs\nTcp: 9 5\n"),
        ("proc/vmstat", "pgmajfault 3\npswpin 1\npswpout 2\n"),
        ("proc/pressure/cpu", "some avg10=0.00 total=1000\n"),
        (
            "proc/pressure/memory",
            "some avg10=0.00 total=2000\nfull avg10=0.00 total=9\n",
        ),
        (
            "proc/pressure/io",
            "some avg10=0.00 total=3000\nfull avg10=0.00 total=9\n",
        ),
        (
            "etc/os-release",
            "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
        ),
        ("proc/self/cgroup", "0::/bench\n"),
        ("sys/fs/cgroup/bench/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/bench/cpuset.cpus.effective", "1\n"),
        ("sys/fs/cgroup/bench/memory.max", "1048576\n"),
        (
            "sys/fs/cgroup/bench/io.max",
            "253:0 rbps=max wbps=max riops=500 wiops=max\n",
        ),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("sys/class/dmi/id/product_name", "Standard PC (Q35)\n"),
        ("sys/class/net/eth0/device/vendor", "0x1af4\n"),
        ("sys/class/net/bond0/mtu", "1500\n"),
        ("sys/devices/system/node/node0/numastat", "x\n"),
        ("sys/devices/system/node/node1/numastat", "x\n"),
        ("sys/devices/system/node/possible", "0-1\n"),
        ("sys/block/sda/dev", "8:0\n"),
        ("sys/block/sda/size", "2048\n"),
        ("sys/block/sda/queue/rotational", "1\n"),
        (
            "sys/block/sda/queue/scheduler",
            "none [mq-deadline] kyber bfq\n",
        ),
        ("sys/block/sda/device/vendor", "VIOLIN  \n"),
        ("sys/block/sda/device/model", "VMA 3205 \n"),
        ("sys/block/sda/sda1/dev", "8:1\n"),
        ("sys/block/sda/sda1/partition", "1\n"),
        ("sys/block/dm-0/dev", "253:0\n"),
        ("sys/block/dm-0/size", "1024\n"),
        ("sys/block/dm-0/queue/rotational", "0\n"),
        ("sys/block/loop0/size", "0\n"),
        ("sys/block/zram0/size", "0\n"),
    ];
    let mut files: Vec<_> = fixed
        .into_iter()
        .map(|(name, text)| (name, text.to_owned()))
        .collect();
    files.push(("proc/net/dev", net_dev(1000)));
    files
}

fn net_dev(bytes: u64) -> String {
    format!(
        "{NET_HEAD}    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n  eth0: {bytes} 1 1 2 0 0 0 0 0 1 3 4 0 0 0 0\n \
         bond0: {bytes} 1 1 2 0 0 0 0 0 1 3 4 0 0 0 0\n"
    )
}

fn put(root: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = root.join(name);
    create_dir_all(path.parent().expect("a name below root")).expect("a temporary directory");
    write(&path, content).expect("a temporary file");
    path
}

fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files() {
        put(root.path(), name, text.as_bytes());
    }
    root
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn golden() -> Platform {
    Platform {
        host_name: some("bench"),
        distribution: some("Debian GNU/Linux 12 (bookworm)"),
        kernel: some("6.1.0-18-amd64"),
        architecture: some("x86_64"),
        product: some("QEMU Standard PC (Q35)"),
        virtualisation: some("QEMU"),
        processor: some("Intel(R) Xeon(R) CPU X7560 @ 2.27GHz"),
        processor_mhz: Some(2270.0),
        sockets: Some(2),
        cores: Some(2),
        threads: Some(2),
        numa_nodes: Some(2),
        memory_bytes: Some(2_048_000_000),
        swap_bytes: Some(1_024_000),
        block_devices: vec![
            BlockDevice {
                name: "sda".into(),
                size_bytes: Some(1 << 20),
                rotational: Some(true),
                scheduler: some("mq-deadline"),
                model: some("VIOLIN VMA 3205"),
                mounts: vec!["/ (ext4)".into()],
            },
            BlockDevice {
                name: "dm-0".into(),
                size_bytes: Some(1 << 19),
                rotational: Some(false),
                scheduler: None,
                model: None,
                mounts: vec!["/data one (xfs)".into()],
            },
        ],
        control_group: Some(ControlGroup {
            cpu_max_threads: Some(0.5),
            threads: some("1"),
            memory_max_bytes: Some(1 << 20),
            devices: vec![DeviceCap {
                name: "253:0".into(),
                read_max_iops: Some(500),
                ..DeviceCap::default()
            }],
            ..ControlGroup::default()
        }),
    }
}

#[test]
fn golden_facts() {
    assert_eq!(facts(machine().path()), golden());
}

#[test]
fn an_empty_root_has_no_facts() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(facts(root.path()), Platform::default());
    assert_eq!(facts(&root.path().join("not there")), Platform::default());
}

/// Each file in turn missing, truncated anywhere, or not text: the other facts stay, nothing panics.
#[test]
fn odd_files_cost_only_their_own_facts() {
    for (name, text) in files() {
        let root = machine();
        let path = root.path().join(name);
        let stay = |what: &str| {
            let platform = facts(root.path());
            if !name.ends_with("osrelease") {
                assert_eq!(platform.kernel, golden().kernel, "{name} {what}");
            }
            if !name.ends_with("meminfo") {
                assert_eq!(
                    platform.memory_bytes,
                    golden().memory_bytes,
                    "{name} {what}"
                );
            }
            if !name.ends_with("os-release") {
                assert_eq!(
                    platform.distribution,
                    golden().distribution,
                    "{name} {what}"
                );
            }
            let _ = Reader::open(root.path(), Some("sda")).snapshot();
        };
        for end in (0..text.len()).step_by(1 + text.len() / 24) {
            write(&path, &text.as_bytes()[..end]).unwrap();
            stay("cut");
        }
        for odd in [
            &b"\xff\xfe\x00\n\x80"[..],
            b"-1\n",
            b"99999999999999999999999\n",
            b":\n::\n \n",
        ] {
            write(&path, odd).unwrap();
            stay("odd");
        }
        std::fs::remove_file(&path).unwrap();
        stay("missing");
        create_dir_all(&path).unwrap();
        stay("a directory");
    }
}

/// A whole window: the files change between mark and finish, and every figure follows.
#[test]
fn golden_window() {
    let root = machine();
    let sampler = Sampler::start(SamplerOptions {
        interval: Duration::from_secs(3600),
        devices: Stack::named(root.path(), "sda"),
        root: root.path().into(),
        ..SamplerOptions::default()
    })
    .unwrap();
    let mark = sampler.mark();
    put(
        root.path(),
        "proc/stat",
        b"cpu  300 100 150 1100 130 20 40 160 0 0\n",
    );
    put(
        root.path(),
        "proc/diskstats",
        b"   8       0 sda 30 0 3000 80 57 0 100500 520 0 0 0\n",
    );
    put(root.path(), "proc/net/dev", net_dev(2_001_000).as_bytes());
    put(
        root.path(),
        "proc/net/snmp",
        b"Tcp: InSegs RetransSegs\nTcp: 9 12\n",
    );
    put(
        root.path(),
        "proc/vmstat",
        b"pgmajfault 13\npswpin 1\npswpout 102\n",
    );
    put(
        root.path(),
        "proc/pressure/io",
        b"some avg10=0.00 total=3000\n",
    );
    std::fs::remove_file(root.path().join("proc/pressure/cpu")).unwrap();
    // Shares of a processor are known from a quarter of a second on.
    std::thread::sleep(Duration::from_millis(260));
    let used = sampler.finish(mark);
    let mut figures = Figures::default();
    used.write_into(&mut figures);

    // 1000 ticks passed: 200 + 100 user, 100 + 10 + 30 system, 300 idle, 100 iowait, 160 steal.
    assert_eq!(figures.cpu_pct_avg, Some(60.0));
    assert_eq!(figures.cpu_user_pct, Some(30.0));
    assert_eq!(figures.cpu_system_pct, Some(14.0));
    assert_eq!(figures.cpu_iowait_pct, Some(10.0));
    assert_eq!(figures.cpu_steal_pct, Some(16.0));
    let elapsed_s = used.rates.elapsed_s;
    let close = |figure: Option<f64>, golden: f64| {
        let value = figure.unwrap();
        assert!(
            (value - golden).abs() <= 1e-9 * golden.abs(),
            "{value} is not {golden}"
        );
    };
    close(figures.read_iops, 20.0 / elapsed_s);
    close(figures.write_iops, 50.0 / elapsed_s);
    close(figures.total_iops, 70.0 / elapsed_s);
    close(figures.read_mb_per_s, 1.024 / elapsed_s);
    close(figures.write_mb_per_s, 51.2 / elapsed_s);
    close(figures.total_mb_per_s, 52.224 / elapsed_s);
    assert_eq!(figures.read_await_ms, Some(2.0));
    assert_eq!(figures.write_await_ms, Some(10.0));
    let [device] = &used.devices[..] else {
        panic!("{:?}", used.devices)
    };
    assert_eq!(device.name.as_str(), "sda");
    assert!(device.carries.is_empty(), "{device:?}");
    let [reads, writes] = [device.reads, device.writes].map(Option::unwrap);
    assert_eq!((reads.count, reads.await_ms), (20, Some(2.0)));
    assert_eq!((writes.count, writes.await_ms), (50, Some(10.0)));
    close(Some(writes.mb), 51.2);
    close(figures.network_mb_per_s, 2.0 / elapsed_s);
    let interfaces: Vec<_> = (used.interfaces.iter())
        .map(|i| (i.name.as_str(), i.kind, i.received.bytes, i.elapsed_s))
        .collect();
    let elapsed = Some(elapsed_s);
    assert_eq!(
        interfaces,
        [
            ("eth0", InterfaceKind::Physical, 2_000_000, elapsed),
            ("bond0", InterfaceKind::Virtual, 2_000_000, elapsed),
            ("lo", InterfaceKind::Loopback, 0, elapsed),
        ]
    );
    assert_eq!(figures.network_errors, Some(0.0));
    assert_eq!(figures.tcp_retransmits, Some(7.0));
    assert_eq!(figures.major_faults, Some(10.0));
    assert_eq!(figures.swap_in_mb, Some(0.0));
    assert_eq!(figures.pressure_memory_pct, Some(0.0));
    assert_eq!(figures.pressure_io_pct, Some(0.0));
    assert!(figures.swap_out_mb.unwrap() >= 0.4096, "100 pages");
    assert_eq!(figures.cpu_pct_peak, None);
    assert_eq!(figures.memory_used_mb_peak, None);
    assert_eq!((used.io_reason, used.samples_lost), (None, 0));
}

#[test]
fn samples_of_a_still_machine() {
    let root = machine();
    let sampler = Sampler::start(SamplerOptions {
        interval: Duration::from_millis(20),
        root: root.path().into(),
        ..SamplerOptions::default()
    })
    .unwrap();
    let mark = sampler.mark();
    std::thread::sleep(Duration::from_millis(300));
    let used = sampler.finish(mark);
    assert!(!used.samples.is_empty());
    assert!(
        used.samples
            .iter()
            .all(|sample| sample.memory_used_mb == Some(1536.0))
    );
    assert_eq!(used.memory_used_mb_peak, Some(1536.0));
    assert!(
        used.samples.iter().all(|sample| sample.cpu_pct.is_none()),
        "no tick passed"
    );
    assert_eq!(used.cpu_pct_peak, None);
    assert!(used.io_reason.unwrap() == archive::Remark::NoDevice);
    assert_eq!(used.rates.read_iops, None);
}
