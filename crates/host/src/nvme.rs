//! Native multipath of NVMe: the head of a namespace (nvme0n1) and its paths through the controllers of its subsystem
//! (nvme0c0n1, nvme0c1n1).

use std::path::Path;

/// The paths of a head, sorted; empty for any other device.
pub(crate) fn paths(root: &Path, name: &str) -> Vec<String> {
    let Some((subsystem, namespace)) = head(name) else {
        return Vec::new();
    };
    let Ok(entries) = std::fs::read_dir(root.join("sys/block")) else {
        return Vec::new();
    };
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let is_path = |name: &String| path(name).is_some_and(|of| of == (subsystem, namespace));
    let mut paths: Vec<String> = names.filter(is_path).collect();
    paths.sort_by_key(|name| (name.len(), name.clone()));
    paths
}

/// Numbers of subsystem and namespace of "nvme0n1".
fn head(name: &str) -> Option<(&str, &str)> {
    let (subsystem, namespace) = name.strip_prefix("nvme")?.split_once('n')?;
    (is_number(subsystem) && is_number(namespace)).then_some((subsystem, namespace))
}

/// Numbers of the head of "nvme0c1n1", which is the path through controller 1.
fn path(name: &str) -> Option<(&str, &str)> {
    let (subsystem, rest) = name.strip_prefix("nvme")?.split_once('c')?;
    let (controller, namespace) = rest.split_once('n')?;
    let are_numbers = [subsystem, controller, namespace]
        .into_iter()
        .all(is_number);
    are_numbers.then_some((subsystem, namespace))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_kernel() {
        assert_eq!(head("nvme0n1"), Some(("0", "1")));
        assert_eq!(path("nvme0c12n1"), Some(("0", "1")));
        for odd in [
            "nvme0",
            "nvme0n1p2",
            "nvme0c0n1",
            "nvmen1",
            "nvme0n",
            "sda",
            "nvme",
        ] {
            assert_eq!(head(odd), None, "{odd}");
        }
        for odd in [
            "nvme0n1",
            "nvme0c0",
            "nvme0cn1",
            "nvme0c0n1p1",
            "nvmec0n1",
            "nvme0c0n",
        ] {
            assert_eq!(path(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_head_has_the_paths_of_its_own_namespace() {
        let root = tempfile::tempdir().unwrap();
        assert!(paths(root.path(), "nvme0n1").is_empty(), "no /sys");
        let names = [
            "nvme0n1",
            "nvme0c10n1",
            "nvme0c2n1",
            "nvme0c2n11",
            "nvme1c2n1",
            "nvme1n2",
        ];
        for name in names {
            std::fs::create_dir_all(root.path().join("sys/block").join(name)).unwrap();
        }
        assert_eq!(paths(root.path(), "nvme0n1"), ["nvme0c2n1", "nvme0c10n1"]);
        assert_eq!(paths(root.path(), "nvme1n1"), ["nvme1c2n1"]);
        assert!(paths(root.path(), "nvme1n2").is_empty());
        assert!(paths(root.path(), "sda").is_empty());
    }
}
