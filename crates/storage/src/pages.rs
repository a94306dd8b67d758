//! Pages of an output folder in vdbench's formats, so that its readers understand them.
//!
//! Pages are text with a few anchors. Every line is on disk when its interval is over.

mod columns;
mod error;
mod flatfile;
mod folder;
mod histogram;
mod line;
mod names;
mod page;
mod skew;
mod stamp;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use columns::Cpu;
pub use error::PagesError;
pub use folder::{folder, folder_name};
pub use skew::worst_share;

use crate::engine::{Ended, Interval, IoFault, Operation, Outcome};
use crate::language::{Buckets, heading};
use crate::run::Run;
use line::Line;
use names::{PageNames, escaped};
use page::Page;

const HEADER_EVERY: u32 = 30;

type Result<T> = std::result::Result<T, PagesError>;

#[derive(Debug)]
pub struct Pages {
    folder: PathBuf,
    buckets: Buckets,
    summary: Page,
    totals: Page,
    flatfile: Page,
    histogram: Page,
    skew: Page,
    status: Page,
    errors: Page,
    log: Page,
    sds: Vec<(String, Page)>,
    workloads: Vec<(String, Page)>,
    /// Lines since the run began, and in the totals.
    lines: u32,
    total_lines: u32,
    lun_bytes: Option<u64>,
    name_width: usize,
}

impl Pages {
    /// Creates the pages. `runs` are all that will be carried out; `parameters` is the text of the files.
    pub fn create(
        folder: &Path,
        runs: &[Run],
        parameters: &str,
        buckets: &Buckets,
        now: Timestamp,
    ) -> Result<Self> {
        let names = PageNames::of(runs);
        let open = |name: &str| Page::create(folder, name);
        let detail = |pairs: &[(String, String)]| -> Result<Vec<(String, Page)>> {
            pairs
                .iter()
                .map(|(name, file)| Ok((name.clone(), open(file)?)))
                .collect()
        };
        let widths = runs.iter().map(|run| run.name.chars().count());
        open("parmfile")?.write(&escaped(parameters))?;
        let mut pages = Self {
            folder: folder.to_owned(),
            buckets: buckets.clone(),
            summary: open("summary")?,
            totals: open("totals")?,
            flatfile: open("flatfile")?,
            histogram: open("histogram")?,
            skew: open("skew")?,
            status: open("status")?,
            errors: open("errorlog")?,
            log: open("logfile")?,
            sds: detail(&names.sds)?,
            workloads: detail(&names.workloads)?,
            lines: 0,
            total_lines: 0,
            lun_bytes: None,
            name_width: widths.max().unwrap_or(0),
        };
        pages.head(runs, &names, now)?;
        Ok(pages)
    }

    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn head(&mut self, runs: &[Run], names: &PageNames, now: Timestamp) -> Result<()> {
        let created = stamp::created(now);
        let links = names::links_to_runs(runs);
        let version = env!("CARGO_PKG_VERSION");
        self.summary.write(&format!(
            "dbdyno {version}: summary report in the form of vdbench, created {created}\n\n{}\n{links}\n\n",
            names.links()
        ))?;
        self.totals.write(&format!("Run totals\n\n\n{links}\n\n"))?;
        self.histogram
            .write(&format!("Total response time histogram.\n\n\n{links}\n\n"))?;
        self.skew.write(&format!(
            "Workload skew report\n\nOnly for runs with more than one SD or WD.\n\n\n{links}\n\n"
        ))?;
        self.flatfile.write(&flatfile::head(self.name_width))?;
        self.status.write("* Vdbench status\n*\n* One line for each event, its fields separated by tabs, written as it happens.\n\n")?;
        // This process is both master and slave.
        let process = std::process::id();
        for event in [
            "Starting slaves".to_owned(),
            format!("Slave localhost-0 (pid {process:>6}) connected to master {process}"),
            "Slaves connected".to_owned(),
            "Query host configuration started".to_owned(),
            "Query host configuration completed".to_owned(),
        ] {
            self.status
                .write(&format!("{} \t{event}\n", stamp::status(now)))?;
        }
        for (_, page) in self.sds.iter_mut().chain(&mut self.workloads) {
            page.write(&format!("{links}\n\n"))?;
        }
        Ok(())
    }

