//! Arguments of `dbdyno ab`.

use std::time::Duration;

use clap::Args;

use super::common::MeasureOptions;
use super::judging::{Judging, share};
use super::length::length;
use super::secret::SecretText;

#[derive(Debug, Clone, Args)]
#[command(
    override_usage = "dbdyno ab PLAN [TARGET…] --a KEY=VALUE… --b KEY=VALUE… [OPTIONS]\n       dbdyno ab PLAN [TARGET…] --aa [OPTIONS]\n       \
                      dbdyno ab --resume NAME"
)]
pub struct AbArguments {
    /// Plan (`dbdyno list plans`) or path of a plan file, and databases to measure on both sides
    ///
    /// A database is ENGINE://USER@HOST/DATABASE or ENGINE:PATH. The order does not matter.
    #[arg(value_name = "PLAN|TARGET")]
    pub texts: Vec<SecretText>,
    /// Database to measure, in place of a positional TARGET
    #[arg(long = "target", value_name = "URL", hide_short_help = true)]
    pub targets: Vec<SecretText>,
    /// Change side A only: a plan key as in --set, target.KEY=VALUE or target=URL
    ///
    /// target.KEY=VALUE is a setting of the target URL; on a running server, of the measured sessions.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub a: Vec<SecretText>,
    /// Change side B only
    #[arg(long, value_name = "KEY=VALUE", num_args = 1..)]
    pub b: Vec<SecretText>,
    /// Measure the plan against itself: the noise of this machine
    ///
    /// --band learned takes it into account in later studies of the plan.
    #[arg(long, conflicts_with_all = ["a", "b"])]
    pub aa: bool,
    /// Pairs of blocks (default: 10, or as many as the primary metrics need)
    ///
    /// Each block runs the plan once, from the same starting state. With --until: pairs at most (default: 100).
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(lab::study::PAIRS_MAX)))]
    pub repeat: Option<u32>,
    /// Add pairs until there is a verdict, or an effect of this size is excluded
    ///
    /// Every primary metric is tested at interim analyses planned in advance, which share the 5 % of error.
    #[arg(long, value_name = "PCT", value_parser = share)]
    pub until: Option<f64>,
    /// With --until: start no pair after this time, such as 10m or 2h
    ///
    /// The default is 30m, or no limit with --repeat.
    #[arg(long, value_name = "DURATION", value_parser = length, requires = "until")]
    pub max_time: Option<Duration>,
    /// Sessions of the component tests, in place of the plan's: 8, or 1,4,16
    #[arg(short, long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub clients: Vec<u32>,
    /// Measured time of each point, in place of the plan's
    #[arg(short = 'T', long, value_name = "DURATION", value_parser = length)]
    pub time: Option<Duration>,
    /// Alternate both sides in slices of this length, such as 100ms
    ///
    /// Finds smaller differences on a busy machine. It needs timed points, and sides that can exist at once.
    #[arg(long, value_name = "DURATION", value_parser = length)]
    pub interleave: Option<Duration>,
    #[command(flatten)]
    pub judging: Judging,
    /// Resume an interrupted study
    #[arg(long, value_name = "NAME", conflicts_with_all = ["texts", "targets", "a", "b", "aa", "repeat", "until", "max_time", "clients", "time", "interleave", "name", "settings", "seed", "platform", "ssh", "allow_busy"])]
    pub resume: Option<String>,
    #[command(flatten)]
    pub options: MeasureOptions,
}

impl AbArguments {
    /// Plans and targets that follow the settings of a side, which takes any number of values.
    pub fn take_subjects(&mut self) {
        for side in [&mut self.a, &mut self.b] {
            // The first value belongs to the option, whatever it is.
            let rest = side.split_off(side.len().min(1));
            let (settings, subjects): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_setting);
            side.extend(settings);
            self.texts.extend(subjects);
        }
    }
}

/// True for `KEY=VALUE`: a URL has a colon before its settings, and a path a slash.
fn is_setting(text: &SecretText) -> bool {
    let is_of_key = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '[' | ']');
    let key = text.expose().split_once('=').map(|(key, _)| key);
    key.is_some_and(|key| !key.is_empty() && key.chars().all(is_of_key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_after_a_setting_is_a_target() {
        for (text, expected) in [
            ("target.work_mem=4MB", true),
            ("target=postgres://u@h/d?sslmode=disable", true),
            ("step.jobs=[2]", true),
            ("postgres://u@h/d?sslmode=disable", false),
            ("sqlite:x?cache_mb=8", false),
            ("smoke", false),
            ("plans/a=b.toml", false),
        ] {
            assert_eq!(
                is_setting(&SecretText::from(text.to_owned())),
                expected,
                "{text}"
            );
        }
    }
}
