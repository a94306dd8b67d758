//! Numbers in sentences.

/// A count with its noun, whose plural is regular: "1 user", "16 users".
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Bytes with a unit of powers of ten: "1.50 GB", "64.0 MB", "0.5 kB".
pub fn bytes(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.2} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} kB", b / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one() {
        let users = [0, 1, 16].map(|count| counted(count, "user"));
        assert_eq!(users, ["0 users", "1 user", "16 users"]);
    }
}
