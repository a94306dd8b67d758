//! A hint for what was misspelt.

/// ` (did you mean "…"?)` when something known is near, else nothing.
pub fn nearest<K: AsRef<str>>(word: &str, known: impl IntoIterator<Item = K>) -> String {
    let of = |known: K| {
        let known = known.as_ref().to_owned();
        (strsim::damerau_levenshtein(&known, word), known)
    };
    known
        .into_iter()
        .map(of)
        .filter(|(distance, known)| *distance <= (known.len() / 2).clamp(1, 3))
        .min()
        .map_or(String::new(), |(_, known)| {
            format!(" (did you mean \"{known}\"?)")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_enough_is_named() {
        let known = ["scan", "scale", "jobs"];
        assert_eq!(nearest("scall", known), " (did you mean \"scale\"?)");
        assert_eq!(nearest("job", known), " (did you mean \"jobs\"?)");
        assert_eq!(nearest("warehouses", known), "");
        // As near as another one, which is too short for so large a difference.
        assert_eq!(
            nearest("abcd", ["ab", "abcdef"]),
            " (did you mean \"abcdef\"?)"
        );
        assert_eq!(nearest("x", [] as [&str; 0]), "");
    }

    #[test]
    fn a_misspelt_reference_names_the_nearest() {
        let error = crate::reference::load("dl980-violn").unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("(did you mean \"dl980-violin\"?); the references are"),
            "{said}"
        );
    }
}
