//! The files of an inventory, fetched into a directory of this machine.
//!
//! `tar` cannot do it: files of `/proc` and `/sys` report a wrong size. So a script prints them, with the links
//! between them, and they are recreated here. The other machine's output only determines names below one directory:
//! every path and every link is followed in memory, and one that leads out of the directory is left out.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

pub(super) const MARK: &str = "dbdyno-tree";

const LINKS_MAX: usize = 32;
const ENTRIES_MAX: usize = 1 << 18;

const LINKS: &str = "sys/block/* sys/block/*/slaves/* sys/block/*/holders/* sys/dev/block/* \
    sys/class/block/* sys/class/net/* sys/class/net/*/device sys/class/net/*/device/driver \
    sys/class/fc_host/* sys/class/scsi_host/* sys/fs/btrfs/*/devices/* etc/udev/rules.d \
    sys/devices/system/node/node*";

const LONG_FILES: &str = "proc/cpuinfo proc/meminfo proc/self/mountinfo proc/self/mounts \
    etc/os-release usr/lib/os-release etc/hostname etc/multipath.conf etc/multipath/conf.d/* \
    etc/udev/rules.d/*";

const SHORT_FILES: &str = "proc/sys/kernel/* proc/sys/vm/* proc/sys/fs/* proc/sys/net/core/* \
    proc/sys/net/ipv4/* proc/device-tree/model sys/class/dmi/id/sys_vendor \
    sys/class/dmi/id/product_name sys/hypervisor/type sys/devices/system/cpu/online \
    sys/devices/system/cpu/smt/control sys/devices/system/cpu/cpufreq/boost \
    sys/devices/system/cpu/intel_pstate/no_turbo sys/devices/system/cpu/cpu*/topology/* \
    sys/devices/system/cpu/cpu*/cpufreq/scaling_* sys/devices/system/cpu/cpu*/cpufreq/energy* \
    sys/devices/system/cpu/cpu0/cpufreq/base_frequency \
    sys/devices/system/cpu/cpu0/acpi_cppc/nominal_freq sys/devices/system/node/node*/cpulist \
    sys/devices/system/node/node*/meminfo sys/kernel/mm/hugepages/*/* \
    sys/kernel/mm/transparent_hugepage/enabled sys/kernel/mm/transparent_hugepage/defrag \
    sys/block/*/size sys/block/*/dev sys/block/*/dm/* sys/block/*/loop/backing_file sys/block/*/queue/rotational \
    sys/block/*/queue/scheduler sys/block/*/queue/rq_affinity sys/block/*/queue/nr_requests \
    sys/block/*/queue/nomerges sys/block/*/queue/read_ahead_kb sys/block/*/device/vendor \
    sys/block/*/device/model sys/block/*/device/name sys/block/*/*/dev sys/block/*/*/partition \
    sys/class/net/*/operstate sys/class/net/*/speed sys/class/net/*/mtu \
    sys/class/net/*/device/uevent sys/class/fc_host/*/* sys/class/scsi_host/*/model* \
    sys/class/scsi_host/*/speed";

/// Prints the tree: links and directories as `ls` shows them, long files as `F path` with their lines after tabs,
/// short ones as `path:line`.
pub(super) fn script() -> String {
    // One process for all files of a pattern, because a shell that reads byte by byte is slow and gets nothing from
    // some files of `/sys`; and one pattern at a time, so that no list grows too long.
    let short: String = SHORT_FILES
        .split_whitespace()
        .map(|pattern| format!("grep -s \"\" /dev/null {pattern} 2>/dev/null; "))
        .collect();
    format!(
        "cd /; LC_ALL=C; export LC_ALL; tab=$(printf \"\\t\"); echo {MARK}; \
         arch=$(uname -m); echo \"A $arch\"; \
         ls -ld {LINKS} 2>/dev/null; \
         for f in {LONG_FILES}; do \
         if [ -f \"$f\" ] && [ -r \"$f\" ]; then echo \"F $f\"; sed \"s/^/$tab/\" \"$f\"; fi; \
         done 2>/dev/null; \
         {short} echo E"
    )
}

#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<PathBuf, String>,
    links: BTreeMap<PathBuf, PathBuf>,
    directories: Vec<PathBuf>,
    pub complete: bool,
}

