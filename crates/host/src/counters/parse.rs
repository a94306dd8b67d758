//! Parsers of the kernel's counter files as bytes; those used every second do not allocate.
//!
//! Only lines with their line end count, so that a figure in a truncated file is never half read.

use archive::Traffic;

use super::{
    CpuTicks, DiskCounters, InterfaceCounters, MemoryBytes, NetworkCounters, PagingCounters,
};

const INTERFACE_NAME_MAX: usize = 15;

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let end = text.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    text[..end].split(|&byte| byte == b'\n')
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace())
        .filter(|word| !word.is_empty())
}

/// A word of decimal digits; `None` for anything else and for numbers beyond 64 bits.
fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// The first `N` words as numbers; `None` if there are fewer or one is not a number.
fn numbers<'a, const N: usize>(mut words: impl Iterator<Item = &'a [u8]>) -> Option<[u64; N]> {
    let mut values = [0; N];
    for value in &mut values {
        *value = number(words.next()?)?;
    }
    Some(values)
}

/// The number after the key that begins a line.
fn value_of(text: &[u8], key: &[u8]) -> Option<u64> {
    lines(text).find_map(|line| {
        let mut words = words(line);
        (words.next()? == key)
            .then(|| number(words.next()?))
            .flatten()
    })
}

pub fn cpu(text: &[u8]) -> Option<CpuTicks> {
    let mut words = words(lines(text).next()?);
    if words.next()? != b"cpu" {
        return None;
    }
    let [user, nice, system, idle, iowait, irq, softirq, steal] = numbers(words)?;
    Some(CpuTicks {
        user: user.saturating_add(nice),
        system: system.saturating_add(irq).saturating_add(softirq),
        interrupts: irq.saturating_add(softirq),
        idle,
        iowait,
        steal,
    })
}

pub fn disk(text: &[u8], device: &[u8]) -> Option<DiskCounters> {
    lines(text).find_map(|line| {
        let mut words = words(line).skip(2);
        if words.next()? != device {
            return None;
        }
        let [
            reads,
            _,
            read_sectors,
            read_ms,
            writes,
            _,
            write_sectors,
            write_ms,
            _,
            busy_ms,
            weighted_ms,
        ] = numbers(words)?;
        Some(DiskCounters {
            reads,
            read_sectors,
            read_ms,
            writes,
            write_sectors,
            write_ms,
            busy_ms,
            weighted_ms,
        })
    })
}

/// Sum over the interfaces of `/proc/net/dev` for which `counts(name)` holds.
pub fn network(text: &[u8], counts: impl Fn(&[u8]) -> bool) -> Option<NetworkCounters> {
    let mut sum = NetworkCounters::default();
    let mut complete = false;
    for line in lines(text).skip(2) {
        let colon = line.iter().position(|&byte| byte == b':')?;
        if !counts(line[..colon].trim_ascii()) {
            continue;
        }
        let fields: [u64; 12] = numbers(words(&line[colon + 1..]))?;
        sum.bytes = sum
            .bytes
            .saturating_add(fields[0])
            .saturating_add(fields[8]);
        for errors in [fields[2], fields[3], fields[10], fields[11]] {
            sum.errors = sum.errors.saturating_add(errors);
        }
        complete = true;
    }
    complete.then_some(sum)
}

/// Every interface of `/proc/net/dev`, in its order; other lines are left out.
pub fn interfaces(text: &[u8]) -> Vec<InterfaceCounters> {
    lines(text).skip(2).filter_map(interface).collect()
}

fn interface(line: &[u8]) -> Option<InterfaceCounters> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let name = std::str::from_utf8(line[..colon].trim_ascii()).ok()?;
    let fields: [u64; 12] = numbers(words(&line[colon + 1..]))?;
    let traffic = |first: usize| Traffic {
        bytes: fields[first],
        packets: fields[first + 1],
        errors: fields[first + 2],
        drops: fields[first + 3],
    };
    (1..=INTERFACE_NAME_MAX)
        .contains(&name.len())
        .then(|| InterfaceCounters {
            name: name.to_owned(),
            received: traffic(0),
            sent: traffic(8),
        })
}

/// `RetransSegs` of `/proc/net/snmp`, whose first `Tcp:` line names the columns of the second.
pub fn tcp_retransmits(text: &[u8]) -> Option<u64> {
    let mut tcp = lines(text).filter(|line| line.starts_with(b"Tcp:"));
    let (names, values) = (tcp.next()?, tcp.next()?);
    let column = words(names).position(|name| name == b"RetransSegs")?;
    number(words(values).nth(column)?)
}

/// `/proc/meminfo`; its "kB" are 1024 bytes.
pub fn memory(text: &[u8]) -> Option<MemoryBytes> {
    let bytes = |key: &[u8]| value_of(text, key)?.checked_mul(1024);
    Some(MemoryBytes {
        total: bytes(b"MemTotal:")?,
        available: bytes(b"MemAvailable:")?,
    })
}

