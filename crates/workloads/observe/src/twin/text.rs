//! Plan of a twin: its fit as comments, a step, and the script of its transactions in the step.

use std::fmt::Write;

use toml::Value;

use super::fit::Figure;
use super::of_run::Twin;
use super::sql::{self, Extent};

/// First line of every plan that was made from an observation.
pub const FIRST_LINE: &str = "# A plan that dbdyno made of an observation:";

/// Measured seconds of a point, and its ramp-up.
const SECONDS: f64 = 60.0;
const RAMP_UP_SECONDS: f64 = 5.0;
/// If rows are deleted, they last for this multiple of the transactions at the observed rate.
const ROOM: f64 = 4.0;
const NAME_WIDTH: usize = 36;
const NUMBER_WIDTH: usize = 12;

impl Twin {
    /// Fit as lines of a table that fit a terminal; unknown figures, with the statements that would reveal them,
    /// follow.
    pub fn fit_lines(&self) -> Vec<String> {
        let mut lines = vec![row(
            &format!("of a {} on average", self.profile.unit.name()),
            ["observed", "plan", "deviation", "holds within"].map(str::to_owned),
        )];
        let figures = &self.fit().0;
        lines.extend(figures.iter().map(line));
        let is_unknown = figures.iter().any(|figure| figure.observed.is_none());
        if is_unknown && !self.unobserved.is_empty() {
            lines.push("Not seen by the observation, and what shows it:".to_owned());
            let unobserved = self.unobserved.iter();
            lines.extend(unobserved.map(|(what, how)| format!("  {what}: {how}")));
        }
        lines
    }

    pub fn plan(&self) -> String {
        let mut text = format!("{FIRST_LINE} a twin of the load\n");
        let mut comment = |line: &str| {
            text.push_str(format!("# {line}").trim_end());
            text.push('\n');
        };
        comment(&format!(
            "of run {} ({}),",
            one_line(&self.of),
            one_line(&self.engine)
        ));
        comment("from amounts alone: it has neither its data nor its SQL (docs/OBSERVE.md).");
        comment("");
        for line in self.fit_lines() {
            comment(&one_line(&line));
        }
        comment("");
        for figure in self
            .fit()
            .0
            .iter()
            .filter(|figure| !figure.remark.is_empty())
        {
            comment(&format!("{}: {}", figure.name, figure.remark));
        }
        comment("");
        comment(
            "As fast as it goes: --set step.think_ms=0. With more sessions: --set step.jobs=[8,16].",
        );
        text + &self.step()
    }

    fn step(&self) -> String {
        let jobs = self.jobs();
        let extent = Extent {
            jobs,
            transactions: self.profile.per_s * (SECONDS + RAMP_UP_SECONDS) * ROOM,
        };
        let think = match self.think_ms() {
            Some(ms) => format!(
                "think_ms = {}            # exponential, after each transaction\n",
                float(ms)
            ),
            None => String::new(),
        };
        let about = format!(
            "A twin of the load observed in run {} ({})",
            self.of, self.engine
        );
        let mut text = format!(
            "name = \"twin\"\nabout = {}\n\n[[step]]\nuse = \"script\"\njobs = [{jobs}]\n{think}mode = \"time\"\n\
             ramp_up_seconds = {RAMP_UP_SECONDS:?}\nseconds = {SECONDS:?}\ncontention = true\n\n\
             [step.script]\nname = \"twin\"\npipeline = \"off\"    # a round trip for every statement\n",
            quoted(&about)
        );
        let list = |text: &mut String, section: &str, sql: Vec<String>| {
            let lines: Vec<String> = sql
                .iter()
                .map(|sql| format!("  {},\n", quoted(sql)))
                .collect();
            let _ = write!(
                text,
                "\n[step.script.{section}]\nsql = [\n{}]\n",
                lines.concat()
            );
        };
        list(&mut text, "setup", sql::set_up(&self.shape, extent));
        list(&mut text, "teardown", sql::teardown());
        for at in 0..self.shape.kinds.len() {
            text.push_str(&self.transaction(at, extent));
        }
        text
    }

    fn transaction(&self, at: usize, extent: Extent) -> String {
        let (weight, kind) = &self.shape.kinds[at];
        let words = sql::words(&self.shape, at, extent);
        let mut text = format!(
            "\n[[step.script.transaction]]\nname = \"{}{}\"\nweight = {weight}\nautocommit = {}\n",
            if kind.writes { "write" } else { "read" },
            at + 1,
            !kind.is_wrapped()
        );
        if !words.draws.is_empty() {
            text.push_str("[step.script.transaction.draw]\n");
        }
        for draw in &words.draws {
            text.push_str(&format!("{} = {}\n", draw.name, draw.generator));
        }
        for statement in &words.statements {
            text.push_str(&format!(
                "[[step.script.transaction.statement]]\nsql = {}\nrows = {}\n",
                quoted(&statement.sql),
                statement.rows
            ));
        }
        text
    }
}

fn line(figure: &Figure) -> String {
    let name = match figure.unit {
        "" | "/s" => figure.name.to_owned(),
        unit => format!("{} ({unit})", figure.name),
    };
    let text = |n: Option<f64>| n.map_or("–".to_owned(), amount);
    let percent = |n: Option<f64>, sign: &str| match n {
        Some(n) if n.abs() < 0.05 && !sign.is_empty() => "0.0 %".to_owned(),
        Some(n) if sign.is_empty() => format!("{n} %"),
        Some(n) => format!("{n:+.1} %"),
        None => "–".to_owned(),
    };
    row(
        &name,
        [
            text(figure.observed),
            text(figure.twin),
            percent(figure.deviation_pct(), "+"),
            percent(figure.within_pct, ""),
        ],
    )
}

fn row(name: &str, cells: [String; 4]) -> String {
    let mut line = format!("{name:<NAME_WIDTH$}");
    for cell in cells {
        let _ = write!(line, " {cell:>NUMBER_WIDTH$}");
    }
    line
}

/// A number with four significant digits.
fn amount(n: f64) -> String {
    match n.abs() {
        0.0 => "0".to_owned(),
        a if a >= 1000.0 => format!("{n:.0}"),
        a if a >= 100.0 => format!("{n:.1}"),
        a if a >= 10.0 => format!("{n:.2}"),
        a if a >= 0.001 => format!("{n:.3}"),
        _ => format!("{n:.1e}"),
    }
}

fn float(n: f64) -> String {
    format!("{:?}", (n * 1000.0).round() / 1000.0)
}

fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Names from elsewhere must not break the line.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
