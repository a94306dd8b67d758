//! Consent before large writes: the guard for other people's disks.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use engine::{Reach, TargetUrl};
use host::Room;
use lab::{Plan, Registry};

use crate::console::say;
use crate::exit::invalid;

const GB: f64 = 1e9;
/// Part of the free space above which dbdyno asks, however little is written.
const ROOM_SHARE: f64 = 0.5;

/// Volume (10^9 bytes) above which dbdyno asks.
const ASK_ABOVE_GB: f64 = 20.0;

/// Permissions of the user.
#[derive(Debug, Clone, Default, Args)]
pub struct Permission {
    /// Start without asking, even if more than 20 GB or half of the free space will be written
    #[arg(short, long)]
    pub yes: bool,
    /// Allow servers with other active sessions
    ///
    /// The run will slow them down, and they will distort its results.
    #[arg(long)]
    pub allow_busy: bool,
}

impl Permission {
    /// Marks the URLs of servers that may have other active sessions, if the user allows them; an error if no target is such a server.
    pub fn share(&self, urls: &[TargetUrl]) -> Result<Vec<TargetUrl>> {
        let mut urls = urls.to_vec();
        if !self.allow_busy {
            return Ok(urls);
        }
        let mut servers = 0;
        for url in &mut urls {
            let engine = engines::find(url).map_err(lab::LabError::from)?;
            let knows = engine
                .info()
                .settings
                .iter()
                .any(|(key, _)| *key == "others");
            if engine.reach() == Reach::Network && knows {
                servers += 1;
                let others = url.settings.entry("others".to_owned());
                others.or_insert_with(|| "allow".to_owned());
            }
        }
        match servers {
            0 => {
                invalid("--allow-busy applies to servers that others can use, and no target is one")
            }
            _ => Ok(urls),
        }
    }

    /// Announces the volume of plans, and asks if it is large.
    pub fn ask(&self, forecasts: &[Forecast], plans: &[&Plan]) -> Result<()> {
        let written: u64 = forecasts.iter().map(|f| f.written_bytes).sum();
        if written == 0 {
            return Ok(());
        }
        say(&format!("writes at most {}, logs included", size(written)));
        let too_much = Self::too_much(written, forecasts, host::room);
        match too_much {
            Some(reason) => self.agree(&reason, less(plans)),
            None => Ok(()),
        }
    }

    /// Asks for consent; `otherwise` names the alternative.
    pub fn agree(&self, reason: &str, otherwise: &str) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        if !std::io::stdin().is_terminal() {
            let what = format!("{reason}; if that is intended, add --yes; otherwise {otherwise}");
            return invalid(what);
        }
        say(&format!("{reason}. Continue? [y/N]"));
        let mut answer = String::new();
        let _ = std::io::stdin().lock().read_line(&mut answer);
        match answer.trim() {
            "y" | "Y" | "yes" => Ok(()),
            _ => invalid("aborted; nothing was changed"),
        }
    }

    fn too_much(
        written: u64,
        forecasts: &[Forecast],
        room: impl Fn(&Path) -> Option<Room>,
    ) -> Option<String> {
        if written as f64 > ASK_ABOVE_GB * GB {
            let written = size(written);
            return Some(format!(
                "the plan writes up to {written}, more than {ASK_ABOVE_GB} GB"
            ));
        }
        // Targets on one file system share its free space, which others may use up between two samples.
        let mut rooms: BTreeMap<u64, (AtOnce, Room, &Path)> = BTreeMap::new();
        for forecast in forecasts {
            if let Some(location) = &forecast.location
                && let Some(room) = room(location)
            {
                let shared = rooms.entry(room.device);
                let shared = shared.or_insert_with(|| (AtOnce::default(), room, location));
                shared.0.add(forecast, location);
            }
        }
        let full = rooms
            .into_values()
            .find(|(needed, free, _)| needed.bytes() as f64 > free.free_bytes as f64 * ROOM_SHARE);
        full.map(|(needed, free, location)| {
            format!(
                "the plan needs up to {} at once, more than half of the {} free in {}",
                size(needed.bytes()),
                size(free.free_bytes),
                location.display()
            )
        })
    }
}

