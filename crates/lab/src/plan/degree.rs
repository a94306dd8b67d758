//! Degrees of parallelism that a step sweeps: numbers, or multiples of the server's hardware threads.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One degree of parallelism of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degree {
    Fixed(u32),
    /// So many per hardware thread of the server, written as `"4x"` or `"4x up to 64"`.
    PerThread {
        times: u32,
        most: Option<u32>,
    },
}

impl Degree {
    /// The degree on a server with this many hardware threads.
    pub fn on(self, hardware_threads: u32) -> u32 {
        match self {
            Self::Fixed(degree) => degree,
            Self::PerThread { times, most } => {
                let degree = times.saturating_mul(hardware_threads.max(1));
                most.map_or(degree, |most| degree.min(most))
            }
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let (times, most) = match text.split_once(" up to ") {
            Some((times, most)) => (times, Some(most.parse().ok()?)),
            None => (text, None),
        };
        let times = times.strip_suffix('x')?.parse().ok()?;
        Some(Self::PerThread { times, most })
    }
}

/// The degrees on a server, each once, in their order.
pub fn degrees_on(degrees: &[Degree], hardware_threads: u32) -> Vec<u32> {
    let mut distinct = Vec::new();
    for degree in degrees {
        let degree = degree.on(hardware_threads);
        if !distinct.contains(&degree) {
            distinct.push(degree);
        }
    }
    distinct
}

impl fmt::Display for Degree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(degree) => write!(f, "{degree}"),
            Self::PerThread { times, most: None } => write!(f, "{times}x"),
            Self::PerThread {
                times,
                most: Some(most),
            } => write!(f, "{times}x up to {most}"),
        }
    }
}

impl Serialize for Degree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(degree) => serializer.serialize_u32(*degree),
            Self::PerThread { .. } => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Degree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "a degree of parallelism must be a number, or a multiple of the hardware threads such as \"4x\" or \"4x up to 64\""
        )]
        enum Written {
            Number(u32),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(degree) => Ok(Self::Fixed(degree)),
            Written::Text(text) => Self::parse(&text).ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "\"{text}\" is not a degree of parallelism; write a number, or a multiple of the hardware threads \
                     such as \"4x\" or \"4x up to 64\""
                ))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_multiple_follows_the_server_up_to_its_limit() {
        let degrees = [
            Degree::Fixed(1),
            Degree::parse("1x").unwrap(),
            Degree::parse("4x up to 64").unwrap(),
        ];
        assert_eq!(degrees_on(&degrees, 2), [1, 2, 8]);
        assert_eq!(degrees_on(&degrees, 64), [1, 64]);
        assert_eq!(degrees_on(&degrees, 1), [1, 4]);
        assert_eq!(degrees.map(|d| d.to_string()), ["1", "1x", "4x up to 64"]);
        for wrong in ["x", "4", "4x up to", "up to 4", "-1x", "4x up to x"] {
            assert_eq!(Degree::parse(wrong), None, "{wrong}");
        }
    }
}
