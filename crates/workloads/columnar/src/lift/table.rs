//! One table: streamed, packed and verified.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use archive::Remark;
use column_store::{Codec, Store};
use engine::source::{Digest, Kind, Misfit, Part, Reader, Source, SourceTable};
use engine::{ErrorKind, TargetError};
use workload::loading::{Event, Observer};

use super::{LiftedTable, Result};
use crate::chosen::{LeftOut, Unfit};
use crate::watch::Watch;
use crate::{ColumnarError, copies::copies, table_note, unfit};

/// A size of fewer allocation units than this is too coarse.
const GRAINS_MIN: u64 = 10;

pub(super) struct Run<'a> {
    pub source: &'a dyn Source,
    pub store: &'a Store,
    pub unfit: Unfit,
    pub jobs: Option<u32>,
    pub stop: &'a AtomicBool,
    pub tell: Observer<'a>,
    /// Watch that knows the current lock wait.
    pub watch: Option<&'a Watch>,
    pub left_out: Vec<LeftOut>,
}

enum Failed {
    Source(TargetError),
    /// Any other error, which ends the run.
    Other(ColumnarError),
}

enum Fitted {
    Done(Box<Done>),
    LeftOut(LeftOut),
    /// Columns with unsupported values, which end the run.
    Unfit(Vec<LeftOut>),
}

impl Fitted {
    fn left_out(table: &SourceTable, why: String) -> Self {
        let name = table.label();
        Self::LeftOut(LeftOut { name, why })
    }
}

impl<E: Into<ColumnarError>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

/// Table of the source, its name in the store, and its results.
pub(super) struct Done {
    table: SourceTable,
    copy: SourceTable,
    pub lifted: LiftedTable,
}

