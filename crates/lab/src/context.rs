//! What all points of a run share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use archive::{Component, Point, PointKey};
use host::{HostWatch, Programs, WallClock};
use load::{Clients, Drive, Outcome};

use crate::Step;
use crate::alternate::Side;
use crate::nodes::{Nodes, source_of};
use crate::plan::Validity;
use crate::point::{fingerprint, point_seed};
use crate::programs::programs_of;
use crate::server_memory::ServerMemory;
use crate::servers::Servers;
use crate::session_sampler::WaitsSeen;

/// What all points of a run share.
pub struct RunContext<'a> {
    /// Number of the run in the archive.
    pub run: i64,
    pub plan: &'a str,
    pub targets: &'a [Nodes],
    /// What watches driver and machine, one per target.
    pub samplers: &'a [HostWatch],
    pub seed: u64,
    pub repeat: u32,
    /// Limits of the checks on the driver.
    pub validity: Validity,
    pub interval: Duration,
    /// Hardware threads of the targets' machine; `None` where nothing is known of it.
    pub hardware_threads: Option<u32>,
    /// Fingerprint of machine and target, one per target.
    pub platforms: Vec<String>,
    pub clock: Arc<dyn WallClock>,
    pub stop: &'a AtomicBool,
    /// Since when the servers run.
    pub servers: Servers,
    /// What the servers took of memory before there were users.
    pub server_memory: ServerMemory,
    /// The side of a study that is measured in slices, in turn with the other one.
    pub side: Option<&'a Side<'a>>,
    /// What sessions were seen doing, for who watches the run.
    pub(crate) waits_seen: Option<WaitsSeen>,
}

impl RunContext<'_> {
    /// Fingerprint of all that a point was configured by: machine and target, its test, its step.
    pub fn configuration(&self, step: &Step, key: &PointKey, definition: &str) -> String {
        let step = step.to_toml();
        let platform = &self.platforms[key.target as usize];
        let changed = (self.validity.note()).map_or(String::new(), |note| note.to_string());
        match changed.as_str() {
            "" => fingerprint(&[platform, definition, &step]),
            changed => fingerprint(&[platform, definition, &step, changed]),
        }
    }

    /// Drives what is measured, in turn with the other side where there is one.
    pub fn drive(&self, clients: Clients, how: &Drive) -> Outcome {
        match self.side {
            Some(side) => side.drive(clients, how),
            None => load::drive(clients, how),
        }
    }

    /// The programs that a target is made of; one that is a copy works together with what it is a copy of.
    ///
    /// # Errors
    /// With the reason, where a server's process is not known.
    pub fn programs(&self, target: u32) -> std::result::Result<Programs, String> {
        let target = &self.targets[target as usize];
        let source = source_of(self.targets).filter(|_| target.is_replica());
        let both = std::iter::once(target).chain(source);
        programs_of(both.flat_map(|target| &target.nodes))
    }

    /// Sessions are about to be opened on databases in the server of this target: what its server takes of memory until now is
    /// not theirs. Nothing where its processes are not known, or two sides of a study share it.
    pub fn sessions_open(&self, nodes: &Nodes, site: u32) {
        if let (None, Ok(programs)) = (self.side, self.programs(site)) {
            self.server_memory.look_before(site, nodes, &programs);
        }
    }

    /// MB of memory that each of so many sessions takes, which are open now; `None` where it cannot be known: for few sessions,
    /// and on other machines.
    ///
    /// # Errors
    /// Why it is not known here.
    pub fn session_memory_mb(
        &self,
        nodes: &Nodes,
        site: u32,
        sessions: u32,
    ) -> std::result::Result<Option<f64>, String> {
        match (self.side, self.programs(site)) {
            (None, Ok(programs)) if !programs.is_inside => {
                let server = (nodes, &programs);
                self.server_memory.per_session_mb(site, server, sessions)
            }
            _ => Ok(None),
        }
    }

    /// A point of a step without figures, begun now; `definition` is the fingerprint of what is measured.
    pub fn blank(
        &self,
        step: &Step,
        key: PointKey,
        definition: String,
        (title, component): (String, Component),
    ) -> Point {
        Point {
            started_at: host::clock::rfc3339(self.clock.now()),
            seed: point_seed(self.seed, &key),
            configuration: self.configuration(step, &key, &definition),
            definition,
            ..Point::blank(key, title, component)
        }
    }
}
