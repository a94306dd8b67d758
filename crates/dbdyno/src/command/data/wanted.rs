//! Options and sentences that the verbs of populated tables share.

use anyhow::Result;
use archive::Remark;
use columnar::{ColumnarError, LeftOut};
use engine::source::Source;
use engines::open_source;
use stats::words::counted;

use crate::arguments::data::Chosen;
use crate::exit::InvalidInput;

pub(super) fn source_of(verb: &str, chosen: &Chosen) -> Result<Box<dyn Source>> {
    let url = chosen.target.of(verb)?.url()?;
    engines::find(&url)?;
    Ok(open_source(&url)?)
}

/// The chosen tables, and the columns among them: `TABLE:COLUMN` chooses the table as well, and `-TABLE:COLUMN` does not.
pub(super) fn chosen_of(chosen: &Chosen) -> columnar::Chosen {
    let mut all = columnar::Chosen {
        unfit: chosen.unfit,
        ..columnar::Chosen::default()
    };
    for text in &chosen.tables {
        let table = match text.rsplit_once(':') {
            None => text,
            Some((table, column)) => {
                all.columns.push(format!("{table}.{column}"));
                table
            }
        };
        let is_excluded_column = table != text && table.starts_with('-');
        if !is_excluded_column && !all.tables.iter().any(|known| known == table) {
            all.tables.push(table.to_owned());
        }
    }
    all
}

/// A name or sentence as one line: names of tables may hold line breaks.
pub(super) fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The reason for a missing sum of the sizes on disk; `None` if all sizes are known.
pub(super) fn no_sum<'a>(unknown: impl Iterator<Item = &'a str>) -> Option<String> {
    let unknown: Vec<String> = unknown.map(one_line).collect();
    (!unknown.is_empty()).then(|| {
        format!(
            "all: no size on disk and no factor, because the size on disk of {} is unknown; leave it out with --tables -{}",
            unknown.join(", "),
            unknown.join(",-")
        )
    })
}

pub(super) fn tables_of(count: usize) -> String {
    counted(count as u64, "table")
}

pub(super) fn left_out(left_out: &[LeftOut]) -> Vec<serde_json::Value> {
    (left_out.iter())
        .map(|out| serde_json::json!({"name": out.name, "why": out.why}))
        .collect()
}

/// Invalid input has a separate exit status.
pub(super) fn error_with_status(error: ColumnarError) -> anyhow::Error {
    match error {
        ColumnarError::Unknown(message) => InvalidInput(message).into(),
        other => other.into(),
    }
}

pub(super) fn texts(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(Remark::to_string).collect()
}

#[cfg(test)]
mod tests {
    use columnar::Unfit;

    use super::*;

    #[test]
    fn columns_choose_their_tables_and_excluded_ones_do_not() {
        let chosen = |texts: &[&str]| {
            let chosen = chosen_of(&Chosen {
                target: Default::default(),
                tables: texts.iter().map(|text| (*text).to_owned()).collect(),
                unfit: Unfit::Fail,
            });
            (chosen.tables.join(" "), chosen.columns.join(" "))
        };
        for (texts, tables, columns) in [
            (
                &["orders", "lineitem:l_tax", "lineitem:l_qty"][..],
                "orders lineitem",
                "lineitem.l_tax lineitem.l_qty",
            ),
            (
                &["-public.lineitem:l_comment"],
                "",
                "-public.lineitem.l_comment",
            ),
            (&["a*", "-audit"], "a* -audit", ""),
        ] {
            assert_eq!(chosen(texts), (tables.to_owned(), columns.to_owned()));
        }
    }
}
