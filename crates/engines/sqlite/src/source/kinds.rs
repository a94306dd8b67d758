//! Types of SQLite's columns: the declared type says what is meant, and the first values what is there.

use rusqlite::Connection;

use engine::catalogue::{Kind, SourceColumn, SourceTable};

/// Rows by which the kind of a column is told from its values.
const LOOK_ROWS: u32 = 100;

/// The kind of a declared type, by SQLite's own rules of affinity.
pub(super) fn kind_of(declared: &str) -> Result<Kind, String> {
    let declared = declared.to_ascii_uppercase();
    let has = |part: &str| declared.contains(part);
    Ok(if has("INT") {
        Kind::Int(64)
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        Kind::Text
    } else if has("BLOB") {
        Kind::Bytes
    } else if has("DATE") || has("TIME") {
        // Numeric by those rules; in practice texts.
        Kind::Text
    } else if declared.is_empty() {
        return Err("a column without a type may contain values of any type".into());
    } else {
        Kind::Double
    })
}

/// The kind of values of these storage classes; `None` where they have none in common.
fn kind_of_classes(classes: &[&str]) -> Option<Kind> {
    let are = |allowed: &[&str]| classes.iter().all(|class| allowed.contains(class));
    Some(match () {
        () if are(&["integer"]) => Kind::Int(64),
        () if are(&["integer", "real"]) => Kind::Double,
        () if are(&["text"]) => Kind::Text,
        () if are(&["blob"]) => Kind::Bytes,
        () => return None,
    })
}

/// Any value may be in any column: where the first ones are not of the declared kind but of one of their own, as texts
/// in a column of JSON, the column is of that kind.
pub(super) fn find_kinds(connection: &Connection, table: &mut SourceTable) -> rusqlite::Result<()> {
    let each = |form: &dyn Fn(&str) -> String| {
        let columns = table.columns.iter();
        let each: Vec<String> = columns.map(|column| form(&column.expression)).collect();
        each.join(", ")
    };
    let sql = format!(
        "SELECT {} FROM (SELECT {} FROM {} LIMIT {LOOK_ROWS})",
        each(&|it| format!("group_concat(DISTINCT nullif(typeof({it}), 'null'))")),
        each(&str::to_owned),
        table.from
    );
    let classes = connection.query_row(&sql, [], |row| {
        let places = 0..table.columns.len();
        let classes = places.map(|place| row.get::<_, Option<String>>(place));
        classes.collect::<rusqlite::Result<Vec<_>>>()
    })?;
    for (column, classes) in table.columns.iter_mut().zip(classes) {
        // Without values the declared type is all there is, and without that as well nothing is lost.
        let classes = classes.unwrap_or_default();
        let classes: Vec<&str> = classes.split(',').filter(|c| !c.is_empty()).collect();
        settle(column, &classes);
    }
    Ok(())
}

fn settle(column: &mut SourceColumn, classes: &[&str]) {
    let found = if classes.is_empty() {
        Some(Kind::Text).filter(|_| column.kind.is_err())
    } else {
        kind_of_classes(classes)
    };
    let is_declared = match (&column.kind, found) {
        (Ok(Kind::Double), Some(Kind::Int(_))) => true,
        (Ok(declared), Some(found)) => *declared == found,
        (_, None) => true,
        (Err(_), Some(_)) => false,
    };
    if let (false, Some(found)) = (is_declared, found) {
        column.kind = Ok(found);
        let kept = match found {
            Kind::Int(_) => "integers",
            Kind::Double => "numbers",
            Kind::Bytes => "bytes",
            _ => "text",
        };
        let declared = match column.declared.as_str() {
            "" => "without a type",
            declared => declared,
        };
        column.note = Some(format!("{declared}, kept as {kept}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_affinities() {
        for (declared, kind) in [
            ("INTEGER", Kind::Int(64)),
            ("varchar(10)", Kind::Text),
            ("REAL", Kind::Double),
            ("DECIMAL(10,2)", Kind::Double),
            ("datetime", Kind::Text),
            ("BLOB", Kind::Bytes),
        ] {
            assert_eq!(kind_of(declared), Ok(kind), "{declared}");
        }
        assert!(kind_of("").is_err());
    }

    #[test]
    fn the_first_values_overrule_what_is_declared() {
        let settled = |declared: &str, classes: &[&str]| {
            let mut column = SourceColumn {
                name: "c".into(),
                declared: declared.into(),
                kind: kind_of(declared),
                is_nullable: true,
                note: None,
                expression: String::new(),
                as_text: String::new(),
            };
            settle(&mut column, classes);
            (column.kind.ok(), column.note)
        };
        let noted = |note: &str| Some(note.to_owned());
        assert_eq!(
            settled("JSON", &["text"]),
            (Some(Kind::Text), noted("JSON, kept as text"))
        );
        assert_eq!(settled("BOOLEAN", &["integer"]), (Some(Kind::Double), None));
        assert_eq!(
            settled("TIMESTAMP", &["integer"]),
            (Some(Kind::Int(64)), noted("TIMESTAMP, kept as integers"))
        );
        assert_eq!(
            settled("INTEGER", &["integer", "text"]),
            (Some(Kind::Int(64)), None)
        );
        assert_eq!(settled("INTEGER", &[]), (Some(Kind::Int(64)), None));
        assert_eq!(settled("", &["integer", "text"]), (None, None));
        assert_eq!(
            settled("", &["blob"]),
            (Some(Kind::Bytes), noted("without a type, kept as bytes"))
        );
    }
}
