//! Results of the tests of one program and of all, parsed from libtest's output.

use std::fmt::Write;
use std::time::Duration;

use testing::SKIPPED;

#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub passed: usize,
    /// Names of tests, prefixed by their program.
    pub failed: Vec<String>,
    pub skipped: Vec<String>,
    pub times: Vec<(f64, String)>,
}

pub enum End {
    Status { success: bool, said: String },
    TimeLimit(Duration),
}

impl Outcome {
    /// Results of the program `name` with this output.
    pub fn of(name: &str, stdout: &str, stderr: &str, end: &End) -> Self {
        let mut outcome = Self::default();
        let mut counted_failures = 0;
        for line in stdout.lines() {
            if let Some(counts) = line.strip_prefix("test result: ") {
                outcome.passed += count(counts, "passed");
                counted_failures += count(counts, "failed");
            } else if let Some(test) = line.strip_prefix("test ") {
                outcome.read_test(name, test);
            }
        }
        let listed = outcome.failed.len();
        for line in stderr.lines() {
            // Another test may have written an incomplete line before it.
            if let Some((_, skipped)) = line.split_once(SKIPPED) {
                outcome.skip(name, skipped);
            }
        }
        if listed < counted_failures {
            let count = counted_failures - listed;
            outcome
                .failed
                .push(format!("{name}: {count} more, see its output"));
        }
        match end {
            End::TimeLimit(limit) => {
                let limit = limit.as_secs();
                outcome
                    .failed
                    .push(format!("{name}: ended after {limit} s"));
            }
            End::Status { success, said } if !success && counted_failures == 0 => {
                outcome.failed.push(format!("{name}: {said}"));
            }
            End::Status { success: true, .. } if !stdout.contains("test result: ") => {
                outcome.failed.push(format!("{name}: reported no result"));
            }
            End::Status { .. } => {}
        }
        outcome
    }

    /// Moves a skipped test out of the passed ones if it returned, or out of the failed ones if a helper ended it.
    fn skip(&mut self, program: &str, skipped: &str) {
        let skipped = format!("{program} {skipped}");
        let of_it = |test: &String| {
            let rest = skipped.strip_prefix(test.as_str());
            rest.is_some_and(|rest| rest.starts_with(": "))
        };
        match self.failed.iter().position(of_it) {
            Some(at) => drop(self.failed.remove(at)),
            None => self.passed = self.passed.saturating_sub(1),
        }
        self.skipped.push(skipped);
    }

    /// `NAME ... ok`, `NAME ... FAILED`, `NAME ... ignored, REASON`, followed by a time if requested.
    fn read_test(&mut self, program: &str, line: &str) {
        let Some((name, became)) = line.split_once(" ... ") else {
            return;
        };
        let name = name.trim_end_matches(" - should panic");
        if became.starts_with("FAILED") {
            self.failed.push(format!("{program} {name}"));
        } else if let Some(reason) = became.strip_prefix("ignored") {
            let reason = reason.trim_start_matches(", ");
            self.skipped.push(format!("{program} {name}: {reason}"));
        }
        let seconds = became.rsplit_once('<').and_then(|(_, rest)| {
            let seconds = rest.strip_suffix("s>")?;
            seconds.parse().ok()
        });
        if let Some(seconds) = seconds {
            self.times.push((seconds, format!("{program} {name}")));
        }
    }

    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed.extend(other.failed);
        self.skipped.extend(other.skipped);
        self.times.extend(other.times);
    }

    pub fn is_good(&self) -> bool {
        self.failed.is_empty()
    }

    pub fn slowest(&self, count: usize) -> String {
        let mut times = self.times.clone();
        times.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut text = String::from("\nslowest:\n");
        for (seconds, name) in times.iter().take(count) {
            let _ = writeln!(text, "  {seconds:8.3} s  {name}");
        }
        text
    }

    /// `N passed, N failed, N skipped`.
    pub fn counts(&self) -> String {
        let (failed, skipped) = (self.failed.len(), self.skipped.len());
        format!("{} passed, {failed} failed, {skipped} skipped", self.passed)
    }

    /// The lists of skipped and failed tests, and the counts alone on the last line.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for (title, list) in [("skipped", &self.skipped), ("failed", &self.failed)] {
            let mut list = list.clone();
            list.sort();
            if !list.is_empty() {
                let _ = write!(text, "\n{title}:\n  {}\n", list.join("\n  "));
            }
        }
        let _ = write!(text, "\n{}\n", self.counts());
        text
    }
}

/// The number before `what` in a result of libtest: `ok. 3 passed; 0 failed; 1 ignored; …`.
fn count(counts: &str, what: &str) -> usize {
    let parts = counts.split(['.', ';']);
    parts
        .filter_map(|part| part.trim().split_once(' '))
        .find_map(|(number, of)| (of == what).then(|| number.parse().ok())?)
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STDOUT: &str = "
running 6 tests
test a::passes ... ok <0.012s>
test a::panics - should panic ... ok <0.002s>
test a::is_wrong ... FAILED <1.500s>
test a::waits ... ignored, for a reason
test a::lacks_a_right ... ok <0.000s>
test a::lacks_another ... ok <0.000s>

failures:
    a::is_wrong

test result: FAILED. 4 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 1.51s
";

    fn ended(success: bool) -> End {
        let said = "exit status: 101".to_owned();
        End::Status { success, said }
    }

    #[test]
    fn skipped_tests_are_not_passed() {
        let stderr = "noise SKIPPED a::lacks_a_right: no root\nSKIPPED a::lacks_another: no disk\n";
        let outcome = Outcome::of("p", STDOUT, stderr, &ended(false));
        assert_eq!(outcome.counts(), "2 passed, 1 failed, 3 skipped");
        assert_eq!(outcome.failed, ["p a::is_wrong"]);
        assert_eq!(
            outcome.summary(),
            "\nskipped:\n  p a::lacks_a_right: no root\n  p a::lacks_another: no disk\n  p a::waits: for a reason\n\
             \nfailed:\n  p a::is_wrong\n\n2 passed, 1 failed, 3 skipped\n"
        );
        assert!(
            outcome
                .slowest(1)
                .ends_with("slowest:\n     1.500 s  p a::is_wrong\n")
        );
        assert!(!outcome.is_good());
    }

    /// A helper ended it by a panic.
    #[test]
    fn a_test_that_lacks_a_program_is_skipped() {
        let stderr = "SKIPPED a::is_wrong: no server is installed: run this\n";
        let outcome = Outcome::of("p", STDOUT, stderr, &ended(false));
        assert_eq!(outcome.counts(), "4 passed, 0 failed, 2 skipped");
        assert!(outcome.is_good());
    }

    #[test]
    fn programs_that_do_not_end_as_they_should_have_failed() {
        let begun = "running 2 tests\ntest a ... ok\n";
        let failed = |stdout, end: &End| Outcome::of("p", stdout, "", end).failed;
        assert_eq!(failed(begun, &ended(false)), ["p: exit status: 101"]);
        assert_eq!(failed(begun, &ended(true)), ["p: reported no result"]);
        let limit = End::TimeLimit(Duration::from_secs(7));
        assert_eq!(failed(begun, &limit), ["p: ended after 7 s"]);
        let unlisted = "test result: FAILED. 0 passed; 2 failed; 0 ignored";
        assert_eq!(
            failed(unlisted, &ended(false)),
            ["p: 2 more, see its output"]
        );
    }
}
