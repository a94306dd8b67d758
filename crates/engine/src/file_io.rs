//! An engine's counters of its own I/O, by the purpose of the files. It does not know whether a request reached a device
//! or ended in the page cache.

use archive::{EngineIo, IoOperation, IoUnknown, Purpose};

use crate::counted::Counted;

/// I/O of one direction on the files of one purpose: cumulative, or what was added between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct FileIo {
    pub purpose: Purpose,
    pub operation: IoOperation,
    pub counted: Result<Counted, IoUnknown>,
    /// Source of the engine, e.g. "pg_stat_io"; empty where it does not.
    pub source: &'static str,
}

impl FileIo {
    /// So much by that source; without requests and bytes, it is not counted there.
    pub fn counted(
        purpose: Purpose,
        operation: IoOperation,
        source: &'static str,
        counted: Counted,
    ) -> Self {
        if counted.count.is_some() || counted.bytes.is_some() {
            Self {
                purpose,
                operation,
                counted: Ok(counted),
                source,
            }
        } else {
            Self::unknown(purpose, operation, IoUnknown::NotCounted)
        }
    }

    /// Of which nothing is known.
    pub fn unknown(purpose: Purpose, operation: IoOperation, why: IoUnknown) -> Self {
        Self {
            purpose,
            operation,
            counted: Err(why),
            source: "",
        }
    }

    fn is_of(&self, other: &Self) -> bool {
        (self.purpose, self.operation) == (other.purpose, other.operation)
    }
}

/// Each one's increase since `before`, without those that were not there then.
pub fn since(now: &[FileIo], before: &[FileIo]) -> Vec<FileIo> {
    let risen = |now: &FileIo| {
        let then = before.iter().find(|then| then.is_of(now))?;
        let counted = match (&now.counted, &then.counted) {
            (Ok(now), Ok(then)) => {
                let rise = now.since(then);
                if rise.count.is_some() || rise.bytes.is_some() {
                    Ok(rise)
                } else {
                    Err(IoUnknown::CounterReset)
                }
            }
            (Err(why), _) | (_, Err(why)) => Err(*why),
        };
        Some(FileIo {
            counted,
            ..now.clone()
        })
    };
    now.iter().filter_map(risen).collect()
}

/// Adds what another node counted; unknown as soon as one is.
pub fn add(sums: &mut [FileIo], other: &[FileIo]) {
    for sum in sums {
        let theirs = other.iter().find(|theirs| theirs.is_of(sum));
        match (&mut sum.counted, theirs.map(|theirs| &theirs.counted)) {
            (Ok(mine), Some(Ok(theirs))) => mine.add(theirs),
            (Ok(_), Some(Err(why))) => sum.counted = Err(*why),
            (Ok(_), None) => sum.counted = Err(IoUnknown::NotCounted),
            (Err(_), _) => {}
        }
    }
}

impl From<&FileIo> for EngineIo {
    fn from(io: &FileIo) -> Self {
        let blank = Self::blank(io.purpose, io.operation);
        match &io.counted {
            Ok(counted) => Self {
                count: counted.count,
                mb: counted.bytes.map(|bytes| bytes as f64 / 1e6),
                time_s: counted.time_ns.map(|ns| ns as f64 / 1e9),
                source: io.source.to_owned(),
                ..blank
            },
            Err(why) => Self {
                unknown: Some(*why),
                ..blank
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(count: Option<u64>) -> FileIo {
        let counted = Counted {
            count,
            time_ns: Some(2_000_000_000),
            bytes: count.map(|n| n * 8192),
        };
        FileIo::counted(Purpose::Data, IoOperation::Read, "counters", counted)
    }

    #[test]
    fn a_rise_is_known_where_both_ends_are() {
        let rise = since(&[reads(Some(7))], &[reads(Some(3))]);
        let counted = rise[0].counted.as_ref().unwrap();
        assert_eq!((counted.count, counted.bytes), (Some(4), Some(4 * 8192)));
        assert_eq!(counted.time_ns, Some(0));
        let reset = since(&[reads(Some(3))], &[reads(Some(7))]);
        assert_eq!(reset[0].counted, Err(IoUnknown::CounterReset));
        let untold = since(&[reads(Some(3))], &[reads(None)]);
        assert_eq!(untold[0].counted, Err(IoUnknown::NotCounted));
        assert!(since(&[reads(Some(3))], &[]).is_empty());
    }

    #[test]
    fn nodes_are_added_where_all_of_them_tell() {
        let mut sum = [reads(Some(3))];
        add(&mut sum, &[reads(Some(4))]);
        assert_eq!(sum[0].counted.as_ref().unwrap().count, Some(7));
        add(&mut sum, &[reads(None)]);
        assert_eq!(sum[0].counted, Err(IoUnknown::NotCounted));
        let mut alone = [reads(Some(3))];
        add(&mut alone, &[]);
        assert_eq!(alone[0].counted, Err(IoUnknown::NotCounted));
    }

    #[test]
    fn an_account_without_figures_has_a_reason_and_no_zeros() {
        let known = EngineIo::from(&reads(Some(1_000)));
        assert_eq!((known.count, known.mb), (Some(1_000), Some(8.192)));
        assert_eq!((known.time_s, known.unknown), (Some(2.0), None));
        assert_eq!(known.source, "counters");
        let unknown = EngineIo::from(&reads(None));
        assert_eq!(
            (unknown.count, unknown.mb, unknown.time_s),
            (None, None, None)
        );
        assert_eq!(unknown.unknown, Some(IoUnknown::NotCounted));
        assert_eq!(unknown.source, "");
    }
}
