//! Steps that create and remove a layout.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::definition::{Definition, Device, FileSystem, Profile, Volume};
use super::error::{LayoutError, system};
use super::files::make_passable;
use super::ledger::{Entry, Ledger};
use super::programs;
use crate::engine::signature;
use crate::exclusive;

const DEVICES: &str = "devices";
const VOLUMES: &str = "volumes";
/// A released device is detached when the last program that inspects it has closed it.
const DETACH_TIME_MAX: Duration = Duration::from_secs(10);
/// A server ends shortly after the process that started it.
const SERVER_TIME_MAX: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(10);

/// Observer of every step, called after it is entered and before it is taken.
pub type StepObserver<'a> = &'a mut dyn FnMut(&Step);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Allocate {
        file: PathBuf,
        mib: u64,
    },
    Attach(PathBuf),
    Build {
        volume: String,
        file_system: FileSystem,
    },
    Mount(PathBuf),
    Unmount(PathBuf),
    Detach(PathBuf),
    Erase(PathBuf),
    Delete(PathBuf),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allocate { file, mib } => write!(f, "allocate {} ({mib} MiB)", file.display()),
            Self::Attach(file) => write!(f, "attach {} to a loop device", file.display()),
            Self::Build {
                volume,
                file_system,
            } => write!(f, "build {} on volume {volume}", file_system.name()),
            Self::Mount(point) => write!(f, "mount {}", point.display()),
            Self::Unmount(point) => write!(f, "unmount {}", point.display()),
            Self::Detach(device) => write!(f, "detach {}", device.display()),
            Self::Erase(device) => {
                write!(f, "erase what this layout built on {}", device.display())
            }
            Self::Delete(directory) => write!(f, "delete {}", directory.display()),
        }
    }
}

/// Enters a step, then reports it.
fn step(
    ledger: &mut Ledger,
    observer: &mut dyn FnMut(&Step),
    step: &Step,
) -> Result<(), LayoutError> {
    ledger.enter(&Entry::Step(step.to_string()))?;
    observer(step);
    Ok(())
}

pub(super) fn mount_point(directory: &Path, volume: &str) -> PathBuf {
    directory.join(VOLUMES).join(volume)
}

fn image(directory: &Path, device: &Device) -> PathBuf {
    directory.join(DEVICES).join(format!("{}.img", device.name))
}

pub(super) fn device_node(directory: &Path, device: &Device) -> Option<PathBuf> {
    match &device.path {
        Some(given) => Some(given.clone()),
        None => {
            let file = image(directory, device);
            let mut attached = attached_below(directory).into_iter();
            attached.find_map(|(node, backing)| (backing == file).then_some(node))
        }
    }
}

/// Checks the given devices, each opened exclusively; no two layouts may use the same.
pub(super) fn check_given(definitions: &[Definition]) -> Result<(), LayoutError> {
    let mut seen = Vec::new();
    let devices = definitions.iter().flat_map(|it| &it.devices);
    for path in devices.filter_map(|it| it.path.as_ref()) {
        let real = fs::canonicalize(path).map_err(system(path))?;
        let found = fs::metadata(&real).map_err(system(path))?;
        if !found.file_type().is_block_device() {
            return Err(LayoutError::NoDevice(path.clone()));
        }
        let file = alone(path)?;
        if let Some(what) = signature::on(&real, &file).map_err(system(path))? {
            return Err(LayoutError::Bears {
                path: path.clone(),
                what,
            });
        }
        if seen.contains(&real) {
            return Err(LayoutError::DeviceInUse(path.clone()));
        }
        seen.push(real);
    }
    Ok(())
}

fn alone(path: &Path) -> Result<File, LayoutError> {
    exclusive::open(path).map_err(|reason| {
        if exclusive::is_busy(&reason) {
            LayoutError::DeviceInUse(path.to_owned())
        } else {
            system(path)(reason)
        }
    })
}

/// Tag that `blkid` reads on a device; `None` if it finds nothing.
fn probed(device: &Path, tag: &str) -> Result<Option<String>, LayoutError> {
    let device = device.display().to_string();
    let found = programs::run("blkid", &["-p", "-o", "value", "-s", tag, &device]);
    match found {
        Ok(value) => Ok(Some(value.trim().to_owned()).filter(|value| !value.is_empty())),
        // `blkid` ends with this status for a device without a known signature.
        Err(LayoutError::Failed { said, .. }) if said.starts_with("exit status: 2") => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates everything; after an error the caller removes what exists.
pub(super) fn make(
    directory: &Path,
    definition: &Definition,
    ledger: &mut Ledger,
    observer: StepObserver<'_>,
) -> Result<(), LayoutError> {
    for name in [DEVICES, VOLUMES] {
        let made = directory.join(name);
        fs::create_dir(&made).map_err(system(&made))?;
        make_passable(&made)?;
    }
    for device in &definition.devices {
        if let Some(mib) = device.size_mib {
            let file = image(directory, device);
            let next = Step::Allocate { file, mib };
            step(ledger, observer, &next)?;
            let file = image(directory, device);
            allocate(&file, mib << 20)?;
            step(ledger, observer, &Step::Attach(file.clone()))?;
            attach(&file)?;
        }
    }
    for volume in &definition.volumes {
        build(directory, definition, volume, ledger, observer)?;
    }
    Ok(())
}

fn allocate(path: &Path, bytes: u64) -> Result<(), LayoutError> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(path);
    let file = file.map_err(system(path))?;
    // SAFETY: the descriptor is open, and only numbers are passed.
    let code = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) };
    match code {
        0 => Ok(()),
        code => Err(system(path)(io::Error::from_raw_os_error(code))),
    }
}

