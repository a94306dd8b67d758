//! Figures, tables and remarks of an observation's point.

use std::time::Duration;

use archive::{About, Cell, Figures, Remark, load_row};
use engine::TimeInStatements;
use lab::session_sampler::SessionSamples;

use super::activity::Activity;
use super::average::by_account;
use super::pace::HELD_UP;
use super::rates::Rates;
use super::sessions::SessionHistory;

/// A longer pause indicates a server that answers slowly.
const SLOW_ANSWER_S: f64 = 0.05;
/// If the accounts of active sessions differ by this factor, both are reported.
const ACCOUNTS_DIFFER_MIN: f64 = 1.05;
/// Unobserved share of the time that is worth a remark.
const UNOBSERVED_MIN: f64 = 0.01;

#[derive(Debug, Default)]
pub(super) struct Cost {
    pub samples: u64,
    pub loads: u64,
    pub driver_s: f64,
    server_s: f64,
    /// Delayed answers, during which the session may or may not have been in a statement.
    held_up_s: f64,
    /// True if the server's processor time is known; otherwise the answer time replaces it.
    is_known: bool,
    answers: u64,
    answers_s: f64,
    answer_s_max: f64,
    unobserved_s: f64,
    pub restarts: u64,
    failed: u64,
    first_failure: Option<String>,
    statements_before: u64,
    statements: u64,
}

impl Cost {
    pub fn begun(statements: u64) -> Self {
        Self {
            statements_before: statements,
            ..Self::default()
        }
    }

    pub fn end(&mut self, statements: u64, unobserved: Duration) {
        self.statements = statements.saturating_sub(self.statements_before);
        self.unobserved_s = unobserved.as_secs_f64();
    }

    pub fn add(&mut self, answer_s: f64, driver_s: f64, server_s: f64, is_known: bool) {
        self.answers += 1;
        self.answers_s += answer_s;
        self.answer_s_max = self.answer_s_max.max(answer_s);
        self.driver_s += driver_s;
        self.server_s += server_s;
        self.held_up_s += if answer_s > HELD_UP.as_secs_f64() {
            answer_s
        } else {
            0.0
        };
        self.is_known = is_known;
    }

    pub fn fail(&mut self, why: String) {
        self.failed += 1;
        self.first_failure.get_or_insert(why);
    }

    pub fn cpu_s(&self) -> f64 {
        self.driver_s + self.server_s
    }

    fn table(&self, elapsed_s: f64) -> archive::Observed {
        let columns = [("what", ""), ("amount", ""), ("unit", "")];
        let mut table = archive::Observed::new(About::Cost, "the observer itself", &columns);
        let pct = |s: f64| s * 100.0 / elapsed_s.max(1e-9);
        let of_server = if self.is_known {
            "processor time of the server for the observer's session"
        } else {
            "time of the server's answers, taken for its processor time"
        };
        let mean_ms = (self.answers > 0).then(|| self.answers_s * 1e3 / self.answers as f64);
        let rows: [(&str, Option<f64>, &str); 8] = [
            ("samples of the sessions", Some(self.samples as f64), ""),
            (
                "statements of the observer",
                Some(self.statements as f64),
                "",
            ),
            (of_server, Some(self.server_s), "s"),
            (of_server, Some(pct(self.server_s)), "% of a core"),
            (
                "processor time of the observer",
                Some(pct(self.driver_s)),
                "% of a core",
            ),
            ("answer, mean", mean_ms, "ms"),
            ("answer, longest", Some(self.answer_s_max * 1e3), "ms"),
            ("time that was not seen", Some(self.unobserved_s), "s"),
        ];
        table.rows = rows
            .into_iter()
            .map(|(what, amount, unit)| vec![what.into(), amount.into(), unit.into()])
            .collect();
        table
    }
}

