//! Other programs than the database and the driver: named where they are, and not where they are not.

use std::process::{Child, Command};

use archive::OTHERS_PCT_MAX;

use crate::common::{Judged, drive, my_turn, open};

/// Programs and jobs: as many of each as two processors take to be kept busy by either.
const BUSY: u32 = 4;
/// The kernel counts ticks, and programs that ended unseen: what two accounts may differ by.
const ACCOUNTS_PCT: f64 = 8.0;

/// Programs that do nothing but work; ended when dropped.
struct Busy(Vec<Child>);

impl Busy {
    fn start() -> Self {
        let program = || {
            let mut command = Command::new("sh");
            command.args(["-c", "while :; do :; done"]).spawn().unwrap()
        };
        Self((0..BUSY).map(|_| program()).collect())
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

/// Statements that keep a processor busy, on any engine.
fn queries(url: &str, sql: &str) -> Judged {
    drive(&open(url), BUSY, 3.0, 0, |session, _| {
        let query = session.prepare(sql)?;
        Ok(Box::new(move |session, _| {
            session.fetch(query, &[]).map(drop)
        }))
    })
}

const ENGINES: [(&str, &str); 3] = [
    (
        "postgres+local:",
        "SELECT sum(n % 7) FROM generate_series(1, 200000) n",
    ),
    ("mysql+local:", "SELECT benchmark(300000, crc32('x'))"),
    (
        "sqlite:",
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT sum(i) FROM n",
    ),
];

impl Judged {
    /// The shares are those of the whole, and what is said of others is what their own accounts say.
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
        let others = pct(figures.cpu_by_others_pct);
        // Clocks of processes hold a part of what the hypervisor took.
        let tolerance = ACCOUNTS_PCT + pct(figures.cpu_steal_pct);
        println!(
            "{shares:?} sum {sum:.1}, bystanders {:.1}",
            self.bystanders_pct
        );
        assert!(
            (sum - pct(figures.cpu_pct_avg)).abs() < tolerance,
            "{self:#?}"
        );
        assert!(
            (others - self.bystanders_pct).abs() < tolerance,
            "{self:#?}"
        );
        let named = self
            .bottleneck()
            .1
            .contains("other programs than the database");
        assert_eq!(named, others > OTHERS_PCT_MAX, "{self:#?}");
    }
}

#[test]
fn a_busy_program_beside_the_database_is_told_from_it() {
    let _turn = my_turn();
    for (url, sql) in ENGINES {
        let busy = Busy::start();
        let judged = queries(url, sql);
        drop(busy);
        judged.assert("cpu");
        judged.assert_divided();
        // Half of the time is theirs, more where yet other programs are at work, and never the database's.
        let least_pct = 25.0 - judged.figures.cpu_steal_pct.unwrap();
        assert!(
            judged.figures.cpu_by_others_pct > Some(least_pct),
            "{judged:#?}"
        );
        let sentence = judged.bottleneck().1;
        assert!(sentence.contains("not by the database alone"), "{sentence}");
    }
}

#[test]
fn a_database_that_is_alone_is_not_told_to_share() {
    let _turn = my_turn();
    for (url, sql) in ENGINES {
        let judged = queries(url, sql);
        judged.assert("cpu");
        judged.assert_divided();
        let figures = &judged.figures;
        assert!(figures.cpu_by_database_pct > Some(5.0), "{judged:#?}");
        if judged.bystanders_pct < 1.0 {
            assert_eq!(figures.is_crowded(), Some(false), "{judged:#?}");
        }
    }
}
