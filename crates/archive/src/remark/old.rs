//! Sentences of archives with schema 1 to 7, which kept no codes: the only place that reads old sentences.
//!
//! What decisions are made on is recognised, everything else is kept as it was. A sentence is recognised only where the
//! remark says the very same, so that nothing reads differently than when it was measured.

use super::value::Remark;

impl Remark {
    /// The remark that an old sentence was.
    pub(crate) fn of_sentence(text: String) -> Self {
        let found = recognised(&text).filter(|remark| remark.to_string() == text);
        found.unwrap_or(Self::Text { text })
    }
}

fn recognised(text: &str) -> Option<Remark> {
    let behind = |start: &str| text.strip_prefix(start);
    if let Some(why) = behind("contention extra: ") {
        let why = why.to_owned();
        return Some(Remark::ContentionExtra { why });
    }
    if let Some(number) = behind("short: ") {
        let elapsed_s = number_of(number)? / 1e3;
        return Some(Remark::Short { elapsed_s });
    }
    if let Some(number) = behind("the wall clock stepped by ") {
        let step_s = number_of(number)?;
        return Some(Remark::ClockStepped { step_s });
    }
    if let Some(before) =
        behind("the server was restarted since the point before this one, when it ran since ")
    {
        let before = before.to_owned();
        return Some(Remark::Restarted { before });
    }
    let alike = [
        Remark::EngineSpecific,
        Remark::PointAltered,
        Remark::RunAltered,
    ];
    alike.into_iter().find(|remark| remark.to_string() == text)
}

/// The number that a text begins with.
fn number_of(text: &str) -> Option<f64> {
    text.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decisions_rest_on_is_recognised_and_everything_is_kept_word_for_word() {
        let of = |text: &str| {
            let remark = Remark::of_sentence(text.to_owned());
            assert_eq!(remark.to_string(), text);
            remark
        };
        let extra =
            of("contention extra: SQLite has one writer at a time: further jobs would only wait");
        assert!(matches!(extra, Remark::ContentionExtra { .. }));
        assert_eq!(
            of("not comparable across engines: it measures this engine's executor"),
            Remark::EngineSpecific
        );
        assert_eq!(
            of("the archive row was changed after it was measured (digest differs)"),
            Remark::PointAltered
        );
        let short = of("short: 46 ms; take a larger size for a figure that lasts");
        assert_eq!(short, Remark::Short { elapsed_s: 0.046 });
        assert!(matches!(
            of(
                "the wall clock stepped by -1.5 s; figures come from the monotonic clock and are not affected"
            ),
            Remark::ClockStepped { .. }
        ));
        for other in [
            "short: of breath",
            "short: 46 ms",
            "not comparable across engines",
            "the server runs since 2026-03-01T08:00:00Z",
            "",
        ] {
            let text = other.to_owned();
            assert_eq!(of(other), Remark::Text { text });
        }
    }
}
