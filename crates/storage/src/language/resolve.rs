//! Resolves one RD to a run before its loops: WDs and SDs, defaults and overrides.

use super::Overrides;
use super::error::Result;
use super::names::chosen;
use super::rd::{Rd, SdChoice};
use super::sd::Sd;
use super::sections::Sections;
use super::shares::shares;
use super::wd::Wd;
use super::words::Definition;
use crate::run::{DataContent, Journal, Range, Rate, Run, StorageDefinition, Stream, Validation};

/// Limit of streams and SDs of one run, and of all runs together.
pub(super) const PARTS_MAX: usize = 200_000;

pub(super) struct Resolver<'a> {
    pub sections: &'a Sections,
    pub overrides: &'a Overrides,
    pub sd_names: Vec<&'a str>,
}

struct Parts<'a> {
    rd: &'a Rd,
    index_of: Vec<Option<usize>>,
    storage: Vec<StorageDefinition>,
    streams: Vec<Stream>,
}

impl Resolver<'_> {
    /// The run of an RD, on these SDs instead of those of its WDs. Its rate determines whether it is controlled.
    pub fn run(&self, rd: &Rd, suffix: &str, sds_instead: Option<&[usize]>) -> Result<Run> {
        let wds = self.workloads(rd)?;
        let shares = shares(rd, &wds)?;
        let mut parts = Parts {
            rd,
            index_of: vec![None; self.sd_names.len()],
            storage: Vec::new(),
            streams: Vec::new(),
        };
        for (wd, share) in wds.iter().zip(shares.of_workloads) {
            let sds = match sds_instead {
                Some(sds) => sds.to_vec(),
                None => self.sds_of(rd, wd)?,
            };
            self.add(&mut parts, wd, &sds, share)?;
        }
        let concatenated = self.sections.general.concatenate;
        Ok(Run {
            name: format!("{}{suffix}", rd.name),
            loops: String::new(),
            elapsed_s: Some(rd.elapsed_s),
            interval_s: rd.interval_s,
            warmup_s: rd.warmup_s,
            pause_s: rd.pause_s,
            rate: Rate::max(shares.controlled, false),
            arrivals: rd.arrivals,
            stop: rd.stop,
            errors: self.sections.general.errors,
            steady: rd.steady,
            storage: parts.storage,
            threads_shared: concatenated.then(|| wds.iter().filter_map(|wd| wd.threads).sum()),
            streams: parts.streams,
        })
    }

    fn sds_of(&self, rd: &Rd, wd: &Wd) -> Result<Vec<usize>> {
        if wd.sds.is_empty() {
            let what = format!("wd={} has no sd=; name SDs there or here", wd.name);
            return Err(rd.wrong(what));
        }
        chosen(&wd.sds, &self.sd_names, "sd", &wd.place)
    }

    fn workloads(&self, rd: &Rd) -> Result<Vec<&Wd>> {
        let wds = &self.sections.wds;
        if !rd.wds.is_empty() {
            let names: Vec<&str> = wds.named.iter().map(|wd| wd.name.as_str()).collect();
            let indices = chosen(&rd.wds, &names, "wd", &rd.place)?;
            return Ok(indices.into_iter().map(|index| &wds.named[index]).collect());
        }
        if rd.sds == SdChoice::OfWorkloads {
            return Err(rd.place.wrong(format!(
                "rd={} has neither wd= nor sd=; say what to run",
                rd.name
            )));
        }
        Ok(vec![&wds.default])
    }

    /// Adds the streams of one WD: one for each of its SDs, or one over all of them.
    fn add(&self, parts: &mut Parts<'_>, wd: &Wd, sds: &[usize], share: f64) -> Result<()> {
        if parts.streams.len() + sds.len() > PARTS_MAX {
            return Err(too_many_parts(parts.rd));
        }
        let concatenated = self.sections.general.concatenate;
        if wd.threads.is_some() && !concatenated {
            let what = "threads= of wd= is for concatenated SDs; give threads= to sd= or rd=";
            return Err(wd.wrong(what));
        }
        let mut indices = Vec::with_capacity(sds.len());
        for sd in sds {
            let index = self.use_sd(parts, wd, *sd)?;
            if concatenated {
                indices.push(index);
            } else {
                let range = self.sections.sds.named[*sd].range;
                parts
                    .streams
                    .push(stream(wd, vec![index], share / sds.len() as f64, range));
            }
        }
        if concatenated {
            parts.streams.push(stream(wd, indices, share, Range::Whole));
        }
        Ok(())
    }

    /// Index of an SD among those of the run. Two WDs cannot open it in different ways.
    fn use_sd(&self, parts: &mut Parts<'_>, wd: &Wd, number: usize) -> Result<usize> {
        let (rd, sd) = (parts.rd, &self.sections.sds.named[number]);
        let open_flags = rd.open_flags.or(wd.open_flags).unwrap_or(sd.open_flags);
        if let Some(index) = parts.index_of[number] {
            if parts.storage[index].open_flags != open_flags {
                return Err(rd.wrong(format!(
                    "its WDs open sd={} with different openflags=; set openflags= in rd={}",
                    sd.name, rd.name
                )));
            }
            return Ok(index);
        }
        let is_partial = sd.range != Range::Whole || sd.hit_area_bytes.is_some();
        if self.sections.general.concatenate && is_partial {
            return Err(sd.wrong("range= and hitarea= cannot be used with concatenated SDs"));
        }
        let index = parts.storage.len();
        parts.index_of[number] = Some(index);
        parts.storage.push(StorageDefinition {
            open_flags,
            ..self.storage(sd)?
        });
        Ok(index)
    }

    fn storage(&self, sd: &Sd) -> Result<StorageDefinition> {
        let general = &self.sections.general;
        let dedup = sd.dedup.resolved(general.dedup);
        let dedup = dedup.map_err(|what| sd.wrong(what))?;
        let whole = StorageDefinition::whole(&sd.name, sd.path()?);
        Ok(StorageDefinition {
            size_bytes: sd.size_bytes,
            threads: sd.threads.unwrap_or(whole.threads),
            offset_bytes: sd.offset_bytes,
            align_bytes: sd.align_bytes,
            hit_area_bytes: sd.hit_area_bytes.unwrap_or(whole.hit_area_bytes),
            open_flags: sd.open_flags,
            content: DataContent {
                compression_ratio: general.compression_ratio.unwrap_or(1.0),
                dedup,
                pattern: general.pattern.clone(),
                validation: self.validation(sd),
            },
            ..whole
        })
    }

    /// Options precede the file; a journal needs validation.
    fn validation(&self, sd: &Sd) -> Option<Validation> {
        let (options, general) = (self.overrides, &self.sections.general);
        let requested = options.validation.as_ref().or(general.validation.as_ref());
        let journal = options.journal.as_ref().or(general.journal.as_ref());
        let directory = sd.journal.clone();
        let journal = journal.cloned();
        let journal = journal.map(|journal| Journal {
            directory,
            ..journal
        });
        (requested.is_some() || journal.is_some()).then(|| Validation {
            journal,
            ..requested.cloned().unwrap_or_default()
        })
    }
}

pub(super) fn too_many_parts(rd: &Rd) -> super::LanguageError {
    rd.wrong(format!(
        "runs, SDs and WDs multiply to more than {PARTS_MAX}; use fewer of one of them"
    ))
}

fn stream(wd: &Wd, storage: Vec<usize>, share: f64, range: Range) -> Stream {
    Stream {
        workload: wd.name.clone(),
        storage,
        share,
        is_share_requested: wd.skew_pct > 0.0,
        iops: wd.iops,
        priority: wd.priority,
        sizes: wd.sizes.clone(),
        read_pct: wd.read_pct,
        seek: wd.seek,
        range: wd.range.unwrap_or(range),
        hot_band: wd.hot_band,
        read_hit_pct: wd.read_hit_pct,
        write_hit_pct: wd.write_hit_pct,
        stride: wd.stride,
        sequential_streams: wd.streams,
    }
}
