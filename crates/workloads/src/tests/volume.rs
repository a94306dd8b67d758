//! Volumes that plans are estimated to write.

use lab::volume::Volume;
use oltp::measure::load_volume;

use super::{plan, registry};

fn written(text: &str, fresh: bool) -> Volume {
    beside(0, text, fresh)
}

fn beside(replicas: u32, text: &str, fresh: bool) -> Volume {
    let plan = plan(text, &[]).unwrap();
    let volume = registry().volume(&plan, "sqlite", 1, replicas, fresh);
    volume.unwrap()
}

const READ: &str = "name='p'\nrepeat=3\n[[step]]\nuse='library'\ntests=['T611']\njobs=[1,2]\n";
const LOAD: &str = "name='p'\nrepeat=3\n[[step]]\nuse='library'\ntests=['T331']\njobs=[1,2]\n";

#[test]
fn tables_are_loaded_once_and_points_are_repeated() {
    // 64,000 rows of 288 + 72 + 32 bytes, to the log and to the files.
    let table = 64_000 * 392 * 2;
    assert_eq!(written(READ, false).written_bytes, table);
    assert_eq!(written(READ, true).written_bytes, 3 * table);
    let load = 120_000 * 360 * 2;
    let volume = written(LOAD, false);
    assert_eq!(volume.written_bytes, 3 * (1 + 2) * load);
    assert_eq!(volume.room_bytes, 2 * load, "points drop what they loaded");
}

#[test]
fn order_entry_beside_queries_is_loaded_for_each_side() {
    let mixed = |warehouses: u32, replicas: u32| {
        let text = format!(
            "name='p'\n[[step]]\nuse='mixed'\nseconds=1\n[step.oltp]\ndo='run'\nwarehouses={warehouses}\n\
             [step.olap]\ndo='run'\n"
        );
        beside(replicas, &text, false).written_bytes
    };
    let load = load_volume(1.0).written_bytes;
    assert_eq!(load, load_volume(2.0).written_bytes - load);
    // Alone, and beside the queries of the target and of those of its replicas that are there.
    for replicas in [0, 1, 5] {
        let sides = u64::from(1 + replicas);
        assert_eq!(mixed(2, replicas) - mixed(1, replicas), (1 + sides) * load);
    }
}

#[test]
fn a_large_size_is_foretold_as_large() {
    let large = written("name='p'\n[[step]]\nuse='library'\nsize='medium'\n", false);
    assert!(large.written_bytes > 10_000_000_000, "{large:?}");
    let none = written("name='p'\n[[step]]\nuse='library'\ntests=['T132']\n", false);
    assert_eq!(none, Volume::default());
}
