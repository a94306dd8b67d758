//! Tables that fit into a memory, memory for more of them, and spare cores and licences.

use std::fmt::Write;

use anyhow::Result;
use archive::reference;
use columnar::Level;
use columnar::memory::words;
use columnar::size::{Cores, Published, Sizes, holds, needs, published};
use serde_json::{Value, json};
use stats::Interval;
use verdict::cores::saved_in_all;
use verdict::price::{Origin, PriceList, Saved, saved_by_cores};

use crate::arguments::data::EstimateArguments;
use crate::exit::InvalidInput;

/// The reference whose tables 1 and 2 have published factors.
const REFERENCE: &str = "dl580-inmemory";

pub struct Sizing<'a> {
    arguments: &'a EstimateArguments,
    /// Factors of all tables together, by level.
    here: Vec<(Level, Option<Interval>)>,
    published: Vec<Published>,
    /// Cores of the server, and those that the users need.
    cores: Option<(u64, Cores)>,
    saved: Option<(PriceList, Vec<Saved>)>,
}

impl<'a> Sizing<'a> {
    pub fn new(
        arguments: &'a EstimateArguments,
        sizes: &Sizes,
        levels: &[Level],
        cores: Option<Cores>,
        prices: Option<PriceList>,
    ) -> Result<Self> {
        let here = levels
            .iter()
            .map(|level| (*level, sizes.compress_factor(*level)));
        let cores = arguments.cores.map(u64::from).zip(cores);
        let saved = prices.zip(cores).map(|(list, (all, needed))| {
            let out = needed.left_of(all);
            let processor = list.stated.processor.clone();
            let processor = processor.map(|name| (name, Origin::Prices));
            let saved = saved_by_cores(&list, processor, all as f64, (all - out) as f64)
                .map_err(|why| InvalidInput(format!("prices file {}: {why}", list.file)))?;
            Ok::<_, InvalidInput>((list, saved))
        });
        Ok(Self {
            arguments,
            here: here.collect(),
            published: published(&reference::load(REFERENCE)?),
            cores,
            saved: saved.transpose()?,
        })
    }

    /// The published factors of a level, for each table of the reference.
    fn published_at(&self, level: Level) -> Vec<(&Published, Interval)> {
        let of = |table: &'_ Published| {
            let (_, factor) = table.factors.iter().find(|(of, _)| *of == level)?;
            Some(Interval {
                estimate: *factor,
                low: *factor,
                high: *factor,
                confidence: 1.0,
            })
        };
        self.published
            .iter()
            .filter_map(|table| Some((table, of(table)?)))
            .collect()
    }

    pub fn put_held(&self, text: &mut String) {
        let memory = self.arguments.memory.map(|bytes| {
            let head = format!(
                "{} of memory hold, of tables like these, by their size on disk:",
                words(bytes)
            );
            (head, bytes, holds as fn(u64, Interval) -> Interval)
        });
        let data = self.arguments.data.map(|bytes| {
            let head = format!(
                "{} of tables like these, by their size on disk, need this much memory:",
                words(bytes)
            );
            (head, bytes, needs as fn(u64, Interval) -> Interval)
        });
        let arguments: Vec<_> = memory.into_iter().chain(data).collect();
        for (head, bytes, of) in &arguments {
            let _ = writeln!(text, "\n{head}");
            for (level, factor) in &self.here {
                let unknown = || "– (a size is unknown, see above)".to_owned();
                let here = factor.map_or_else(unknown, |factor| between(of(*bytes, factor)));
                let published = self.published_at(*level);
                let published = published.iter().map(|(table, factor)| {
                    format!(
                        "{} ({})",
                        size(of(*bytes, *factor).estimate),
                        size_of(table)
                    )
                });
                let published: Vec<String> = published.collect();
                let published = if published.is_empty() {
                    "–".to_owned()
                } else {
                    published.join(", ")
                };
                let _ = writeln!(
                    text,
                    "  {:<13}  {here:<32}  as published: {published}",
                    level.name()
                );
            }
        }
        if !arguments.is_empty() {
            let _ = writeln!(
                text,
                "  as published: by tables 1 and 2 of HPE's reference architecture (ref:{REFERENCE}), other data in another engine. Both assume that more tables \
                 compress as well as these."
            );
        }
    }

    /// Appends the lines on spare cores and their savings.
    pub fn put_cores(&self, text: &mut String) {
        let Some((all, needed)) = self.cores else {
            return;
        };
        let _ = match (needed.left_of(all), needed.short_of(all)) {
            (0, 0) => writeln!(text, "Of {all} cores none can be removed."),
            (0, short) => writeln!(
                text,
                "{all} cores are {short} too few: at least {} are needed.",
                needed.fewest
            ),
            (out, _) => writeln!(
                text,
                "Of {all} cores, {out} can be removed, unless other work needs them."
            ),
        };
        let _ = writeln!(text, "{}", report::CORES_BEFORE_CLOCK);
        let Some((list, saved)) = &self.saved else {
            return;
        };
        for of in saved {
            let _ = writeln!(text, "  {}", report::saved_words(list, of));
        }
        if saved.is_empty() {
            let _ = writeln!(
                text,
                "  {} has no item with quantity = \"per core\": fewer cores save nothing.",
                list.file
            );
        }
    }

    pub fn document(&self) -> Value {
        let of_level = |(level, factor): &(Level, Option<Interval>)| {
            let published = self.published_at(*level);
            let published = published.iter().map(|(table, factor)| {
                json!({
                    "place": table.place,
                    "disk_bytes": table.disk_bytes,
                    "compress_factor": factor.estimate,
                    "held_bytes": self.arguments.memory.map(|bytes| holds(bytes, *factor).estimate),
                    "needed_bytes": self.arguments.data.map(|bytes| needs(bytes, *factor).estimate),
                })
            });
            json!({
                "level": level.name(),
                "held_bytes": self.arguments.memory.zip(*factor).map(|(bytes, factor)| interval(holds(bytes, factor))),
                "needed_bytes": self.arguments.data.zip(*factor).map(|(bytes, factor)| interval(needs(bytes, factor))),
                "published": published.collect::<Vec<_>>(),
            })
        };
        let saved = self.saved.as_ref();
        let saved = saved.map(|(list, saved)| saved_in_all(list, saved.clone()));
        json!({
            "memory_bytes": self.arguments.memory,
            "data_bytes": self.arguments.data,
            "levels": self.here.iter().map(of_level).collect::<Vec<_>>(),
            "cores": self.cores.map(|(all, _)| all),
            "cores_left": self.cores.map(|(all, needed)| needed.left_of(all)),
            "cores_short": self.cores.map(|(all, needed)| needed.short_of(all)),
            "saved": saved,
        })
    }
}

fn size(bytes: f64) -> String {
    words(bytes.round() as u64)
}

fn between(of: Interval) -> String {
    format!(
        "{} ({} … {})",
        size(of.estimate),
        size(of.low),
        size(of.high)
    )
}

fn size_of(table: &Published) -> String {
    format!("at {}", size(table.disk_bytes))
}

pub fn interval(interval: Interval) -> Value {
    json!({
        "estimate": interval.estimate,
        "low": interval.low,
        "high": interval.high,
        "confidence": interval.confidence,
    })
}
