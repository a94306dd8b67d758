//! The points of backups: a user works, the database is backed up, the backup restored, and the copy proven.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::load::{
    BlockingClient, Drive, End, Failure, Progress, Schedule, Think, UserPopulation, Users,
};
use archive::{Archive, CacheState, Component, Figures, Point, PointKey, Remark, WorkDone};
use lab::observe::{Driven, Observation};
use lab::{Done, Measure, Measured, Nodes, Result, RunContext, Step};
use stats::words::counted;
use target::{
    BackedUp, BackupMethod, BackupOptions, Counters, ErrorKind, Method, Restored, Target,
};

use super::code::{method_of, name_of, title};
use super::proof::{self, Digests, Proven};
use super::repository::{Manifest, Repository};
use super::step::BackupStep;
use crate::oltp::work::{Work, WorkOptions};
use crate::oltp::{self, Kind, LoadOptions, Metadata, Mode, OltpError, Pacing};

const GB: f64 = 1e9;
const MB: f64 = 1e6;
/// Bytes per second of a terabyte an hour.
const TB_PER_H: f64 = 1e12 / 3600.0;
/// Room beyond the backup and its restored copy: the engine's log, and the tables of the proof.
const ROOM_SPARE_BYTES: u64 = 64 << 20;

/// The backups of one run.
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
        // A name without a directory has an empty one.
        let beside = archive.path().parent();
        let beside = beside
            .filter(|directory| !directory.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let asked: &BackupStep = step.table();
        let parent = asked.repository.clone().unwrap_or(beside.to_owned());
        let place = Place {
            context: self.context,
            step,
            asked,
            key,
            on: &self.context.targets[key.target as usize],
        };
        let measured = place.measure(&parent, progress);
        let measured = measured.unwrap_or_else(|ended| ended);
        measured.enter(archive, self.context)
    }
}

/// Where a point is measured.
struct Place<'a> {
    context: &'a RunContext<'a>,
    step: &'a Step,
    asked: &'a BackupStep,
    key: &'a PointKey,
    on: &'a Nodes,
}

/// The method of a point, with what is asked of it.
pub(super) struct Chosen<'m> {
    /// With its level.
    pub name: String,
    pub about: BackupMethod,
    pub options: BackupOptions,
    pub method: &'m dyn Method,
}

type Ended<T> = std::result::Result<T, Measured>;

