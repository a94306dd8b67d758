//! Processor model, frequency and topology.

use std::collections::BTreeSet;
use std::path::Path;

use super::files::{count_numbered, first_line, first_number, is_numbered};

#[derive(Debug, Default, PartialEq)]
pub(super) struct Processor {
    pub model: Option<String>,
    pub mhz: Option<f64>,
    pub sockets: Option<u32>,
    pub cores: Option<u32>,
    pub threads: Option<u32>,
}

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn read(root: &Path, cpuinfo: &str) -> Processor {
    let model = model(cpuinfo);
    let (sockets, cores) = sockets_and_cores(root).unwrap_or_else(|| counted(cpuinfo));
    Processor {
        mhz: mhz(root, cpuinfo, model.as_deref()),
        model,
        sockets,
        cores,
        threads: threads(root, cpuinfo),
    }
}

/// The value of the first line "key : value".
pub(super) fn value<'a>(cpuinfo: &'a str, key: &str) -> Option<&'a str> {
    values(cpuinfo, key).next()
}

fn values<'a>(cpuinfo: &'a str, key: &str) -> impl Iterator<Item = &'a str> {
    cpuinfo.lines().filter_map(move |line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key && !value.trim().is_empty()).then(|| value.trim())
    })
}

/// Each architecture has its own key; ARM has only numbers, which are shown as such.
fn model(cpuinfo: &str) -> Option<String> {
    let named = ["model name", "cpu model", "cpu", "uarch"]
        .iter()
        .find_map(|key| value(cpuinfo, key))
        .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "));
    named.or_else(|| {
        let implementer = value(cpuinfo, "CPU implementer")?;
        let part = value(cpuinfo, "CPU part")?;
        Some(format!("ARM implementer {implementer} part {part}"))
    })
}

/// The nominal frequency. If the kernel scales it, "cpu MHz" is the momentary one, which is not a fact of the
/// machine.
fn mhz(root: &Path, cpuinfo: &str, model: Option<&str>) -> Option<f64> {
    let file = |name: &str| first_number::<f64>(root, &format!("{CPUS}/cpu0/{name}"));
    let scaled = root.join(CPUS).join("cpu0/cpufreq").exists();
    file("cpufreq/base_frequency")
        .map(|khz| khz / 1e3)
        .or_else(|| file("acpi_cppc/nominal_freq"))
        .or_else(|| model.and_then(mhz_in_name))
        .or_else(|| {
            (!scaled)
                .then(|| value(cpuinfo, "cpu MHz")?.parse().ok())
                .flatten()
        })
        .filter(|mhz| mhz.is_finite() && *mhz > 0.0)
}

/// The nominal frequency in a name like "… @ 2.30GHz", printed by the maker.
fn mhz_in_name(model: &str) -> Option<f64> {
    let (_, frequency) = model.rsplit_once('@')?;
    let ghz: f64 = frequency
        .trim()
        .strip_suffix("GHz")?
        .trim_end()
        .parse()
        .ok()?;
    Some((ghz * 1e3).round())
}

fn threads(root: &Path, cpuinfo: &str) -> Option<u32> {
    online(root)
        .or_else(|| {
            u32::try_from(values(cpuinfo, "processor").count())
                .ok()
                .filter(|&n| n > 0)
        })
        .or_else(|| count_numbered(&root.join(CPUS), "cpu"))
}

pub(super) fn online(root: &Path) -> Option<u32> {
    listed(&first_line(root, &format!("{CPUS}/online"))?)
}

/// Number of processors in a list like "0-3,8".
pub(super) fn listed(list: &str) -> Option<u32> {
    let mut count = 0u32;
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        count = count.checked_add(last.checked_sub(first)?.checked_add(1)?)?;
    }
    Some(count)
}

/// From `/sys`, which is the same on every architecture: hardware threads of one core share one list of siblings, and
/// those of one socket one package number.
fn sockets_and_cores(root: &Path) -> Option<(Option<u32>, Option<u32>)> {
    let (mut packages, mut siblings) = (BTreeSet::new(), BTreeSet::new());
    for entry in std::fs::read_dir(root.join(CPUS)).ok()?.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_numbered(name, "cpu")) else {
            continue;
        };
        let topology = format!("{CPUS}/{name}/topology");
        packages.extend(first_number::<u32>(
            root,
            &format!("{topology}/physical_package_id"),
        ));
        siblings.extend(first_line(
            root,
            &format!("{topology}/thread_siblings_list"),
        ));
    }
    let known = |count: usize| u32::try_from(count).ok().filter(|&count| count > 0);
    (!siblings.is_empty()).then(|| (known(packages.len()), known(siblings.len())))
}

