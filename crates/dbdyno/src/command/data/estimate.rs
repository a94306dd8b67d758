//! `dbdyno data estimate`: a prediction of the in-memory sizes from a sample.

mod sizing;

use std::fmt::Write;

use anyhow::Result;
use columnar::Level;
use columnar::memory::words;
use columnar::size::{Cores, Fit, SizeOptions, SizedTable, Sizes, cores, fit};
use engine::source::Source;
use serde_json::{Value, json};
use stats::Interval;

use super::database::{bar, show};
use super::wanted::{
    chosen_of, error_with_status, left_out, no_sum, one_line, source_of, tables_of, texts,
};
use crate::arguments::data::EstimateArguments;
use crate::command::{print, print_json};
use crate::exit::Status;
use sizing::{Sizing, interval};
use verdict::price::PriceList;

const FORMAT: u32 = 1;
/// Pieces of a table listed in the text; the JSON lists all.
const PIECES_SHOWN: usize = 6;

pub(super) fn estimate(arguments: &EstimateArguments) -> Result<Status> {
    // Errors in the file are reported before the sample is read.
    let prices = arguments
        .prices
        .as_deref()
        .map(PriceList::load)
        .transpose()?;
    let source = source_of("data estimate", &arguments.chosen)?;
    let levels = match arguments.levels.as_slice() {
        [] => Level::ALL.to_vec(),
        some => some.to_vec(),
    };
    let options = SizeOptions {
        chosen: chosen_of(&arguments.chosen),
        levels,
        budget: arguments.size,
        seed: arguments.seed,
    };
    lab::signal::install();
    let bar = bar(0, "tables");
    let outcome = columnar::size::size(
        source.as_ref(),
        &options,
        lab::signal::stop_flag(),
        &|event| show(&bar, event, "tables"),
    );
    bar.finish_and_clear();
    let sizes = outcome.map_err(error_with_status)?;
    let in_order = !arguments.chosen.tables.is_empty();
    let fits: Vec<Fit> = (arguments.memory.iter())
        .flat_map(|memory| {
            let of = |level: &Level| fit(&sizes.tables, *level, *memory, in_order);
            options.levels.iter().map(of).collect::<Vec<_>>()
        })
        .collect();
    let cores = arguments
        .clients
        .zip(arguments.dop)
        .map(|(u, t)| cores(u, t));
    let sizing = Sizing::new(arguments, &sizes, &options.levels, cores, prices)?;
    let answer = Answer {
        sizing,
        source: source.as_ref(),
        arguments,
        options: &options,
        sizes: &sizes,
        fits: &fits,
        cores,
    };
    if arguments.format.is_json() {
        print_json(&format!("{:#}\n", answer.document()))?
    } else {
        print(&answer.lines())?
    }
    Ok(Status::Fine)
}

struct Answer<'a> {
    source: &'a dyn Source,
    arguments: &'a EstimateArguments,
    options: &'a SizeOptions,
    sizes: &'a Sizes,
    fits: &'a [Fit],
    cores: Option<Cores>,
    sizing: Sizing<'a>,
}

