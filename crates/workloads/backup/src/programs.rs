//! Resources that the external programs of a backup used.

use archive::{Figures, Point, Remark};
use engine::ProgramUse;
use lab::checks::notes_on_others;

use super::figures::MB;

/// Charges the programs' use to the driver, which started them; the host had counted it as that of others. The point
/// has no wait profile, because the jobs waited for the programs and not for the server. With `shares_device` false,
/// writes to the repository are not charged to the database's device.
pub(super) fn take_in(
    point: &mut Point,
    programs: ProgramUse,
    threads: Option<u32>,
    shares_device: bool,
) {
    if programs.memory_bytes.is_none() {
        return;
    }
    if let Some(elapsed_s) = point.figures.elapsed_s.filter(|s| *s > 0.0) {
        let programs = if shares_device {
            programs
        } else {
            ProgramUse {
                written_bytes: 0,
                ..programs
            }
        };
        move_to_driver(&mut point.figures, programs, elapsed_s, threads);
    }
    let is_on_others =
        |note: &Remark| matches!(note, Remark::Crowded { .. } | Remark::DeviceShared { .. });
    point.notes.retain(|note| !is_on_others(note));
    point.notes.extend(notes_on_others(&point.figures));
    point.held_back.bottleneck = None;
}

fn move_to_driver(
    figures: &mut Figures,
    programs: ProgramUse,
    elapsed_s: f64,
    threads: Option<u32>,
) {
    let cpu = (figures.cpu_by_others_pct).zip(figures.cpu_by_driver_pct);
    if let Some(((others, driver), threads)) = cpu.zip(threads) {
        let pct = 100.0 * programs.cpu.as_secs_f64() / (elapsed_s * f64::from(threads));
        // Both clocks are coarse, so the host may have counted less than the programs report.
        let moved = pct.min(others);
        figures.cpu_by_others_pct = Some(others - moved);
        figures.cpu_by_driver_pct = Some(driver + moved);
        let of_a_core = moved * f64::from(threads);
        figures.driver_cpu_pct = figures.driver_cpu_pct.map(|pct| pct + of_a_core);
    }
    let less = |figure: &mut Option<f64>, bytes: u64| {
        let own_mb_per_s = bytes as f64 / MB / elapsed_s;
        *figure = figure.map(|figure| (figure - own_mb_per_s).max(0.0));
    };
    less(&mut figures.read_by_others_mb_per_s, programs.read_bytes);
    less(
        &mut figures.write_by_others_mb_per_s,
        programs.written_bytes,
    );
}

/// Minimum share of the data that must come from the device for its rate to be the device's.
const FROM_DEVICE_MIN: f64 = 0.5;

/// Data in the page cache were backed up at the speed of memory.
pub(super) fn from_cache(read_mb: f64, logical_mb: f64) -> Option<Remark> {
    (read_mb < logical_mb * FROM_DEVICE_MIN).then_some(Remark::BackupFromCache {
        read_mb,
        logical_mb,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use archive::{Bottleneck, Component, PointKey, Resource};

    use super::*;

    /// Four seconds on four processors; other processes used half of them and wrote 100 MB.
    fn point() -> Point {
        let key = PointKey {
            target: 1,
            ..PointKey::of("BACKUP-TOOL", 1)
        };
        let mut point = Point::blank(key, String::new(), Component::Database);
        point.figures = Figures {
            elapsed_s: Some(4.0),
            cpu_by_others_pct: Some(50.0),
            cpu_by_driver_pct: Some(1.0),
            driver_cpu_pct: Some(4.0),
            read_mb_per_s: Some(0.0),
            write_mb_per_s: Some(26.0),
            read_by_others_mb_per_s: Some(0.0),
            write_by_others_mb_per_s: Some(25.0),
            ..Figures::default()
        };
        point.held_back.bottleneck = Some(Bottleneck {
            resource: Resource::Scheduling,
            sentence: String::new(),
        });
        point.notes = notes_on_others(&point.figures).collect();
        assert_eq!(point.notes.len(), 2);
        point
    }

    fn programs(cpu_s: u64, written_bytes: u64) -> ProgramUse {
        ProgramUse {
            cpu: Duration::from_secs(cpu_s),
            memory_bytes: Some(1 << 20),
            read_bytes: 0,
            written_bytes,
        }
    }

    #[test]
    fn what_the_programs_took_is_none_of_others() {
        let mut whole = point();
        take_in(&mut whole, programs(8, 100_000_000), Some(4), true);
        assert_eq!(whole.figures.cpu_by_others_pct, Some(0.0));
        assert_eq!(whole.figures.cpu_by_driver_pct, Some(51.0));
        assert_eq!(whole.figures.driver_cpu_pct, Some(4.0 * 51.0));
        assert_eq!(whole.figures.write_by_others_mb_per_s, Some(0.0));
        assert_eq!((whole.notes.len(), whole.held_back.bottleneck), (0, None));
        let mut half = point();
        take_in(&mut half, programs(4, 50_000_000), Some(4), true);
        assert_eq!(half.figures.cpu_by_others_pct, Some(25.0));
        assert_eq!(half.figures.write_by_others_mb_per_s, Some(12.5));
        assert_eq!(half.notes.len(), 2);
        let mut elsewhere = point();
        take_in(&mut elsewhere, programs(8, 100_000_000), Some(4), false);
        assert_eq!(elsewhere.figures.write_by_others_mb_per_s, Some(25.0));
        assert_eq!(elsewhere.notes.len(), 1);
        let mut more = point();
        take_in(&mut more, programs(80, 1_000_000_000), Some(4), true);
        assert_eq!(more.figures.cpu_by_driver_pct, Some(51.0));
        assert_eq!(more.figures.write_by_others_mb_per_s, Some(0.0));
    }

    #[test]
    fn without_programs_everything_stays() {
        let mut same = point();
        take_in(&mut same, ProgramUse::default(), Some(4), true);
        assert_eq!(same.notes.len(), 2);
        assert!(same.held_back.bottleneck.is_some());
    }

    #[test]
    fn a_backup_of_what_is_in_memory_says_so() {
        let Some(Remark::BackupFromCache { read_mb, .. }) = from_cache(49.0, 100.0) else {
            panic!("less than half was read")
        };
        assert_eq!((read_mb, from_cache(50.0, 100.0)), (49.0, None));
    }
}
