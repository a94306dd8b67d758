//! One table: streamed, packed, and compared.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use archive::Remark;
use target::lifted::{Codec, Store};
use target::source::{Digest, Kind, Part, Reader, Source, SourceTable};
use target::{ErrorKind, TargetError};

use super::{LiftedTable, Result};
use crate::columnar::chosen::{LeftOut, Unfit};
use crate::columnar::{ColumnarError, copies::copies, table_told};
use crate::loading::{Event, Observer};

/// A size of fewer pieces of memory than this says nothing about what is in them.
const GRAINS_MIN: u64 = 10;

/// What lifts tables one after the other.
pub(super) struct Run<'a> {
    pub source: &'a dyn Source,
    pub store: &'a Store,
    /// What becomes of values that no level can hold.
    pub unfit: Unfit,
    /// Streams that were asked for.
    pub jobs: Option<u32>,
    pub stop: &'a AtomicBool,
    pub tell: Observer<'a>,
    pub left_out: Vec<LeftOut>,
}

/// A table of the source, what it is called in the store, and what is known of it there.
pub(super) struct Done {
    table: SourceTable,
    copy: SourceTable,
    pub lifted: LiftedTable,
}

impl Run<'_> {
    /// Lifts tables; those with values that no level can hold are left out where that was asked for.
    pub fn tables(
        &mut self,
        readers: &mut [Box<dyn Reader>],
        tables: &[SourceTable],
    ) -> Result<Vec<Done>> {
        let mut done: Vec<Done> = Vec::with_capacity(tables.len());
        for (place, (table, copy)) in tables.iter().zip(copies(tables)).enumerate() {
            done.extend(self.fitting(readers, table.clone(), copy)?);
            (self.tell)(Event::Parts {
                done: place as u32 + 1,
                of: tables.len() as u32,
                rows: done.iter().map(|done| done.lifted.digest.rows).sum(),
            });
        }
        Ok(done)
    }

    /// Lifts a table, and does with values that no level can hold what was asked for.
    fn fitting(
        &mut self,
        readers: &mut [Box<dyn Reader>],
        mut table: SourceTable,
        mut copy: SourceTable,
    ) -> Result<Option<Done>> {
        loop {
            let error = match self.table(readers, &table, &copy) {
                Ok(lifted) => {
                    return Ok(Some(Done {
                        table,
                        copy,
                        lifted,
                    }));
                }
                Err(error) => error,
            };
            let ColumnarError::Target(TargetError {
                kind: ErrorKind::Unfit(place),
                message: what,
            }) = error
            else {
                return Err(error);
            };
            let Some(column) = table.columns.get_mut(place) else {
                return Err(ColumnarError::Unknown(what));
            };
            let is_text = column.kind == Ok(Kind::Text);
            let name = column.name.clone();
            match self.unfit {
                Unfit::Text if !is_text => {
                    column.read_as_text();
                    copy.columns[place].kind = Ok(Kind::Text);
                }
                Unfit::Skip => self.left_out.push(LeftOut {
                    name: table.label(),
                    why: what,
                }),
                Unfit::Fail | Unfit::Text => {
                    let column = format!("{}.{name}", table.label());
                    return Err(ColumnarError::Unfit { column, what });
                }
            }
            self.store.remove(&copy.name)?;
            self.store.pack()?;
            // Streams that were in the middle of the table are of no use any more; a single one has read to its end.
            if self.source.one_stream().is_none() {
                for reader in readers.iter_mut() {
                    *reader = self.source.open_reader()?;
                }
            }
            if self.unfit == Unfit::Skip {
                return Ok(None);
            }
        }
    }

    /// Lifts a table by as many streams as there are readers.
    fn table(
        &self,
        readers: &mut [Box<dyn Reader>],
        table: &SourceTable,
        copy: &SourceTable,
    ) -> Result<LiftedTable> {
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
        let note = |column: &target::source::SourceColumn| {
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
            notes: (table_told(table).into_iter())
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

    /// Reads all parts of a table, each stream one after the other, while what they commit is packed.
    fn stream(
        &self,
        readers: &mut [Box<dyn Reader>],
        table: &SourceTable,
        copy: &SourceTable,
    ) -> Result<Digest> {
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
            // The packer ends when no stream is left that may commit.
            drop(committed);
            let digests: Vec<Digest> = (streams.into_iter())
                .filter_map(|stream| stream.join().ok())
                .collect();
            // A panic of it is a panic of ours.
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
            return Err(ColumnarError::Interrupted);
        }
        if let Some(error) = first {
            return Err(error.into());
        }
        let mut digest = Digest::default();
        digests.into_iter().for_each(|part| digest.merge(part));
        Ok(digest)
    }

    /// Reads everything back, and compares it with what came, and both sides' own sums.
    pub fn verify(&self, readers: &mut [Box<dyn Reader>], done: &mut [Done]) -> Result<()> {
        let source = self.store.source();
        let described = source.tables()?;
        let mut back = source.open_reader()?;
        for Done {
            table,
            copy: named,
            lifted,
        } in done
        {
            (self.tell)(Event::Step(&format!("comparing {}", lifted.label)));
            let begun = Instant::now();
            let Some(copy) = described.iter().find(|copy| copy.name == named.name) else {
                lifted.reasons.push(Remark::CopyMissing);
                continue;
            };
            let mut digest = Digest::default();
            let outcome = back.read(copy, &None, &mut |row| {
                digest.add(row);
                self.go_on()
            });
            if self.stop.load(Ordering::Relaxed) {
                return Err(ColumnarError::Interrupted);
            }
            outcome?;
            if digest != lifted.digest {
                let (came, there) = (lifted.digest, digest);
                lifted.reasons.push(Remark::CopyWrong {
                    rows: there.rows,
                    checksum: format!("{:016x}", there.sum),
                    rows_came: came.rows,
                    checksum_came: format!("{:016x}", came.sum),
                });
            }
            let [here, there] = [readers[0].totals(table)?, back.totals(copy)?];
            lifted.reasons.extend(difference(table, &here, &there));
            lifted.verify_took = begun.elapsed();
        }
        Ok(())
    }

    fn go_on(&self) -> target::Result<()> {
        match self.stop.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(TargetError::new(ErrorKind::Statement, "interrupted")),
        }
    }
}

