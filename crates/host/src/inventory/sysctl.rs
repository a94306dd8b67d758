//! Kernel settings of a declared list.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::facts::first_line;

const LIST: &str = include_str!("../../rules/sysctl.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    names: Vec<String>,
}

pub(super) fn read(root: &Path) -> BTreeMap<String, Option<String>> {
    let list: List = toml::from_str(LIST).expect("the tests parse the embedded list");
    let value = |name: &str| {
        let line = first_line(root, &format!("proc/sys/{}", name.replace('.', "/")))?;
        Some(line.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    list.names
        .into_iter()
        .map(|name| (name.clone(), value(&name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_setting_is_there_and_null_when_the_kernel_has_none() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/sys/kernel")).unwrap();
        std::fs::write(
            root.path().join("proc/sys/kernel/sem"),
            "250\t32000\t100\t128\n",
        )
        .unwrap();
        let found = read(root.path());
        assert_eq!(found["kernel.sem"].as_deref(), Some("250 32000 100 128"));
        assert_eq!(found["vm.swappiness"], None);
        assert!(found.len() > 30);
    }
}
