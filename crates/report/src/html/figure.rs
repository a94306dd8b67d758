//! A chart of the page, with its table and its element's id.

use askama::Template;

use crate::svg::escape;

/// A table: heads, and rows under the name of their group, each beginning with its own head.
pub struct Table {
    pub heads: Vec<String>,
    pub groups: Vec<(String, Vec<Vec<String>>)>,
}

impl Table {
    /// Rows in their groups; neighbouring rows of the same group share its name.
    pub fn new(heads: &[&str], rows: impl IntoIterator<Item = (String, Vec<String>)>) -> Self {
        let mut groups: Vec<(String, Vec<Vec<String>>)> = Vec::new();
        for (group, row) in rows {
            match groups.last_mut() {
                Some((name, rows)) if *name == group => rows.push(row),
                _ => groups.push((group, vec![row])),
            }
        }
        Self {
            heads: heads.iter().map(|h| (*h).to_owned()).collect(),
            groups,
        }
    }
}

/// A chart with an explanation, and the same figures as a table.
#[derive(Template)]
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
}

/// A name that is safe as an element's id.
pub fn id_of(text: &str) -> String {
    escape(text)
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect()
}
