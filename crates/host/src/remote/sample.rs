//! One snapshot of another machine's counters: the script that prints it, and its way back into [`Counters`] through
//! the parsers for this machine's files.

use std::collections::HashMap;

use crate::counters::{Counters, InterfaceCounters, PressureUs, disks, is_counted, parse};

pub(super) const MARK: &str = "dbdyno-begin";
pub(super) const END: &str = "dbdyno-end ";
/// Clock ticks in `/proc/PID/stat`, which Linux fixes for programs, whatever the kernel's own are.
const TICKS_PER_S: f64 = 100.0;
/// The wall clock counts nanoseconds and may be set; the other clock may not be set and counts hundredths of seconds.
/// As long as the two agree within this time, the finer one is used.
const CLOCKS_APART_NS: i64 = 20_000_000;

/// Answers every line on its standard input by one snapshot with that number. One `grep` reads all files, so that a
/// snapshot costs the other machine two short processes. `/proc/$$/stat` and that of its parent, the ssh server's
/// process, show the cost of the sampling there.
pub(super) fn script(devices: &[&str]) -> String {
    let patterns = devices.iter().map(|name| format!("-e \" {name} \" "));
    let disk: String = patterns.collect();
    let disk_file = match devices {
        [] => "",
        _ => "proc/diskstats",
    };
    format!(
        "cd /; LC_ALL=C; export LC_ALL; echo {MARK}; \
         echo \"page $(getconf PAGESIZE 2>/dev/null)\"; \
         while read -r n; do date +%s.%N; \
         grep -s -e \"^cpu \" -e \"[:|]\" -e \"^pgmajfault\" -e \"^pswp\" -e \"^some\" \
         -e \"^[0-9]* (\" -e \"^[0-9.]* [0-9.]*$\" {disk} proc/uptime proc/stat proc/net/dev \
         proc/net/snmp proc/net/sockstat proc/meminfo proc/vmstat proc/pressure/cpu proc/pressure/memory \
         proc/pressure/io proc/$$/stat proc/$PPID/stat {disk_file}; \
         echo \"{END}$n\"; done"
    )
}

pub(super) fn is_device_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-/:".contains(c);
    !name.is_empty() && name.len() <= 64 && name.chars().all(fits)
}

/// State that lasts from one snapshot to the next.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// Names, and true for devices that are added up.
    pub devices: Vec<(String, bool)>,
    pub interfaces: Vec<String>,
    page_bytes: Option<u64>,
    offset_ns: Option<i64>,
}

#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub counters: Counters,
    pub interfaces: Vec<InterfaceCounters>,
    /// Processor time of the sampling on the other machine since it began.
    pub cost_s: Option<f64>,
}

impl Reader {
    pub(super) fn new(devices: Vec<(String, bool)>, interfaces: &[String]) -> Self {
        Self {
            devices,
            interfaces: interfaces.to_vec(),
            ..Self::default()
        }
    }

    /// Parses the lines of one snapshot; `None` if even the clock is missing.
    pub(super) fn read(&mut self, lines: &[String]) -> Option<Snapshot> {
        let mut files: HashMap<&str, Vec<u8>> = HashMap::new();
        let mut wall_ns = None;
        for line in lines {
            match line.split_once(':') {
                Some((name, text)) if name.starts_with("proc/") => {
                    let file = files.entry(name).or_default();
                    file.extend_from_slice(text.as_bytes());
                    file.push(b'\n');
                }
                _ => match line.strip_prefix("page ") {
                    Some(bytes) => self.page_bytes = bytes.trim().parse().ok(),
                    None => wall_ns = wall_ns.or_else(|| nanoseconds(line)),
                },
            }
        }
        let file = |name: &str| files.get(name).map(Vec::as_slice);
        let uptime_ns = file("proc/uptime").and_then(uptime_ns)?;
        let at_ns = self.at_ns(uptime_ns, wall_ns);
        let pressure = |name: &str| file(name).and_then(parse::pressure_us);
        let counters = Counters {
            at_ns,
            cpu: file("proc/stat").and_then(parse::cpu),
            disks: disks(&self.devices, file("proc/diskstats")),
            network: file("proc/net/dev")
                .and_then(|text| parse::network(text, |name| is_counted(&self.interfaces, name))),
            tcp_retransmits: file("proc/net/snmp").and_then(parse::tcp_retransmits),
            tcp_sockets: file("proc/net/sockstat").and_then(parse::tcp_sockets),
            memory: file("proc/meminfo").and_then(parse::memory),
            page_cache_bytes: file("proc/meminfo").and_then(parse::page_cache_bytes),
            paging: file("proc/vmstat")
                .zip(self.page_bytes)
                .map(|(text, page_bytes)| parse::paging(text, page_bytes))
                .unwrap_or_default(),
            pressure_us: PressureUs {
                cpu: pressure("proc/pressure/cpu"),
                memory: pressure("proc/pressure/memory"),
                io: pressure("proc/pressure/io"),
            },
            process_cpu_ns: None,
            process_rss_bytes: None,
        };
        let own = files.iter().filter(|(name, _)| {
            let number = name
                .strip_prefix("proc/")
                .and_then(|n| n.strip_suffix("/stat"));
            number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
        });
        let costs: Vec<f64> = own.filter_map(|(_, text)| used_s(text)).collect();
        Some(Snapshot {
            counters,
            interfaces: file("proc/net/dev")
                .map(parse::interfaces)
                .unwrap_or_default(),
            cost_s: (!costs.is_empty()).then(|| costs.iter().sum()),
        })
    }

