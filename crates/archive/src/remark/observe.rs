//! A running database, observed without a load.

macro_rules! observe {
    ($next:ident $($more:ident)*; $($before:tt)*) => { $next! { $($more)*; $($before)*

/// How sessions of the observed database were sampled, and what that cost server and observer, in percent of a core.
ObservedLooks { looks_per_s: f64, source: String, cost_pct: f64 } =>
    "observed without a load: sessions were sampled {looks_per_s:.1} times per second from {source}, at a cost of {cost_pct:.2} % of a core; \
     what is per second or per transaction are differences of the server's own counters";
/// The average of active sessions is the server's own account, not the samples'.
ObservedByAccount { account: String, seen: f64 } =>
    "active sessions on average are by the server's own account of time in statements ({account}); the looks alone saw {seen:.2}; how they \
     are divided by what they waited for is from the looks";
/// The average of active sessions is the kernel's account: exact CPU time, and waits for a CPU before a statement starts.
ObservedByKernel { seen: f64 } =>
    "active sessions on average are the time that sessions were on a processor or waited for one, by the kernel's account, and the time that \
     the looks saw them wait for something else; the looks alone saw {seen:.2}";
/// The server's own account and the kernel's differ, and the average of active sessions is between them.
ObservedBetween { low: f64, high: f64 } =>
    "active sessions on average were between {low:.2} and {high:.2}: the server's own account leaves out sessions that wait for a processor to \
     begin a statement, and the kernel's has sessions that still have or want one when their client has the answer already, which hardly happens \
     where clients run on other machines: there it was {high:.2}";
/// Sessions of other users are hidden, so that no average of active sessions is known.
ObservedOwnUserOnly { grant: String } =>
    "this user sees only its own sessions, so active sessions, waits and blockers of others are unknown: {grant}";
/// Counters went back while they were observed.
ObservedReset { times: u64, left_out_s: f64, what: String } =>
    "the server's statistics were reset {times} times while it was observed ({what}); what was counted in {left_out_s:.1} s around that is left out of rates and sums";
/// The server's counts of statements are not of the whole observation, or leave something out.
ObservedStatements { how: String } => "top statements: {how}";
/// The server ended the observer's session and let it in again.
ObservedRestart { times: u64, unseen_s: f64 } =>
    "the server restarted, or ended the observer's session, {times} times; {unseen_s:.1} s of the observation were not seen";
/// The server answered so slowly that it was sampled less often.
ObservedSlow { looks: u64, answer_ms: f64, unseen_s: f64 } =>
    "the server answered slowly ({answer_ms:.0} ms on average), so it was asked only {looks} times; answers that were held up leave {unseen_s:.1} s unseen";
/// Several servers cannot be observed as one.
ObservedCluster => "observing needs a single server, not the nodes of a cluster; observe each of them";
/// No session was active.
ObservedIdle => "no session was at work when the server was looked at";
/// Queries of the observer failed, and were repeated at the next sample.
ObservedFailed { times: u64, why: String } => "{times} questions of the observer failed: {why}";

    } };
}
