//! Layouts on real loop devices: left-overs of kills, and devices that are never touched.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::loop_device::LoopDevice;
use storage::layout::{Definition, LayoutError, Layouts, Stands, Step};

/// Environment of a child process: the step of creation or removal at which it is killed, and its directory.
const CHILD: &str = "DBDYNO_TEST_LAYOUT";

const LAYOUT: &str = "name = \"trial\"\nabout = \"\"\n\
    [[device]]\nname = \"one\"\nsize_mib = 320\n[[device]]\nname = \"two\"\nsize_mib = 320\n\
    [[volume]]\nname = \"data\"\ndevices = [\"one\"]\nfile_system = \"ext4\"\n\
    [[volume]]\nname = \"bare\"\ndevices = [\"two\"]\nfile_system = \"raw\"\n\
    [place]\ndata = \"data\"\n";

/// Layouts of one test, all removed when it ends, even by a panic.
pub struct Trial {
    pub folder: tempfile::TempDir,
    pub parent: PathBuf,
    pub layouts: Layouts,
}

impl Trial {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let parent = std::fs::canonicalize(folder.path()).unwrap();
        let parent = parent.join("layouts");
        Self {
            layouts: Layouts::below(parent.clone()),
            parent,
            folder,
        }
    }
}

impl Trial {
    /// The second time proves that the first one left nothing that prevents it.
    fn makes_and_removes(&self, layout: &Definition, when: &str) {
        for _ in 0..2 {
            self.layouts
                .make(layout, Stands::UntilRemoved, &mut |_| {})
                .unwrap();
            self.layouts.remove("trial", &mut |_| {}).unwrap();
            assert_clean(&self.parent, when);
        }
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        for made in self.layouts.made().unwrap_or_default() {
            let _ = self.layouts.remove(&made.definition.name, &mut |_| {});
        }
        let _ = self.layouts.remove_left_behind(&mut |_| {});
    }
}

/// Reason why no layout can be created here, if any.
pub fn lacking(layouts: &Layouts, layout: &Definition) -> Option<String> {
    if host::user_id() != 0 {
        return Some("layouts need root".into());
    }
    let made = layouts.make(layout, Stands::WhileHeld, &mut |_| {});
    match made {
        Ok(made) => made
            .remove(&mut |_| {})
            .err()
            .map(|error| panic!("{error}")),
        Err(error @ (LayoutError::Missing { .. } | LayoutError::NoRoom { .. })) => {
            Some(error.to_string())
        }
        // The container has no loop devices, or no right to mount.
        Err(error @ (LayoutError::Failed { .. } | LayoutError::NoDirectIo { .. })) => {
            Some(error.to_string())
        }
        Err(error) => panic!("{error}"),
    }
}

fn attached_below(folder: &Path) -> usize {
    let devices = std::fs::read_dir("/sys/block").unwrap().flatten();
    let files = devices
        .filter_map(|device| std::fs::read_to_string(device.path().join("loop/backing_file")).ok());
    files
        .filter(|file| Path::new(file).starts_with(folder))
        .count()
}

/// Asserts that nothing is mounted, attached, or left in the directory.
pub fn assert_clean(parent: &Path, when: &str) {
    let mounted = host::mounted_below(parent);
    assert!(mounted.is_empty(), "{when}: {mounted:?}");
    assert_eq!(attached_below(parent), 0, "{when}");
    assert_eq!(std::fs::read_dir(parent).unwrap().count(), 0, "{when}");
}

fn kill_self() -> ! {
    // SAFETY: a signal to this process, which takes no memory.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    unreachable!("nobody survives SIGKILL")
}