    /// The time on the other machine's own clock, so that the network's delay does not matter.
    fn at_ns(&mut self, uptime_ns: i64, wall_ns: Option<i64>) -> u64 {
        let Some(wall_ns) = wall_ns else {
            return uptime_ns.unsigned_abs();
        };
        let offset_ns = wall_ns - uptime_ns;
        let known_ns = *self.offset_ns.get_or_insert(offset_ns);
        if (offset_ns - known_ns).abs() > CLOCKS_APART_NS {
            self.offset_ns = Some(offset_ns);
            return uptime_ns.unsigned_abs();
        }
        (wall_ns - known_ns).unsigned_abs()
    }
}

/// Seconds since the machine was started, as in "12345.67 4567.89".
fn uptime_ns(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    nanoseconds(text.split_whitespace().next()?)
}

/// Seconds with up to nine decimals, exactly; `None` for a `date` without nanoseconds.
fn nanoseconds(text: &str) -> Option<i64> {
    let (seconds, decimals) = text.trim().split_once('.')?;
    let digits = decimals.len();
    if !(1..=9).contains(&digits) || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds: i64 = seconds.parse().ok()?;
    let part = decimals.parse::<i64>().ok()? * 10i64.pow(9 - digits as u32);
    seconds.checked_mul(1_000_000_000)?.checked_add(part)
}

/// Processor time of a process and of its ended children, from `/proc/PID/stat`.
fn used_s(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    // The name in parentheses may contain anything.
    let (_, fields) = text.rsplit_once(')')?;
    let ticks: Vec<u64> = fields
        .split_whitespace()
        .skip(11)
        .take(4)
        .map_while(|word| word.parse().ok())
        .collect();
    (ticks.len() == 4).then(|| ticks.iter().sum::<u64>() as f64 / TICKS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(uptime: &str, wall: &str, user: u64) -> Vec<String> {
        let text = format!(
            "page 4096\n{wall}\nproc/uptime:{uptime} 100.00\n\
             proc/stat:cpu  {user} 0 50 1000 20 0 0 1 0 0\n\
             proc/net/dev:Inter-|   Receive  |  Transmit\n\
             proc/net/dev: face |bytes    packets errs\n\
             proc/net/dev:  eth0: 100 1 0 0 0 0 0 0 900 1 2 0 0 0 0 0\n\
             proc/net/dev:    lo: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n\
             proc/meminfo:MemTotal:       1000 kB\nproc/meminfo:MemAvailable:    400 kB\n\
             proc/vmstat:pgmajfault 5\nproc/vmstat:pswpin 2\nproc/vmstat:pswpout 3\n\
             proc/diskstats:   8       0 sda 10 0 1000 40 7 0 500 9 0 0 0\n\
             proc/77/stat:77 (sh (odd) x) S 1 1 1 0 -1 0 0 0 0 0 3 4 10 20 20 0 1 0\n\
             proc/1/stat:1 (sshd) S 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0"
        );
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_snapshot_is_read_like_this_machines() {
        let mut reader = Reader::new(vec![("sda".into(), true)], &[]);
        let lines = printed("5000.25", "1700000000.250000000", 100);
        let one = reader.read(&lines).unwrap();
        let counters = one.counters;
        assert_eq!(counters.at_ns, 5_000_250_000_000);
        assert_eq!(
            counters.cpu.map(|cpu| (cpu.user, cpu.idle)),
            Some((100, 1000))
        );
        assert_eq!(
            counters.disks.get(0).map(|disk| (disk.reads, disk.writes)),
            Some((10, 7))
        );
        let network = counters.network.unwrap();
        assert_eq!((network.bytes, network.errors), (1000, 2), "without lo");
        let interfaces = one.interfaces.iter();
        let received: Vec<_> = interfaces
            .map(|i| (i.name.as_str(), i.received.bytes))
            .collect();
        assert_eq!(received, [("eth0", 100), ("lo", 7)]);
        assert_eq!(counters.memory.map(|m| m.available), Some(400 * 1024));
        assert_eq!(counters.paging.swap_in_bytes, Some(8192));
        assert_eq!(counters.process_cpu_ns, None);
        assert_eq!(one.cost_s, Some(0.40));
        assert!(Reader::default().read(&lines[..2]).is_none(), "no clock");
        let mut without_device = Reader::new(Vec::new(), &[]);
        let counters = without_device.read(&lines).unwrap().counters;
        assert_eq!(counters.disks.get(0), None);
    }

    #[test]
    fn time_is_the_other_machines_own() {
        let mut reader = Reader::new(Vec::new(), &[]);
        let mut at = |uptime, wall| {
            let one = reader.read(&printed(uptime, wall, 1)).unwrap();
            one.counters.at_ns as f64 / 1e9
        };
        assert_eq!(at("10.00", "1000.001000000"), 10.0);
        // The finer clock shows the hundredths that the other one rounds.
        assert_eq!(at("10.10", "1000.108000000"), 10.107);
        // The wall clock is set back by an hour, so the other one counts.
        assert_eq!(at("10.20", "400.900000000"), 10.2);
        assert_eq!(at("10.30", "401.007000000"), 10.307);
        assert_eq!(at("10.40", "1000.%N"), 10.4);
    }

    #[test]
    fn the_script_fits_into_quotes_and_names_are_names() {
        assert!(!script(&["nvme0n1", "sda"]).contains(['\'', '!', '\n']));
        assert!(is_device_name("cciss/c0d0") && is_device_name("dm-3"));
        for odd in ["", "sda;reboot", "s d", "$(x)", "a\"b"] {
            assert!(!is_device_name(odd), "{odd}");
        }
    }
}
