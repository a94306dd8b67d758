//! State that all points of a run share.

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

pub struct RunContext<'a> {
    pub run: i64,
    pub plan: &'a str,
    pub targets: &'a [Nodes],
    /// Samplers of driver and machine, one per target.
    pub samplers: &'a [HostWatch],
    pub seed: u64,
    pub repeat: u32,
    pub validity: Validity,
    pub interval: Duration,
    pub hardware_threads: Option<u32>,
    /// Fingerprint of machine and target, one per target.
    pub platforms: Vec<String>,
    pub clock: Arc<dyn WallClock>,
    pub stop: &'a AtomicBool,
    pub servers: Servers,
    /// Memory of the servers before there were users.
    pub server_memory: ServerMemory,
    /// Side of a study in slices.
    pub side: Option<&'a Side<'a>>,
    pub(crate) waits_seen: Option<WaitsSeen>,
}

impl RunContext<'_> {
    /// Fingerprint of a point's configuration: machine and target, its test, its step.
    pub fn configuration(&self, step: &Step, key: &PointKey, definition: &str) -> String {
        let step = step.to_toml();
        let platform = &self.platforms[key.target as usize];
        let changed = (self.validity.note()).map_or(String::new(), |note| note.to_string());
        match changed.as_str() {
            "" => fingerprint(&[platform, definition, &step]),
            changed => fingerprint(&[platform, definition, &step, changed]),
        }
    }

    /// Drives the clients, in turn with the other side if there is one.
    pub fn drive(&self, clients: Clients, how: &Drive) -> Outcome {
        match self.side {
            Some(side) => side.drive(clients, how),
            None => load::drive(clients, how),
        }
    }

    /// Programs of a target, including those of the target that it is a copy of.
    pub fn programs(&self, target: u32) -> std::result::Result<Programs, String> {
        let target = &self.targets[target as usize];
        let source = source_of(self.targets).filter(|_| target.is_replica());
        let both = std::iter::once(target).chain(source);
        programs_of(both.flat_map(|target| &target.nodes))
    }

    /// Records the memory of the target's server before sessions open on `nodes`. Does nothing if its processes are
    /// unknown, or if two sides of a study share it.
    pub fn sessions_open(&self, nodes: &Nodes, site: u32) {
        if let (None, Ok(programs)) = (self.side, self.programs(site)) {
            self.server_memory.look_before(site, nodes, &programs);
        }
    }

    /// MB of memory per open session; `None` if it cannot be determined: for few sessions, and on other machines.
    pub fn session_memory_mb(
        &self,
        nodes: &Nodes,
        site: u32,
        sessions: u32,
    ) -> std::result::Result<Option<f64>, String> {
        match (self.side, self.programs(site)) {
            (None, Ok(programs)) if !programs.is_inside => {
                (self.server_memory).per_session_mb(site, nodes, &programs, sessions)
            }
            _ => Ok(None),
        }
    }

    /// A point without figures that begins now; `definition` is the fingerprint of its test.
    pub fn blank(
        &self,
        step: &Step,
        key: PointKey,
        definition: String,
        title: String,
        component: Component,
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
