//! Asks before much is written: the guard for other people's disks.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use engine::{Reach, TargetUrl};
use host::Room;
use lab::{Plan, Registry};

use crate::exit::InvalidInput;
use crate::say::say;

const GB: f64 = 1e9;
/// Part of the free room from which is asked, however little is written.
const ROOM_SHARE: f64 = 0.5;

/// Above this much, its user is asked when nothing else is said.
const ASK_ABOVE_GB_DEFAULT: f64 = 10.0;

/// What its user allows before anything is touched.
#[derive(Debug, Clone, Args)]
pub struct Permission {
    /// Start without asking, however much will be written
    #[arg(long)]
    pub yes: bool,
    /// Ask before writing more than this (10^9 bytes), or more than half of the free space
    #[arg(long, value_name = "GB", default_value_t = ASK_ABOVE_GB_DEFAULT, value_parser = gigabytes)]
    pub ask_above: f64,
    /// Allow servers with other active sessions; the run will slow them down, and they will distort its results
    #[arg(long)]
    pub shared: bool,
}

impl Default for Permission {
    fn default() -> Self {
        Self {
            yes: false,
            ask_above: ASK_ABOVE_GB_DEFAULT,
            shared: false,
        }
    }
}

fn gigabytes(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    number
        .filter(|gb| gb.is_finite() && *gb >= 0.0)
        .ok_or_else(|| "expected a number of 10^9 bytes, 0 or more".to_owned())
}

impl Permission {
    /// Tells the URLs of servers that others may be at work, when their user said so.
    ///
    /// # Errors
    /// When no target is a server that others could use.
    pub fn share(&self, urls: &[TargetUrl]) -> Result<Vec<TargetUrl>> {
        let mut urls = urls.to_vec();
        if !self.shared {
            return Ok(urls);
        }
        let mut servers = 0;
        for url in &mut urls {
            let engine = engines::find(url).map_err(lab::LabError::from)?;
            let knows = engine.settings().iter().any(|(key, _)| *key == "others");
            if engine.reach() == Reach::Network && knows {
                servers += 1;
                let others = url.settings.entry("others".to_owned());
                others.or_insert_with(|| "allow".to_owned());
            }
        }
        match servers {
            0 => Err(InvalidInput(
                "--shared applies to servers that others can use, and no target is one".into(),
            )
            .into()),
            _ => Ok(urls),
        }
    }

    /// Says how much a plan writes, and asks when that is much.
    ///
    /// # Errors
    /// When the user does not agree, or nobody is there to be asked.
    pub fn ask(&self, forecasts: &[Forecast]) -> Result<()> {
        let written: u64 = forecasts.iter().map(|f| f.written_bytes).sum();
        if written == 0 {
            return Ok(());
        }
        say(&format!("writes at most {}, logs included", size(written)));
        let too_much = self.too_much(written, forecasts, host::room);
        match too_much {
            Some(reason) => self.agree(&reason, "choose a smaller size, or raise --ask-above"),
            None => Ok(()),
        }
    }

    /// Asks whether something is meant; `otherwise` is what else its user can do.
    ///
    /// # Errors
    /// When the user does not agree, or nobody is there to be asked.
    pub fn agree(&self, reason: &str, otherwise: &str) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        if !std::io::stdin().is_terminal() {
            return Err(InvalidInput(format!(
                "{reason}; if that is intended, add --yes; otherwise {otherwise}"
            ))
            .into());
        }
        say(&format!("{reason}. Continue? [y/N]"));
        let mut answer = String::new();
        let _ = std::io::stdin().lock().read_line(&mut answer);
        match answer.trim() {
            "y" | "Y" | "yes" => Ok(()),
            _ => Err(InvalidInput("aborted; nothing was changed".into()).into()),
        }
    }

    fn too_much(
        &self,
        written: u64,
        forecasts: &[Forecast],
        room: impl Fn(&Path) -> Option<Room>,
    ) -> Option<String> {
        if written as f64 > self.ask_above * GB {
            let limit = self.ask_above;
            return Some(format!(
                "the plan writes up to {}, more than {limit} GB",
                size(written)
            ));
        }
        // Targets on one file system share its room, which others may write to between two looks at it.
        let mut rooms: BTreeMap<u64, (AtOnce, Room, &Path)> = BTreeMap::new();
        for forecast in forecasts {
            if let Some(place) = &forecast.place
                && let Some(room) = room(place)
            {
                let shared = rooms.entry(room.device);
                let shared = shared.or_insert_with(|| (AtOnce::default(), room, place));
                shared.0.add(forecast, place);
            }
        }
        let full = rooms
            .into_values()
            .find(|(needed, free, _)| needed.bytes() as f64 > free.free_bytes as f64 * ROOM_SHARE);
        full.map(|(needed, free, place)| {
            format!(
                "the plan needs up to {} at once, more than half of the {} free in {}",
                size(needed.bytes()),
                size(free.free_bytes),
                place.display()
            )
        })
    }
}

/// What is on one file system at the same time.
#[derive(Default)]
struct AtOnce<'f> {
    /// Of a file that stays as large as it was, whichever side fills it.
    kept: BTreeMap<&'f Path, u64>,
    /// What goes with the block of its side, by side.
    of_sides: BTreeMap<usize, u64>,
}

impl<'f> AtOnce<'f> {
    fn add(&mut self, forecast: &Forecast, place: &'f Path) {
        if forecast.is_kept {
            let kept = self.kept.entry(place).or_default();
            *kept = (*kept).max(forecast.room_bytes);
        } else {
            *self.of_sides.entry(forecast.side).or_default() += forecast.room_bytes
        }
    }

