//! A kind of server for tests of what does not start it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::Result;

use super::{
    Installation, Layout, ServerAbout, ServerKind, ServerSpec, Signals, Surroundings, Version,
};

pub(crate) struct Pretended;

impl ServerKind for Pretended {
    fn about(&self) -> &'static ServerAbout {
        &ServerAbout {
            title: "Pretended",
            name: "pretended",
            variable: "DBDYNO_PRETENDED",
            how_to_get_it: "there is none",
            accounts: &["nobody"],
            superuser: "nobody",
            reserved: &[],
            places: &[],
            signals: Signals {
                stop: libc::SIGTERM,
                abandon: libc::SIGTERM,
            },
        }
    }

    fn find(&self, _: &Surroundings) -> Result<Vec<Installation>> {
        Ok(Vec::new())
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
