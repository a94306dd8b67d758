//! Traffic of each network interface in a window.

use std::cmp::Reverse;
use std::collections::HashMap;

use archive::{InterfaceKind, InterfaceUse, Traffic};

use crate::counters::InterfaceCounters;

/// Most interfaces of a window in the list: the loopback, those with a device and the busiest others. The rest is
/// added up.
pub const INTERFACES_MAX: usize = 16;

/// The kernel's name of the loopback in every network namespace.
const LOOPBACK: &str = "lo";
const OTHERS: &str = "others";

/// Traffic since the start of the interfaces that exist at the end. A new one counts with all of its traffic; a
/// counter that went back counts as 0.
pub(crate) fn between(
    start: &[InterfaceCounters],
    end: &[InterfaceCounters],
    physical: &[String],
    elapsed_s: f64,
) -> Vec<InterfaceUse> {
    let before: HashMap<&str, &InterfaceCounters> = start
        .iter()
        .map(|then| (then.name.as_str(), then))
        .collect();
    let nothing = InterfaceCounters::default();
    let elapsed_s = (elapsed_s > 0.0).then_some(elapsed_s);
    let carried = end.iter().map(|now| {
        let then = before.get(now.name.as_str()).copied().unwrap_or(&nothing);
        InterfaceUse {
            kind: kind(&now.name, physical),
            name: now.name.clone(),
            elapsed_s,
            received: rise(then.received, now.received),
            sent: rise(then.sent, now.sent),
        }
    });
    let mut all: Vec<InterfaceUse> = carried.collect();
    all.sort_by_key(|used| {
        let bytes = used.received.bytes.saturating_add(used.sent.bytes);
        let is_loopback = used.kind == InterfaceKind::Loopback;
        (!is_loopback, used.kind, Reverse(bytes))
    });
    let rest = all.split_off(all.len().min(INTERFACES_MAX));
    all.sort_by_key(|used| used.kind);
    if !rest.is_empty() {
        all.push(InterfaceUse {
            name: OTHERS.to_owned(),
            kind: InterfaceKind::Others,
            elapsed_s,
            received: sum(rest.iter().map(|used| used.received)),
            sent: sum(rest.iter().map(|used| used.sent)),
        });
    }
    all
}

fn kind(name: &str, physical: &[String]) -> InterfaceKind {
    match name {
        LOOPBACK => InterfaceKind::Loopback,
        name if physical.iter().any(|known| known == name) => InterfaceKind::Physical,
        _ => InterfaceKind::Virtual,
    }
}

fn rise(start: Traffic, end: Traffic) -> Traffic {
    Traffic {
        bytes: end.bytes.saturating_sub(start.bytes),
        packets: end.packets.saturating_sub(start.packets),
        errors: end.errors.saturating_sub(start.errors),
        drops: end.drops.saturating_sub(start.drops),
    }
}

fn sum(each: impl Iterator<Item = Traffic>) -> Traffic {
    each.fold(Traffic::default(), |sum, one| Traffic {
        bytes: sum.bytes.saturating_add(one.bytes),
        packets: sum.packets.saturating_add(one.packets),
        errors: sum.errors.saturating_add(one.errors),
        drops: sum.drops.saturating_add(one.drops),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(name: &str, bytes: u64) -> InterfaceCounters {
        let traffic = Traffic {
            bytes,
            packets: bytes / 10,
            errors: bytes / 100,
            drops: bytes / 1000,
        };
        InterfaceCounters {
            name: name.to_owned(),
            received: traffic,
            sent: Traffic::default(),
        }
    }

    fn received(used: &[InterfaceUse]) -> Vec<(&str, u64)> {
        let each = used.iter();
        each.map(|used| (used.name.as_str(), used.received.bytes))
            .collect()
    }

    #[test]
    fn each_interface_rises_on_its_own() {
        let start = [
            counters("lo", 500),
            counters("eth0", 9_000),
            counters("gone", 7),
        ];
        let end = [
            counters("lo", 700),
            counters("new", 30),
            counters("eth0", 14_000),
            counters("back", 0),
        ];
        let start = [&start[..], &[counters("back", 80)]].concat();
        let used = between(&start, &end, &["eth0".to_owned()], 2.0);
        let golden = [("eth0", 5_000), ("new", 30), ("back", 0), ("lo", 200)];
        assert_eq!(received(&used), golden);
        let kinds = [
            InterfaceKind::Physical,
            InterfaceKind::Virtual,
            InterfaceKind::Virtual,
            InterfaceKind::Loopback,
        ];
        assert!(used.iter().map(|used| used.kind).eq(kinds));
        let card = Traffic {
            bytes: 5_000,
            packets: 500,
            errors: 50,
            drops: 5,
        };
        assert_eq!((used[0].received, used[0].elapsed_s), (card, Some(2.0)));
        assert_eq!(between(&start, &end, &[], 0.0)[0].elapsed_s, None);
        assert!(between(&start, &[], &[], 2.0).is_empty());
    }

    #[test]
    fn beyond_the_limit_the_quietest_are_added_up() {
        let names: Vec<String> = (0..100).map(|at| format!("veth{at}")).collect();
        let mut end: Vec<InterfaceCounters> = (1..)
            .zip(&names)
            .map(|(bytes, name)| counters(name, bytes))
            .collect();
        end.extend([counters("lo", 1), counters("eth0", 0), counters("eth1", 2)]);
        let used = between(&[], &end, &["eth0".to_owned(), "eth1".to_owned()], 1.0);
        assert_eq!(used.len(), INTERFACES_MAX + 1);
        assert_eq!(
            received(&used[..3]),
            [("eth1", 2), ("eth0", 0), ("veth99", 100)]
        );
        let quietest = received(&used[INTERFACES_MAX - 2..]);
        assert_eq!(
            quietest,
            [("veth87", 88), ("lo", 1), ("others", (1..=87).sum())]
        );
        assert_eq!(used[INTERFACES_MAX].kind, InterfaceKind::Others);
        let same = vec![counters("lo", u64::MAX); 1_000];
        let used = between(&[], &same, &[], 1.0);
        assert_eq!(used.len(), INTERFACES_MAX + 1);
        assert_eq!(used[INTERFACES_MAX].received.bytes, u64::MAX);
    }
}
