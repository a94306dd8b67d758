//! Names of databases in statements: any that the server allows.

pub(super) fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A name as a text, whether or not the session's mode gives a backslash a meaning.
pub(super) fn literal(name: &str) -> String {
    if !name.contains(['\'', '\\']) {
        return format!("'{name}'");
    }
    let digits = name.bytes().map(|byte| format!("{byte:02x}"));
    format!("_utf8mb4 0x{}", digits.collect::<String>())
}

/// The name of the lock that one dbdyno has on a database; MySQL allows 64 characters.
pub(super) fn lock(database: &str) -> String {
    const CHARACTERS_MAX: usize = 57;
    let beyond = database.chars().count().saturating_sub(CHARACTERS_MAX);
    let end: String = database.chars().skip(beyond).collect();
    literal(&format!("dbdyno.{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_can_be_written() {
        assert_eq!(identifier("a`b-c"), "`a``b-c`");
        assert_eq!(literal("my-shop"), "'my-shop'");
        assert_eq!(literal("a'\\"), "_utf8mb4 0x61275c");
        assert_eq!(lock("d"), "'dbdyno.d'");
        assert_eq!(lock(&"ä".repeat(64)).chars().count(), 66);
    }
}
