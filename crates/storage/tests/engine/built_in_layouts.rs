//! The built-in layouts, created on loop devices and checked with the kernel's and the file systems' own tools.

use std::os::unix::fs::MetadataExt;
use std::process::Command;

use storage::layout::{Definition, FileSystem, Layouts, StandingLayout, Stands, Volume};

use crate::layout::{Trial, assert_clean, lacking};

/// Creates each built-in layout with this file system, and checks the mounts.
fn made_as_defined(file_system: FileSystem, layouts: &Layouts, definitions: &[Definition]) {
    for definition in definitions {
        let made = layouts.make(definition, Stands::WhileHeld, &mut |_| {});
        let made = made.unwrap_or_else(|error| panic!("{}: {error}", definition.name));
        for volume in &definition.volumes {
            let message = mounted(&made, volume);
            let name = &definition.name;
            assert_eq!(message.file_system, volume.file_system.name(), "{name}");
            assert_eq!(message.has("noatime"), !volume.atime, "{name}: {message:?}");
            assert!(
                message.has("nodev") && message.has("nosuid"),
                "{name}: {message:?}"
            );
            match volume.file_system {
                FileSystem::Xfs => is_that_xfs(&made, volume, &message),
                FileSystem::Btrfs => is_that_btrfs(&made, volume, &message),
                FileSystem::Ext4 => is_that_ext4(&made, volume),
                FileSystem::Raw => {}
            }
        }
        made.remove(&mut |_| {}).unwrap();
    }
    let built = definitions.iter().flat_map(|it| &it.volumes);
    assert!(built.clone().any(|it| it.file_system == file_system));
}

#[derive(Debug)]
struct Mounted {
    file_system: String,
    options: Vec<String>,
}

impl Mounted {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|it| it == option)
    }
}

fn mounted(made: &StandingLayout, volume: &Volume) -> Mounted {
    let point = made.mount_point(&volume.name).display().to_string();
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let line = table
        .lines()
        .find(|line| line.split(' ').nth(4) == Some(&point));
    let (front, back) = line.unwrap().split_once(" - ").unwrap();
    let of_mount = front.split(' ').nth(5).unwrap();
    let mut words = back.split(' ');
    let file_system = words.next().unwrap().to_owned();
    let of_file_system = words.nth(1).unwrap();
    let options = of_mount.split(',').chain(of_file_system.split(','));
    Mounted {
        file_system,
        options: options.map(str::to_owned).collect(),
    }
}

/// Stripe units are in the mount's options, in sectors of 512 bytes; `xfs_info` prints the size of the log.
fn is_that_xfs(made: &StandingLayout, volume: &Volume, message: &Mounted) {
    let requested = volume.stripe_unit_kib.zip(volume.stripe_units);
    match requested {
        Some((kib, units)) => {
            let (unit, width) = (2 * kib, 2 * kib * units);
            assert!(
                message.has(&format!("sunit={unit}")) && message.has(&format!("swidth={width}")),
                "{message:?}"
            );
        }
        None => assert!(!message.options.iter().any(|it| it.starts_with("sunit"))),
    }
    if let Some(node) = log_node(made, volume) {
        assert!(message.has(&format!("logdev={node}")), "{message:?}");
    }
    if let Some(mib) = volume.log_mib {
        let shown = printed("xfs_info", made, volume, &[]);
        let log = shown.lines().find(|line| line.starts_with("log ")).unwrap();
        let blocks = format!("blocks={},", mib * 256);
        assert!(
            log.contains("bsize=4096") && log.contains(&blocks),
            "{shown}"
        );
    }
}

fn log_node(made: &StandingLayout, volume: &Volume) -> Option<String> {
    let name = volume.log_device.as_ref()?;
    let mut devices = made.definition.devices.iter();
    let device = devices.find(|device| device.name == *name).unwrap();
    Some(made.device(device).unwrap().display().to_string())
}

/// The super block has the number of the log device.
fn is_that_ext4(made: &StandingLayout, volume: &Volume) {
    let mut devices = made.definition.devices.iter();
    let device = devices.find(|device| device.name == volume.devices[0]);
    let node = made.device(device.unwrap()).unwrap();
    let mut command = Command::new("/usr/sbin/dumpe2fs");
    let shown = command.arg("-h").arg(node).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let message = shown
        .lines()
        .find_map(|line| line.strip_prefix("Journal device:"));
    let number = |node: String| {
        let rdev = std::fs::metadata(node).unwrap().rdev();
        format!("0x{:04x}", (libc::major(rdev) << 8) | libc::minor(rdev))
    };
    let requested = log_node(made, volume).map(number);
    assert_eq!(message.map(str::trim), requested.as_deref(), "{shown}");
}

fn is_that_btrfs(made: &StandingLayout, volume: &Volume, message: &Mounted) {
    assert_eq!(message.has("nodatacow"), !volume.checksums, "{message:?}");
    let shown = printed("btrfs", made, volume, &["filesystem", "df"]);
    let profile = format!("{:?}", volume.profile.unwrap()).to_uppercase();
    assert!(
        shown.starts_with(&format!("Data, {profile}:")),
        "{profile}: {shown}"
    );
}

fn printed(program: &str, made: &StandingLayout, volume: &Volume, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).arg(made.mount_point(&volume.name));
    let output = command
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Test of the built-in layouts with a file system; it is skipped if the system cannot be built or mounted.
macro_rules! test_of {
    ($file_system:expr) => {{
        let trial = Trial::new();
        let layouts = &trial.layouts;
        let mut definitions = Definition::built_in().unwrap();
        // Every machine can build ext4.
        let can_be_built = |it: FileSystem| [$file_system, FileSystem::Ext4].contains(&it);
        definitions.retain(|it| {
            let mut file_systems = it.volumes.iter().map(|volume| volume.file_system);
            file_systems.clone().all(can_be_built) && file_systems.any(|it| it == $file_system)
        });
        if let Some(why) = lacking(layouts, &definitions[0]) {
            testing::skip!("{why}");
        }
        made_as_defined($file_system, layouts, &definitions);
        assert_clean(&trial.parent, "made");
    }};
}

#[test]
fn layouts_with_ext4_are_as_defined() {
    test_of!(FileSystem::Ext4);
}

#[test]
fn layouts_with_xfs_are_as_defined() {
    test_of!(FileSystem::Xfs);
}

#[test]
fn layouts_with_btrfs_are_as_defined() {
    test_of!(FileSystem::Btrfs);
}
