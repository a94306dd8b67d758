//! Sizes of tables on disk and in memory, of this run and as published.

use std::collections::BTreeSet;

use archive::reference::{self, Cell, PublishedTable};
use archive::{Column, Figures, Point, Run, Section, Table};

use super::parts::{OF_TABLE, figure_of, name, of_table};
use crate::section::of_texts;

const REFERENCE: &str = "dl580-inmemory";

/// Sizes and compression factor of each table at each level.
pub(super) fn own(run: &Run, replicas: &BTreeSet<u32>) -> Section {
    let mut codes: Vec<&str> = Vec::new();
    for point in run
        .points
        .iter()
        .filter(|p| p.key.test.starts_with(OF_TABLE))
    {
        if !codes.contains(&point.key.test.as_str()) {
            codes.push(&point.key.test);
        }
    }
    let mut table = Table::new("Table | on disk [MB]");
    for target in replicas {
        let name = name(run, *target);
        (table.columns).extend(["MB", "factor", "populate s"].map(|unit| Column::new(&name, unit)));
    }
    for code in codes {
        let of = |target: u32, value: fn(&Figures) -> Option<f64>| {
            let mine = |p: &&Point| p.key.target == target && p.key.test == code;
            figure_of(run.points.iter().filter(mine), |point| {
                value(&point.figures)
            })
        };
        let disk = (replicas.iter()).find_map(|target| of(*target, |f| f.table_disk_mb));
        let name = match code.strip_prefix(OF_TABLE) {
            Some("ALL") | None => "Total",
            Some(name) => name,
        };
        let mut row: Vec<archive::Cell> = vec![name.into(), disk.into()];
        for target in replicas {
            let factor = of(*target, |f| f.compress_factor);
            row.extend([
                of(*target, |f| f.table_memory_mb).into(),
                factor.map_or(None.into(), |factor| format!("{factor:.2}").into()),
                of(*target, |f| f.elapsed_s).into(),
            ]);
        }
        table.row(row);
    }
    let how = "On disk: rows without indexes, as reported by the database. In memory: as allocated by the engine or the \
              kernel. The factor is “–” where a table occupies fewer than ten allocation units of the engine. The \
              populate time ends when the last row is packed; reading back and comparing is not included.";
    let title = "Sizes on disk and in memory, compression factors and populate times";
    of_table(title.into(), table, how.into())
}

/// Title and tables of the published sizes; `None` if the study has none.
pub(super) fn published() -> Option<(String, Vec<Section>)> {
    let reference = reference::load(REFERENCE).ok()?;
    let is_sizes = |table: &&PublishedTable| table.kind == "sizes";
    let section = |published: &PublishedTable| {
        let heads: Vec<&str> = published.columns.iter().map(String::as_str).collect();
        let rows = published.rows.iter().map(|row| row.cells.iter().map(cell));
        let table = of_texts(&heads, rows);
        let title = format!("{}: {}", published.place, published.title);
        of_table(title, table, published.note.clone().unwrap_or_default())
    };
    let sizes: Vec<Section> = reference
        .tables
        .iter()
        .filter(is_sizes)
        .map(section)
        .collect();
    (!sizes.is_empty()).then(|| (format!("Published: {}", reference.title), sizes))
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(n) => format!("{n:.2}"),
        Cell::Text(text) => text.clone(),
    }
}