/// File pages in memory, from `/proc/meminfo`: cached ones and those of block devices; includes shared memory.
pub fn page_cache_bytes(text: &[u8]) -> Option<u64> {
    let bytes = |key: &[u8]| value_of(text, key)?.checked_mul(1024);
    bytes(b"Cached:")?.checked_add(bytes(b"Buffers:")?)
}

/// TCP sockets in use, from `/proc/net/sockstat`.
pub fn tcp_sockets(text: &[u8]) -> Option<u64> {
    let tcp = lines(text).find(|line| line.starts_with(b"TCP:"))?;
    let mut words = words(tcp).skip_while(|word| *word != b"inuse");
    number(words.nth(1)?)
}

/// `/proc/vmstat`; swap is counted there in pages.
pub fn paging(text: &[u8], page_bytes: u64) -> PagingCounters {
    let bytes = |key: &[u8]| value_of(text, key)?.checked_mul(page_bytes);
    PagingCounters {
        major_faults: value_of(text, b"pgmajfault"),
        swap_in_bytes: bytes(b"pswpin"),
        swap_out_bytes: bytes(b"pswpout"),
    }
}

/// Total of the "some" line of a file in `/proc/pressure`, in µs.
pub fn pressure_us(text: &[u8]) -> Option<u64> {
    let some = lines(text).find(|line| line.starts_with(b"some "))?;
    number(words(some).find_map(|word| word.strip_prefix(b"total="))?)
}

/// Resident memory from `/proc/self/statm`, which counts pages.
pub fn resident_bytes(text: &[u8], page_bytes: u64) -> Option<u64> {
    number(words(lines(text).next()?).nth(1)?)?.checked_mul(page_bytes)
}

