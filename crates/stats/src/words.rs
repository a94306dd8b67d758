//! Numbers in sentences.

/// A count with its noun, whose plural is regular: "1 user", "16 users".
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
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