impl Place<'_> {
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
        let (about, level) = method_of(&backup.methods(), &name).ok_or_else(unknown)?;
        let method = backup.method(about.name).ok_or_else(unknown)?;
        let method = Chosen {
            name,
            about,
            options: BackupOptions {
                channels: self.key.threads,
                level,
            },
            method: method.as_ref(),
        };
        let method = &method;
        self.load(target.as_ref())?;
        let logical_bytes = backup.logical_bytes().map_err(|e| self.failed(e.into()))?;
        self.make_sure_of_room(&method.name, parent, logical_bytes)?;
        let repository = Repository::create(parent).map_err(|e| self.of_file(parent, &e))?;
        let reachable = backup.check_place(repository.path());
        reachable.map_err(|e| self.failed(e.into()))?;
        let prepared = (method.method).prepare(method.options, &repository.backup());
        let made = match prepared {
            Ok(()) => self.work_and_back_up(method, &repository, progress),
            Err(error) => Err(self.failed(error.into())),
        };
        // Whatever happened before; what it says is worth less than that.
        let finished = method.method.finish();
        let (mut point, made, before, logical_bytes) = made?;
        finished.map_err(|e| self.failed(e.into()))?;
        let sealed = repository.seal(&method.name);
        let manifest = sealed.map_err(|e| self.of_file(repository.path(), &e))?;
        self.tell(&mut point, method, &repository);
        self.figures_of_backup(&mut point.figures, (logical_bytes, made), &manifest);
        let restored = restore_and_prove(method, &repository, (&self.on.engine, &before));
        // A server that was stopped on the way is no finding about the backup.
        if self.context.stop.load(Ordering::Relaxed) {
            return Err(Measured::Interrupted);
        }
        enter_restore(&mut point, logical_bytes, restored);
        Ok(Measured::Points(vec![point]))
    }

    /// A user works, and then the database is backed up as it is; with the digests of its tables and its size.
    fn work_and_back_up(
        &self,
        method: &Chosen<'_>,
        repository: &Repository,
        progress: &Progress,
    ) -> Ended<(Point, BackedUp, Digests, u64)> {
        let target = self.on.first();
        self.work(target, repository)?;
        target.checkpoint().map_err(|e| self.failed(e.into()))?;
        let before = proof::digests(target.as_ref()).map_err(|e| self.failed(e.into()))?;
        let backup = target.backup();
        let backup = backup.map_err(|why| self.invalid(Remark::NoBackup { why }))?;
        let logical_bytes = backup.logical_bytes().map_err(|e| self.failed(e.into()))?;
        let (point, made) = self.back_up(method, repository, progress)?;
        Ok((point, made, before, logical_bytes))
    }

    /// Loads the order-entry database where there is none; one that is there is worked on as it is.
    fn load(&self, target: &dyn Target) -> Ended<()> {
        let there = || -> oltp::Result<bool> {
            Ok(Metadata::read(target.open_session()?.as_mut())?.is_some())
        };
        if there().map_err(|e| self.failed(e))? {
            return Ok(());
        }
        let options = LoadOptions {
            warehouses: self.asked.warehouses,
            jobs: None,
            seed: self.context.seed,
            foreign_keys: false,
            replace: false,
        };
        let stop = self.context.stop;
        let loaded = oltp::load(target, &self.on.engine, &options, stop, &|_| {});
        loaded.map(|_| ()).map_err(|e| self.failed(e))
    }

    /// Before anything is written there.
    fn make_sure_of_room(&self, method: &str, parent: &Path, logical_bytes: u64) -> Ended<()> {
        let need_bytes = room_needed(logical_bytes);
        match host::room(parent) {
            Some(room) if room.free_bytes < need_bytes => Err(self.invalid(Remark::BackupNoRoom {
                method: method.into(),
                repository: parent.display().to_string(),
                need_bytes,
                free_bytes: room.free_bytes,
            })),
            _ => Ok(()),
        }
    }

    /// A user enters orders, and what is acknowledged is logged.
    fn work(&self, target: &Arc<dyn Target>, repository: &Repository) -> Ended<()> {
        let blank = self.blank();
        let asked = WorkOptions {
            warehouses: None,
            users: 1,
            connections: 1,
            pacing: Pacing::None,
            mode: Mode::Client,
            run_seed: self.context.seed,
            seed: blank.seed,
            journal: Some(repository.journal()),
        };
        let work = Work::open(Arc::clone(target), &self.on.engine, &asked);
        let work = work.map_err(|e| self.failed(e))?;
        let (population, clients) = work.population().map_err(|e| self.failed(e))?;
        let end = End::Time(Duration::from_secs_f64(self.asked.work_seconds));
        let population: &dyn UserPopulation = population.as_ref();
        let drive = Drive {
            users: Users::Population {
                count: 1,
                kinds: Kind::ALL.len(),
                population,
            },
            schedule: Schedule::Closed { think: Think::None },
            seed: blank.seed,
            ..Drive::of_jobs(end, self.context.stop)
        };
        let outcome = ::load::drive(clients, &drive);
        Measured::cut_short(outcome.interrupted, outcome.fatal.as_deref())
    }

    /// The backup, under the eyes of the host.
    fn back_up(
        &self,
        method: &Chosen<'_>,
        repository: &Repository,
        progress: &Progress,
    ) -> Ended<(Point, BackedUp)> {
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
            Ok(Driven {
                outcome: ::load::drive(start.watch(clients), &drive),
                closing: Duration::ZERO,
                counters: Counters::default(),
                operations_scale: 1,
                failure: None,
            })
        });
        // A backup that fails is a finding, and no reason to end the run.
        let observed = observed.map_err(|ended| match ended {
            Measured::Broken(error) => self.invalid(Remark::BackupFailed { error }),
            ended => ended,
        })?;
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((observed.finish(), made))
    }

    fn tell(&self, point: &mut Point, method: &Chosen<'_>, repository: &Repository) {
        let session = self.on.first().open_session().ok();
        let metadata = session.and_then(|mut s| Metadata::read(s.as_mut()).ok().flatten());
        let size = metadata.map(|metadata| metadata.warehouses);
        point.work = WorkDone {
            mode: "work".into(),
            size: size.map_or(String::new(), |w| counted(u64::from(w), "warehouse")),
            operations_per_job: Some(1),
            state: "after a checkpoint, nobody at work".into(),
            cache: CacheState::Warm,
            ..WorkDone::default()
        };
        point.notes.push(Remark::BackupMade {
            method: method.name.clone(),
            how: method.about.how.into(),
            repository: repository.path().display().to_string(),
        });
    }

    fn figures_of_backup(
        &self,
        figures: &mut Figures,
        (logical_bytes, made): (u64, BackedUp),
        manifest: &Manifest,
    ) {
        let (logical, repository) = (logical_bytes as f64, manifest.bytes() as f64);
        let cpu_s = self
            .cpu_s(figures)
            .map(|s| s + made.programs_cpu.as_secs_f64());
        figures.rows = None;
        figures.rows_per_s = None;
        figures.backup_logical_mb = Some(logical / MB);
        figures.backup_repository_mb = Some(repository / MB);
        figures.backup_ratio = per(logical, repository);
        figures.backup_tb_per_h = figures.elapsed_s.and_then(|s| per(logical / TB_PER_H, s));
        figures.backup_tool_s = made.tool_took.map(|took| took.as_secs_f64());
        figures.backup_cpu_s_per_gb = cpu_s.and_then(|s| per(s, logical / GB));
    }

    /// Processor time of this process where the engine runs in it, else of database and driver together; without programs.
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
        let about = (title(&self.key.test), Component::Database);
        self.context
            .blank(self.step, self.key.clone(), definition, about)
    }

    fn invalid(&self, reason: Remark) -> Measured {
        Measured::Points(vec![Point {
            reasons: vec![reason],
            ..self.blank()
        }])
    }

    fn failed(&self, error: OltpError) -> Measured {
        match error {
            OltpError::Interrupted => Measured::Interrupted,
            OltpError::Target(error) if error.kind != ErrorKind::Statement => {
                Measured::Broken(error.message)
            }
            error @ (OltpError::Absent | OltpError::NotWhole { .. } | OltpError::Other { .. }) => {
                Measured::NotLoaded(Box::new(error))
            }
            error => self.invalid(Remark::BackupFailed {
                error: error.to_string(),
            }),
        }
    }

    fn of_file(&self, path: &Path, error: &io::Error) -> Measured {
        self.invalid(Remark::BackupFailed {
            error: format!("{}: {error}", path.display()),
        })
    }
}