pub(super) struct Observed<'a> {
    pub activity: &'a Activity,
    pub sessions: &'a SessionHistory,
    pub rates: &'a Rates,
    pub cost: &'a Cost,
    /// Time of sessions in statements by the server's own account.
    pub account: Option<TimeInStatements>,
    /// Statement that would reveal other users' sessions, if they are hidden.
    pub hidden: Option<String>,
    pub lines: usize,
}

impl Observed<'_> {
    /// Figures of sessions are unknown if those of other users are hidden.
    pub fn figures(&self, watched: &SessionSamples) -> Figures {
        let mut figures = Figures {
            elapsed_s: Some(watched.elapsed.as_secs_f64()),
            operations: self.rates.transactions,
            operations_per_s: self.per_s(self.rates.transactions),
            replication_lag_s_max: self.rates.lag_s_max,
            ..Figures::default()
        };
        for count in self.rates.risen.iter().filter(|c| !c.figure.is_empty()) {
            figures.set(count.figure, self.per_s(count.count));
        }
        let sampled_time_s = self.activity.sampled_time_s;
        if let Some(mean) = self.sampled_mean() {
            figures.active_sessions_mean = Some(self.average(mean).0);
            figures.active_sessions_sampled_mean = Some(mean);
            figures.waiting_sessions_mean = Some(self.activity.waiting_s / sampled_time_s);
            figures.blocked_sessions_mean = Some(self.sessions.blocked_s / sampled_time_s);
            figures.active_sessions_max = Some(self.sessions.at_work_max as f64);
            figures.transaction_s_max = self.sessions.transaction_s_max;
        }
        figures
    }

    /// Active sessions by the samples; `None` if other users' sessions are hidden.
    fn sampled_mean(&self) -> Option<f64> {
        let sampled_time_s = self.activity.sampled_time_s;
        (self.hidden.is_none() && sampled_time_s > 0.0)
            .then(|| self.activity.sampled_s / sampled_time_s)
    }

    /// Mean active sessions, and the account behind them if the samples do not decide. A session is in the server's
    /// account during a statement, but uses processors also before and after it, so the truth lies between the server's
    /// account and the sum of both.
    fn average(&self, sampled: f64) -> (f64, Vec<Remark>) {
        let activity = self.activity;
        let mean = |seconds: f64| seconds / activity.sampled_time_s;
        let by_server = self.by_account();
        let by_kernel = activity.knows_processors.then(|| {
            let both = by_server.map(|(_, sessions)| sessions + mean(activity.on_processors_s));
            mean(activity.at_work_s).min(both.unwrap_or(f64::INFINITY))
        });
        match (by_kernel, by_server) {
            (Some(kernel), server) if server.is_none_or(|(_, sessions)| kernel > sessions) => {
                let low = server.map(|(_, sessions)| sessions);
                let low = low.filter(|low| kernel > low * ACCOUNTS_DIFFER_MIN);
                let between = low.map(|low| Remark::ObservedBetween { low, high: kernel });
                let notes = std::iter::once(Remark::ObservedByKernel { sampled });
                (kernel, notes.chain(between).collect())
            }
            (_, Some((account, sessions))) => {
                let account = account.into();
                (
                    sessions,
                    vec![Remark::ObservedByAccount { account, sampled }],
                )
            }
            _ => (sampled, Vec::new()),
        }
    }

    fn by_account(&self) -> Option<(&'static str, f64)> {
        let account = self.account.as_ref()?;
        let (cost, sampled) = (&self.cost, self.sampled_mean()?);
        let sessions = by_account(
            account,
            cost.server_s,
            cost.held_up_s,
            sampled,
            cost.samples,
        )?;
        Some((account.source, sessions))
    }

    fn per_s(&self, count: Option<f64>) -> Option<f64> {
        let covered_s = self.rates.covered_s;
        count.filter(|_| covered_s > 0.0).map(|n| n / covered_s)
    }

    pub fn notes(&self, watched: &SessionSamples, of_views: &[archive::Observed]) -> Vec<Remark> {
        let cost = self.cost;
        let mut notes = vec![Remark::ObservedSampling {
            samples_per_s: watched.rate_per_s(),
            source: watched.source.clone(),
            cost_pct: watched.cost_pct(),
        }];
        let sampled = self.sampled_mean().into_iter();
        notes.extend(sampled.flat_map(|mean| self.average(mean).1));
        let hidden = self.hidden.clone();
        notes.extend(hidden.map(|grant| Remark::ObservedOwnUserOnly { grant }));
        if self.rates.resets > 0 {
            notes.push(Remark::ObservedReset {
                times: self.rates.resets,
                left_out_s: self.rates.left_out_s,
                what: self.rates.reset.clone(),
            });
        }
        let statements = of_views.iter().find(|t| t.about == About::Statements);
        let counted = statements.filter(|table| !table.columns.is_empty());
        notes.extend(counted.and_then(|table| {
            let how = table.remark.clone()?;
            Some(Remark::ObservedStatements { how })
        }));
        if cost.restarts > 0 {
            notes.push(Remark::ObservedRestart {
                times: cost.restarts,
                unseen_s: cost.unobserved_s,
            });
        }
        let is_incomplete = cost.unobserved_s > UNOBSERVED_MIN * watched.elapsed.as_secs_f64();
        let mean_s = cost.answers_s / cost.answers.max(1) as f64;
        if mean_s > SLOW_ANSWER_S || (is_incomplete && cost.restarts == 0) {
            notes.push(Remark::ObservedSlow {
                samples: cost.samples,
                answer_ms: mean_s * 1e3,
                unseen_s: cost.unobserved_s,
            });
        }
        if let Some(why) = &cost.first_failure {
            notes.push(Remark::ObservedFailed {
                times: cost.failed,
                why: why.clone(),
            });
        }
        if self.hidden.is_none() && self.activity.at_work_s <= 0.0 {
            notes.push(Remark::ObservedIdle);
        }
        notes
    }

    /// Tables in their order. If the server does not count statements, those of the samples are listed.
    pub fn tables(
        &self,
        watched: &SessionSamples,
        of_views: Vec<archive::Observed>,
    ) -> Vec<archive::Observed> {
        let source = watched.source.as_str();
        let mut tables = vec![
            self.activity.table(source),
            self.load(),
            self.sessions.blockers(source, self.lines),
            self.sessions.transactions(source, self.lines),
            self.cost.table(watched.elapsed.as_secs_f64()),
        ];
        for table in of_views {
            let is_unavailable = table.about == About::Statements && table.columns.is_empty();
            if is_unavailable {
                tables.push(self.sampled_statements(source, table.remark))
            } else {
                tables.push(table)
            }
        }
        tables.sort_by_key(|table| table.about);
        tables
    }

    fn sampled_statements(&self, source: &str, why: Option<String>) -> archive::Observed {
        let sampled_time_s = self.activity.sampled_time_s;
        let sampled = format!("samples of {source}");
        let mut table = self
            .sessions
            .statements(&sampled, sampled_time_s, self.lines);
        table.remark = why.map(|why| {
            format!("from samples, because the server's own counts cannot be had: {why}")
        });
        table
    }

    fn load(&self) -> archive::Observed {
        let columns = [
            ("what", ""),
            ("amount", ""),
            ("unit", ""),
            ("per second", ""),
            ("per transaction", ""),
        ];
        let mut table = archive::Observed::new(About::Load, "counters of the server", &columns);
        let transactions = self.rates.transactions.filter(|n| *n > 0.0);
        let row = |name: &str, unit: &str, amount: Option<f64>| -> Vec<Cell> {
            let each = amount.zip(transactions).map(|(amount, n)| amount / n);
            vec![
                name.into(),
                amount.into(),
                unit.into(),
                self.per_s(amount).into(),
                each.into(),
            ]
        };
        table
            .rows
            .push(row(load_row::TRANSACTIONS, "", self.rates.transactions));
        let counts = self.rates.risen.iter();
        table
            .rows
            .extend(counts.map(|c| row(c.name, c.unit, c.count)));
        table
    }
}
