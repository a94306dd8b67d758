//! Selection of tables and columns of a source.

use std::fmt;
use std::str::FromStr;

use engine::source::{SourceColumn, SourceTable, Stored};

use super::{ColumnarError, Result};

/// Names of tables and columns, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Tables as NAME or SCHEMA.NAME, with the wildcards * and ?; a leading minus excludes. Empty means all base
    /// tables.
    pub tables: Vec<String>,
    /// Columns as TABLE.COLUMN: a table with such an entry has only these; a leading minus excludes.
    pub columns: Vec<String>,
    pub unfit: Unfit,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unfit {
    #[default]
    Fail,
    /// Omits the column, or the table with the value.
    Skip,
    /// Stores the column as text.
    Text,
}

impl FromStr for Unfit {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "fail" => Ok(Self::Fail),
            "skip" => Ok(Self::Skip),
            "text" => Ok(Self::Text),
            other => Err(format!("\"{other}\" is unknown; choose fail, skip or text")),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub tables: Vec<SourceTable>,
    /// Tables and columns that are missing although nobody excluded them.
    pub left_out: Vec<LeftOut>,
    /// Unsupported columns, which end the run; they are in none of the tables.
    pub unfit: Vec<LeftOut>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    pub name: String,
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is left out: {}", self.name, self.why)
    }
}

impl Chosen {
    /// Selects tables and columns.
    ///
    /// # Errors
    /// When a name is unknown or ambiguous, or a table has no column left.
    pub fn of(&self, all: Vec<SourceTable>) -> Result<Selection> {
        let mut selection = self.named(all)?;
        leave_out_unreadable(&mut selection);
        selection.refuse_nothing()?;
        leave_out_omitted(&mut selection);
        self.keep_columns(&mut selection.tables)?;
        self.fit(&mut selection);
        Ok(selection)
    }

    fn named(&self, all: Vec<SourceTable>) -> Result<Selection> {
        let (minus, plus): (Vec<_>, Vec<_>) =
            (self.tables.iter()).partition(|name| name.starts_with('-'));
        let mut selection = Selection::default();
        if plus.is_empty() {
            for table in &all {
                match table.stored {
                    Stored::Here => selection.tables.push(table.clone()),
                    Stored::Elsewhere(what) => selection.left_out.push(LeftOut {
                        name: table.label(),
                        why: format!(
                            "it is {what}; name it with --tables to have it read as a whole"
                        ),
                    }),
                }
            }
        }
        for name in plus {
            for table in find_tables(&all, name)? {
                let is_there = |there: &SourceTable| there.label() == table.label();
                if !selection.tables.iter().any(is_there) {
                    selection.tables.push(table.clone());
                }
            }
        }
        for name in minus {
            let name = &name[1..];
            // Refuses an unknown name.
            find_tables(&all, name)?;
            selection.tables.retain(|table| !is_meant(table, name));
            selection.left_out.retain(|out| !matches(name, &out.name));
        }
        Ok(selection)
    }

    fn keep_columns(&self, tables: &mut [SourceTable]) -> Result<()> {
        let mut wanted: Vec<Vec<String>> = vec![Vec::new(); tables.len()];
        for typed in &self.columns {
            let (minus, name) = match typed.strip_prefix('-') {
                Some(name) => (true, name),
                None => (false, typed.as_str()),
            };
            let (index, column) = find_column(tables, name)?;
            if minus {
                tables[index].columns.retain(|c| c.name != column)
            } else {
                wanted[index].push(column)
            }
        }
        for (table, wanted) in tables.iter_mut().zip(wanted) {
            if !wanted.is_empty() {
                table.columns.retain(|column| wanted.contains(&column.name));
            }
            if table.columns.is_empty() {
                return Err(ColumnarError::Unknown(format!(
                    "no column of {} is left; name at least one",
                    table.label()
                )));
            }
        }
        Ok(())
    }

    /// Treats columns that no level supports as requested.
    fn fit(&self, selection: &mut Selection) {
        let Selection {
            tables,
            left_out,
            unfit,
        } = selection;
        for table in tables.iter_mut() {
            let label = table.label();
            let is_held = |column: &SourceColumn| column.kind.is_ok();
            let out = |column: &SourceColumn| {
                let why = column.kind.as_ref().err()?;
                Some(LeftOut {
                    name: format!("{label}.{}", column.name),
                    // SQLite's columns need no declared type.
                    why: if column.declared.is_empty() {
                        why.clone()
                    } else {
                        format!("{}: {why}", column.declared)
                    },
                })
            };
            match self.unfit {
                Unfit::Fail => unfit.extend(table.columns.iter().filter_map(out)),
                Unfit::Skip => left_out.extend(table.columns.iter().filter_map(out)),
                Unfit::Text => (table.columns.iter_mut())
                    .filter(|column| !is_held(column))
                    .for_each(SourceColumn::read_as_text),
            }
            table.columns.retain(is_held);
        }
        tables.retain(|table| !table.columns.is_empty());
    }
}

