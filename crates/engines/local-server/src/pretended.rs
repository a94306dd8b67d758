//! A kind of server for tests of what does not start it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::Result;

use super::{Installation, Layout, ServerKind, ServerSpec, Signals, Surroundings, Version};

pub(crate) struct Pretended;

impl ServerKind for Pretended {
    fn title(&self) -> &'static str {
        "Pretended"
    }

    fn name(&self) -> &'static str {
        "pretended"
    }

    fn variable(&self) -> &'static str {
        "DBDYNO_PRETENDED"
    }

    fn how_to_get_it(&self) -> &'static str {
        "there is none"
    }

    fn accounts(&self) -> &'static [&'static str] {
        &["nobody"]
    }

    fn superuser(&self) -> &'static str {
        "nobody"
    }

    fn find(&self, _: &Surroundings) -> Result<Vec<Installation>> {
        Ok(Vec::new())
    }

    fn reserved(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn defaults(&self, _: &ServerSpec) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    fn memory_need_bytes(&self, _: &BTreeMap<String, String>, _: u32) -> u64 {
        0
    }

    fn initialise(&self, _: &Layout) -> Command {
        Command::new("true")
    }

    fn configuration(&self, _: &Layout, _: &BTreeMap<String, String>) -> String {
        String::new()
    }

    fn serve(&self, _: &Layout) -> Command {
        Command::new("true")
    }

    fn socket_path(&self, socket_directory: &Path) -> PathBuf {
        socket_directory.join("socket")
    }

    fn is_ready(&self, _: &Layout, _: u32) -> bool {
        false
    }

    fn signals(&self) -> Signals {
        Signals {
            stop: libc::SIGTERM,
            abandon: libc::SIGTERM,
        }
    }

    fn version_of_data(&self, _: &Path) -> Option<Version> {
        None
    }

    fn complaint(&self, _: &str) -> Option<String> {
        None
    }

    fn refuses_a_setting(&self, _: &str) -> bool {
        false
    }
}