fn attach(file: &Path) -> Result<(), LayoutError> {
    let shown = file.display().to_string();
    let node = programs::run("losetup", &["--find", "--show", "--direct-io=on", &shown])?;
    let name = node.trim().rsplit('/').next().unwrap_or_default();
    let is_direct = fs::read_to_string(format!("/sys/block/{name}/loop/dio"));
    match is_direct.map_err(system(file))?.trim() {
        "1" => Ok(()),
        _ => Err(LayoutError::NoDirectIo(
            file.parent().unwrap_or(file).to_owned(),
        )),
    }
}

struct Nodes {
    data: Vec<String>,
    log: Option<String>,
}

impl Nodes {
    fn of(directory: &Path, definition: &Definition, volume: &Volume) -> Result<Self, LayoutError> {
        let node = |device: &Device| {
            let node = device_node(directory, device)
                .ok_or_else(|| LayoutError::NoDevice(image(directory, device)));
            node.map(|node| node.display().to_string())
        };
        let all = || definition.devices.iter();
        let data = all().filter(|device| volume.devices.contains(&device.name));
        let mut log = all().filter(|device| volume.log_device.as_ref() == Some(&device.name));
        Ok(Self {
            data: data.map(node).collect::<Result<_, _>>()?,
            log: log.next().map(node).transpose()?,
        })
    }
}

fn build(
    directory: &Path,
    definition: &Definition,
    volume: &Volume,
    ledger: &mut Ledger,
    observer: &mut dyn FnMut(&Step),
) -> Result<(), LayoutError> {
    let Some((program, _)) = programs::builder(volume.file_system) else {
        return Ok(());
    };
    let nodes = Nodes::of(directory, definition, volume)?;
    let names = || volume.devices.iter().chain(&volume.log_device);
    let devices = definition.devices.iter();
    let given = devices.filter(|device| names().any(|name| *name == device.name));
    let random = Path::new("/proc/sys/kernel/random/uuid");
    let uuid = fs::read_to_string(random).map_err(system(random))?;
    let uuid = uuid.trim().to_owned();
    ledger.enter(&Entry::Build {
        uuid: uuid.clone(),
        given: given.filter_map(|it| it.path.clone()).collect(),
    })?;
    let next = Step::Build {
        volume: volume.name.clone(),
        file_system: volume.file_system,
    };
    step(ledger, observer, &next)?;
    if let (FileSystem::Ext4, Some(log)) = (volume.file_system, &nodes.log) {
        let options = ["-q", "-b", "4096", "-O", "journal_dev", "-U", &uuid, log];
        programs::run("mke2fs", &options)?;
    }
    let mut arguments = build_options(volume, &uuid, nodes.log.as_deref());
    arguments.extend(nodes.data.iter().cloned());
    programs::run(program, &arguments)?;
    let point = mount_point(directory, &volume.name);
    fs::create_dir(&point).map_err(system(&point))?;
    step(ledger, observer, &Step::Mount(point.clone()))?;
    let shown = point.display().to_string();
    let options = mount_options(volume, &nodes);
    let file_system = volume.file_system.name();
    let device = nodes.data.first().cloned().unwrap_or_default();
    programs::run(
        "mount",
        &["-t", file_system, "-o", &options, &device, &shown],
    )?;
    make_passable(&point)
}

fn build_options(volume: &Volume, uuid: &str, log: Option<&str>) -> Vec<String> {
    let mut options: Vec<String> = vec!["-q".into()];
    let stripe = volume.stripe_unit_kib.zip(volume.stripe_units);
    let mut add = |words: &[&str]| options.extend(words.iter().map(|word| (*word).to_owned()));
    match volume.file_system {
        FileSystem::Ext4 => {
            // Lazy initialization would write during a measurement.
            let mut extended = "lazy_itable_init=0,lazy_journal_init=0".to_owned();
            if let Some((unit_kib, units)) = stripe {
                let stride = unit_kib / 4;
                let width = stride * units;
                extended += &format!(",stride={stride},stripe_width={width}");
            }
            add(&["-b", "4096", "-U", uuid, "-E", &extended]);
            let size = volume.log_mib.map(|mib| format!("size={mib}"));
            let device = log.map(|node| format!("device={node}"));
            for option in size.iter().chain(&device) {
                add(&["-J", option]);
            }
        }
        FileSystem::Xfs => {
            add(&["-m", &format!("uuid={uuid}")]);
            if let Some((unit_kib, units)) = stripe {
                add(&["-d", &format!("su={unit_kib}k,sw={units}")]);
            }
            let size = volume.log_mib.map(|mib| format!("size={mib}m"));
            let device = log.map(|node| format!("logdev={node}"));
            for option in size.iter().chain(&device) {
                add(&["-l", option]);
            }
        }
        FileSystem::Btrfs => {
            let profile = volume.profile.map_or("single", Profile::name);
            add(&["-U", uuid, "-d", profile]);
        }
        FileSystem::Raw => {}
    }
    options
}

