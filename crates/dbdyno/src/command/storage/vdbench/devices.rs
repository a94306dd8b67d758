//! The block devices below the SDs of a parameter file, and the source of their request times.

use host::block::{BlockWatch, DEVICES_MAX};
use storage::language::Script;
use workload::below;

pub struct Devices {
    names: Vec<String>,
    watch: Result<BlockWatch, String>,
}

impl Devices {
    /// Finds them, and starts timing their requests if possible.
    pub fn of(script: &Script) -> Self {
        let mut names = Vec::new();
        let mut unknown = None;
        for sd in script.runs.iter().flat_map(|run| &run.storage) {
            match host::device_of(&sd.path) {
                Ok(name) if !names.contains(&name) => names.push(name),
                Ok(_) => {}
                Err(error) => unknown = Some(error.to_string()),
            }
        }
        let watch = match unknown {
            // A part of the devices could be taken for all of them.
            Some(reason) => Err(reason),
            None if names.len() > DEVICES_MAX => Err(format!(
                "the SDs are on {} devices; at most {DEVICES_MAX} are timed",
                names.len()
            )),
            None => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                BlockWatch::open(&names).map_err(|error| error.to_string())
            }
        };
        Self { names, watch }
    }

    /// The block device below all SDs, if there is only one.
    pub fn only(&self) -> Option<&str> {
        match self.names.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    pub fn watch(&self) -> Option<&BlockWatch> {
        self.watch.as_ref().ok()
    }

    pub fn described(&self) -> below::Devices<'_> {
        below::Devices {
            only: self.only(),
            untimed: self.watch.as_ref().err().map(String::as_str),
        }
    }
}
