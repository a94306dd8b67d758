//! Names of the copies: the store has no schemas and ignores the case of names.

use std::collections::HashSet;

use engine::source::SourceTable;

const OF_THE_STORE: [&str; 6] = [
    "rowid",
    column_store::SNAPSHOT,
    "dbdyno_control",
    "dbdyno_touched",
    "dbdyno_newer_",
    "dbdyno_staged_",
];

/// The tables under their names in the store. A unique name that the store allows is unchanged, so that queries find
/// the copy.
pub(super) fn copies(tables: &[SourceTable]) -> Vec<SourceTable> {
    let names = named(
        tables
            .iter()
            .map(|table| (table.name.clone(), table.label())),
    );
    (tables.iter().zip(names))
        .map(|(table, name)| copy(table, name))
        .collect()
}

pub(super) fn copy_of(table: &SourceTable) -> SourceTable {
    let names = named(std::iter::once((table.name.clone(), table.label())));
    copy(table, names.into_iter().collect())
}

fn copy(table: &SourceTable, name: String) -> SourceTable {
    let mut copy = table.clone();
    (copy.schema, copy.name) = (String::new(), name);
    let columns = copy.columns.iter();
    let names = named(columns.map(|column| (column.name.clone(), column.name.clone())));
    for (column, name) in copy.columns.iter_mut().zip(names) {
        column.name = name;
    }
    copy
}

/// Unique names, from a short and a long candidate each.
fn named(names: impl Iterator<Item = (String, String)>) -> Vec<String> {
    let names: Vec<(String, String)> = names.collect();
    let key = |name: &str| name.to_lowercase();
    let mut seen = HashSet::new();
    let (mut taken, mut twice) = (HashSet::new(), HashSet::new());
    for (name, _) in &names {
        if !seen.insert(key(name)) {
            twice.insert(key(name));
        }
    }
    let stays = |name: &str| is_plain(name) && !twice.contains(&key(name));
    taken.extend(
        (names.iter())
            .filter(|(name, _)| stays(name))
            .map(|(name, _)| key(name)),
    );
    (names.iter())
        .map(|(name, longer)| {
            if stays(name) {
                return name.clone();
            }
            let longer = longer.replace('"', "_");
            let numbered = (1..).map(|number| format!("copy {number} of {longer}"));
            let mut candidates = std::iter::once(longer.clone()).chain(numbered);
            let free = candidates.find(|name| is_plain(name) && taken.insert(key(name)));
            // The series of numbers is infinite.
            free.unwrap_or(longer)
        })
        .collect()
}

fn is_plain(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_own = |own: &str| lower == own || own.ends_with('_') && lower.starts_with(own);
    !name.is_empty() && !name.contains('"') && !OF_THE_STORE.into_iter().any(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[(&str, &str)]) -> Vec<String> {
        let owned = |(name, longer): &(&str, &str)| ((*name).to_owned(), (*longer).to_owned());
        named(names.iter().map(owned))
    }

    #[test]
    fn names_stay_where_they_can() {
        assert_eq!(
            of(&[("orders", "public.orders"), ("a.b", "s.a.b")]),
            ["orders", "a.b"]
        );
    }

    #[test]
    fn what_the_store_cannot_tell_apart_gets_another_name() {
        let names = [
            ("Foo", "public.Foo"),
            ("foo", "public.foo"),
            ("foo", "s.foo"),
            ("public.foo", "x"),
        ];
        assert_eq!(
            of(&names),
            [
                "copy 1 of public.Foo",
                "copy 2 of public.foo",
                "s.foo",
                "public.foo"
            ]
        );
        assert_eq!(of(&[("a", "a"), ("A", "A")]), ["a", "copy 1 of A"]);
        let own = [
            ("rowid", "rowid"),
            ("", ""),
            ("q\"t", "q\"t"),
            ("dbdyno_staged_7", "dbdyno_staged_7"),
        ];
        let given = [
            "copy 1 of rowid",
            "copy 1 of ",
            "q_t",
            "copy 1 of dbdyno_staged_7",
        ];
        assert_eq!(of(&own), given);
    }
}
