//! Points of backups: a user works, the database is backed up, the backup is restored, and the copy is verified.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::load::{
    Arrivals, BlockingClient, Drive, End, Failure, Outcome, Progress, Schedule, Think,
    UserPopulation, Users,
};
use archive::{Archive, CacheState, Component, Figures, Point, PointKey, Remark, WorkDone};
use engine::{BackedUp, BackupOptions, Target};
use host::FewerProcessors;
use lab::observe::{Driven, Observation};
use lab::{Done, Measure, Measured, Nodes, Result, RunContext, Step};
use oltp::work::{Work, WorkOptions};
use oltp::{Kind, LoadOptions, Metadata, Mode, OltpError, Pacing};

use super::code::{method_of, name_of, title};
use super::figures::{MB, TB_PER_H, per};
use super::impact::Impact;
use super::programs::{from_cache, take_in};
use super::proof::{self, Digests, Evidence};
use super::repository::Repository;
use super::restore::{Chosen, enter_restore, restore_and_prove};
use super::room::Needed;
use super::step::{BackupStep, Few};

const GB: f64 = 1e9;
/// Limit of the users' work during a backup, in case nothing stops it.
const CONCURRENT_TIME_MAX: Duration = Duration::from_secs(7 * 86_400);
/// Name of the point in time to which a backup is restored.
const POINT: &str = "dbdyno";

pub(super) struct Measurement<'a> {
    pub context: &'a RunContext<'a>,
}

impl Measure for Measurement<'_> {
    fn measure(
        &mut self,
        archive: &mut Archive,
        step: &Step,
        key: &PointKey,
        progress: &Progress,
    ) -> Result<Done> {
        // A file name without a directory has an empty parent.
        let parent = archive.path().parent();
        let parent = parent
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let options: &BackupStep = step.table();
        let parent = options.repository.clone().unwrap_or(parent.to_owned());
        let place = PointContext {
            context: self.context,
            step,
            options,
            key,
            on: &self.context.targets[key.target as usize],
        };
        let measured = place.measure(&parent, progress);
        let measured = measured.unwrap_or_else(|ended| ended);
        measured.enter(archive, self.context)
    }
}

struct BackupTaken {
    run: BackupRun,
    evidence: Evidence,
    impact: Option<Impact>,
}

struct BackupRun {
    point: Point,
    result: BackedUp,
    logical_bytes: u64,
    started: Option<Instant>,
}

struct PointContext<'a> {
    context: &'a RunContext<'a>,
    step: &'a Step,
    options: &'a BackupStep,
    key: &'a PointKey,
    on: &'a Nodes,
}

type Ended<T> = std::result::Result<T, Measured>;

