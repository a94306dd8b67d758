//! Which tables and columns of a source are meant.

use target::source::SourceTable;

use super::{ColumnarError, Result};

/// Names of tables and columns, as they are typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Tables, as NAME or SCHEMA.NAME; all when there are none.
    pub tables: Vec<String>,
    /// Columns, as TABLE.COLUMN: of a table with such only these; with a minus in front, all but these.
    pub columns: Vec<String>,
}

impl Chosen {
    /// The tables that are meant, each with the columns that are meant.
    ///
    /// # Errors
    /// When a name is none or means several, or a table keeps no column.
    pub fn of(&self, all: Vec<SourceTable>) -> Result<Vec<SourceTable>> {
        let mut chosen = match self.tables.is_empty() {
            true => all,
            false => self.named(&all)?,
        };
        self.refuse_same_names(&chosen)?;
        let mut has_wanted = vec![false; chosen.len()];
        let mut wanted: Vec<Vec<String>> = vec![Vec::new(); chosen.len()];
        for typed in &self.columns {
            let (minus, name) = match typed.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, typed.as_str()),
            };
            let (place, column) = find_column(&chosen, name)?;
            match minus {
                true => chosen[place].columns.retain(|c| c.name != column),
                false => {
                    has_wanted[place] = true;
                    wanted[place].push(column);
                }
            }
        }
        for (place, table) in chosen.iter_mut().enumerate() {
            if has_wanted[place] {
                table
                    .columns
                    .retain(|column| wanted[place].contains(&column.name));
            }
            if table.columns.is_empty() {
                return Err(ColumnarError::Unknown(format!(
                    "nothing is left of {}; name at least one of its columns",
                    table.label()
                )));
            }
        }
        Ok(chosen)
    }

    fn named(&self, all: &[SourceTable]) -> Result<Vec<SourceTable>> {
        let mut chosen: Vec<SourceTable> = Vec::new();
        for name in &self.tables {
            let table = find_table(all, name)?;
            if !chosen.iter().any(|there| there.label() == table.label()) {
                chosen.push(table.clone());
            }
        }
        Ok(chosen)
    }

    /// Lifted tables have no schemas.
    fn refuse_same_names(&self, chosen: &[SourceTable]) -> Result<()> {
        let same = chosen.iter().enumerate().find_map(|(at, table)| {
            let other = chosen[..at].iter().find(|other| other.name == table.name)?;
            Some((other.label(), table.label()))
        });
        match same {
            None if chosen.is_empty() => Err(ColumnarError::Unknown(
                "the source holds no table that this user may read".into(),
            )),
            None => Ok(()),
            Some((one, other)) => Err(ColumnarError::Unknown(format!(
                "{one} and {other} have the same name, which lifted tables cannot have; name one of them with --tables"
            ))),
        }
    }
}

fn find_table<'a>(all: &'a [SourceTable], name: &str) -> Result<&'a SourceTable> {
    let found: Vec<&SourceTable> = all
        .iter()
        .filter(|table| table.name == name || table.label() == name)
        .collect();
    match found.as_slice() {
        [table] => Ok(table),
        [] => Err(ColumnarError::Unknown(format!(
            "the source has no table \"{name}\"{}",
            hint(name, all.iter().map(|table| table.name.as_str()))
        ))),
        [one, other, ..] => Err(ColumnarError::Unknown(format!(
            "\"{name}\" is {} or {}; name it with its schema",
            one.label(),
            other.label()
        ))),
    }
}

fn find_column(chosen: &[SourceTable], name: &str) -> Result<(usize, String)> {
    let of_table = |(place, table): (usize, &SourceTable)| {
        let with_schema = name.strip_prefix(&format!("{}.", table.label()));
        let column = with_schema.or_else(|| name.strip_prefix(&format!("{}.", table.name)))?;
        let known = table.columns.iter().any(|there| there.name == column);
        known.then(|| (place, column.to_owned()))
    };
    let found = chosen.iter().enumerate().find_map(of_table);
    found.ok_or_else(|| {
        let names: Vec<String> = (chosen.iter())
            .flat_map(|table| {
                let column =
                    |c: &target::source::SourceColumn| format!("{}.{}", table.name, c.name);
                table.columns.iter().map(column)
            })
            .collect();
        ColumnarError::Unknown(format!(
            "no table that is lifted has a column \"{name}\"{}; write it as TABLE.COLUMN",
            hint(name, names.iter().map(String::as_str))
        ))
    })
}

fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let nearest = known
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    nearest.map_or(String::new(), |(_, known)| {
        format!(" (did you mean \"{known}\"?)")
    })
}