/// The streams of one table.
struct Streams<'a> {
    run: &'a Run<'a>,
    table: &'a SourceTable,
    copy: &'a SourceTable,
    parts: &'a [Part],
    next: AtomicUsize,
    failed: AtomicBool,
    first: Mutex<Option<TargetError>>,
    writers: u32,
}

impl Streams<'_> {
    /// Reads parts until there are none left.
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
    ) -> target::Result<()> {
        let mut writer = self.run.store.writer(self.copy, self.writers)?;
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            reader.read(self.table, part, &mut |row| {
                digest.add(row);
                if writer.put(row)? {
                    // When one is waiting already, this commit is packed with it.
                    let _ = committed.try_send(());
                }
                self.go_on()
            })?;
        }
        writer.finish()
    }

    /// Nobody needs the rest of what is going to be thrown away.
    fn go_on(&self) -> target::Result<()> {
        match self.failed.load(Ordering::Relaxed) {
            false => self.run.go_on(),
            true => Err(TargetError::new(
                ErrorKind::Statement,
                "another stream has failed",
            )),
        }
    }

    fn pack(&self, committed: Receiver<()>) {
        for () in committed {
            match self.run.store.pack() {
                Ok(()) => {}
                // It is packed with the next commit, or at the end.
                Err(error) if error.is_conflict() => {}
                Err(error) => self.fail(error),
            }
        }
    }

    fn fail(&self, error: TargetError) {
        self.failed.store(true, Ordering::Relaxed);
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
    }
}

/// Bytes of a table on disk; `None` where the source says so by statistics that are older than its rows.
fn disk_bytes(table: &SourceTable, rows: u64) -> Option<u64> {
    table.disk_bytes.filter(|_| !table.is_outdated(rows))
}

/// Codec → columns, by their names in the source.
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

/// In what the sums of source and copy differ; nothing where they are the same.
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