impl PointContext<'_> {
    fn measure(&self, parent: &Path, progress: &Progress) -> Ended<Measured> {
        let target = self.on.first();
        let backup = target.backup();
        let backup = backup.map_err(|why| self.invalid(Remark::NoBackup { why }))?;
        let name = name_of(&self.key.test);
        let unknown = || {
            let methods = String::new();
            let method = name.clone();
            self.invalid(Remark::BackupMethodUnknown { method, methods })
        };
        let (about, variant) = method_of(&backup.methods(), &name).ok_or_else(unknown)?;
        let method = backup.method(about.name).ok_or_else(unknown)?;
        let method = Chosen {
            name,
            about,
            options: BackupOptions {
                channels: self.key.threads,
                variant,
                max_mb_per_s: self.options.max_mb_per_s,
            },
            method: method.as_ref(),
        };
        let method = &method;
        self.load(target.as_ref())?;
        self.make_sure_of_room(method, parent)?;
        let few = self.options.processors.here();
        let few = few.map_err(|error| self.invalid(Remark::BackupFailed { error }))?;
        let _held = self.hold(few)?;
        let repository = Repository::create(parent).map_err(|e| self.of_file(parent, &e))?;
        let reachable = backup.check_place(repository.path());
        reachable.map_err(|e| self.failed(e.into()))?;
        let prepared = (method.method).prepare(method.options, &repository.backup());
        let made = match prepared {
            Ok(()) => self.work_and_back_up(method, &repository, progress),
            Err(error) => Err(self.failed(error.into())),
        };
        // A failure of the work itself explains more than the failure to finish.
        let finished = method.method.finish();
        let mut made = made?;
        finished.map_err(|e| self.failed(e.into()))?;
        let BackupRun {
            point,
            result,
            logical_bytes,
            ..
        } = &mut made.run;
        self.describe(point, method, few, &repository);
        self.figures_of_backup(point, *logical_bytes, *result);
        let shares = self.shares_device(&repository);
        take_in(
            point,
            result.programs,
            self.context.hardware_threads,
            shares,
        );
        if let Some(impact) = &made.impact {
            impact.enter(point, self.options);
        }
        // A backup to nowhere can be neither restored nor verified.
        if method.about.backups == 0 {
            point.notes.push(Remark::BackupDiscarded {});
            return Ok(Measured::Points(vec![made.run.point]));
        }
        let sealed = repository.seal(&method.name);
        let manifest = sealed.map_err(|e| self.of_file(repository.path(), &e))?;
        let figures = &mut point.figures;
        let repository_bytes = manifest.bytes_below("") as f64;
        figures.backup_repository_mb = Some(repository_bytes / MB);
        figures.backup_ratio = per(*logical_bytes as f64, repository_bytes);
        figures.backup_archived_mb =
            (method.about.log_archive).map(|directory| manifest.bytes_below(directory) as f64 / MB);
        let evidence = &made.evidence;
        let restored = restore_and_prove(method, &repository, &self.on.engine, evidence);
        // The stop of a server by the user is not a finding about the backup.
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(Measured::Interrupted);
        }
        enter_restore(point, *logical_bytes, evidence, restored);
        Ok(Measured::Points(vec![made.run.point]))
    }

    /// Users work before, during or after the backup, as the step requests. Returns the state that the restored copy
    /// must have.
    fn work_and_back_up(
        &self,
        method: &Chosen<'_>,
        repository: &Repository,
        progress: &Progress,
    ) -> Ended<BackupTaken> {
        let stop = self.context.stop;
        let before = repository.journal("acknowledged");
        let alone = self.work(&before, self.end_of_work(), stop)?;
        if self.options.during_per_s.is_some() {
            self.settle()?;
            return self.back_up_during_work(method, repository, before, alone, progress);
        }
        let quiet = self.digests()?;
        self.settle()?;
        let run = self.back_up(method, repository, progress)?;
        let evidence = if self.options.point_in_time {
            self.work_past_a_point(method, repository)?
        } else {
            Evidence::Same {
                digests: quiet,
                journal: before,
            }
        };
        Ok(BackupTaken {
            run,
            evidence,
            impact: None,
        })
    }

    /// Every backup starts from the same state: all pages and hint bits are written, and all files that it reads are in
    /// the page cache, which is empty after the start of a server.
    fn settle(&self) -> Ended<()> {
        let target = self.on.first();
        target.checkpoint().map_err(|e| self.failed(e.into()))?;
        let backup = target.backup();
        let backup = backup.map_err(|why| self.invalid(Remark::NoBackup { why }))?;
        backup.warm().map_err(|e| self.failed(e.into()))
    }

    /// Users work after the backup, a restore point is named, and they work on after it.
    fn work_past_a_point(&self, method: &Chosen<'_>, repository: &Repository) -> Ended<Evidence> {
        let stop = self.context.stop;
        let journal = repository.journal("acknowledged-behind");
        self.work(&journal, self.end_of_work(), stop)?;
        let digests = self.digests()?;
        let named = method.method.name_point(POINT);
        named.map_err(|e| self.failed(e.into()))?;
        let later = repository.journal("acknowledged-later");
        self.work(&later, self.end_of_work(), stop)?;
        Ok(Evidence::Point {
            name: POINT.into(),
            digests,
            journal,
            later,
        })
    }

    fn back_up_during_work(
        &self,
        method: &Chosen<'_>,
        repository: &Repository,
        before: PathBuf,
        alone: Outcome,
        progress: &Progress,
    ) -> Ended<BackupTaken> {
        let during = repository.journal("acknowledged-beside");
        let enough = AtomicBool::new(false);
        let (backed_up, worked) = std::thread::scope(|scope| {
            let until_stopped = || self.work(&during, End::Time(CONCURRENT_TIME_MAX), &enough);
            let users = scope.spawn(until_stopped);
            let backed_up = self.back_up(method, repository, progress);
            enough.store(true, Ordering::Relaxed);
            (backed_up, users.join())
        });
        let mut run = backed_up?;
        let worked = worked.map_err(|_| {
            self.invalid(Remark::BackupFailed {
                error: "the users during the backup ended with a panic".into(),
            })
        })??;
        let impact = Impact {
            alone,
            during: worked,
        };
        let samples = std::mem::take(&mut run.point.samples);
        run.point.samples = impact.over_time(samples, run.started, self.context.interval);
        Ok(BackupTaken {
            run,
            evidence: Evidence::DuringWork { before, during },
            impact: Some(impact),
        })
    }

    fn digests(&self) -> Ended<Digests> {
        proof::digests(self.on.first().as_ref()).map_err(|e| self.failed(e.into()))
    }

    fn end_of_work(&self) -> End {
        End::Time(Duration::from_secs_f64(self.options.work_seconds))
    }

    /// Loads the order-entry database unless there is one, which is used as it is.
    fn load(&self, target: &dyn Target) -> Ended<()> {
        let there = || -> oltp::Result<bool> {
            Ok(Metadata::read(target.open_session()?.as_mut())?.is_some())
        };
        if there().map_err(|e| self.failed(e))? {
            return Ok(());
        }
        let options = LoadOptions {
            warehouses: self.options.warehouses,
            rows: self.options.warehouse_rows,
            jobs: None,
            seed: self.context.seed,
            foreign_keys: false,
            replace: false,
        };
        let stop = self.context.stop;
        let loaded = oltp::load(target, &self.on.engine, &options, stop, &|_| {});
        loaded.map(|_| ()).map_err(|e| self.failed(e))
    }

    /// Limits server, programs and users to these processors until the guard is dropped.
    fn hold(&self, few: Option<Few>) -> Ended<Option<FewerProcessors>> {
        let held = few.map(|few| FewerProcessors::first(few.few)).transpose();
        held.map_err(|e| {
            self.invalid(Remark::BackupFailed {
                error: format!("the processors cannot be limited: {e}"),
            })
        })
    }

    /// Logical size of a backup by the method, in bytes.
    fn logical_bytes(&self, method: &Chosen<'_>) -> Ended<u64> {
        let backup = self.on.first().backup();
        let backup = backup.map_err(|why| self.invalid(Remark::NoBackup { why }))?;
        let own = method.method.logical_bytes();
        let bytes = own.and_then(|own| own.map_or_else(|| backup.logical_bytes(), Ok));
        bytes.map_err(|e| self.failed(e.into()))
    }

    fn make_sure_of_room(&self, method: &Chosen<'_>, parent: &Path) -> Ended<()> {
        let logical_bytes = self.logical_bytes(method)?;
        let needed = Needed::by(&method.about, self.options, logical_bytes);
        match host::room(parent) {
            Some(room) if room.free_bytes < needed.bytes() => {
                Err(self.invalid(Remark::BackupNoRoom {
                    method: method.name.clone(),
                    repository: parent.display().to_string(),
                    backup_bytes: needed.backup_bytes,
                    archive_bytes: needed.archive_bytes,
                    restored_bytes: needed.restored_bytes,
                    need_bytes: needed.bytes(),
                    free_bytes: room.free_bytes,
                }))
            }
            _ => Ok(()),
        }
    }

    /// Users enter orders until the end or until they are stopped; acknowledged transactions are logged.
    fn work(&self, journal: &Path, end: End, stop: &AtomicBool) -> Ended<Outcome> {
        let blank = self.blank();
        let users = self.options.users;
        let work_options = WorkOptions {
            warehouses: None,
            rows: None,
            users,
            connections: users,
            pacing: Pacing::None,
            mode: Mode::Client,
            run_seed: self.context.seed,
            seed: blank.seed,
            journal: Some(journal.to_owned()),
        };
        let work = Work::open(Arc::clone(self.on.first()), &self.on.engine, &work_options);
        let work = work.map_err(|e| self.failed(e))?;
        let (population, clients) = work.population().map_err(|e| self.failed(e))?;
        let population: &dyn UserPopulation = population.as_ref();
        let drive = Drive {
            users: Users::Population {
                count: users,
                kinds: Kind::ALL.len(),
                population,
            },
            interval: self.context.interval,
            schedule: match self.options.during_per_s {
                None => Schedule::Closed { think: Think::None },
                Some(rate_per_s) => Schedule::Open {
                    rate_per_s,
                    arrivals: Arrivals::Poisson,
                },
            },
            seed: blank.seed,
            ..Drive::of_jobs(end, stop)
        };
        let outcome = ::load::drive(clients, &drive);
        let interrupted = self.context.stop.load(Ordering::Relaxed);
        Measured::cut_short(interrupted, outcome.fatal.as_deref())?;
        Ok(outcome)
    }

    fn back_up(
        &self,
        method: &Chosen<'_>,
        repository: &Repository,
        progress: &Progress,
    ) -> Ended<BackupRun> {
        let logical_bytes = self.logical_bytes(method)?;
        let blank = self.blank();
        let end = End::Operations { per_job: 1 };
        let drive = Drive {
            interval: self.context.interval,
            seed: blank.seed,
            progress: Some(progress),
            ..Drive::of_jobs(end, self.context.stop)
        };
        let into = repository.backup();
        let made = Mutex::new(BackedUp::default());
        let observed = Observation::of(self.context, blank).drive(|start| {
            let client = Client {
                method,
                into: &into,
                made: &made,
            };
            let clients: Vec<Box<dyn BlockingClient + '_>> = vec![Box::new(client)];
            Ok(Driven::from(::load::drive(start.watch(clients), &drive)))
        });
        // A backup that fails is a finding and does not end the run.
        let observed = observed.map_err(|ended| match ended {
            Measured::Broken(error) => self.invalid(Remark::BackupFailed { error }),
            ended => ended,
        })?;
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(BackupRun {
            started: observed.outcome.started,
            point: observed.finish(),
            result: made,
            logical_bytes,
        })
    }

    fn describe(
        &self,
        point: &mut Point,
        method: &Chosen<'_>,
        few: Option<Few>,
        repository: &Repository,
    ) {
        let session = self.on.first().open_session().ok();
        let metadata = session.and_then(|mut s| Metadata::read(s.as_mut()).ok().flatten());
        let size = metadata.map(|metadata| metadata.rows.size(metadata.warehouses));
        point.work = WorkDone {
            mode: "work".into(),
            size: size.unwrap_or_default(),
            operations_per_job: Some(1),
            state: format!(
                "after a checkpoint, {} at work{}",
                match self.options.during_per_s {
                    None => "nobody",
                    Some(_) => "users",
                },
                few.map_or(String::new(), |Few { few, there }| {
                    format!(", on the first {few} of {there} processors")
                })
            ),
            cache: CacheState::Warm,
            ..WorkDone::default()
        };
        let left = repository.left_behind.iter();
        let directories: Vec<String> = left.map(|path| path.display().to_string()).collect();
        if !directories.is_empty() {
            point.notes.push(Remark::BackupLeftRemoved { directories });
        }
        point.notes.push(Remark::BackupMade {
            method: method.name.clone(),
            how: method.about.how.into(),
            repository: repository.path().display().to_string(),
        });
    }

    fn shares_device(&self, repository: &Repository) -> bool {
        use std::os::unix::fs::MetadataExt;
        let device = |path: &Path| path.metadata().ok().map(|found| found.dev());
        let data = self.on.first().data_directory().ok();
        data.and_then(|data| device(&data)) == device(repository.path())
    }

    fn figures_of_backup(&self, point: &mut Point, logical_bytes: u64, made: BackedUp) {
        let logical = logical_bytes as f64;
        let figures = &mut point.figures;
        let read_mb = figures
            .read_mb_per_s
            .zip(figures.elapsed_s)
            .map(|(rate, s)| rate * s);
        point
            .notes
            .extend(read_mb.and_then(|read_mb| from_cache(read_mb, logical / MB)));
        let cpu_s = self
            .cpu_s(figures)
            .map(|s| s + made.programs.cpu.as_secs_f64());
        figures.rows = None;
        figures.rows_per_s = None;
        figures.backup_logical_mb = Some(logical / MB);
        figures.backup_tb_per_h = figures.elapsed_s.and_then(|s| per(logical / TB_PER_H, s));
        figures.backup_log_mb =
            (figures.redo_mb_per_s.zip(figures.elapsed_s)).map(|(rate, s)| rate * s);
        figures.backup_tool_s = made.tool_took.map(|took| took.as_secs_f64());
        let memory_bytes = made.programs.memory_bytes.map(|bytes| bytes as f64);
        figures.backup_tool_memory_mb = memory_bytes.map(|bytes| bytes / MB);
        figures.backup_cpu_s_per_gb = cpu_s.and_then(|s| per(s, logical / GB));
    }

    /// Processor time in s: of this process if the engine runs in it, else of database and driver; without external
    /// programs.
    fn cpu_s(&self, figures: &Figures) -> Option<f64> {
        let elapsed_s = figures.elapsed_s?;
        match self.on.first().server_process() {
            None => Some(figures.process_cpu_pct? / 100.0 * elapsed_s),
            Some(_) => {
                let pct = figures.cpu_by_database_pct? + figures.cpu_by_driver_pct?;
                let threads = f64::from(self.context.hardware_threads?);
                Some(pct / 100.0 * threads * elapsed_s)
            }
        }
    }

    fn blank(&self) -> Point {
        let definition = oltp::fingerprint(&self.on.engine);
        self.context.blank(
            self.step,
            self.key.clone(),
            definition,
            title(&self.key.test),
            Component::Database,
        )
    }

    fn invalid(&self, reason: Remark) -> Measured {
        Measured::Points(vec![Point {
            reasons: vec![reason],
            ..self.blank()
        }])
    }

    fn failed(&self, error: OltpError) -> Measured {
        error.ended().unwrap_or_else(|error| {
            self.invalid(Remark::BackupFailed {
                error: error.to_string(),
            })
        })
    }

    fn of_file(&self, path: &Path, error: &io::Error) -> Measured {
        self.invalid(Remark::BackupFailed {
            error: format!("{}: {error}", path.display()),
        })
    }
}

struct Client<'c> {
    method: &'c Chosen<'c>,
    into: &'c Path,
    made: &'c Mutex<BackedUp>,
}

impl BlockingClient for Client<'_> {
    fn operate(&mut self, _request: ::load::Request) -> std::result::Result<::load::Done, Failure> {
        match (self.method.method).back_up(self.method.options, self.into) {
            Ok(made) => {
                *self.made.lock().unwrap_or_else(PoisonError::into_inner) = made;
                Ok(::load::Done::default())
            }
            Err(error) => Err(Failure::Fatal(error.message)),
        }
    }
}
