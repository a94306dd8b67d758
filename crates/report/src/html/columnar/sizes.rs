//! Sizes of tables on disk and in memory, of this run and as published.

use std::collections::BTreeSet;

use archive::reference::{self, Cell, PublishedTable};
use archive::{Figures, Point, Run};

use super::parts::{Grid, OF_TABLE, Study, figure_of, name};
use crate::number;

const REFERENCE: &str = "dl580-inmemory";

/// Sizes and compression factor of each table at each level.
pub(super) fn own(run: &Run, replicas: &BTreeSet<u32>) -> Grid {
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
    let mut heads = vec!["Table".to_owned(), "on disk MB".to_owned()];
    for target in replicas {
        let name = name(run, *target);
        heads.extend([format!("{name} MB"), "factor".into(), "populate s".into()]);
    }
    let row = |code: &&str| {
        let of = |target: u32, value: &dyn Fn(&Figures) -> Option<f64>| {
            let mine = |p: &&Point| p.key.target == target && p.key.test == **code;
            figure_of(run.points.iter().filter(mine), |point| {
                value(&point.figures)
            })
        };
        let disk = replicas
            .iter()
            .find_map(|target| of(*target, &|f| f.table_disk_mb));
        let name = match code.strip_prefix(OF_TABLE) {
            Some("ALL") | None => "Total".to_owned(),
            Some(name) => name.to_owned(),
        };
        let mut row = vec![name, number::figure_or_unknown(disk)];
        for target in replicas {
            row.push(number::figure_or_unknown(of(*target, &|f| {
                f.table_memory_mb
            })));
            row.push(factor(of(*target, &|f| f.compress_factor)));
            row.push(number::figure_or_unknown(of(*target, &|f| f.elapsed_s)));
        }
        row
    };
    Grid {
        title: "Sizes on disk and in memory, compression factors and populate times".into(),
        rows: codes.iter().map(row).collect(),
        heads,
        how: "On disk: rows without indexes, as reported by the database. In memory: as allocated by the engine or the \
              kernel. The factor is “–” where a table occupies fewer than ten allocation units of the engine. The \
              populate time ends when the last row is packed; reading back and comparing is not included."
            .into(),
    }
}

fn factor(factor: Option<f64>) -> String {
    factor.map_or_else(
        || number::UNKNOWN.to_owned(),
        |factor| format!("{factor:.2}"),
    )
}

/// The published tables of sizes; `None` if the study has none.
pub(super) fn published() -> Option<Study> {
    let reference = reference::load(REFERENCE).ok()?;
    let is_sizes = |table: &&PublishedTable| table.kind == "sizes";
    let sizes: Vec<Grid> = (reference.tables.iter().filter(is_sizes))
        .map(|table| Grid {
            title: format!("{}: {}", table.place, table.title),
            heads: table.columns.clone(),
            rows: table
                .rows
                .iter()
                .map(|row| row.cells.iter().map(cell).collect())
                .collect(),
            how: table.note.clone().unwrap_or_default(),
        })
        .collect();
    (!sizes.is_empty()).then(|| Study {
        title: format!("Published: {}", reference.title),
        sizes,
        figures: Vec::new(),
        speed_up: None,
        mixed: Vec::new(),
    })
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(n) => format!("{n:.2}"),
        Cell::Text(text) => text.clone(),
    }
}