    /// Begins run `number` of the list, and returns the text for the terminal.
    pub fn begin(
        &mut self,
        number: usize,
        run: &Run,
        lun_bytes: Option<u64>,
        now: Timestamp,
    ) -> Result<String> {
        self.lines = 0;
        self.lun_bytes = lun_bytes;
        let line = format!("{} Starting {}", stamp::time_of_day(now), heading(run));
        let heading = format!("{}\n\n", names::anchored(number, &line));
        let has_skew = run.storage.len() > 1 || run.streams.len() > 1;
        for page in [&mut self.summary, &mut self.totals, &mut self.histogram] {
            page.write(&heading)?;
        }
        if has_skew {
            self.skew.write(&heading)?;
        }
        for (_, page) in own(&mut self.sds, &mut self.workloads, run) {
            page.write(&heading)?;
        }
        self.log.write(&format!("{}\n", escaped(&line)))?;
        self.event(run, "Starting", now)?;
        Ok(format!("{line}\n\n"))
    }

    pub fn interval(
        &mut self,
        run: &Run,
        interval: &Interval,
        cpu: Option<Cpu>,
        now: Timestamp,
    ) -> Result<String> {
        let shown = self.line(
            run,
            &Line {
                name: &interval.number.to_string(),
                cells: &interval.cells,
                seconds: interval.length.as_secs_f64(),
                cpu,
                percentiles_ms: None,
                now,
            },
        )?;
        if interval.number + 1 == run.first_counted_interval() {
            self.event(run, "Warmup done", now)?;
        }
        Ok(shown)
    }

    pub fn end(
        &mut self,
        run: &Run,
        outcome: &Outcome,
        last_interval: u32,
        cpu: Option<Cpu>,
        now: Timestamp,
    ) -> Result<String> {
        self.event(run, "Workload done", now)?;
        if outcome.ended == Ended::Recovered {
            self.summary.write("\n")?;
            self.totals.write("\n")?;
            self.event(run, "Slaves done", now)?;
            return Ok(String::new());
        }
        let (cells, seconds) = (&outcome.cells[..], outcome.counted.as_secs_f64());
        let all = outcome.latencies_of(|_, _, _| true).issued;
        let percentile = |pct| all.percentile_us(pct) / 1e3;
        let percentiles_ms = (!all.is_empty()).then(|| [percentile(50.0), percentile(99.0)]);
        let first = if outcome.ends_in_warmup {
            1
        } else {
            run.counts_from_interval()
        };
        let header = self.header_due(self.total_lines, now);
        self.total_lines += 1;
        self.totals.write(&header)?;
        let mut shown = String::new();
        // Programs use the original's name, and those that were written for these pages use the other one.
        for name in ["net", "avg"] {
            let line = Line {
                name: &format!("{name}_{first}-{last_interval}"),
                cells,
                seconds,
                cpu,
                percentiles_ms,
                now,
            };
            shown += &self.line(run, &line)?;
            let total = columns::line(&stamp::time_of_day(now), line.name, &line.sums(|_| true));
            self.totals.write(&total)?;
        }
        self.totals.write("\n")?;
        self.summary.write("\n")?;
        let of = |operation| outcome.latencies_of(|_, _, other| other == operation);
        let tables = histogram::tables(&of(Operation::Read), &of(Operation::Write), &self.buckets);
        self.histogram.write(&format!("{tables}\n\n"))?;
        let skew = skew::tables(run, cells, seconds);
        if !skew.is_empty() {
            let tod = stamp::time_of_day(now);
            let lines = skew
                .lines()
                .map(|line| format!("{tod} {}\n", escaped(line)));
            self.skew.write(&(lines.collect::<String>() + "\n"))?;
        }
        for sentence in &outcome.close_errors {
            let tod = stamp::time_of_day(now);
            self.errors
                .write(&escaped(&format!("{tod} {sentence}\n")))?;
        }
        self.event(run, "Slaves done", now)?;
        Ok(shown)
    }