/// Runs in the child: creates the layout, or removes it, up to a step.
fn until_killed(requested: &str) {
    let mut words = requested.splitn(3, ' ');
    let mut word = || words.next().unwrap();
    let (verb, at, parent) = (word(), word().parse::<usize>().unwrap(), word());
    let layouts = Layouts::below(PathBuf::from(parent));
    let layout = Definition::parse(LAYOUT).unwrap();
    let mut steps = 0;
    let mut message = |_: &Step| {
        if steps == at {
            kill_self();
        }
        steps += 1;
    };
    if verb == "make" {
        let _made = layouts
            .make(&layout, Stands::WhileHeld, &mut message)
            .unwrap();
        // The layout exists, and its holder dies.
        println!("whole");
        kill_self();
    }
    layouts.remove("trial", &mut message).unwrap();
    println!("whole");
}

/// The next command removes everything, whichever step of creating, holding or removing a layout was interrupted.
#[test]
fn what_a_killed_process_leaves_of_a_layout_goes_with_the_next_command() {
    if let Ok(requested) = std::env::var(CHILD) {
        return until_killed(&requested);
    }
    let trial = Trial::new();
    let (parent, layouts) = (&trial.parent, &trial.layouts);
    let layout = Definition::parse(LAYOUT).unwrap();
    if let Some(why) = lacking(layouts, &layout) {
        testing::skip!("{why}");
    }
    for (verb, steps_min) in [("make", 6), ("remove", 4)] {
        for at in 0.. {
            if verb == "remove" {
                let made = layouts.make(&layout, Stands::UntilRemoved, &mut |_| {});
                assert_eq!(made.unwrap().definition, layout);
            }
            let requested = format!("{verb} {at} {}", parent.display());
            let child = testing::again!().env(CHILD, requested).output().unwrap();
            let is_whole = String::from_utf8_lossy(&child.stdout).contains("whole");
            layouts.remove_left_behind(&mut |_| {}).unwrap();
            assert_clean(parent, &format!("{verb} killed at step {at}"));
            if is_whole {
                assert!(at >= steps_min, "{verb} has {at} steps");
                break;
            }
            assert!(at < 100, "{verb} never ends: {child:?}");
        }
    }
}

/// Complete and held layouts stay, and a layout in use is not removed in part.
#[test]
fn a_layout_that_stands_or_is_held_stays() {
    let trial = Trial::new();
    let (parent, layouts) = (&trial.parent, &trial.layouts);
    let layout = Definition::parse(LAYOUT).unwrap();
    if let Some(why) = lacking(layouts, &layout) {
        testing::skip!("{why}");
    }
    let held = layouts
        .make(&layout, Stands::WhileHeld, &mut |_| {})
        .unwrap();
    layouts.remove_left_behind(&mut |_| {}).unwrap();
    assert_eq!(host::mounted_below(parent).len(), 1);
    assert!(matches!(
        layouts.remove("trial", &mut |_| {}),
        Err(LayoutError::InUse { .. })
    ));
    held.remove(&mut |_| {}).unwrap();
    assert_clean(parent, "held");

    let made = layouts
        .make(&layout, Stands::UntilRemoved, &mut |_| {})
        .unwrap();
    let again = layouts.make(&layout, Stands::UntilRemoved, &mut |_| {});
    assert!(matches!(again, Err(LayoutError::There { .. })), "{again:?}");
    assert_eq!(layouts.made().unwrap().len(), 1);
    assert!(
        layout
            .devices
            .iter()
            .all(|device| made.device(device).is_some())
    );
    let open = File::create(made.mount_point("data").join("file")).unwrap();
    let busy = layouts.remove("trial", &mut |_| {});
    assert!(matches!(busy, Err(LayoutError::Busy { .. })), "{busy:?}");
    drop(open);
    layouts.remove("trial", &mut |_| {}).unwrap();
    assert_clean(parent, "removed");
}

