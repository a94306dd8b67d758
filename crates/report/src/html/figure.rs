//! A chart of the page, with its table and its element's id.

use archive::Table;
use askama::Template;

use super::fragment::Fragment;
use crate::number;
use crate::section::of_texts;
use chart::{Chart, escape};

/// A table of texts; neighbouring rows of the same group share its name as their heading.
pub fn grouped(heads: &[&str], rows: impl IntoIterator<Item = (String, Vec<String>)>) -> Table {
    let mut table = of_texts(heads, [[""; 0]; 0]);
    let mut last = String::new();
    for (group, row) in rows {
        if group != last {
            table.heading(group.as_str());
            last = group;
        }
        table.row(row);
    }
    table
}

/// A chart with an explanation, and the same figures as a table.
#[derive(Debug, Template)]
#[template(path = "figure.html", whitespace = "minimize")]
pub struct Figure {
    pub caption: String,
    pub svg: String,
    pub how: String,
    /// Findings, one sentence each; shown below the explanation.
    pub said: Vec<String>,
    /// Tables of figures; the first holds the drawn ones.
    pub tables: Vec<Table>,
}

impl Figure {
    pub fn new(caption: String, svg: String, how: String, table: Table) -> Self {
        Self {
            caption,
            svg,
            how,
            said: Vec::new(),
            tables: vec![table],
        }
    }

    /// A chart under its title, with its points as a table: a group of rows for each series.
    pub fn of(
        chart: &Chart,
        how: &str,
        heads: [&str; 2],
        write: fn(Option<f64>) -> String,
    ) -> Self {
        let x = |x: f64| match x.fract() {
            0.0 => number::whole(Some(x)),
            _ => number::figure(x),
        };
        let rows = chart.series.iter().flat_map(|series| {
            let row = |(at, value): &(f64, Option<f64>)| vec![x(*at), write(*value)];
            series
                .points
                .iter()
                .map(move |point| (series.label.clone(), row(point)))
        });
        let table = grouped(&heads, rows);
        Self::new(chart.title.clone(), chart.render(), how.to_owned(), table)
    }

    fn data(&self) -> String {
        self.tables.iter().map(Fragment::of_values).collect()
    }
}

/// A name that is safe as an element's id.
pub fn id_of(text: &str) -> String {
    escape(text)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect()
}