    /// Writes a failed I/O at once, and returns the text for the terminal.
    pub fn fault(&mut self, fault: &IoFault, now: Timestamp) -> Result<String> {
        let line = format!("{} {fault}\n", stamp::time_of_day(now));
        self.errors.write(&escaped(&line))?;
        Ok(line)
    }

    /// Writes a sentence to the log, and returns the text for the terminal.
    pub fn logged(&mut self, sentence: &str, now: Timestamp) -> Result<String> {
        let line = format!("{} {sentence}\n", stamp::time_of_day(now));
        self.log.write(&escaped(&line))?;
        Ok(line)
    }

    /// Writes a sentence about the run, and returns the text for the terminal.
    pub fn remark(&mut self, sentence: &str, now: Timestamp) -> Result<String> {
        let line = format!("{} {sentence}\n", stamp::time_of_day(now));
        for page in [&mut self.summary, &mut self.totals, &mut self.log] {
            page.write(&escaped(&line))?;
        }
        Ok(line)
    }

    /// Ends all pages, and returns the line that wrappers expect when nothing failed.
    pub fn finish(&mut self, failed: Option<&str>, now: Timestamp) -> Result<String> {
        let tod = stamp::time_of_day(now);
        // Wrappers read the folder at the end of this line, from any current directory.
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let line = match failed {
            None => format!(
                "{tod} Vdbench execution completed successfully. Output directory: {}\n",
                folder.display()
            ),
            Some(why) => format!("{tod} Vdbench execution ended: {why}\n"),
        };
        self.summary.write(&escaped(&line))?;
        self.log.write(&escaped(&line))?;
        if failed.is_none() {
            for event in ["Shutting down slaves", "Vdbench complete"] {
                self.status
                    .write(&format!("{} \t{event}\n", stamp::status(now)))?;
            }
        }
        Ok(line)
    }

    fn event(&mut self, run: &Run, what: &str, now: Timestamp) -> Result<()> {
        let (name, loops) = (escaped(&run.name), run.loops_text());
        let line = format!(
            "{} \t{what}\trd={name}\tFor loops: {loops}\n",
            stamp::status(now)
        );
        self.status.write(&line)
    }

    fn header_due(&self, lines: u32, now: Timestamp) -> String {
        if lines.is_multiple_of(HEADER_EVERY) {
            format!("\n{}", columns::header(&stamp::date(now)))
        } else {
            String::new()
        }
    }

    /// Writes a line to the summary, the flat file, and the page of each SD and WD.
    fn line(&mut self, run: &Run, line: &Line<'_>) -> Result<String> {
        let tod = stamp::time_of_day(line.now);
        let header = self.header_due(self.lines, line.now);
        self.lines += 1;
        let all = line.sums(|_| true);
        let shown = format!("{header}{}", columns::line(&tod, line.name, &all));
        self.summary.write(&shown)?;
        let row = flatfile::Row {
            run,
            line,
            sums: &all,
            lun_bytes: self.lun_bytes,
        };
        self.flatfile.write(&row.text(self.name_width))?;
        for (whose, page) in own(&mut self.sds, &mut self.workloads, run) {
            let sums = match whose {
                Whose::Sd(index) => line.sums(|cell| cell.storage == index),
                Whose::Workload(workload) => {
                    line.sums(|cell| run.streams[cell.stream].workload == workload)
                }
            };
            page.write(&format!(
                "{header}{}",
                columns::line(&tod, line.name, &sums)
            ))?;
        }
        Ok(shown)
    }
}

enum Whose<'a> {
    Sd(usize),
    Workload(&'a str),
}

fn own<'a>(
    sds: &'a mut [(String, Page)],
    workloads: &'a mut [(String, Page)],
    run: &'a Run,
) -> impl Iterator<Item = (Whose<'a>, &'a mut Page)> {
    let sds = sds.iter_mut().filter_map(|(name, page)| {
        let index = run.storage.iter().position(|sd| sd.name == *name)?;
        Some((Whose::Sd(index), page))
    });
    let workloads = workloads.iter_mut().filter_map(|(name, page)| {
        let stream = run.streams.iter().find(|stream| stream.workload == *name)?;
        Some((Whose::Workload(&stream.workload), page))
    });
    sds.chain(workloads)
}
