//! A count that an engine keeps of something it does.

/// A cumulative count of the server; `None` where it does not tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    pub count: Option<u64>,
    pub time_ns: Option<u64>,
    /// Bytes moved.
    pub bytes: Option<u64>,
}

impl Counted {
    /// So many, of which nothing else is known.
    pub fn count(count: Option<u64>) -> Self {
        Self {
            count,
            ..Self::default()
        }
    }

    pub fn zero() -> Self {
        Self {
            count: Some(0),
            time_ns: Some(0),
            bytes: Some(0),
        }
    }

    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    pub fn since(&self, before: &Self) -> Self {
        let rise = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Self {
            count: rise(self.count, before.count),
            time_ns: rise(self.time_ns, before.time_ns),
            bytes: rise(self.bytes, before.bytes),
        }
    }

    /// Unknown as soon as one is.
    pub fn add(&mut self, other: &Self) {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        self.count = sum(self.count, other.count);
        self.time_ns = sum(self.time_ns, other.time_ns);
        self.bytes = sum(self.bytes, other.bytes);
    }
}