impl Tree {
    /// Parses the output of the script; malformed lines are skipped.
    pub(super) fn parse(text: &str) -> Self {
        let mut tree = Self::default();
        let mut file = None;
        for line in text.lines().take(ENTRIES_MAX * 16) {
            if let Some(content) = line.strip_prefix('\t') {
                if let Some(text) = file.as_ref().and_then(|name| tree.files.get_mut(name)) {
                    text.push_str(content);
                    text.push('\n');
                }
                continue;
            }
            file = None;
            if let Some(name) = line.strip_prefix("F ") {
                let name = plain(name).filter(|_| tree.files.len() < ENTRIES_MAX);
                if let Some(name) = &name {
                    tree.files.insert(name.clone(), String::new());
                }
                file = name;
            } else if let Some(architecture) = line.strip_prefix("A ") {
                // Kernels before 6.1 have no file for it.
                let name = PathBuf::from("proc/sys/kernel/arch");
                tree.files.insert(name, format!("{architecture}\n"));
            } else if line.starts_with("sys/") || line.starts_with("proc/") {
                tree.add_line(line);
            } else if line == "E" {
                tree.complete = true;
            } else if tree.links.len() + tree.directories.len() < ENTRIES_MAX {
                tree.listed(line);
            }
        }
        tree
    }

    /// `sys/block/sda/size:2048`; no name of a pattern contains a colon.
    fn add_line(&mut self, line: &str) {
        let Some((Some(name), content)) = line.split_once(':').map(|(n, c)| (plain(n), c)) else {
            return;
        };
        if self.files.len() < ENTRIES_MAX {
            let text = self.files.entry(name).or_default();
            text.push_str(content);
            text.push('\n');
        }
    }

    /// `lrwxrwxrwx 1 root root 0 Jan 1 00:00 sys/block/sda -> ../devices/…/sda`
    fn listed(&mut self, line: &str) {
        let (entry, target) = match line.split_once(" -> ") {
            Some((entry, target)) => (entry, Some(target)),
            None => (line, None),
        };
        let name = entry.split_whitespace().last().and_then(plain);
        match (line.as_bytes().first(), name, target) {
            (Some(b'l'), Some(name), Some(target)) => {
                self.links.insert(name, PathBuf::from(target));
            }
            (Some(b'd'), Some(name), None) => self.directories.push(name),
            _ => {}
        }
    }

    /// The location of a name with every link followed; `None` if it leads out of the tree.
    fn resolved(&self, name: &Path, left: &mut usize) -> Option<PathBuf> {
        let mut at = PathBuf::new();
        for component in name.components() {
            match component {
                std::path::Component::Normal(word) => at.push(word),
                std::path::Component::ParentDir => {
                    if !at.pop() {
                        return None;
                    }
                    continue;
                }
                std::path::Component::RootDir => {
                    at = PathBuf::new();
                    continue;
                }
                _ => continue,
            }
            if let Some(target) = self.links.get(&at) {
                *left = left.checked_sub(1)?;
                at.pop();
                at = self.resolved(&at.join(target), left)?;
            }
        }
        Some(at)
    }

    fn location(&self, name: &Path) -> Option<PathBuf> {
        self.resolved(name, &mut LINKS_MAX.clone())
    }