/// How these plans write less: the smallest size of the library has no smaller one.
fn less(plans: &[&Plan]) -> &'static str {
    let steps = || plans.iter().flat_map(|plan| &plan.step);
    let is_of_library = |step: &lab::Step| step.uses == "library";
    let is_smallest = |step: &lab::Step| is_of_library(step) && step.size == "quick";
    if steps().all(is_smallest) {
        "run fewer tests: --set 'step.tests=[\"T611\"]'"
    } else if steps().any(is_of_library) {
        "choose a smaller size, or run fewer tests: --set 'step.tests=[\"T611\"]'"
    } else {
        "choose a smaller size"
    }
}

/// Data on one file system at the same time.
#[derive(Default)]
struct AtOnce<'f> {
    /// Files that do not shrink, whichever side fills them.
    lasting: BTreeMap<&'f Path, u64>,
    /// Data that disappear after the block of their side.
    of_sides: BTreeMap<usize, u64>,
}

impl<'f> AtOnce<'f> {
    fn add(&mut self, forecast: &Forecast, location: &'f Path) {
        if forecast.is_lasting {
            let lasting = self.lasting.entry(location).or_default();
            *lasting = (*lasting).max(forecast.room_bytes);
        } else {
            *self.of_sides.entry(forecast.side).or_default() += forecast.room_bytes
        }
    }

    fn bytes(&self) -> u64 {
        let largest = self.of_sides.values().max().copied();
        self.lasting.values().sum::<u64>() + largest.unwrap_or_default()
    }
}

/// Expected writes of one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    written_bytes: u64,
    room_bytes: u64,
    /// Local file or directory of the data.
    location: Option<PathBuf>,
    /// True if the data keep their size after the side's block.
    is_lasting: bool,
    /// Number of the study side; sides measured in succession have different numbers.
    side: usize,
}

impl Forecast {
    /// The forecast for a side that alternates with others.
    pub fn of_side(self, side: usize) -> Self {
        Self { side, ..self }
    }

    /// Forecasts for every target of a plan. In a study (`blocks`) every repetition begins with empty tables.
    pub fn of(
        plan: &Plan,
        workloads: &Registry,
        urls: &[TargetUrl],
        blocks: bool,
    ) -> Result<Vec<Self>> {
        let groups = lab::nodes::group(urls)?;
        let is_replica = |url: &TargetUrl| {
            engines::find(url).is_ok_and(|engine| engine.reach() == Reach::Replica)
        };
        let replicas = groups.iter().filter(|group| is_replica(&group[0])).count() as u32;
        let forecast = |group: &Vec<TargetUrl>| -> Result<Vec<Self>> {
            let nodes = group.len() as u64;
            let volume =
                workloads.volume(plan, &group[0].scheme, nodes as u32, replicas, blocks)?;
            let part = |url: &TargetUrl| Self {
                written_bytes: volume.written_bytes.div_ceil(nodes),
                room_bytes: volume.room_bytes.div_ceil(nodes),
                location: engines::data_place(url),
                // A server in a temporary directory is removed with its data; files do not shrink.
                is_lasting: engines::file(url).is_some(),
                side: 0,
            };
            // Targets without storage write nothing.
            let stores = |url: &&TargetUrl| match engines::find(url) {
                Ok(engine) => !matches!(engine.reach(), Reach::Nowhere | Reach::Replica),
                Err(_) => false,
            };
            Ok(group.iter().filter(stores).map(part).collect())
        };
        let all = groups.iter().map(forecast).collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().flatten().collect())
    }
}

