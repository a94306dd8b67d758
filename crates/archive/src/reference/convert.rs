//! From the file's shape to the public types: units, zeros that are no measurement, service labels, checks.

use super::file::{self, File};
use super::{
    Cell, DERIVED, FactKind, FactSection, PublishedTable, Reference, ReferencePoint, Remark,
    ResultTable, ServiceLabel, StatedFigure,
};
use crate::Figures;

pub(super) struct Fault {
    pub place: String,
    pub what: String,
}

fn fault<T>(place: impl Into<String>, what: impl Into<String>) -> Result<T, Fault> {
    Err(Fault {
        place: place.into(),
        what: what.into(),
    })
}

pub(super) fn reference(name: &str, file: File) -> Result<Reference, Fault> {
    for (field, text) in [("title", &file.title), ("document", &file.document)] {
        filled(field, text, "the file")?;
    }
    check_columns(&file.column)?;
    let columns = file.column.iter().map(|column| column.printed.clone());
    let columns = columns.collect();
    let mut points = Vec::new();
    let mut result_tables = Vec::new();
    for results in file.results {
        points.extend(result_points(&file.column, &results)?);
        result_tables.push(ResultTable {
            test: results.test,
            title: results.title,
            place: results.place,
            note: results.note,
            service_is: results.service_is,
            zero_means: results.zero_means,
        });
    }
    let mut sections = Vec::new();
    for (kind, list) in [
        (FactKind::Platform, file.platform),
        (FactKind::Settings, file.settings),
    ] {
        for section in list {
            check_section(&section)?;
            sections.push(FactSection { kind, ..section });
        }
    }
    let reference = Reference {
        name: name.to_owned(),
        title: file.title,
        document: file.document,
        platform: platform_facts(&sections),
        columns,
        points,
        stated: stated(file.stated)?,
        result_tables,
        sections,
        tables: file.table,
        charts: file.chart,
        remarks: file.remark,
    };
    reference.tables.iter().try_for_each(check_table)?;
    for chart in &reference.charts {
        let place = format!("chart \"{}\"", chart.title);
        filled("title", &chart.title, &place)?;
        filled("place", &chart.place, &place)?;
    }
    for Remark { note, place } in &reference.remarks {
        filled("note", note, "a `remark`")?;
        filled("place", place, &format!("remark \"{note}\""))?;
    }
    Ok(reference)
}

fn filled(field: &str, text: &str, place: &str) -> Result<(), Fault> {
    if text.trim().is_empty() {
        return fault(place, format!("`{field}` is empty; fill it in"));
    }
    Ok(())
}

/// Refuses what is not the name of a figure.
fn figure(is: &str, place: &str) -> Result<(), Fault> {
    if Figures::default().set(is, None) {
        Ok(())
    } else {
        fault(place, format!("`{is}` is not a figure"))
    }
}

/// Nodes, jobs and threads are not figures: they say which point a row is.
const KEYS: [&str; 3] = ["nodes", "jobs", "threads"];

fn check_columns(columns: &[file::Column]) -> Result<(), Fault> {
    let mut targets = Vec::new();
    for column in columns {
        let place = format!("column \"{}\"", column.printed);
        let of_name = columns.iter().filter(|c| c.printed == column.printed);
        if of_name.count() > 1 {
            return fault(place, "two columns have this name; rename one of them");
        }
        if !(column.factor.is_finite() && column.factor > 0.0) {
            return fault(place, "`factor` must be a number above 0");
        }
        let Some(is) = &column.is else { continue };
        if !KEYS.contains(&is.as_str()) && !Figures::default().set(is, None) {
            return fault(place, format!("`is` names \"{is}\", which is not a figure"));
        }
        if targets.contains(&is) {
            return fault(
                place,
                format!("two columns name \"{is}\" in `is`; only one may"),
            );
        }
        targets.push(is);
    }
    Ok(())
}

fn result_points(
    columns: &[file::Column],
    results: &file::Results,
) -> Result<Vec<ReferencePoint>, Fault> {
    let place = format!("results of \"{}\"", results.test);
    filled("test", &results.test, &place)?;
    filled("title", &results.title, &place)?;
    filled("place", &results.place, &place)?;
    if let Some(is) = &results.service_is {
        figure(is, &place)?;
    }
    for name in results.zero_means.keys() {
        if !columns.iter().any(|column| column.printed == *name) {
            return fault(
                place,
                format!("`zero_means` names \"{name}\", which is not a column"),
            );
        }
    }
    let numbered = results.rows.iter().enumerate();
    numbered
        .map(|(index, row)| {
            let place = format!("{place}, row {}", index + 1);
            result_point(columns, results, row, &place)
        })
        .collect()
}

