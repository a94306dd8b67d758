//! Published result rows in the columns of ours.

use archive::Remark;
use archive::reference::{Reference, ReferencePoint, ResultTable};

use super::references;
use crate::html::columns::{Column, RowView};
use crate::remarks::{Numbered, Said};
use crate::scorecard::{Against, published_figure};

/// The printed column that numbers the rows of a run.
const NUMBER: &str = "Tst";

/// True if a published row of the test has the figure.
pub fn is_published(against: &[Against<'_>], test: &str, figure: &str) -> bool {
    let knows = |reference: &Reference| {
        let is_label = |table: &ResultTable| table.service_is.as_deref() == Some(figure);
        let mut points = reference.points.iter().filter(|p| p.test == test);
        points.any(|point| {
            published_figure(point, figure).is_some()
                || (!point.service_labels.is_empty()
                    && table_of(reference, point).is_some_and(is_label))
        })
    };
    references(against).any(knows)
}

/// The rows of each reference under its name.
pub fn rows(
    against: &[Against<'_>],
    test: &str,
    columns: &[&Column],
    with_repetitions: bool,
    notes: &mut Numbered,
) -> Vec<(String, Vec<RowView>)> {
    let mut curves = Vec::new();
    for reference in references(against) {
        for table in reference.result_tables.iter().filter(|t| t.test == test) {
            let is_of = |p: &&ReferencePoint| p.test == test && p.place == table.place;
            let points = reference.points.iter().filter(is_of);
            let rows = points.enumerate().map(|(at, point)| {
                let of_table = table.note.iter().filter(|_| at == 0);
                let noted = of_table.chain(&point.note);
                RowView {
                    cells: cells(table, point, columns, with_repetitions),
                    mark: "published".to_owned(),
                    class: "theirs",
                    notes: noted.map(|text| notes.number(&said(text))).collect(),
                }
            });
            let rows: Vec<RowView> = rows.collect();
            if !rows.is_empty() {
                let name = format!("{}, published: {}", reference.title, table.place);
                curves.push((name, rows));
            }
        }
    }
    curves
}

fn said(text: &str) -> Said {
    Said {
        remark: Remark::PublishedDoubt {
            doubt: text.to_owned(),
        },
        invalid: false,
    }
}

fn table_of<'r>(reference: &'r Reference, point: &ReferencePoint) -> Option<&'r ResultTable> {
    let mut tables = reference.result_tables.iter();
    tables.find(|table| table.test == point.test && table.place == point.place)
}

fn cells(
    table: &ResultTable,
    point: &ReferencePoint,
    columns: &[&Column],
    with_repetitions: bool,
) -> Vec<String> {
    let number = point.printed.get(NUMBER).map(f64::to_string);
    let mut cells = vec![number.unwrap_or_default()];
    cells.extend([point.nodes, point.jobs, point.threads].map(|n| n.to_string()));
    cells.extend(columns.iter().map(|column| {
        if table.service_is.as_deref() == Some(column.figure) {
            labels(point).unwrap_or_else(|| (column.write)(None))
        } else {
            (column.write)(published_figure(point, column.figure))
        }
    }));
    if with_repetitions {
        cells.push("1".to_owned());
    }
    cells
}

/// Printed service times of a point, in ms: "< 0.5", or "DBWR < 0.5, LGWR 1" for several processes.
fn labels(point: &ReferencePoint) -> Option<String> {
    let labels = point.service_labels.iter().map(|label| {
        let of = label.of.as_ref().map(|of| format!("{of} "));
        let bound = if label.upper_bound { "< " } else { "" };
        format!("{}{bound}{}", of.unwrap_or_default(), label.ms)
    });
    let labels: Vec<String> = labels.collect();
    (!labels.is_empty()).then(|| labels.join(", "))
}

#[cfg(test)]
mod tests {
    use archive::reference;

    use super::*;
    use crate::number;

    fn column(figure: &'static str) -> Column {
        Column {
            heads: ["", ""],
            figure,
            write: |value| value.map_or_else(|| number::UNKNOWN.to_owned(), number::exact),
        }
    }

    #[test]
    fn a_published_row_keeps_its_figures_and_its_bounds() {
        let reference = reference::load("dl980-violin").unwrap();
        let against = [Against::Reference(&reference)];
        let columns = ["read_iops", "read_await_ms", "redo_mb_per_s"].map(column);
        let columns: Vec<&Column> = columns.iter().collect();
        let mut notes = Numbered::default();
        let curves = rows(&against, "T626", &columns, false, &mut notes);
        let [(name, rows)] = &curves[..] else {
            panic!("one table of random reads");
        };
        assert!(name.starts_with("HP DL980 + Violin VMA 3205, published: section"));
        assert_eq!(rows.len(), 8);
        assert_eq!(rows[0].cells, ["17", "1", "1", "1", "31,653", "< 0.5", "0"]);
        assert_eq!(rows[7].cells[..4], ["24", "1", "128", "1"]);
        assert_eq!(rows[7].cells[4..6], ["295,737", "4"]);
        // The table's note appears at its first row, and the other at the row that the scorecard misprints.
        assert_eq!(rows[0].notes, [1]);
        assert_eq!(rows[5].notes, [2]);
        assert!(is_published(&against, "T626", "read_await_ms"));
        assert!(!is_published(&against, "T626", "write_await_ms"));
        assert!(!is_published(&against, "T421", "read_await_ms"));
    }

    #[test]
    fn a_zero_that_is_no_measurement_is_unknown() {
        let reference = reference::load("dl980-violin").unwrap();
        let against = [Against::Reference(&reference)];
        let column = column("rows_per_s");
        let curves = rows(&against, "T141", &[&column], true, &mut Numbered::default());
        assert_eq!(curves[0].1[0].cells, ["9", "1", "1", "1", "–", "1"]);
    }
}