impl Answer<'_> {
    fn lines(&self) -> String {
        let Sizes { tables, .. } = self.sizes;
        let mut text = format!(
            "{} of {}, sampled within {} (seed {}); read in {:.3} s\n\n",
            tables_of(tables.len()),
            self.source.title(),
            self.options.budget,
            self.options.seed,
            self.sizes.read_took.as_secs_f64(),
        );
        let width = tables.iter().map(|table| table.label.chars().count());
        let width = width.max().unwrap_or(0).max(5);
        let mut line = |cells: [&str; 6]| {
            let [name, level, disk, memory, within, factor] = cells;
            let _ = writeln!(
                text,
                "{name:<width$}  {level:<13}  {disk:>9}  {memory:>9}  {within:^23}  {factor}"
            );
        };
        line([
            "table",
            "level",
            "on disk",
            "in memory",
            "95 % between",
            "factor",
        ]);
        for table in tables {
            let disk = table.disk_bytes.map_or("–".into(), words);
            for (level, size) in &table.levels {
                let factor = table.compress_factor(*level);
                sized(
                    &mut line,
                    [&one_line(&table.label), level.name(), &disk],
                    size.as_ref().ok(),
                    factor,
                );
            }
        }
        let disk: Option<u64> = tables.iter().map(|table| table.disk_bytes).sum();
        let disk = disk.map_or("–".into(), words);
        for level in &self.options.levels {
            let (size, factor) = (self.sizes.total(*level), self.sizes.compress_factor(*level));
            sized(
                &mut line,
                ["all", level.name(), &disk],
                size.as_ref(),
                factor,
            );
        }
        text.push('\n');
        self.put_sampled(&mut text);
        self.put_fits(&mut text);
        self.sizing.put_held(&mut text);
        if let Some(cores) = self.cores {
            let _ = writeln!(
                text,
                "\n{} threads at the same time: {} cores, and at least {} (2 threads per core)",
                cores.threads, cores.ample, cores.fewest
            );
        }
        self.sizing.put_cores(&mut text);
        text
    }

    fn put_sampled(&self, text: &mut String) {
        for table in &self.sizes.tables {
            let label = one_line(&table.label);
            let _ = writeln!(text, "{label}: {}", sampled(table));
            for note in &table.notes {
                let _ = writeln!(text, "{label}: {note}");
            }
            let reasons = table.levels.iter().filter_map(|(level, size)| {
                let why = size.as_ref().err()?;
                Some((level, why))
            });
            for (level, why) in reasons {
                let _ = writeln!(text, "{label} at {level}: {why}");
            }
        }
        let unknown = self.sizes.tables.iter().filter(|t| t.disk_bytes.is_none());
        if let Some(line) = no_sum(unknown.map(|table| table.label.as_str())) {
            let _ = writeln!(text, "{line}");
        }
        for out in &self.sizes.left_out {
            let _ = writeln!(text, "{}", one_line(&out.to_string()));
        }
        let _ = writeln!(
            text,
            "{}. Loading needs up to 512 MB more.",
            self.sizes.moment
        );
    }

    fn put_fits(&self, text: &mut String) {
        if let Some(memory) = self.arguments.memory {
            let rule = if self.arguments.chosen.tables.is_empty() {
                "first those that save the most disk space per byte of memory"
            } else {
                "in the order of --tables"
            };
            let _ = writeln!(
                text,
                "\nWhat fits into {}, {rule}, by the upper ends of the intervals:",
                words(memory)
            );
        }
        for fit in self.fits {
            let names = |names: &[String]| {
                if names.is_empty() {
                    "nothing".to_owned()
                } else {
                    names.join(", ")
                }
            };
            let _ = write!(
                text,
                "  {:<13}  {:>9}  {}",
                fit.level.name(),
                words(fit.bytes_high as u64),
                names(&fit.tables)
            );
            if !fit.left_out.is_empty() {
                let _ = write!(text, "; no room for {}", names(&fit.left_out));
            }
            if !fit.unknown.is_empty() {
                let _ = write!(text, "; unknown for {}", names(&fit.unknown));
            }
            text.push('\n');
        }
    }

    fn document(&self) -> Value {
        let of_level = |level: &Level| {
            json!({
                "level": level.name(),
                "meaning": level.meaning(),
                "memory_bytes": self.sizes.total(*level).map(interval),
                "compress_factor": self.sizes.compress_factor(*level).map(interval),
            })
        };
        let fit = |fit: &Fit| {
            json!({
                "level": fit.level.name(),
                "tables": fit.tables,
                "memory_bytes_high": fit.bytes_high,
                "left_out": fit.left_out,
                "unknown": fit.unknown,
            })
        };
        json!({
            "format": FORMAT,
            "from": self.source.url(),
            "source": self.source.title(),
            "moment": self.sizes.moment,
            "budget": {
                "share": self.options.budget.share,
                "time_s": self.options.budget.time.map(|time| time.as_secs_f64()),
            },
            "seed": self.options.seed,
            "read_s": self.sizes.read_took.as_secs_f64(),
            "tables": self.sizes.tables.iter().map(table).collect::<Vec<_>>(),
            "levels": self.options.levels.iter().map(of_level).collect::<Vec<_>>(),
            "left_out": left_out(&self.sizes.left_out),
            "fit": self.arguments.memory.map(|memory| json!({
                "memory_bytes": memory,
                "levels": self.fits.iter().map(fit).collect::<Vec<_>>(),
            })),
            "cores": self.cores.map(|cores| json!({
                "threads": cores.threads, "ample": cores.ample, "fewest": cores.fewest,
            })),
            "sizing": self.sizing.document(),
        })
    }
}