impl Run<'_> {
    /// Populates tables; those with unsupported values are omitted if so requested.
    pub fn tables(
        &mut self,
        readers: &mut [Box<dyn Reader>],
        tables: &[SourceTable],
    ) -> Result<Vec<Done>> {
        let mut done: Vec<Done> = Vec::with_capacity(tables.len());
        for (place, (table, copy)) in tables.iter().zip(copies(tables)).enumerate() {
            match self.fitting(readers, table.clone(), copy)? {
                Fitted::Unfit(known) => {
                    return Err(unfit::refused(self.source, &tables[place..], &known)?);
                }
                Fitted::LeftOut(out) => self.left_out.push(out),
                Fitted::Done(lifted) => done.push(*lifted),
            }
            (self.tell)(Event::Parts {
                done: place as u32 + 1,
                of: tables.len() as u32,
                rows: done.iter().map(|done| done.lifted.digest.rows).sum(),
            });
        }
        Ok(done)
    }

    /// Populates a table and treats unsupported values as requested. A table that its source refuses is omitted.
    fn fitting(
        &mut self,
        readers: &mut [Box<dyn Reader>],
        mut table: SourceTable,
        mut copy: SourceTable,
    ) -> Result<Fitted> {
        loop {
            let error = match self.table(readers, &table, &copy) {
                Ok(lifted) => {
                    return Ok(Fitted::Done(Box::new(Done {
                        table,
                        copy,
                        lifted,
                    })));
                }
                Err(Failed::Source(error)) => error,
                Err(Failed::Other(error)) => return Err(error),
            };
            let misfits = unfit::misfits(readers);
            self.clear(readers, &copy, &error)?;
            let Some(first) = misfits.first() else {
                let why = self
                    .watch
                    .map_or(error.message.clone(), |w| w.reason(&error));
                return Ok(Fitted::left_out(&table, why));
            };
            let is_text = |place: usize| table.columns[place].is_read_as_text();
            match self.unfit {
                Unfit::Fail => return Ok(Fitted::Unfit(unfit::named(&table, &misfits))),
                Unfit::Text if !misfits.iter().all(|misfit| is_text(misfit.place)) => {
                    for Misfit { place, .. } in misfits {
                        table.columns[place].read_as_text();
                        copy.columns[place].kind = Ok(Kind::Text);
                    }
                }
                Unfit::Skip | Unfit::Text => {
                    return Ok(Fitted::left_out(&table, first.what.clone()));
                }
            }
        }
    }

    /// Removes the rest of a table that failed, so that the next one can be read.
    ///
    /// # Errors
    /// When the source is no longer usable.
    fn clear(
        &self,
        readers: &mut [Box<dyn Reader>],
        copy: &SourceTable,
        error: &TargetError,
    ) -> Result<()> {
        self.store.remove(&copy.name)?;
        self.store.pack()?;
        // Streams that were interrupted are unusable; a single one has read to its end.
        match self.source.one_stream() {
            None => {
                for reader in readers.iter_mut() {
                    *reader = self.source.open_reader()?;
                }
            }
            Some(_) if error.kind == ErrorKind::Unreachable => return Err(error.clone().into()),
            Some(_) => {}
        }
        Ok(())
    }

    fn table(
        &self,
        readers: &mut [Box<dyn Reader>],
        table: &SourceTable,
        copy: &SourceTable,
    ) -> std::result::Result<LiftedTable, Failed> {
        let label = table.label();
        (self.tell)(Event::Step(&format!("populating {label}")));
        let before_bytes = self.store.allocated_bytes()?;
        let begun = Instant::now();
        self.store.begin(copy, readers.len() as u32)?;
        let digest = self.stream(readers, table, copy)?;
        self.store.finish(copy, self.jobs)?;
        let populate_took = begun.elapsed();
        let memory_bytes = self.store.allocated_bytes()?.saturating_sub(before_bytes);
        let codecs = self.store.codecs(&copy.name)?;
        let reasons = self.store.not_taken(copy, &codecs);
        let note = |column: &engine::source::SourceColumn| {
            let note = column.note.as_ref()?;
            Some(Remark::ColumnChanged {
                column: column.name.clone(),
                how: note.clone(),
            })
        };
        Ok(LiftedTable {
            name: copy.name.clone(),
            digest,
            memory_bytes: Some(memory_bytes),
            disk_bytes: disk_bytes(table, digest.rows),
            is_measurable: memory_bytes >= self.store.grain_bytes() * GRAINS_MIN,
            populate_took,
            verify_took: std::time::Duration::ZERO,
            codecs: by_codec(&codecs, table, copy),
            notes: (table_note(table).into_iter())
                .chain(table.columns.iter().filter_map(note))
                .chain((table.is_outdated(digest.rows)).then_some(Remark::StatisticsOutdated))
                .collect(),
            reasons: (reasons.into_iter())
                .map(|why| Remark::LevelNotTaken {
                    level: self.store.level().to_string(),
                    why,
                })
                .collect(),
            label,
        })
    }

    /// Reads all parts of a table, one after the other per stream, while commits are packed.
    fn stream(
        &self,
        readers: &mut [Box<dyn Reader>],
        table: &SourceTable,
        copy: &SourceTable,
    ) -> std::result::Result<Digest, Failed> {
        let parts = self.source.parts(table, readers.len() as u32);
        let work = Streams {
            run: self,
            table,
            copy,
            parts: &parts,
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            first: Mutex::new(None),
            writers: readers.len().min(parts.len()) as u32,
        };
        let (committed, packing) = sync_channel(1);
        let digests = std::thread::scope(|scope| {
            let packer = scope.spawn(|| work.pack(packing));
            let streams: Vec<_> = (readers.iter_mut().take(parts.len()))
                .map(|reader| {
                    let (work, committed) = (&work, committed.clone());
                    scope.spawn(move || work.stream(reader.as_mut(), &committed))
                })
                .collect();
            // The packer ends once no stream can commit any more.
            drop(committed);
            let digests: Vec<Digest> = (streams.into_iter())
                .filter_map(|stream| stream.join().ok())
                .collect();
            // A panic of the packer is a panic of this thread.
            packer
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            digests
        });
        let first = work
            .first
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::Relaxed) {
            return Err(ColumnarError::Interrupted.into());
        }
        if let Some(failed) = first {
            return Err(failed);
        }
        let mut digest = Digest::default();
        digests.into_iter().for_each(|part| digest.merge(part));
        Ok(digest)
    }

    /// Reads everything back and compares digests and sums. A table whose sums the source cannot compute is omitted.
    pub fn verify(
        &mut self,
        readers: &mut [Box<dyn Reader>],
        lifted: Vec<Done>,
    ) -> Result<Vec<Done>> {
        let source = self.store.source();
        let described = source.tables()?;
        let mut back = source.open_reader()?;
        let mut verified = Vec::with_capacity(lifted.len());
        for mut done in lifted {
            (self.tell)(Event::Step(&format!("comparing {}", done.lifted.label)));
            let begun = Instant::now();
            let copy = described.iter().find(|copy| copy.name == done.copy.name);
            match copy {
                None => done.lifted.reasons.push(Remark::CopyMissing),
                Some(copy) => match readers[0].totals(&done.table) {
                    Ok(totals) => self.compare(back.as_mut(), copy, &mut done, &totals)?,
                    Err(error) => {
                        self.clear(readers, &done.copy, &error)?;
                        self.left_out.push(LeftOut {
                            name: done.table.label(),
                            why: error.message,
                        });
                        continue;
                    }
                },
            }
            done.lifted.verify_took = begun.elapsed();
            verified.push(done);
        }
        Ok(verified)
    }

    fn compare(
        &self,
        back: &mut dyn Reader,
        copy: &SourceTable,
        done: &mut Done,
        totals: &[Option<String>],
    ) -> Result<()> {
        let mut digest = Digest::default();
        let outcome = back.read(copy, &None, &mut |row| {
            digest.add(row);
            self.go_on()
        });
        if self.stop.load(Ordering::Relaxed) {
            return Err(ColumnarError::Interrupted);
        }
        outcome?;
        let Done { table, lifted, .. } = done;
        if digest != lifted.digest {
            let (came, there) = (lifted.digest, digest);
            lifted.reasons.push(Remark::CopyWrong {
                rows: there.rows,
                checksum: format!("{:016x}", there.sum),
                rows_came: came.rows,
                checksum_came: format!("{:016x}", came.sum),
            });
        }
        let there = back.totals(copy)?;
        lifted.reasons.extend(difference(table, totals, &there));
        Ok(())
    }

    fn go_on(&self) -> engine::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            Err(TargetError::statement("interrupted"))
        } else {
            Ok(())
        }
    }
}