/// From `/proc/cpuinfo`, which names the socket and the core of each processor on x86.
fn counted(cpuinfo: &str) -> (Option<u32>, Option<u32>) {
    let (mut sockets, mut cores) = (BTreeSet::new(), BTreeSet::new());
    for processor in cpuinfo.split("\n\n") {
        let Some(socket) = value(processor, "physical id") else {
            continue;
        };
        sockets.insert(socket);
        cores.extend(value(processor, "core id").map(|core| (socket, core)));
    }
    let known = |count: usize| u32::try_from(count).ok().filter(|&count| count > 0);
    (known(sockets.len()), known(cores.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    const X86: &str = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)   CPU E5-2650 0 @ 2.00GHz\n\
        cpu MHz\t\t: 1203.5\nphysical id\t: 0\ncore id\t\t: 0\n\n\
        processor\t: 1\nphysical id\t: 0\ncore id\t\t: 1\n\n\
        processor\t: 2\nphysical id\t: 1\ncore id\t\t: 0\n\n\
        processor\t: 3\nphysical id\t: 1\ncore id\t\t: 0\n\n";

    #[test]
    fn golden_cpuinfo() {
        let nothing = tempfile::tempdir().unwrap();
        let golden = Processor {
            model: Some("Intel(R) Xeon(R) CPU E5-2650 0 @ 2.00GHz".into()),
            mhz: Some(2000.0),
            sockets: Some(2),
            cores: Some(3),
            threads: Some(4),
        };
        assert_eq!(read(nothing.path(), X86), golden);
        assert_eq!(read(nothing.path(), ""), Processor::default());
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        let golden = Processor {
            model: Some("ARM implementer 0x41 part 0xd0c".into()),
            threads: Some(1),
            ..Processor::default()
        };
        assert_eq!(read(nothing.path(), arm), golden);
    }

    #[test]
    fn the_nominal_frequency_is_not_the_momentary_one() {
        let root = tempfile::tempdir().unwrap();
        let info = "processor\t: 0\nmodel name\t: AMD EPYC 7B13\ncpu MHz\t\t: 1500.25\n";
        let mhz = || read(root.path(), info).mhz;
        assert_eq!(
            mhz(),
            Some(1500.25),
            "an unscaled processor shows its only frequency"
        );
        let cpu0 = root.path().join("sys/devices/system/cpu/cpu0");
        create_dir_all(cpu0.join("cpufreq")).unwrap();
        assert_eq!(mhz(), None);
        create_dir_all(cpu0.join("acpi_cppc")).unwrap();
        write(cpu0.join("acpi_cppc/nominal_freq"), "2450\n").unwrap();
        assert_eq!(mhz(), Some(2450.0));
        write(cpu0.join("cpufreq/base_frequency"), "2300000\n").unwrap();
        assert_eq!(mhz(), Some(2300.0));
    }

    #[test]
    fn golden_topology() {
        let root = tempfile::tempdir().unwrap();
        let cpus = root.path().join("sys/devices/system/cpu");
        for (cpu, package, siblings) in [
            (0, "0", "0,2"),
            (1, "0", "1,3"),
            (2, "0", "0,2"),
            (3, "-1", "1,3"),
        ] {
            let topology = cpus.join(format!("cpu{cpu}/topology"));
            create_dir_all(&topology).unwrap();
            write(topology.join("physical_package_id"), package).unwrap();
            write(
                topology.join("thread_siblings_list"),
                format!("{siblings}\n"),
            )
            .unwrap();
        }
        create_dir_all(cpus.join("cpuidle")).unwrap();
        let processor = read(root.path(), "");
        let counts = (processor.sockets, processor.cores, processor.threads);
        assert_eq!(counts, (Some(1), Some(2), Some(4)));
        write(cpus.join("online"), "0-1,3\n").unwrap();
        assert_eq!(read(root.path(), "").threads, Some(3));
        for odd in ["", "x", "3-1", "0-4294967295", "0-"] {
            write(cpus.join("online"), odd).unwrap();
            assert_eq!(read(root.path(), "").threads, Some(4), "{odd}");
        }
    }
}