/// Time on the run queue, from a thread's `schedstat`.
pub fn run_queue_wait_ns(text: &[u8]) -> Option<u64> {
    number(words(lines(text).next()?).nth(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &[u8] = b"cpu  7413 33385 3049 126760 445 11 91 45 900 20\ncpu0 1 2 3\nctxt 7\n";
    const DISKSTATS: &[u8] = b"   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n \
        259       1 nvme0n1p1 9 0 9 9 9 0 9 9 0 9 9\n \
        259       0 nvme0n1 51949 8521 3765090 9811 26223 25352 4584456 15212 0 6032 25542 8740 19 9 4 3 7\n";
    const NET: &[u8] = b"Inter-|   Receive                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed\n    \
        lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0\n  \
        eth0: 1000 10 1 2 0 0 0 0 500 5 3 4 0 0 0 0\n  eth1:20 1 0 0 0 0 0 0 30 1 0 1 0 0 0 0\n";
    const SNMP: &[u8] = b"Ip: Forwarding DefaultTTL\nIp: 1 64\n\
        Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n\
        Tcp: 1 200 120000 -1 81 3 0 63 0 11059 7885 42 0 73 0\nUdp: InDatagrams\nUdp: 1\n";
    const MEMINFO: &[u8] =
        b"MemTotal:       24682416 kB\nMemFree:         1 kB\nMemAvailable:   20000000 kB\n";
    const CACHE: &[u8] = b"MemTotal: 9 kB\nBuffers: 100 kB\nCached: 900 kB\nSwapCached: 7 kB\n";
    const SOCKSTAT: &[u8] = b"sockets: used 42\nTCP: inuse 10 orphan 0 tw 3 alloc 15 mem 5\n";
    const VMSTAT: &[u8] = b"nr_free_pages 1\npswpin 3\npswpout 5\npgfault 99\npgmajfault 1244\n";
    const PRESSURE: &[u8] = b"some avg10=0.58 avg60=1.19 avg300=4.16 total=30901481\n\
        full avg10=0.00 avg60=0.00 avg300=0.00 total=77\n";

    #[test]
    fn golden_cpu() {
        let ticks = CpuTicks {
            user: 40798,
            system: 3151,
            interrupts: 102,
            idle: 126760,
            iowait: 445,
            steal: 45,
        };
        assert_eq!(cpu(STAT), Some(ticks));
        assert_eq!(cpu(b"cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(
            cpu(b"cpu  1 2 3 4\n"),
            None,
            "a kernel without iowait and steal reports nothing"
        );
        assert_eq!(cpu(b"cpu  1 2 3 4 5 6 7 -8\n"), None);
    }

    #[test]
    fn golden_disk() {
        let counters = DiskCounters {
            reads: 51949,
            read_sectors: 3765090,
            read_ms: 9811,
            writes: 26223,
            write_sectors: 4584456,
            write_ms: 15212,
            busy_ms: 6032,
            weighted_ms: 25542,
        };
        assert_eq!(disk(DISKSTATS, b"nvme0n1"), Some(counters));
        assert_eq!(disk(DISKSTATS, b"nvme0"), None);
        assert_eq!(disk(b"", b"nvme0n1"), None);
    }

    #[test]
    fn golden_network() {
        let counters = network(NET, |name| name != b"lo").unwrap();
        assert_eq!(
            counters,
            NetworkCounters {
                bytes: 1550,
                errors: 11
            }
        );
        let counters = network(NET, |name| name == b"eth1").unwrap();
        assert_eq!(
            counters,
            NetworkCounters {
                bytes: 50,
                errors: 1
            }
        );
        assert_eq!(network(NET, |_| false), None);
    }

    #[test]
    fn golden_interfaces() {
        let found = interfaces(NET);
        let names: Vec<&str> = found.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["lo", "eth0", "eth1"]);
        let traffic = |bytes, packets, errors, drops| Traffic {
            bytes,
            packets,
            errors,
            drops,
        };
        assert_eq!(found[0].received, found[0].sent);
        assert_eq!(found[1].received, traffic(1000, 10, 1, 2));
        assert_eq!(found[1].sent, traffic(500, 5, 3, 4));
        assert_eq!(found[2].sent, traffic(30, 1, 0, 1));
        let odd = b"head\nhead\n : 1 1 1 1 1 1 1 1 1 1 1 1\n abcdefghijklmnop: 1 1 1 1 1 1 1 1 1 1 1 1\n \
            eth0 1 1 1\n eth1: 1 1 1\n eth2: 1 1 1 1 1 1 1 1 1 1 1 -1\n\xff: 1 1 1 1 1 1 1 1 1 1 1 1\n\
            wg0:7 1 1 1 1 1 1 1 1 1 1 1\n";
        let found = interfaces(odd);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].name.as_str(), found[0].received.bytes),
            ("wg0", 7)
        );
    }

    #[test]
    fn golden_small_files() {
        assert_eq!(tcp_retransmits(SNMP), Some(42));
        assert_eq!(tcp_retransmits(b"Tcp: InSegs\nTcp: 1\n"), None);
        let bytes = MemoryBytes {
            total: 25_274_793_984,
            available: 20_480_000_000,
        };
        assert_eq!(memory(MEMINFO), Some(bytes));
        assert_eq!(page_cache_bytes(CACHE), Some(1_024_000));
        assert_eq!(page_cache_bytes(MEMINFO), None);
        assert_eq!(tcp_sockets(SOCKSTAT), Some(10));
        let counters = PagingCounters {
            major_faults: Some(1244),
            swap_in_bytes: Some(12288),
            swap_out_bytes: Some(20480),
        };
        assert_eq!(paging(VMSTAT, 4096), counters);
        assert_eq!(paging(b"", 4096), PagingCounters::default());
        assert_eq!(pressure_us(PRESSURE), Some(30901481));
        assert_eq!(pressure_us(b"full avg10=0.00 total=77\n"), None);
        assert_eq!(
            resident_bytes(b"4000 250 100 1 0 500 0\n", 4096),
            Some(1_024_000)
        );
        assert_eq!(run_queue_wait_ns(b"81234 5678 9\n"), Some(5678));
    }

    #[test]
    fn numbers_are_decimal_and_fit() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(
            (number(b""), number(b"-1"), number(b"1x")),
            (None, None, None)
        );
    }

    /// A file that is cut anywhere gives its true figure or none.
    #[test]
    fn a_cut_file_is_never_half_read() {
        fn every_cut<T: PartialEq + std::fmt::Debug>(
            text: &[u8],
            read: impl Fn(&[u8]) -> Option<T>,
        ) {
            let whole = read(text);
            assert!(whole.is_some());
            assert_eq!(read(&[]), None);
            for end in 0..text.len() {
                let cut = read(&text[..end]);
                assert!(cut.is_none() || cut == whole, "cut at {end}: {cut:?}");
            }
        }
        every_cut(STAT, cpu);
        every_cut(DISKSTATS, |text| disk(text, b"nvme0n1"));
        every_cut(NET, |text| network(text, |name| name == b"eth0"));
        every_cut(NET, |text| {
            interfaces(text).into_iter().find(|i| i.name == "eth0")
        });
        every_cut(SNMP, tcp_retransmits);
        every_cut(MEMINFO, memory);
        every_cut(CACHE, page_cache_bytes);
        every_cut(SOCKSTAT, tcp_sockets);
        every_cut(VMSTAT, |text| paging(text, 4096).major_faults);
        every_cut(PRESSURE, pressure_us);
        every_cut(b"4000 250 100\n", |text| resident_bytes(text, 4096));
    }

    /// Every byte replaced by every kind of invalid one: no panic, whatever the result.
    #[test]
    fn odd_bytes_do_not_panic() {
        for text in [
            STAT, DISKSTATS, NET, SNMP, MEMINFO, CACHE, SOCKSTAT, VMSTAT, PRESSURE,
        ] {
            for position in 0..text.len() {
                for odd in [0u8, b'\n', b' ', b':', b'9', 0xff] {
                    let mut text = text.to_vec();
                    text[position] = odd;
                    let _ = (
                        cpu(&text),
                        disk(&text, b"nvme0n1"),
                        network(&text, |_| true),
                    );
                    let _ = (tcp_retransmits(&text), memory(&text), paging(&text, 4096));
                    let _ = (pressure_us(&text), resident_bytes(&text, 4096));
                    let _ = (page_cache_bytes(&text), tcp_sockets(&text));
                    let found = interfaces(&text);
                    let names = found.iter().map(|i| i.name.len());
                    assert!(names.max().unwrap_or(0) <= INTERFACE_NAME_MAX);
                }
            }
        }
    }
}