/// A given device is used only without a signature, and has none afterwards.
#[test]
fn a_given_device_with_a_signature_is_refused_and_a_clean_one_is_left_clean() {
    let trial = Trial::new();
    let (folder, parent, layouts) = (&trial.folder, &trial.parent, &trial.layouts);
    if let Some(why) = lacking(layouts, &Definition::parse(LAYOUT).unwrap()) {
        testing::skip!("{why}");
    }
    let file = folder.path().join("given.img");
    File::create(&file).unwrap().set_len(320 << 20).unwrap();
    let attached = LoopDevice::over(&file).unwrap();
    let device = attached.path().display().to_string();
    let text = LAYOUT.replacen("size_mib = 320", &format!("path = \"{}\"", device), 1);
    let layout = Definition::parse(&text).unwrap();
    trial.makes_and_removes(&layout, "given");
    let built = Command::new("mkfs.ext4")
        .args(["-q", &device])
        .status()
        .unwrap();
    assert!(built.success());
    let before = std::fs::read(&file).unwrap();
    let refused = layouts.make(&layout, Stands::UntilRemoved, &mut |_| {});
    let message = refused.unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("{} holds an ext", device)),
        "{message}"
    );
    assert!(
        before == std::fs::read(&file).unwrap(),
        "the device was written to"
    );
    assert_clean(parent, "refused");
}

#[test]
fn a_given_device_with_the_log_of_a_file_system_is_left_clean() {
    let trial = Trial::new();
    let (folder, layouts) = (&trial.folder, &trial.layouts);
    let file = folder.path().join("given.img");
    File::create(&file).unwrap().set_len(320 << 20).unwrap();
    for file_system in ["ext4", "xfs"] {
        let text = LAYOUT.replace(
            "[\"one\"]\nfile_system = \"ext4\"",
            &format!("[\"one\"]\nfile_system = \"{file_system}\"\nlog_device = \"log\""),
        );
        let own = format!("{text}[[device]]\nname = \"log\"\nsize_mib = 320\n");
        if let Some(why) = lacking(layouts, &Definition::parse(&own).unwrap()) {
            testing::skip!("{why}");
        }
        let attached = LoopDevice::over(&file).unwrap();
        let device = attached.path().display();
        let given = format!("{text}[[device]]\nname = \"log\"\npath = \"{device}\"\n");
        let layout = Definition::parse(&given).unwrap();
        trial.makes_and_removes(&layout, file_system);
    }
}

/// An error in one of several layouts is reported before the first is created.
#[test]
fn several_layouts_are_checked_before_any_is_made() {
    let trial = Trial::new();
    let (folder, parent, layouts) = (&trial.folder, &trial.parent, &trial.layouts);
    let layout = Definition::parse(LAYOUT).unwrap();
    if let Some(why) = lacking(layouts, &layout) {
        testing::skip!("{why}");
    }
    let other = layout.named("other".into(), 1);
    let several = [layout.clone(), other.clone()];
    layouts.check(&several).unwrap();
    let message = |several: &[Definition]| layouts.check(several).unwrap_err().to_string();
    let large = [layout.clone(), other.named("large".into(), 1 << 20)];
    assert!(message(&large).starts_with("layouts trial, large: 671089280 MiB are needed in "));
    // Two layouts cannot use the same device.
    let file = folder.path().join("given.img");
    File::create(&file).unwrap().set_len(320 << 20).unwrap();
    let attached = LoopDevice::over(&file).unwrap();
    let given = |name: &str| {
        let mut given = layout.named(name.to_owned(), 1);
        given.devices[0].size_mib = None;
        given.devices[0].path = Some(attached.path().to_owned());
        given
    };
    layouts.check(&[given("a")]).unwrap();
    assert!(message(&[given("a"), given("b")]).contains("is in use"));
    // The first is complete, the second held.
    let held = layouts
        .make(&other, Stands::WhileHeld, &mut |_| {})
        .unwrap();
    assert_eq!(
        message(&several),
        "another dbdyno is using layout other; wait until it has finished"
    );
    held.remove(&mut |_| {}).unwrap();
    layouts
        .make(&other, Stands::UntilRemoved, &mut |_| {})
        .unwrap();
    assert!(message(&several).starts_with("layout other is made already; remove it with"));
    layouts.remove("other", &mut |_| {}).unwrap();
    assert_clean(parent, "checked");
}
