//! The disks below a device that the user names.

use std::collections::BTreeSet;

use serde_json::Value;

const DEPTH_MAX: usize = 16;

/// The disks at the bottom of `name` ("data01", "/dev/mapper/data01", "sda1"); `None` if the machine shows no such
/// device.
pub(super) fn bottom(facts: &Value, name: &str) -> Option<BTreeSet<String>> {
    let devices = facts.pointer("/found/block_devices")?.as_array()?;
    let name = name
        .trim_start_matches("/dev/")
        .trim_start_matches("mapper/");
    let start = device(devices, name)?;
    let mut disks = BTreeSet::new();
    let mut level = vec![start];
    for _ in 0..DEPTH_MAX {
        let mut below = Vec::new();
        for device in level {
            let slaves = names(device, "slaves");
            if slaves.is_empty() {
                disks.extend(
                    device
                        .get("name")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
            }
            for slave in slaves {
                match self::device(devices, &slave) {
                    Some(found) => below.push(found),
                    None => _ = disks.insert(slave),
                }
            }
        }
        below.dedup();
        level = below;
    }
    (!disks.is_empty()).then_some(disks)
}

/// Finds a device by kernel name, by the name of the mapping, or as a partition of a disk.
fn device<'a>(devices: &'a [Value], name: &str) -> Option<&'a Value> {
    let is = |field: &str, wanted: &str| {
        devices
            .iter()
            .find(|device| device.get(field).and_then(Value::as_str) == Some(wanted))
    };
    is("mapped_name", name)
        .or_else(|| is("name", name))
        .or_else(|| {
            let disk = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let before_letter = disk
                .strip_suffix('p')
                .filter(|disk| disk.ends_with(|c: char| c.is_ascii_digit()));
            is("name", before_letter.unwrap_or(disk))
        })
}

fn names(device: &Value, field: &str) -> Vec<String> {
    let list = device.get(field).and_then(Value::as_array);
    list.into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn volumes_lead_down_to_their_disks() {
        let facts = json!({"found": {"block_devices": [
            {"name": "sda", "slaves": []}, {"name": "sdb"}, {"name": "nvme0n1"},
            {"name": "dm-0", "mapped_name": "data01", "slaves": ["sda", "sdb"]},
            {"name": "dm-1", "mapped_name": "vg-redo", "slaves": ["dm-0"]},
            {"name": "dm-2", "mapped_name": "loop", "slaves": ["dm-2"]},
        ]}});
        let disks = |name: &str| {
            bottom(&facts, name).map(|disks| disks.into_iter().collect::<Vec<_>>().join(" "))
        };
        assert_eq!(disks("/dev/mapper/vg-redo").as_deref(), Some("sda sdb"));
        assert_eq!(disks("/dev/sda1").as_deref(), Some("sda"));
        assert_eq!(disks("nvme0n1p2").as_deref(), Some("nvme0n1"));
        assert_eq!(disks("loop"), None, "a circle ends");
        assert_eq!(disks("sdz"), None);
    }
}