/// A quotient; `None` where it is no number.
fn per(dividend: f64, divisor: f64) -> Option<f64> {
    stats::ratio::quotient(divisor, dividend)
}

/// Bytes that a backup and its restored copy may take together.
pub(super) fn room_needed(logical_bytes: u64) -> u64 {
    logical_bytes
        .saturating_mul(2)
        .saturating_add(ROOM_SPARE_BYTES)
}

/// A job whose one operation is a backup.
struct Client<'c> {
    method: &'c Chosen<'c>,
    into: &'c Path,
    /// What the backup told.
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

/// A backup that was restored, with its proofs.
pub(super) struct RestoreSeen {
    pub copy_took: Duration,
    pub replay_took: Duration,
    pub first_commit_took: Duration,
    pub proven: Proven,
    pub files: u64,
    pub tables: u64,
    pub proof_took: Duration,
}

/// Restores a backup elsewhere, and holds the copy against everything that is known of its source.
///
/// # Errors
/// Why the backup is worth nothing.
pub(super) fn restore_and_prove(
    method: &Chosen<'_>,
    repository: &Repository,
    (engine, before): (&str, &Digests),
) -> std::result::Result<RestoreSeen, Vec<Remark>> {
    let failed = |error: &dyn std::fmt::Display| {
        vec![Remark::RestoreFailed {
            error: error.to_string(),
        }]
    };
    let looking = Instant::now();
    let files = repository.check().map_err(|e| failed(&e))?;
    let files = files.map_err(|what| vec![Remark::BackupDamaged { what }])?;
    let verified = method.method.verify(&repository.backup());
    if let Some(what) = verified.map_err(|e| failed(&e))? {
        return Err(vec![Remark::BackupNotVerified { what }]);
    }
    let looked = looking.elapsed();
    let Restored {
        target,
        copy_took,
        replay_took,
    } = (method.method)
        .restore(method.options, &repository.backup(), &repository.restored())
        .map_err(|e| failed(&e))?;
    let first_commit_took = proof::first_commit(target.as_ref()).map_err(|e| failed(&e))?;
    let proving = Instant::now();
    let proven = proof::prove(target.as_ref(), engine, before, &repository.journal());
    let proven = proven.map_err(|e| failed(&e))?;
    Ok(RestoreSeen {
        copy_took,
        replay_took,
        first_commit_took,
        files,
        tables: before.len() as u64,
        proof_took: looked + proving.elapsed(),
        proven,
    })
}

/// Enters what a restore gave: figures and proofs, or why the figures of the backup are invalid.
fn enter_restore(
    point: &mut Point,
    logical_bytes: u64,
    seen: std::result::Result<RestoreSeen, Vec<Remark>>,
) {
    let seen = match seen {
        Ok(seen) => seen,
        Err(reasons) => return point.reasons.extend(reasons),
    };
    let took = seen.copy_took + seen.replay_took + seen.first_commit_took;
    let figures = &mut point.figures;
    figures.restore_copy_s = Some(seen.copy_took.as_secs_f64());
    figures.restore_replay_s = Some(seen.replay_took.as_secs_f64());
    figures.restore_first_commit_s = Some(seen.first_commit_took.as_secs_f64());
    figures.restore_tb_per_h = per(logical_bytes as f64 / TB_PER_H, took.as_secs_f64());
    figures.restore_per_backup = figures
        .elapsed_s
        .and_then(|backup_s| per(took.as_secs_f64(), backup_s));
    if seen.proven.reasons.is_empty() {
        point.notes.push(Remark::RestoreProven {
            files: seen.files,
            tables: seen.tables,
            rows: seen.proven.rows,
            conditions: seen.proven.conditions,
            acknowledged: seen.proven.acknowledged,
            took_s: seen.proof_took.as_secs_f64(),
        });
    }
    point.reasons.extend(seen.proven.reasons);
}