    /// Writes everything below `root`, an empty directory.
    pub(super) fn write(&self, root: &Path) -> io::Result<()> {
        for name in ["proc", "sys", "etc"] {
            fs::create_dir_all(root.join(name))?;
        }
        let make = |location: &Path| match fs::create_dir_all(root.join(location)) {
            // A name that is both a file and a directory: a malformed tree, which is tolerated.
            Err(error) if is_clash(&error) => Ok(()),
            other => other,
        };
        for name in &self.directories {
            self.location(name)
                .map_or(Ok(()), |location| make(&location))?;
        }
        for (name, text) in &self.files {
            let Some(location) = self.location(name) else {
                continue;
            };
            location.parent().map_or(Ok(()), make)?;
            match fs::write(root.join(location), text) {
                Err(error) if !is_clash(&error) => return Err(error),
                _ => {}
            }
        }
        // Links come last, so that nothing is written through one of them.
        for name in self.links.keys() {
            let parent = name.parent().and_then(|parent| self.location(parent));
            let (Some(parent), Some(word), Some(target)) =
                (parent, name.file_name(), self.location(name))
            else {
                continue;
            };
            make(&parent)?;
            if !root.join(&target).exists() {
                make(&target)?;
            }
            match symlink(root.join(&target), root.join(parent).join(word)) {
                Err(error) if !is_clash(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn is_clash(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, IsADirectory, NotADirectory, NotFound};
    matches!(
        error.kind(),
        AlreadyExists | IsADirectory | NotADirectory | NotFound
    )
}

/// A name below the root without special components.
fn plain(name: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    let is_normal = |c: std::path::Component| matches!(c, std::path::Component::Normal(_));
    let all = !name.is_empty() && path.components().all(is_normal);
    all.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "A x86_64\n\
        lrwxrwxrwx 1 root root 0 Jan  1 00:00 sys/block/sda -> ../devices/pci0/block/sda\n\
        lrwxrwxrwx 1 root root 0 Jan  1 00:00 sys/dev/block/8:2 -> ../../devices/pci0/block/sda/sda2\n\
        lrwxrwxrwx 1 root root 0 Jan  1 00:00 sys/class/net/eth0 -> ../../devices/pci1/net/eth0\n\
        lrwxrwxrwx 1 root root 0 Jan  1 00:00 sys/class/net/eth0/device -> ../../../pci1\n\
        drwxr-xr-x 2 root root 0 Jan  1 00:00 etc/udev/rules.d\n\
        sys/block/sda/size:2048\n\
        sys/block/sda/sda2/partition:2\n\
        F proc/cpuinfo\n\tprocessor : 0\n\t\n\tprocessor : 1\nE\n";

    #[test]
    fn files_and_links_are_laid_out_as_they_were() {
        let root = tempfile::tempdir().unwrap();
        let tree = Tree::parse(PRINTED);
        assert!(tree.complete);
        tree.write(root.path()).unwrap();
        let read = |name: &str| fs::read_to_string(root.path().join(name)).unwrap();
        assert_eq!(read("sys/block/sda/size"), "2048\n");
        assert_eq!(read("sys/dev/block/8:2/partition"), "2\n");
        assert_eq!(read("proc/cpuinfo"), "processor : 0\n\nprocessor : 1\n");
        assert_eq!(read("proc/sys/kernel/arch"), "x86_64\n");
        assert!(root.path().join("etc/udev/rules.d").is_dir());
        assert!(root.path().join("sys/class/net/eth0/device").exists());
        let real = fs::canonicalize(root.path().join("sys/block/sda")).unwrap();
        assert!(real.ends_with("sys/devices/pci0/block/sda"), "{real:?}");
    }

    /// The other machine is not trusted: whatever it prints, nothing is written outside the directory.
    #[test]
    fn nothing_leads_out_of_the_directory() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        fs::create_dir(&root).unwrap();
        let outside = outer.path().display();
        let printed = format!(
            "lrwxrwxrwx 1 r r 0 Jan 1 00:00 sys/a -> ../../out\n\
             lrwxrwxrwx 1 r r 0 Jan 1 00:00 sys/b -> {outside}\n\
             lrwxrwxrwx 1 r r 0 Jan 1 00:00 sys/loop -> loop\n\
             lrwxrwxrwx 1 r r 0 Jan 1 00:00 sys/c -> b\n\
             sys/a/one:x\nsys/b/two:x\nF ../three\n\tx\nF {outside}/four\n\tx\n\
             F sys/loop/five\n\tx\nF sys/c/six\n\tx\n"
        );
        Tree::parse(&printed).write(&root).unwrap();
        let names = fs::read_dir(outer.path()).unwrap().count();
        assert_eq!(names, 1, "only the root lies in the directory above it");
        assert!(fs::symlink_metadata(root.join("sys/a")).is_err());
        assert!(fs::symlink_metadata(root.join("sys/loop")).is_err());
        // An absolute link starts at the machine's own root.
        let two = root.join("sys/b/two");
        assert!(
            fs::canonicalize(two)
                .unwrap()
                .starts_with(fs::canonicalize(&root).unwrap())
        );
    }

    #[test]
    fn the_script_fits_into_quotes() {
        assert!(!script().contains(['\'', '!', '\n']));
    }
}
