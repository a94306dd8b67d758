//! The result of a check as text and JSON.

use std::fmt::Write;

use anyhow::Result;
use archive::Platform;
use engine::{ClockOffset, Inspection, Protection, Replaced, Right};
use host::lint::findings;
use serde_json::{Value, json};

use super::machine::Machine;
use super::method::Method;
use super::suite::Carried;

const FORMAT: u32 = 1;
const LABEL_WIDTH: usize = 15;

pub(super) struct Checked {
    /// Without the password.
    pub url: String,
    pub machine: Machine,
    pub found: Inspection,
    pub suite: Option<Carried>,
    pub method: Option<Method>,
}

impl Checked {
    pub(super) fn text(&self) -> String {
        let found = &self.found;
        let mut text = format!("{}\n\n", self.url);
        for (label, value) in self.facts() {
            let _ = writeln!(text, "  {label:LABEL_WIDTH$}{value}");
        }
        if !found.rights.is_empty() {
            text.push_str("\nRights\n");
        }
        for right in &found.rights {
            let held = if right.is_held { "yes" } else { "no" };
            let _ = writeln!(text, "  {held:4} {}: {}", right.name, right.needed_for);
            if !right.is_held {
                let _ = writeln!(text, "       without it: {}", right.without);
                let _ = writeln!(text, "       to grant it: {}", right.grant);
            }
        }
        if !found.gaps.is_empty() {
            text.push_str("\nNot available\n");
        }
        for gap in &found.gaps {
            let _ = writeln!(text, "  {}: {}", gap.what, gap.why);
            if let Some(remedy) = &gap.remedy {
                let _ = writeln!(text, "       to get it: {remedy}");
            }
        }
        let replaced: Vec<_> = (found.replaced.iter())
            .filter(|of| of.instead_of.is_some())
            .collect();
        if !replaced.is_empty() {
            text.push_str("\nSettings that dbdyno's sessions replace\n");
        }
        for of in replaced {
            let _ = writeln!(text, "  {of}: {}", of.why);
        }
        if !self.machine.lint.is_empty() {
            let _ = write!(
                text,
                "\nSettings of the server\n{}",
                findings(&self.machine.lint)
            );
        }
        if let Some(suite) = &self.suite {
            text.push_str(&suite.text());
        }
        if let Some(method) = &self.method {
            text.push_str(&method.text());
        }
        text.push_str(&self.verdict());
        // Readers look for the verdict in the last line.
        if let Some(method) = &self.method {
            text.push_str(&format!("{}\n", method.verdict()));
        }
        text
    }

    /// The result of the self-test in a few lines.
    pub(super) fn summary(&self, method: &Method) -> String {
        let (url, found) = (&self.url, &self.found);
        let suite = self.suite.as_ref().map(Carried::text).unwrap_or_default();
        format!(
            "{url}: {} {}\n{}{suite}{}{}\n",
            found.engine,
            found.version,
            method.summary(),
            self.verdict(),
            method.verdict()
        )
    }