    fn bytes(&self) -> u64 {
        let largest = self.of_sides.values().max().copied();
        self.kept.values().sum::<u64>() + largest.unwrap_or_default()
    }
}

/// What one target is going to write, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    written_bytes: u64,
    room_bytes: u64,
    /// File or directory of this machine that the data go to.
    place: Option<PathBuf>,
    /// Whether what is there stays as large when its side is done.
    is_kept: bool,
    /// Sides of a study that are measured one after the other have different numbers.
    side: usize,
}

impl Forecast {
    /// The same of a side that takes turns with others.
    pub fn of_side(self, side: usize) -> Self {
        Self { side, ..self }
    }

    /// Of every target of a plan. In a study (`blocks`) every repetition begins with empty tables.
    ///
    /// # Errors
    /// A URL, test or size that is wrong in itself.
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
            let number = (nodes as u32, replicas);
            let volume = workloads.foretell(plan, group[0].engine(), number, blocks)?;
            let part = |url: &TargetUrl| Self {
                written_bytes: volume.written_bytes.div_ceil(nodes),
                room_bytes: volume.room_bytes.div_ceil(nodes),
                place: engines::data_place(url),
                // A server without a directory of its own is removed with its data; files do not shrink.
                is_kept: engines::file(url).is_some(),
                side: 0,
            };
            // What nothing is stored in writes nothing.
            let stores = |url: &&TargetUrl| {
                engines::find(url)
                    .is_ok_and(|engine| !matches!(engine.reach(), Reach::Nowhere | Reach::Replica))
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

    fn permission(ask_above: f64, shared: bool) -> Permission {
        Permission {
            yes: false,
            ask_above,
            shared,
        }
    }

    fn forecast(written_bytes: u64, room_bytes: u64) -> Forecast {
        Forecast {
            written_bytes,
            room_bytes,
            place: Some(std::env::temp_dir()),
            is_kept: false,
            side: 0,
        }
    }

    #[test]
    fn sides_that_take_turns_need_the_room_of_the_largest() {
        let ten = permission(10.0, false);
        let room = |_: &Path| {
            Some(Room {
                device: 1,
                free_bytes: 3000,
            })
        };
        let asked = |forecasts: &[Forecast]| ten.too_much(1, forecasts, room);
        let sides = |room_bytes: [u64; 3]| -> Vec<Forecast> {
            let sides = room_bytes.into_iter().enumerate();
            let sides = sides.map(|(side, bytes)| forecast(1, bytes).of_side(side));
            sides.collect()
        };
        assert_eq!(asked(&sides([1000, 1400, 1400])), None);
        let reason = asked(&sides([1000, 1600, 1000])).unwrap();
        assert!(reason.contains("half of"), "{reason}");
        // Files of their own stay; one that all sides fill is there once.
        let kept = |names: [&str; 3]| -> Vec<Forecast> {
            let files = sides([1000; 3]).into_iter().zip(names);
            let files = files.map(|(side, name)| Forecast {
                is_kept: true,
                place: Some(std::env::temp_dir().join(name)),
                ..side
            });
            files.collect()
        };
        assert_eq!(asked(&kept(["one", "one", "one"])), None);
        assert!(asked(&kept(["one", "two", "three"])).is_some());
    }

    #[test]
    fn much_is_asked_for_and_little_is_not() {
        let ten = permission(10.0, false);
        let nowhere = |_: &Path| None;
        assert_eq!(ten.too_much(9_000_000_000, &[], nowhere), None);
        let reason = ten.too_much(11_000_000_000, &[], nowhere).unwrap();
        assert!(
            reason.contains("11 GB") && reason.contains("10 GB"),
            "{reason}"
        );
        // Two targets that each take a third of the free room take more than half together, also where others write
        // to the file system between two looks at it.
        let looks = Cell::new(0);
        let room = |_: &Path| {
            looks.set(looks.get() + 1);
            Some(Room {
                device: 1,
                free_bytes: 3000 + looks.get(),
            })
        };
        assert_eq!(ten.too_much(1, &[forecast(1, 1000)], room), None);
        let third = || forecast(1, 1000);
        let reason = ten.too_much(1, &[third(), third()], room).unwrap();
        assert!(reason.contains("half of"), "{reason}");
        let elsewhere = |_: &Path| {
            looks.set(looks.get() + 1);
            Some(Room {
                device: looks.get(),
                free_bytes: 3000,
            })
        };
        assert_eq!(ten.too_much(1, &[third(), third()], elsewhere), None);
    }

    #[test]
    fn sharing_is_told_to_servers_alone() {
        let urls = |urls: &[&str]| -> Vec<TargetUrl> {
            let urls = urls.iter().map(|url| engines::parse(url).unwrap());
            urls.collect()
        };
        let told = permission(1.0, true)
            .share(&urls(&[
                "postgres://u:p@h/d",
                "postgres://u@h/d?sslmode=disable",
                "postgres://u@h/d?others=refuse",
                "sqlite:x",
            ]))
            .unwrap();
        let texts: Vec<String> = told.iter().map(TargetUrl::to_string).collect();
        assert_eq!(
            texts,
            [
                "postgres://u@h/d?others=allow",
                "postgres://u@h/d?others=allow&sslmode=disable",
                "postgres://u@h/d?others=refuse",
                "sqlite:x",
            ]
        );
        assert_eq!(told[0].password.as_ref().unwrap().expose(), "p");
        let error = permission(1.0, true)
            .share(&urls(&["sqlite:x"]))
            .unwrap_err();
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