fn mount_options(volume: &Volume, nodes: &Nodes) -> String {
    let mut options = vec!["nodev".to_owned(), "nosuid".to_owned()];
    if !volume.atime {
        options.push("noatime".into());
    }
    if volume.file_system == FileSystem::Btrfs {
        if !volume.checksums {
            options.push("nodatacow".into());
        }
        options.extend(nodes.data.iter().map(|node| format!("device={node}")));
    }
    if let Some(log) = &nodes.log {
        let key = match volume.file_system {
            FileSystem::Xfs => "logdev",
            _ => "journal_path",
        };
        options.push(format!("{key}={log}"));
    }
    options.join(",")
}

/// Removes whatever exists of a layout; it may be called repeatedly.
pub(super) fn remove(
    directory: &Path,
    ledger: &mut Ledger,
    observer: StepObserver<'_>,
) -> Result<(), LayoutError> {
    // Mounts are removed in reverse order.
    for point in host::mounted_below(directory).into_iter().rev() {
        let next = Step::Unmount(point.clone());
        step(ledger, observer, &next)?;
        // A complete layout may be in use by others; an incomplete one only by processes that are ending.
        let patience = if ledger.was_whole() {
            Duration::ZERO
        } else {
            SERVER_TIME_MAX
        };
        unmount(&point, patience)?;
    }
    for (device, uuid) in owned(ledger) {
        let next = Step::Erase(device.clone());
        // An external log carries the UUID of its file system.
        let found = match probed(&device, "UUID")? {
            Some(found) => Some(found),
            None => probed(&device, "LOGUUID")?,
        };
        if found.is_some_and(|found| found == uuid) {
            step(ledger, observer, &next)?;
            let shown = device.display().to_string();
            programs::run("wipefs", &["--all", "--quiet", &shown])?;
        }
    }
    for (node, _) in attached_below(directory) {
        let next = Step::Detach(node.clone());
        step(ledger, observer, &next)?;
        let shown = node.display().to_string();
        programs::run("losetup", &["--detach", &shown])?;
        wait_until_detached(directory, &node)?;
    }
    let next = Step::Delete(directory.to_owned());
    step(ledger, observer, &next)?;
    delete(directory)
}

/// Given devices with the UUID of the file system that this layout built on them.
fn owned(ledger: &Ledger) -> Vec<(PathBuf, String)> {
    let built = ledger.built().into_iter();
    built
        .map(|(device, uuid)| (device.to_owned(), uuid.to_owned()))
        .collect()
}

fn unmount(point: &Path, patience: Duration) -> Result<(), LayoutError> {
    let begin = Instant::now();
    let shown = point.display().to_string();
    loop {
        match programs::run("umount", &[&shown]) {
            Err(LayoutError::Failed { said, .. }) if said.contains("busy") => {
                if begin.elapsed() >= patience {
                    let path = point.to_owned();
                    return Err(LayoutError::Busy(path));
                }
                std::thread::sleep(POLL);
            }
            other => return other.map(drop),
        }
    }
}

/// Loop devices over files in a directory, with these files.
fn attached_below(directory: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let attached = entries.filter_map(|entry| {
        let backing = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        let backing = PathBuf::from(
            backing
                .trim_end_matches('\n')
                .trim_end_matches(" (deleted)"),
        );
        let node = Path::new("/dev").join(entry.file_name());
        backing.starts_with(directory).then_some((node, backing))
    });
    let mut attached: Vec<_> = attached.collect();
    attached.sort();
    attached
}

fn wait_until_detached(directory: &Path, node: &Path) -> Result<(), LayoutError> {
    let begin = Instant::now();
    while attached_below(directory).iter().any(|(it, _)| it == node) {
        if begin.elapsed() > DETACH_TIME_MAX {
            return Err(LayoutError::Busy(node.to_owned()));
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// Deletes the directory, its ledger last, because without it the directory would be unknown.
fn delete(directory: &Path) -> Result<(), LayoutError> {
    for name in [DEVICES, VOLUMES] {
        let path = directory.join(name);
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(system(&path))?,
        }
    }
    fs::remove_dir_all(directory).map_err(system(directory))
}