    fn verdict(&self) -> String {
        let found = &self.found;
        let left = match (&self.suite, &self.method) {
            (None, None) => "Nothing was changed.",
            (Some(_), None) => "What the suite created was removed.",
            (_, Some(_)) => "What was created for it was removed.",
        };
        if let Some(why) = found.read_only.as_ref().filter(|_| found.is_fit()) {
            return format!(
                "\nA run can start; only tests and scripts that read can run. {left}\n  {why}\n"
            );
        }
        if found.is_fit() {
            return format!("\nA run can start. {left}\n");
        }
        let mut text = format!("\nA run would be refused. {left}\n");
        for obstacle in &found.obstacles {
            let _ = writeln!(text, "  {obstacle}");
        }
        for right in found.rights.iter().filter(|right| right.is_obstacle()) {
            let _ = writeln!(text, "  {} is missing: {}", right.name, right.grant);
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let found = &self.found;
        let mut facts = vec![("Database", format!("{} {}", found.engine, found.version))];
        if let Some(user) = &found.user {
            facts.push(("User", user.clone()));
        }
        if let Some(protection) = &found.protection {
            let warning = match protection {
                Protection::Unencrypted => {
                    ": what is sent can be read on its way; sslmode=verify-full in the URL encrypts it"
                }
                Protection::UnixSocket | Protection::Tls(_) => "",
            };
            facts.push(("Connection", format!("{protection}{warning}")));
            let pooler = found.pooler.clone();
            facts.push(("Pooler", pooler.unwrap_or_else(|| "none".into())));
        }
        if let Some(trip) = &found.round_trip {
            let (median, p99) = (ms(trip.median_us), ms(trip.p99_us));
            let words = format!("{median} median, {p99} p99 ({} statements)", trip.count);
            facts.push(("Round trip", words));
        }
        if let Some(clock) = found.clock {
            facts.push(("Clock", clock_words(clock)));
        }
        if let Some(left) = &found.sessions_left {
            let words = format!(
                "{} ({}; for more, {})",
                left.count, left.limit, left.how_to_raise
            );
            facts.push(("Sessions left", words));
        }
        if let Some(place) = &found.place {
            facts.push(("Tables", place.to_string()));
        }
        if let Some(data) = &found.data {
            facts.push(("Data", data.clone()));
        }
        if let Some(device) = &self.machine.device {
            facts.push(("Device", or_why(device.clone())));
        }
        let machine = self.machine.platform.as_ref();
        let machine = machine.map(machine_words).map_err(Clone::clone);
        facts.push(("Machine", or_why(machine)));
        facts.extend(found.notes.iter().map(|note| ("Note", note.clone())));
        facts
    }

    pub(super) fn json(&self) -> Result<String> {
        let found = &self.found;
        let machine = match &self.machine.platform {
            Ok(platform) => json!(platform),
            Err(why) => json!({ "unknown": why }),
        };
        let device = self.machine.device.as_ref().map(|device| match device {
            Ok(name) => json!({ "name": name }),
            Err(why) => json!({ "unknown": why }),
        });
        let document = json!({
            "format": FORMAT,
            "dbdyno": env!("CARGO_PKG_VERSION"),
            "url": self.url,
            "can_start": found.is_fit(),
            "engine": found.engine,
            "engine_version": found.version,
            "user": found.user,
            "connection": found.protection.as_ref().map(ToString::to_string),
            "pooler": found.pooler,
            "round_trip": found.round_trip.map(|trip| json!({
                "count": trip.count, "median_us": trip.median_us, "p99_us": trip.p99_us,
            })),
            "clock": found.clock.map(|clock| json!({
                "ahead_us": clock.ahead_us, "uncertainty_us": clock.uncertainty_us,
            })),
            "sessions_left": found.sessions_left.as_ref().map(|left| json!({
                "count": left.count, "limit": left.limit, "how_to_raise": left.how_to_raise,
            })),
            "tables": found.place.as_ref().map(ToString::to_string),
            "data": found.data,
            "device": device,
            "machine": machine,
            "rights": found.rights.iter().map(right_json).collect::<Vec<_>>(),
            "obstacles": found.obstacles,
            "not_available": found.gaps.iter().map(|gap| json!({
                "what": gap.what, "why": gap.why, "remedy": gap.remedy,
            })).collect::<Vec<_>>(),
            "notes": found.notes,
            "read_only": found.read_only,
            "replaced_settings": found.replaced.iter().map(replaced_json).collect::<Vec<_>>(),
            "settings": found.settings,
            "lint": self.machine.lint,
            "engine_suite": self.suite.as_ref().map(Carried::json),
            "method": self.method.as_ref().map(Method::json),
        });
        Ok(serde_json::to_string_pretty(&document)? + "\n")
    }
}

fn right_json(right: &Right) -> Value {
    json!({
        "name": right.name, "held": right.is_held, "required": right.is_required,
        "needed_for": right.needed_for, "without": right.without, "grant": right.grant,
    })
}

fn replaced_json(of: &Replaced) -> Value {
    let (value, by) = of.instead_of.clone().unzip();
    json!({
        "name": of.name, "value": of.value, "instead_of": value, "set_by": by, "in_scripts": of.in_scripts, "why": of.why,
    })
}

fn or_why(known: Result<String, String>) -> String {
    known.unwrap_or_else(|why| format!("– {why}"))
}

fn ms(us: f64) -> String {
    format!("{:.3} ms", us / 1e3)
}

fn clock_words(clock: ClockOffset) -> String {
    let uncertainty = ms(clock.uncertainty_us as f64);
    if clock.ahead_us.abs() <= clock.uncertainty_us {
        return format!("as this machine's (± {uncertainty})");
    }
    let side = if clock.ahead_us > 0 {
        "ahead of"
    } else {
        "behind"
    };
    let offset = ms(clock.ahead_us.unsigned_abs() as f64);
    format!("{offset} {side} this machine's (± {uncertainty})")
}

fn machine_words(platform: &Platform) -> String {
    let threads = platform.threads.map(|n| format!("{n} hardware threads"));
    let memory = platform.memory_bytes;
    let memory = memory.map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)));
    let name = platform.host_name.clone();
    let words = [name, platform.distribution.clone(), threads, memory];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
