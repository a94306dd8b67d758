//! The log of steps, durations and current waits. Only the control path writes to it, never the measured one.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Write as _};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

use crate::command_line::without_secrets;
use crate::console::printable;
use crate::output;

/// Interval at which a long step is reported again.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(500);
/// Longest text of a field: the beginning of a statement identifies it.
const FIELD_CHARS_MAX: usize = 160;

/// True if lines of the log go to standard error.
static IS_SHOWN: AtomicBool = AtomicBool::new(false);

/// True if lines of the log go to standard error, where they would collide with a progress bar.
pub fn is_shown() -> bool {
    IS_SHOWN.load(Ordering::Relaxed)
}

/// Starts logging: to standard error by `verbose` (1: the steps of a run; 2: everything), and everything to a file.
pub fn begin(verbose: u8, file: Option<&Path>) -> Result<()> {
    let mut sinks: Vec<Sink> = Vec::new();
    match verbose {
        0 => {}
        1 => sinks.push((Level::INFO, Box::new(std::io::stderr()))),
        _ => sinks.push((Level::DEBUG, Box::new(std::io::stderr()))),
    }
    IS_SHOWN.store(verbose > 0, Ordering::Relaxed);
    if let Some(path) = file {
        let made = output::renew(path, is_log).with_context(|| {
            format!(
                "the log {} cannot be written; choose another file with --log-file",
                path.display()
            )
        })?;
        sinks.push((Level::DEBUG, Box::new(made)));
    }
    if sinks.is_empty() {
        return Ok(());
    }
    let log = Log {
        sinks: Arc::new(Mutex::new(sinks)),
        open: Arc::default(),
    };
    let watched = log.clone();
    std::thread::Builder::new()
        .name("log".into())
        .spawn(move || {
            loop {
                std::thread::sleep(LOOK);
                watched.report_waits(Instant::now());
            }
        })
        .context("no thread can be started for the log")?;
    let subscriber = tracing_subscriber::registry().with(log);
    tracing::subscriber::set_global_default(subscriber).context("a log is already being written")
}

/// True if a file begins like a log, with a time and an event.
fn is_log(begin: &[u8]) -> bool {
    let text = String::from_utf8_lossy(begin);
    let mut words = text.split_whitespace();
    let is_time = |word: &str| word.as_bytes().get(10) == Some(&b'T') && word.ends_with('Z');
    words.next().is_some_and(is_time)
        && matches!(words.next(), Some("starts" | "ends" | "waits" | "says"))
}

type Sink = (Level, Box<dyn Write + Send>);

#[derive(Clone)]
struct Log {
    sinks: Arc<Mutex<Vec<Sink>>>,
    /// Open spans in the order of their start.
    open: Arc<Mutex<BTreeMap<u64, Open>>>,
}

struct Open {
    text: String,
    level: Level,
    begun: Instant,
    reported: Instant,
    thread: ThreadId,
}

impl Log {
    fn line(&self, level: Level, text: &str) {
        let now = host::clock::rfc3339(std::time::SystemTime::now());
        let text = text.replace(['\r', '\n'], " ");
        let text = without_secrets(&text);
        let text = printable(&text);
        for (least, sink) in lock(&self.sinks).iter_mut() {
            if level <= *least {
                // An unwritable log must not end a measurement.
                let _ = writeln!(sink, "{now} {text}");
            }
        }
    }