fn result_point(
    columns: &[file::Column],
    results: &file::Results,
    row: &file::ResultRow,
    place: &str,
) -> Result<ReferencePoint, Fault> {
    if row.row.len() != columns.len() {
        let what = format!(
            "it has {} numbers, but there are {} columns",
            row.row.len(),
            columns.len()
        );
        return fault(place, what);
    }
    let mut point = ReferencePoint {
        test: results.test.clone(),
        place: results.place.clone(),
        note: row.note.clone(),
        ..ReferencePoint::default()
    };
    for (column, &value) in columns.iter().zip(&row.row) {
        if !value.is_finite() {
            return fault(
                place,
                format!("\"{}\" is not a finite number", column.printed),
            );
        }
        point.printed.insert(column.printed.clone(), value);
        match column.is.as_deref() {
            Some("nodes") => point.nodes = count(value, column, place)?,
            Some("jobs") => point.jobs = count(value, column, place)?,
            Some("threads") => point.threads = count(value, column, place)?,
            Some(figure) => {
                let no_measurement =
                    value == 0.0 && results.zero_means.contains_key(&column.printed);
                let converted = (!no_measurement).then_some(value * column.factor);
                point.figures.set(figure, converted);
            }
            None => {}
        }
    }
    if point.nodes == 0 || point.jobs == 0 || point.threads == 0 {
        return fault(place, "the columns must name nodes, jobs and threads");
    }
    for label in &row.service {
        point.service_labels.push(service_label(label, place)?);
    }
    let first = point.service_labels.first();
    point.service_ms_mean = first
        .filter(|label| !label.upper_bound)
        .map(|label| label.ms);
    Ok(point)
}

fn count(value: f64, column: &file::Column, place: &str) -> Result<u32, Fault> {
    const COUNT_MAX: f64 = 1e6;
    if value.fract() != 0.0 || !(1.0..=COUNT_MAX).contains(&value) {
        let what = format!("\"{}\" must be a whole number from 1", column.printed);
        return fault(place, what);
    }
    Ok(value as u32)
}

/// Reads "25 ms", "< 500 µs" or "DBWR < 500 µs".
fn service_label(printed: &str, place: &str) -> Result<ServiceLabel, Fault> {
    let mut words: Vec<&str> = printed.split_whitespace().collect();
    let unit_ms = match words.pop() {
        Some("s") => Some(1e3),
        Some("ms") => Some(1.0),
        Some("µs") => Some(1e-3),
        _ => None,
    };
    let value = words.pop().and_then(|word| word.parse::<f64>().ok());
    let upper_bound = words.last() == Some(&"<");
    if upper_bound {
        words.pop();
    }
    match (unit_ms, value) {
        (Some(unit_ms), Some(value)) if value > 0.0 && words.len() <= 1 => Ok(ServiceLabel {
            printed: printed.to_owned(),
            of: words.first().map(|&word| word.to_owned()),
            ms: value * unit_ms,
            upper_bound,
        }),
        _ => fault(
            place,
            format!(
                "the service time \"{printed}\" is not of the form \"25 ms\" or \"DBWR < 500 µs\""
            ),
        ),
    }
}

fn check_section(section: &FactSection) -> Result<(), Fault> {
    let place = format!("section \"{}\"", section.title);
    filled("title", &section.title, &place)?;
    filled("place", &section.place, &place)?;
    for fact in &section.facts {
        filled("name", &fact.name, &place)?;
        filled("value", &fact.value, &place)?;
    }
    Ok(())
}

fn platform_facts(sections: &[FactSection]) -> super::PlatformFacts {
    let platform = sections.iter().filter(|s| s.kind == FactKind::Platform);
    platform
        .map(|section| {
            let facts = section.facts.iter();
            let pairs = facts.map(|fact| (fact.name.clone(), fact.value.clone()));
            (section.title.clone(), pairs.collect())
        })
        .collect()
}

fn stated(groups: Vec<file::StatedGroup>) -> Result<Vec<StatedFigure>, Fault> {
    let mut all = Vec::new();
    for group in groups {
        filled("kind", &group.kind, "a `stated` group")?;
        filled("place", &group.place, &format!("stated \"{}\"", group.kind))?;
        for figure in group.figures {
            let place = format!("stated \"{}\" at {}", figure.name, group.place);
            filled("name", &figure.name, &place)?;
            if !figure.value.is_finite() {
                return fault(place, "`value` is not a finite number");
            }
            if let Some(is) = figure.is.as_deref().filter(|is| !DERIVED.contains(is)) {
                self::figure(is, &place)?;
            }
            if !(figure.factor.is_finite() && figure.factor > 0.0) {
                return fault(place, "`factor` must be a number above 0");
            }
            let as_value = figure.value.to_string();
            all.push(StatedFigure {
                kind: group.kind.clone(),
                printed: Some(figure.printed)
                    .filter(|p| !p.is_empty())
                    .unwrap_or(as_value),
                place: group.place.clone(),
                ..figure
            });
        }
    }
    Ok(all)
}

fn check_table(table: &PublishedTable) -> Result<(), Fault> {
    let place = format!("table \"{}\"", table.title);
    filled("kind", &table.kind, &place)?;
    filled("title", &table.title, &place)?;
    filled("place", &table.place, &place)?;
    let width = table.columns.len();
    for (number, row) in (1..).zip(&table.rows) {
        let place = format!("{place}, row {number}");
        let cells = row.cells.len();
        if cells != width {
            return fault(
                place,
                format!("it has {cells} cells, but there are {width} columns"),
            );
        }
        let is_odd = |cell: &Cell| matches!(cell, Cell::Number(value) if !value.is_finite());
        if row.cells.iter().any(is_odd) {
            return fault(place, "a cell is not a finite number");
        }
    }
    Ok(())
}