struct Streams<'a> {
    run: &'a Run<'a>,
    table: &'a SourceTable,
    copy: &'a SourceTable,
    parts: &'a [Part],
    next: AtomicUsize,
    failed: AtomicBool,
    first: Mutex<Option<Failed>>,
    writers: u32,
}

impl Streams<'_> {
    fn stream(&self, reader: &mut dyn Reader, committed: &SyncSender<()>) -> Digest {
        let mut digest = Digest::default();
        if let Err(error) = self.fill(reader, committed, &mut digest) {
            self.fail(error);
        }
        digest
    }

    fn fill(
        &self,
        reader: &mut dyn Reader,
        committed: &SyncSender<()>,
        digest: &mut Digest,
    ) -> std::result::Result<(), Failed> {
        let mut writer = self.run.store.writer(self.copy, self.writers)?;
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let mut is_ours = false;
            let outcome = reader.read(self.table, part, &mut |row| {
                digest.add(row);
                let taken = writer.put(row).and_then(|has_committed| {
                    if has_committed {
                        // If a signal is pending, this commit is packed with it.
                        let _ = committed.try_send(());
                    }
                    self.go_on()
                });
                is_ours |= taken.is_err();
                taken
            });
            outcome.map_err(|error| {
                if is_ours {
                    Failed::from(error)
                } else {
                    Failed::Source(error)
                }
            })?;
        }
        Ok(writer.finish()?)
    }

    /// Fails once the result is to be discarded.
    fn go_on(&self) -> engine::Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            Err(TargetError::statement("another stream has failed"))
        } else {
            self.run.go_on()
        }
    }

    fn pack(&self, committed: Receiver<()>) {
        for () in committed {
            match self.run.store.pack() {
                Ok(()) => {}
                // The rows are packed with the next commit or at the end.
                Err(error) if error.is_conflict() => {}
                Err(error) => self.fail(error.into()),
            }
        }
    }

    fn fail(&self, error: Failed) {
        self.failed.store(true, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }
}

/// Bytes of a table on disk; `None` if the source's statistics are older than its rows.
fn disk_bytes(table: &SourceTable, rows: u64) -> Option<u64> {
    table.disk_bytes.filter(|_| !table.is_outdated(rows))
}

fn by_codec(
    codecs: &[Codec],
    table: &SourceTable,
    copy: &SourceTable,
) -> BTreeMap<String, Vec<String>> {
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Codec { column, codec, .. } in codecs {
        let place = copy.columns.iter().position(|it| it.name == *column);
        let of_source = place.and_then(|place| table.columns.get(place));
        columns
            .entry(codec.clone())
            .or_default()
            .push(of_source.map_or(column, |it| &it.name).clone());
    }
    columns
}

fn difference(
    table: &SourceTable,
    here: &[Option<String>],
    there: &[Option<String>],
) -> Option<Remark> {
    if here == there {
        return None;
    }
    let cell = |cells: &[Option<String>], at: usize| cells.get(at).cloned().flatten();
    let at = (0..here.len().max(there.len())).find(|at| here.get(*at) != there.get(*at))?;
    Some(Remark::TotalsDiffer {
        table: table.label(),
        number: at as u64 + 1,
        source: cell(here, at),
        copy: cell(there, at),
    })
}
