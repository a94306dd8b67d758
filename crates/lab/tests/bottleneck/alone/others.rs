//! Programs other than the database and the driver are named if they exist, and only then.

use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use archive::{OTHERS_PCT_MAX, Remark, Resource};
use engine::Target;

use crate::common::{Judged, drive, more_than_processors, my_turn, my_turn_on, open, shared};
use crate::{mysql, postgres};

/// Tolerance between two accounts, because the kernel counts ticks and misses some ended programs.
const ACCOUNTS_PCT: f64 = 8.0;

struct Busy(Vec<Child>);

impl Busy {
    fn start() -> Self {
        let program = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        Self((0..more_than_processors()).map(|_| program()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// Statements that keep all processors busy.
fn queries(target: &Arc<dyn Target>, sql: &str) -> Judged {
    drive(target, more_than_processors(), 2.0, 0, |session, _| {
        let query = session.prepare(sql)?;
        Ok(Box::new(move |session, _| {
            session.fetch(query, &[]).map(drop)
        }))
    })
}

/// Each engine with a query that only computes; requires the turn.
fn engines() -> [(Arc<dyn Target>, &'static str); 3] {
    [
        (
            shared(postgres::SERVER),
            "SELECT sum(n % 7) FROM generate_series(1, 200000) n",
        ),
        (
            shared(mysql::SERVER),
            "SELECT benchmark(300000, crc32('x'))",
        ),
        (
            open("sqlite:"),
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT sum(i) FROM n",
        ),
    ]
}

impl Judged {
    /// Asserts that shares add up, and that those of database and others agree with their own accounts.
    fn assert_divided(&self) {
        let figures = &self.figures;
        assert_eq!(self.owners_reason, None, "{self:#?}");
        let pct = |figure: Option<f64>| figure.unwrap_or_else(|| panic!("{self:#?}"));
        let shares = [
            figures.cpu_by_database_pct,
            figures.cpu_by_driver_pct,
            figures.cpu_by_kernel_pct,
            figures.cpu_by_others_pct,
            figures.cpu_steal_pct,
        ];
        let sum: f64 = shares.into_iter().map(pct).sum();
        let [database, .., others, steal] = shares.map(pct);
        // Clocks of processes include part of the hypervisor's time.
        let tolerance = ACCOUNTS_PCT + steal + self.used.uncertain_pct;
        let agree = |one: f64, other: f64| {
            assert!((one - other).abs() < tolerance, "{one} {other} {self:#?}");
        };
        agree(sum, pct(figures.cpu_pct_avg));
        agree(others, self.used.bystanders_pct);
        // An embedded engine works inside this process.
        if self.used.servers_pct > 0.0 {
            agree(database, self.used.servers_pct);
        }
        let names_others = self.sentence().contains("other programs ");
        assert_eq!(names_others, others > OTHERS_PCT_MAX, "{self:#?}");
        let shares_them = self.sentence().contains("not by the database alone");
        assert_eq!(shares_them, others > OTHERS_PCT_MAX, "{self:#?}");
    }
}

/// The amount depends on the machine; the point must attribute it to the programs and not to the database.
#[test]
fn a_busy_program_beside_the_database_is_told_from_it() {
    let _turn = my_turn();
    for (target, sql) in engines() {
        let busy = Busy::start();
        let judged = queries(&target, sql);
        drop(busy);
        judged.assert(Resource::Cpu);
        judged.assert_divided();
        assert!(judged.used.bystanders_pct > 0.0, "{judged:#?}");
    }
}

#[test]
fn a_database_that_keeps_the_processors_busy_is_told_from_other_programs() {
    let _turn = my_turn();
    for (target, sql) in engines() {
        let judged = queries(&target, sql);
        judged.assert(Resource::Cpu);
        judged.assert_divided();
        // A job of an embedded engine that is preempted between two statements counts as the driver.
        let figures = &judged.figures;
        let own = figures.cpu_by_database_pct.zip(figures.cpu_by_driver_pct);
        let own_pct = own.map(|(database, driver)| database + driver);
        assert!(own_pct > Some(0.0), "{judged:#?}");
    }
}

struct Writing(Child);

impl Writing {
    fn to(file: &Path) -> Self {
        let script = format!(
            "while dd if=/dev/zero of='{}' bs=1M count=8 oflag=direct conv=notrunc status=none; do :; done",
            file.display()
        );
        let child = Command::new("sh").args(["-c", &script]).spawn().unwrap();
        let writing = Self(child);
        while writing.written() == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        writing
    }

    fn written(&self) -> u64 {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.0.id())).unwrap();
        let mut lines = io.lines().filter_map(|line| line.split_once(": "));
        let (_, bytes) = lines.find(|(name, _)| *name == "write_bytes").unwrap();
        bytes.parse().unwrap()
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// A program writes to the device while the database is nearly idle; the amount depends on the machine.
#[test]
fn a_program_that_writes_to_the_device_is_told_from_the_database() {
    let (_turn, target) = my_turn_on(postgres::SERVER);
    let data = target.data_path().unwrap();
    let place = tempfile::tempdir_in(data.ancestors().nth(1).unwrap()).unwrap();
    assert_eq!(
        host::device_of(place.path()).unwrap(),
        host::device_of(data).unwrap()
    );
    let writing = Writing::to(&place.path().join("file"));
    let judged = drive(&target, 1, 1.5, 20, |session, _| {
        let one = session.prepare("SELECT 1")?;
        Ok(Box::new(move |session, _| {
            session.fetch(one, &[]).map(drop)
        }))
    });
    drop(writing);
    assert_eq!(judged.io_reason, None);
    let figures = &judged.figures;
    let others = figures.write_by_others_mb_per_s.unwrap();
    assert!(others > 0.0, "{judged:#?}");
    assert!(others <= figures.write_mb_per_s.unwrap(), "{judged:#?}");
    let is_noted = |note: &Remark| matches!(note, Remark::DeviceShared { .. });
    assert_eq!(
        judged.notes.iter().any(is_noted),
        figures.is_device_crowded(),
        "{judged:#?}"
    );
}
