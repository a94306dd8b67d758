//! Contents of the device with timed requests, because names of devices change from run to run.

use archive::{DeviceUse, OperationTimes, Point};

/// Levels of devices that are followed.
const DEPTH_MAX: usize = 8;

/// First content of the device of these times, as "data" or "log"; "below data" for a device below that one. Empty
/// without timed requests, or if the devices are unknown.
pub fn place(point: &Point, times: &OperationTimes) -> String {
    if times.observer != "device" {
        return String::new();
    }
    if !point.devices.is_empty() {
        return of_device(&point.devices, &times.subject);
    }
    // In older archives the only device is that of the data; those of parameter files hold no database.
    let is_single =
        |other: &&OperationTimes| other.observer == "device" && other.subject != times.subject;
    match point.by_operation.times.iter().find(is_single) {
        None => "data".to_owned(),
        Some(_) => String::new(),
    }
}

fn of_device(devices: &[DeviceUse], name: &str) -> String {
    let mut name = name;
    for depth in 0..DEPTH_MAX {
        let Some(device) = devices.iter().find(|device| device.name == name) else {
            break;
        };
        if let Some(purpose) = device.holds.first() {
            return match depth {
                0 => purpose.name().to_owned(),
                _ => format!("below {}", purpose.name()),
            };
        }
        let Some(above) = device.carries.first() else {
            break;
        };
        name = above;
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use archive::Purpose;

    use super::*;

    #[test]
    fn a_device_is_called_by_what_it_holds() {
        let device = |name: &str, holds: &[Purpose], carries: &[&str]| DeviceUse {
            name: name.to_owned(),
            holds: holds.to_vec(),
            carries: carries.iter().map(|&above| above.to_owned()).collect(),
            ..DeviceUse::default()
        };
        let devices = [
            device("dm-0", &[Purpose::Data, Purpose::Temporary], &[]),
            device("vdb", &[Purpose::Log], &[]),
            device("md0", &[], &["dm-0"]),
            device("sda", &[], &["md0"]),
            // This is a cycle, which no kernel has.
            device("odd", &[], &["odd"]),
        ];
        for (name, place) in [
            ("dm-0", "data"),
            ("vdb", "log"),
            ("md0", "below data"),
            ("sda", "below data"),
            ("odd", ""),
            ("none", ""),
        ] {
            assert_eq!(of_device(&devices, name), place, "{name}");
        }
    }
}
