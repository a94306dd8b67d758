//! The numbers of users of a step ramp in their notation: `200..5000/100`.

use std::fmt;
use std::str::FromStr;

use crate::population::USERS_MAX;

pub const STEPS_MAX: u32 = 1_000;

/// Numbers of users from the first to the last, in equal steps.
///
/// ```
/// let steps: load::UserSteps = "200..500/100".parse()?;
/// assert_eq!(steps.iter().collect::<Vec<_>>(), [200, 300, 400, 500]);
/// let fixed: load::UserSteps = "46".parse()?;
/// assert_eq!(fixed.iter().collect::<Vec<_>>(), [46]);
/// # Ok::<(), load::UserStepsError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UserSteps {
    first: u32,
    last: u32,
    by: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserStepsError {
    #[error("{0:?} is not a number of users: write a number (46) or a ramp (200..5000/100)")]
    Form(String),
    #[error("{0} users cannot be driven: use 1 to {USERS_MAX}")]
    Users(u32),
    #[error("{0:?} does not rise: write the smaller number first, and a step of 1 or more")]
    NotRising(String),
    #[error("{0:?} has {1} steps: use at most {STEPS_MAX}")]
    TooMany(String, u32),
}

impl UserSteps {
    pub fn fixed(users: u32) -> Self {
        Self {
            first: users,
            last: users,
            by: 1,
        }
    }

    pub fn is_ramp(&self) -> bool {
        self.first < self.last
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        (self.first..=self.last).step_by(self.by as usize)
    }

    pub fn most(&self) -> u32 {
        self.last - (self.last - self.first) % self.by
    }
}

impl FromStr for UserSteps {
    type Err = UserStepsError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| -> Result<u32, UserStepsError> {
            let digits = part.trim().replace('_', "");
            digits
                .parse()
                .map_err(|_| UserStepsError::Form(text.into()))
        };
        let Some((first, rest)) = text.split_once("..") else {
            return checked(Self::fixed(number(text)?), text);
        };
        let (last, by) = match rest.split_once('/') {
            Some((last, by)) => (number(last)?, number(by)?),
            None => return Err(UserStepsError::Form(text.into())),
        };
        let first = number(first)?;
        checked(Self { first, last, by }, text)
    }
}

fn checked(steps: UserSteps, text: &str) -> Result<UserSteps, UserStepsError> {
    let UserSteps { first, last, by } = steps;
    if let Some(users) = [first, last]
        .into_iter()
        .find(|n| !(1..=USERS_MAX).contains(n))
    {
        return Err(UserStepsError::Users(users));
    }
    if first > last || by == 0 {
        return Err(UserStepsError::NotRising(text.into()));
    }
    let count = (last - first) / by + 1;
    if count > STEPS_MAX {
        return Err(UserStepsError::TooMany(text.into(), count));
    }
    Ok(steps)
}

impl fmt::Display for UserSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_ramp() {
            write!(f, "{}..{}/{}", self.first, self.last, self.by)
        } else {
            write!(f, "{}", self.first)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_are_read_and_written() {
        for (text, count, most) in [("200..5000/100", 49, 5000), ("1..10/4", 3, 9), ("7", 1, 7)] {
            let steps: UserSteps = text.parse().unwrap();
            assert_eq!(
                (steps.to_string().as_str(), steps.iter().count()),
                (text, count)
            );
            assert_eq!((steps.most(), steps.iter().last()), (most, Some(most)));
            assert_eq!(steps.is_ramp(), count > 1);
        }
        assert_eq!(
            " 1_000 .. 2_000 / 500".parse(),
            "1000..2000/500".parse::<UserSteps>()
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_in_one_sentence() {
        for (text, sentence) in [
            ("", "write a number"),
            ("-5", "write a number"),
            ("200..5000", "write a number"),
            ("200..x/1", "write a number"),
            ("0", "0 users cannot be driven"),
            ("1..9000000/1", "9000000 users"),
            ("500..200/100", "does not rise"),
            ("200..500/0", "does not rise"),
            ("1..5000/1", "5000 steps"),
        ] {
            let error = text.parse::<UserSteps>().unwrap_err().to_string();
            assert!(error.contains(sentence), "{text:?}: {error}");
        }
    }
}