fn sized(
    line: &mut impl FnMut([&str; 6]),
    first: [&str; 3],
    size: Option<&Interval>,
    factor: Option<Interval>,
) {
    let bytes = |bytes: f64| words(bytes.round() as u64);
    let memory = size.map_or("–".into(), |size| bytes(size.estimate));
    let within = size.map_or("–".into(), |size| {
        format!("{} … {}", bytes(size.low), bytes(size.high))
    });
    let factor = factor.map_or("–".into(), |factor| {
        format!(
            "{:.2} ({:.2} … {:.2})",
            factor.estimate, factor.low, factor.high
        )
    });
    let [name, level, disk] = first;
    line([name, level, disk, &memory, &within, &factor]);
}

fn sampled(table: &SizedTable) -> String {
    let sampled = &table.sampled;
    if sampled.is_whole {
        return format!("read completely, {} rows", sampled.rows());
    }
    let ranges = sampled.pieces.iter().filter_map(|p| p.addresses.as_ref());
    let shown: Vec<String> = ranges
        .take(PIECES_SHOWN)
        .map(|range| format!("{}–{}", range.start, range.end - 1))
        .collect();
    let rest = match sampled.pieces.len().saturating_sub(PIECES_SHOWN) {
        0 => String::new(),
        rest => format!(" and {rest} more (--format json)"),
    };
    // If addresses have gaps, their share is not the share of rows.
    let of = match sampled.population {
        Some(_) => format!("the rows, by their {}", sampled.unit),
        None => format!("{} {}", sampled.extent, sampled.unit),
    };
    format!(
        "{} rows in {} pieces, {:.2} % of {of}: {}{rest}",
        sampled.rows(),
        sampled.pieces.len(),
        100.0 * sampled.share(),
        shown.join(", "),
    )
}

fn table(table: &SizedTable) -> Value {
    let level = |(level, size): &(Level, std::result::Result<Interval, String>)| {
        json!({
            "level": level.name(),
            "memory_bytes": size.as_ref().ok().map(|size| interval(*size)),
            "compress_factor": table.compress_factor(*level).map(interval),
            "reason": size.as_ref().err(),
        })
    };
    let sampled = &table.sampled;
    let piece = |piece: &columnar::size::Piece| {
        json!({
            "from": piece.addresses.as_ref().map(|range| range.start),
            "below": piece.addresses.as_ref().map(|range| range.end),
            "rows": piece.count(),
        })
    };
    json!({
        "table": table.label,
        "disk_bytes": table.disk_bytes,
        "rows": table.rows.map(interval),
        "levels": table.levels.iter().map(level).collect::<Vec<_>>(),
        "sample": {
            "whole": sampled.is_whole,
            "unit": sampled.unit,
            "extent": sampled.extent,
            "share": sampled.share(),
            "rows": sampled.rows(),
            "read_s": sampled.took.as_secs_f64(),
            "pieces": sampled.pieces.iter().map(piece).collect::<Vec<_>>(),
        },
        "notes": texts(&table.notes),
    })
}