impl Selection {
    /// # Errors
    /// When nothing is left, with the list of omissions.
    pub fn refuse_nothing(&self) -> Result<()> {
        if !self.tables.is_empty() {
            return Ok(());
        }
        let but = self.left_out.iter().map(|out| format!("; {out}"));
        Err(ColumnarError::Unknown(format!(
            "the source has no selected table that this user may read{}",
            but.collect::<String>()
        )))
    }
}

fn leave_out_unreadable(selection: &mut Selection) {
    let Selection {
        tables, left_out, ..
    } = selection;
    tables.retain(|table| {
        let why = match (&table.unreadable, table.columns.is_empty()) {
            (Some(why), _) => why.clone(),
            (None, true) => "it has no columns that can be read".to_owned(),
            (None, false) => return true,
        };
        left_out.push(LeftOut {
            name: table.label(),
            why,
        });
        false
    });
}

/// Removes columns that cannot be read from the table and reports them.
fn leave_out_omitted(selection: &mut Selection) {
    let Selection {
        tables, left_out, ..
    } = selection;
    for table in tables.iter() {
        left_out.extend(table.omitted.iter().map(|(column, why)| LeftOut {
            name: format!("{}.{column}", table.label()),
            why: (*why).into(),
        }));
    }
}

fn is_meant(table: &SourceTable, name: &str) -> bool {
    matches(name, &table.name) || matches(name, &table.label())
}

/// Matches a pattern in which * is any number of characters and ? is one.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.chars().next() {
        None => text.is_empty(),
        Some('*') => {
            let rest = &pattern[1..];
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
            ends.into_iter().any(|at| matches(rest, &text[at..]))
        }
        Some(first) => {
            let mut rest = text.chars();
            rest.next().is_some_and(|c| first == '?' || c == first)
                && matches(&pattern[first.len_utf8()..], rest.as_str())
        }
    }
}

/// Tables of a name: an exact match with schema goes before matches without one; a pattern means all matches.
fn find_tables<'a>(all: &'a [SourceTable], name: &str) -> Result<Vec<&'a SourceTable>> {
    let of = |is_it: &dyn Fn(&SourceTable) -> bool| -> Vec<&'a SourceTable> {
        all.iter().filter(|table| is_it(table)).collect()
    };
    let exact = [
        of(&|table| table.label() == name),
        of(&|table| table.name == name),
    ];
    match exact
        .iter()
        .find(|found| !found.is_empty())
        .map(Vec::as_slice)
    {
        Some([table]) => return Ok(vec![table]),
        Some([one, other, ..]) => {
            return Err(ColumnarError::Unknown(format!(
                "\"{name}\" is {} or {}; name it with its schema",
                one.label(),
                other.label()
            )));
        }
        _ => {}
    }
    let found = of(&|table| is_meant(table, name));
    if found.is_empty() || !name.contains(['*', '?']) {
        Err(ColumnarError::Unknown(format!(
            "the source has no table \"{name}\"{}",
            hint(name, all.iter().map(|table| table.name.as_str()))
        )))
    } else {
        Ok(found)
    }
}

fn find_column(chosen: &[SourceTable], name: &str) -> Result<(usize, String)> {
    let of_table = |(index, table): (usize, &SourceTable)| {
        let with_schema = name.strip_prefix(&format!("{}.", table.label()));
        let column = with_schema.or_else(|| name.strip_prefix(&format!("{}.", table.name)))?;
        let known = table.columns.iter().any(|there| there.name == column);
        known.then(|| (index, column.to_owned()))
    };
    let found = chosen.iter().enumerate().find_map(of_table);
    found.ok_or_else(|| {
        let names: Vec<String> = (chosen.iter())
            .flat_map(|table| {
                let column = |c: &SourceColumn| format!("{}.{}", table.name, c.name);
                table.columns.iter().map(column)
            })
            .collect();
        ColumnarError::Unknown(format!(
            "no selected table has a column \"{name}\"{}; write it as TABLE.COLUMN",
            hint(name, names.iter().map(String::as_str))
        ))
    })
}

/// Known name that resembles the typed one, with an edit distance of at most a third.
fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let wrong_most = (name.chars().count() / 3).min(3);
    let nearest = known
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= wrong_most);
    nearest.map_or(String::new(), |(_, known)| {
        format!(" (did you mean \"{known}\"?)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_they_say() {
        for (pattern, text, is_it) in [
            ("tmp_*", "tmp_1", true),
            ("tmp_*", "tmp", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("*ä*", "größe ä b", true),
            ("s.*", "s.t", true),
            ("plain", "plain", true),
            ("plain", "plains", false),
        ] {
            assert_eq!(matches(pattern, text), is_it, "{pattern} {text}");
        }
    }

    #[test]
    fn hints_are_near() {
        let of = |name| hint(name, ["e", "orders"].into_iter());
        assert_eq!(of("vw"), "");
        assert_eq!(of("order"), " (did you mean \"orders\"?)");
    }
}