fn size(bytes: u64) -> String {
    match bytes as f64 / GB {
        gb if gb >= 10.0 => format!("{gb:.0} GB"),
        gb if gb >= 0.1 => format!("{gb:.1} GB"),
        gb => format!("{:.0} MB", (gb * 1e3).max(1.0)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn room(device: u64, free_bytes: u64) -> Option<Room> {
        Some(Room { device, free_bytes })
    }

    fn forecast(written_bytes: u64, room_bytes: u64) -> Forecast {
        Forecast {
            written_bytes,
            room_bytes,
            location: Some(std::env::temp_dir()),
            is_lasting: false,
            side: 0,
        }
    }

    #[test]
    fn sides_that_take_turns_need_the_room_of_the_largest() {
        let too_much =
            |forecasts: &[Forecast]| Permission::too_much(1, forecasts, |_| room(1, 3000));
        let sides = |room_bytes: [u64; 3]| -> Vec<Forecast> {
            let sides = room_bytes.into_iter().enumerate();
            let sides = sides.map(|(side, bytes)| forecast(1, bytes).of_side(side));
            sides.collect()
        };
        assert_eq!(too_much(&sides([1000, 1400, 1400])), None);
        let reason = too_much(&sides([1000, 1600, 1000])).unwrap();
        assert!(reason.contains("half of"), "{reason}");
        // Separate files add up; a common file counts once.
        let lasting = |names: [&str; 3]| -> Vec<Forecast> {
            let files = sides([1000; 3]).into_iter().zip(names);
            let files = files.map(|(side, name)| Forecast {
                is_lasting: true,
                location: Some(std::env::temp_dir().join(name)),
                ..side
            });
            files.collect()
        };
        assert_eq!(too_much(&lasting(["one", "one", "one"])), None);
        assert!(too_much(&lasting(["one", "two", "three"])).is_some());
    }

    #[test]
    fn large_writes_need_consent() {
        let nowhere = |_: &Path| None;
        assert_eq!(Permission::too_much(19_000_000_000, &[], nowhere), None);
        let reason = Permission::too_much(21_000_000_000, &[], nowhere).unwrap();
        let has = |text: &str| reason.contains(text);
        assert!(has("21 GB") && has("20 GB"), "{reason}");
        // Two targets that each take a third of the free space take more than half together, even if others write to the file system
        // between two samples.
        let samples = Cell::new(0);
        let next = || {
            samples.set(samples.get() + 1);
            samples.get()
        };
        let same = |_: &Path| room(1, 3000 + next());
        assert_eq!(Permission::too_much(1, &[forecast(1, 1000)], same), None);
        let third = || forecast(1, 1000);
        let reason = Permission::too_much(1, &[third(), third()], same).unwrap();
        assert!(reason.contains("half of"), "{reason}");
        let elsewhere = |_: &Path| room(next(), 3000);
        assert_eq!(
            Permission::too_much(1, &[third(), third()], elsewhere),
            None
        );
    }

    #[test]
    fn the_smallest_size_has_no_smaller_one() {
        let plan = |size: &str| {
            let registry = workloads::registry(workload::Library::embedded().unwrap());
            let text = format!("name = \"x\"\n[[step]]\nuse = \"library\"\nsize = \"{size}\"\n");
            Plan::parse(&registry, &text, &[]).unwrap()
        };
        assert!(less(&[&plan("quick")]).starts_with("run fewer tests: --set"));
        assert!(less(&[&plan("medium")]).starts_with("choose a smaller size, or run"));
    }

    #[test]
    fn only_servers_may_be_busy() {
        let urls = |urls: &[&str]| -> Vec<TargetUrl> {
            let urls = urls.iter().map(|url| engines::parse(url).unwrap());
            urls.collect()
        };
        let permission = Permission {
            allow_busy: true,
            ..Permission::default()
        };
        let share = |texts: &[&str]| permission.share(&urls(texts));
        let shared = share(&[
            "postgres://u:p@h/d",
            "postgres://u@h/d?sslmode=disable",
            "postgres://u@h/d?others=refuse",
            "sqlite:x",
        ])
        .unwrap();
        let texts: Vec<String> = shared.iter().map(TargetUrl::to_string).collect();
        assert_eq!(
            texts,
            [
                "postgres://u@h/d?others=allow",
                "postgres://u@h/d?others=allow&sslmode=disable",
                "postgres://u@h/d?others=refuse",
                "sqlite:x",
            ]
        );
        assert_eq!(shared[0].password.as_ref().unwrap().expose(), "p");
        let error = share(&["sqlite:x"]).unwrap_err();
        assert!(error.to_string().contains("no target is one"));
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [1, 99_000_000, 123_000_000, 9_960_000_000, 12_400_000_000].map(size),
            ["1 MB", "99 MB", "0.1 GB", "10.0 GB", "12 GB"]
        );
    }
}
