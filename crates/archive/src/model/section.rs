//! Results as sections: a workload, an observation or a study describes its tables, charts and sentences as values, so
//! that pages, terminals and exports show them without knowing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Section {
    /// Heading; sections of one test with the same heading become one.
    pub title: String,
    /// How to read it; null if it explains itself.
    pub note: Option<String>,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    Sentence(String),
    /// A sentence that readers must not miss.
    Caution(String),
    Table(Table),
    Chart(Chart),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// Columns with their units.
    pub columns: Vec<Column>,
    /// Cells by row; null where unknown. A row with a single cell heads the rows after it.
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Heading of the column.
    pub name: String,
    /// Its unit; empty for texts.
    pub unit: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Cell {
    Number(f64),
    Text(String),
    Unknown(()),
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chart {
    pub title: String,
    /// How to read it; null if its axes say all.
    pub note: Option<String>,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    pub name: String,
    /// Its unit; empty for counts and ratios.
    pub unit: String,
    /// True if equal distances are equal ratios.
    #[serde(default)]
    pub is_logarithmic: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    pub name: String,
    /// Points (x, y); an unknown y breaks the line.
    pub points: Vec<(f64, Option<f64>)>,
}

impl Section {
    /// Sections of the points of a test: those with one title are one, its rows and series in the order of the points.
    pub fn joined<'a>(sections: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for section in sections {
            match all.iter_mut().find(|own| own.title == section.title) {
                Some(own) => own.join(section),
                None => all.push(section.clone()),
            }
        }
        all
    }

    fn join(&mut self, other: &Self) {
        for (at, block) in other.blocks.iter().enumerate() {
            match (self.blocks.get_mut(at), block) {
                (Some(Block::Table(own)), Block::Table(table)) if own.columns == table.columns => {
                    own.rows.extend_from_slice(&table.rows);
                }
                (Some(Block::Chart(own)), Block::Chart(chart)) if own.title == chart.title => {
                    own.join(chart);
                }
                (Some(own), block) if own == block => {}
                _ => self.blocks.push(block.clone()),
            }
        }
    }

    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    pub fn note(self, note: impl Into<String>) -> Self {
        let note = Some(note.into());
        Self { note, ..self }
    }

    pub fn sentence(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Sentence(text.into()));
        self
    }

    pub fn caution(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Caution(text.into()));
        self
    }

    pub fn table(mut self, table: Table) -> Self {
        self.blocks.push(Block::Table(table));
        self
    }

    pub fn chart(mut self, chart: Chart) -> Self {
        self.blocks.push(Block::Chart(chart));
        self
    }
}

impl Table {
    /// An empty table under heads in one line: "device | reads [MB/s] | busy [%]".
    pub fn new(heads: &str) -> Self {
        let column = |head: &str| match head
            .trim()
            .strip_suffix(']')
            .and_then(|head| head.rsplit_once('['))
        {
            Some((name, unit)) => Column::new(name.trim_end(), unit),
            None => Column::new(head.trim(), ""),
        };
        Self {
            columns: heads.split('|').map(column).collect(),
            rows: Vec::new(),
        }
    }

    /// Heads the rows that are added after it.
    pub fn heading(&mut self, text: impl Into<Cell>) {
        self.rows.push(vec![text.into()]);
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl Chart {
    fn join(&mut self, other: &Self) {
        for series in &other.series {
            match self.series.iter_mut().find(|own| own.name == series.name) {
                Some(own) => own.points.extend_from_slice(&series.points),
                None => self.series.push(series.clone()),
            }
        }
        for series in &mut self.series {
            series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }

    /// The drawn values: a row for each x, a column for each series.
    pub fn table(&self) -> Table {
        let name = |own: &str| if own.is_empty() { &self.y.name } else { own }.to_owned();
        let ys = self.series.iter().map(|series| Column {
            name: name(&series.name),
            unit: self.y.unit.clone(),
        });
        let x = Column {
            name: self.x.name.clone(),
            unit: self.x.unit.clone(),
        };
        let mut xs: Vec<f64> = (self.series.iter().flat_map(|series| &series.points))
            .map(|point| point.0)
            .collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let row = |x: &f64| {
            let y = |series: &Series| series.points.iter().find(|point| point.0 == *x)?.1;
            let ys = self.series.iter().map(|series| Cell::from(y(series)));
            std::iter::once(Cell::from(*x)).chain(ys).collect()
        };
        Table {
            columns: std::iter::once(x).chain(ys).collect(),
            rows: xs.iter().map(row).collect(),
        }
    }
}

impl Axis {
    pub fn new(name: &str, unit: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
            is_logarithmic: false,
        }
    }

    pub fn logarithmic(self) -> Self {
        Self {
            is_logarithmic: true,
            ..self
        }
    }
}

impl Column {
    pub fn new(name: &str, unit: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: unit.to_owned(),
        }
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Self {
        match number.filter(|number| number.is_finite()) {
            Some(number) => Self::Number(number),
            None => Self::Unknown(()),
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Some(number).into()
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(jobs: f64, late_ms: f64) -> Section {
        let mut table = Table::new("jobs | late [ms]");
        table.row([jobs, late_ms]);
        let series = vec![Series {
            name: "late".into(),
            points: vec![(jobs, Some(late_ms))],
        }];
        let chart = Chart {
            series,
            ..Chart::default()
        };
        let section = Section::new("Delays").table(table).chart(chart);
        section.sentence("Of the kernel's timer.")
    }

    #[test]
    fn points_of_a_test_add_rows_and_points_to_one_section() {
        let joined = Section::joined(&[section(2.0, 0.5), section(1.0, f64::NAN)]);
        let [Section { blocks, .. }] = &joined[..] else {
            panic!("{joined:?}")
        };
        let [Block::Table(table), Block::Chart(chart), Block::Sentence(_)] = &blocks[..] else {
            panic!("{blocks:?}")
        };
        let of_two: Vec<Cell> = vec![2.0.into(), 0.5.into()];
        let of_one: Vec<Cell> = vec![1.0.into(), Cell::Unknown(())];
        assert_eq!(table.rows, [of_two.clone(), of_one.clone()]);
        assert_eq!(chart.table().rows, [of_one, of_two]);
        let text = serde_json::to_string(&table.rows).unwrap();
        assert_eq!(text, "[[2.0,0.5],[1.0,null]]");
        let read: Vec<Vec<Cell>> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, table.rows);
    }
}