    /// Reports the long waits of every thread.
    fn report_waits(&self, now: Instant) {
        let mut open = lock(&self.open);
        // The nested spans of each thread, and the number of the innermost.
        let mut chains: HashMap<ThreadId, (Vec<&str>, u64)> = HashMap::new();
        for (id, waited) in open.iter() {
            let chain = chains.entry(waited.thread).or_default();
            chain.0.push(&waited.text);
            chain.1 = *id;
        }
        let chains: Vec<(String, u64)> = (chains.into_values())
            .map(|(texts, innermost)| (texts.join(" > "), innermost))
            .collect();
        let mut lines = Vec::new();
        for (texts, innermost) in chains {
            if let Some(waited) = open.get_mut(&innermost)
                && now.duration_since(waited.reported) >= REPORT_INTERVAL
            {
                waited.reported = now;
                let since = now.duration_since(waited.begun).as_secs_f64();
                lines.push((waited.level, format!("waits   {texts}, since {since:.0} s")));
            }
        }
        drop(open);
        lines
            .iter()
            .for_each(|(level, line)| self.line(*level, line));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Log {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, _: Context<'_, S>) {
        let mut fields = Fields(attributes.metadata().name().to_owned());
        attributes.record(&mut fields);
        let level = *attributes.metadata().level();
        self.line(level, &format!("starts  {}", fields.0));
        let now = Instant::now();
        let open = Open {
            text: fields.0,
            level,
            begun: now,
            reported: now,
            thread: std::thread::current().id(),
        };
        lock(&self.open).insert(id.into_u64(), open);
    }

    fn on_close(&self, id: Id, _: Context<'_, S>) {
        let Some(ended) = lock(&self.open).remove(&id.into_u64()) else {
            return;
        };
        let took = ended.begun.elapsed().as_secs_f64();
        self.line(
            ended.level,
            &format!("ends    {}, after {took:.3} s", ended.text),
        );
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.line(
            *event.metadata().level(),
            &format!("says    {}", fields.0.trim()),
        );
    }
}

/// The name of a span with its fields, or the text of an event.
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let value = format!("{value:?}");
        let mut short: String = value.chars().take(FIELD_CHARS_MAX).collect();
        if short.len() < value.len() {
            short.push('…');
        }
        let _ = match field.name() {
            "message" => write!(self.0, " {short}"),
            name => write!(self.0, " {name}={short}"),
        };
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            lock(&self.0).extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_waits_are_logged_with_their_time_and_context() {
        let buffer = Buffer::default();
        let log = Log {
            sinks: Arc::new(Mutex::new(vec![(Level::DEBUG, Box::new(buffer.clone()))])),
            open: Arc::default(),
        };
        let subscriber = tracing_subscriber::registry().with(log.clone());
        tracing::subscriber::with_default(subscriber, || {
            let _point = tracing::info_span!("point", test = "T611").entered();
            let statement = tracing::debug_span!("statement", sql = "CHECKPOINT").entered();
            log.report_waits(Instant::now() + REPORT_INTERVAL);
            drop(statement);
            tracing::info!("all is well");
        });
        let text = String::from_utf8(lock(&buffer.0).clone()).unwrap();
        assert!(is_log(text.as_bytes()), "{text}");
        let lines: Vec<&str> = text.lines().map(|l| l.split_once(' ').unwrap().1).collect();
        assert_eq!(lines[0], "starts  point test=\"T611\"");
        assert_eq!(lines[1], "starts  statement sql=\"CHECKPOINT\"");
        assert_eq!(
            lines[2],
            "waits   point test=\"T611\" > statement sql=\"CHECKPOINT\", since 5 s"
        );
        assert!(
            lines[3].starts_with("ends    statement sql=\"CHECKPOINT\", after 0."),
            "{}",
            lines[3]
        );
        assert_eq!(lines[4], "says    all is well");
        assert!(lines[5].starts_with("ends    point"), "{}", lines[5]);
        assert_eq!(lines.len(), 6);
    }

    #[test]
    fn a_long_statement_is_cut() {
        let sql = "x".repeat(1000);
        let buffer = Buffer::default();
        let log = Log {
            sinks: Arc::new(Mutex::new(vec![(Level::DEBUG, Box::new(buffer.clone()))])),
            open: Arc::default(),
        };
        tracing::subscriber::with_default(tracing_subscriber::registry().with(log), || {
            tracing::debug!("{sql}");
        });
        let text = String::from_utf8(lock(&buffer.0).clone()).unwrap();
        assert!(text.len() < 400 && text.ends_with("…\n"), "{text}");
    }
}
