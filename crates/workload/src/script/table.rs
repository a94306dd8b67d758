//! Reader of the tables in a script's file, whose errors have a position.

use toml::{Table, Value};

pub struct Section<'a> {
    /// Prefix of messages, such as "transaction \"buy\"".
    pub name: String,
    pub table: &'a Table,
}

impl<'a> Section<'a> {
    /// # Errors
    /// When the table has an unknown key; the most similar one is suggested.
    pub fn new(name: String, table: &'a Table, known: &[&str]) -> Result<Self, String> {
        let section = Self { name, table };
        for key in table.keys() {
            if !known.contains(&key.as_str()) {
                return Err(section.wrong(&format!(
                    "there is no key \"{key}\"{}; the keys are {}",
                    archive::nearest(key, known),
                    known.join(", ")
                )));
            }
        }
        Ok(section)
    }

    pub fn wrong(&self, what: &str) -> String {
        format!("{}: {what}", self.name)
    }

    pub fn text(&self, key: &str) -> Result<Option<&'a str>, String> {
        self.get(key, "a text", Value::as_str)
    }

    pub fn needed_text(&self, key: &str) -> Result<&'a str, String> {
        let text = self.text(key)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| self.wrong(&format!("{key} is missing or empty")))
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        self.get(key, "true or false", Value::as_bool)
    }

    pub fn number(&self, key: &str, low: i64, high: i64) -> Result<Option<i64>, String> {
        let number = self.get(key, "a whole number", Value::as_integer)?;
        match number {
            Some(n) if !(low..=high).contains(&n) => {
                Err(self.wrong(&format!("{key} = {n} is not between {low} and {high}")))
            }
            other => Ok(other),
        }
    }

    pub fn real(&self, key: &str) -> Result<Option<f64>, String> {
        let real = |value: &Value| match value {
            Value::Float(x) => Some(*x),
            Value::Integer(n) => Some(*n as f64),
            _ => None,
        };
        self.get(key, "a number", real)
    }

    pub fn table(&self, key: &str) -> Result<Option<&'a Table>, String> {
        self.get(key, "a table", Value::as_table)
    }

    /// Tables of a list `[[key]]`; none if it is missing.
    pub fn tables(&self, key: &str) -> Result<Vec<&'a Table>, String> {
        let Some(list) = self.get(key, "a list of tables", Value::as_array)? else {
            return Ok(Vec::new());
        };
        let tables = list.iter().map(|entry| {
            let no_table = || self.wrong(&format!("{key} must be a list of tables"));
            entry.as_table().ok_or_else(no_table)
        });
        tables.collect()
    }

    /// Smallest and largest number: `[low, high]`.
    pub fn range(&self, key: &str) -> Result<Option<(i64, i64)>, String> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let numbers: Option<Vec<i64>> = value
            .as_array()
            .and_then(|list| list.iter().map(Value::as_integer).collect());
        match numbers.as_deref() {
            Some([low, high]) if low <= high => Ok(Some((*low, *high))),
            Some([low, high]) => Err(self.wrong(&format!(
                "{key} = [{low}, {high}] is empty; put the smaller number first"
            ))),
            _ => Err(self.wrong(&format!("{key} must be [SMALLEST, LARGEST]"))),
        }
    }

    fn get<T>(
        &self,
        key: &str,
        kind: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some(value) = self.table.get(key) else {
            return Ok(None);
        };
        let read = read(value);
        read.map(Some)
            .ok_or_else(|| self.wrong(&format!("{key} must be {kind}")))
    }
}
