//! That a level did what it means: read back from the engine, which refuses some codecs without a word.
//!
//! The engine chooses if a codec suits the values: what is random or tiny or a long text is left as it is at
//! every level. That the codecs of a level are in force is therefore seen on a table of our own, which every one of them
//! makes smaller; of the tables that are lifted only what the level forbids, and what was not packed at all.

use super::memory_file::MemoryFile;
use super::store::{Codec, Store};
use crate::level::Level;
use engine::Result;
use engine::catalogue::{Kind, SourceTable};

/// Codecs that stand for nothing at all: a segment without values, or with a single one.
const NEUTRAL: [&str; 3] = ["Constant", "Empty", "Empty Validity"];
const AS_IT_IS: &str = "Uncompressed";
/// The table of our own.
const CONTROL: &str = "dbdyno_control";
/// Its rows: small numbers, and few words.
const CONTROL_ROWS: &str = "SELECT (range % 7)::BIGINT AS number, 'a word and another, number ' || range % 5 AS word \
     FROM range(10000)";

impl Store {
    /// Why the level is not in force, seen on a table of our own; `None` when it is. Nothing of it is left.
    pub fn not_in_force(&self) -> Result<Option<String>> {
        let codecs = match self.level.zstd() {
            None => {
                self.run(&format!("CREATE TABLE {CONTROL} AS {CONTROL_ROWS}"))?;
                self.pack()?;
                let codecs = self.codecs(CONTROL)?;
                self.run(&format!("DROP TABLE {CONTROL}"))?;
                self.pack()?;
                codecs
            }
            Some(zstd) => {
                let file = MemoryFile::new()?;
                self.run(&format!(
                    "COPY ({CONTROL_ROWS}) TO '{}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {zstd}, \
                     USE_TMP_FILE false)",
                    file.path()
                ))?;
                self.files().insert(CONTROL.to_owned(), vec![file]);
                let codecs = self.codecs(CONTROL);
                self.files().remove(CONTROL);
                codecs?
            }
        };
        Ok(not_in_force(self.level, &codecs))
    }

    /// Why a table is not kept as the level says; `None` when it is.
    pub fn not_taken(&self, table: &SourceTable, codecs: &[Codec]) -> Option<String> {
        not_taken(self.level, table, codecs)
    }
}

fn not_in_force(level: Level, control: &[Codec]) -> Option<String> {
    let kept = |column: &str| control.iter().find(|codec| codec.column == column);
    let [number, word] = [kept("number"), kept("word")];
    let (Some(number), Some(word)) = (number, word) else {
        return Some("DuckDB does not report how it stores a table".into());
    };
    let wrong = |codec: &Codec, is_packed: bool| {
        ((codec.codec != AS_IT_IS) != is_packed).then(|| {
            format!(
                "DuckDB stores a column that it should{} pack as {}",
                if is_packed { "" } else { " not" },
                codec.codec
            )
        })
    };
    match level {
        Level::None => wrong(number, false).or_else(|| wrong(word, false)),
        Level::QueryLow => wrong(number, true).or_else(|| wrong(word, false)),
        Level::QueryHigh | Level::CapacityLow | Level::CapacityHigh => {
            wrong(number, true).or_else(|| wrong(word, true))
        }
    }
}

fn not_taken(level: Level, table: &SourceTable, codecs: &[Codec]) -> Option<String> {
    let kind_of = |name: &str| {
        let column = table.columns.iter().find(|column| column.name == name)?;
        column.kind.clone().ok()
    };
    let odd = |is_odd: &dyn Fn(&Codec, Kind) -> bool| {
        let mut values = (codecs.iter()).filter(|codec| !NEUTRAL.contains(&codec.codec.as_str()));
        let found = values.find(|codec| kind_of(&codec.column).is_some_and(|k| is_odd(codec, k)));
        found.map(|odd| format!("column {} is stored as {}", odd.column, odd.codec))
    };
    let forbidden = match level {
        Level::None => odd(&|codec, _| codec.codec != AS_IT_IS),
        Level::QueryLow => odd(&|codec, kind| !kind.is_numeric() && codec.codec != AS_IT_IS),
        Level::QueryHigh => None,
        Level::CapacityLow | Level::CapacityHigh => odd(&|codec, _| codec.codec != "ZSTD"),
    };
    forbidden.or_else(|| {
        let waiting = codecs.iter().find(|codec| codec.unpacked > 0)?;
        Some(format!(
            "{} segments of column {} were not packed",
            waiting.unpacked, waiting.column
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codec(column: &str, codec: &str, unpacked: u64) -> Codec {
        Codec {
            column: column.into(),
            codec: codec.into(),
            segments: 3,
            unpacked,
        }
    }

    fn table() -> SourceTable {
        let column = |name: &str, kind| engine::catalogue::SourceColumn {
            name: name.into(),
            declared: String::new(),
            kind: Ok(kind),
            is_nullable: true,
            note: None,
            expression: name.into(),
            as_text: name.into(),
        };
        SourceTable {
            schema: String::new(),
            name: "t".into(),
            columns: vec![column("n", Kind::Int(64)), column("w", Kind::Text)],
            rows_estimated: None,
            disk_bytes: None,
            stored: engine::catalogue::Stored::Here,
            note: None,
            omitted: Vec::new(),
            unreadable: None,
            has_statistics: false,
            extent: 0,
            address: String::new(),
            from: "t".into(),
        }
    }

    #[test]
    fn a_level_that_does_not_take_is_seen_on_our_own_table() {
        let kept = |number: &str, word: &str| [codec("number", number, 0), codec("word", word, 0)];
        for (level, number, word, is_in_force) in [
            (Level::None, AS_IT_IS, AS_IT_IS, true),
            (Level::None, "BitPacking", AS_IT_IS, false),
            (Level::QueryLow, "BitPacking", AS_IT_IS, true),
            (Level::QueryLow, AS_IT_IS, AS_IT_IS, false),
            (Level::QueryLow, "BitPacking", "DICT_FSST", false),
            (Level::QueryHigh, "BitPacking", "DICT_FSST", true),
            // The engine leaves such strings uncompressed without a word.
            (Level::QueryHigh, "BitPacking", AS_IT_IS, false),
        ] {
            let why = not_in_force(level, &kept(number, word));
            assert_eq!(
                why.is_none(),
                is_in_force,
                "{level} {number} {word}: {why:?}"
            );
        }
        assert!(not_in_force(Level::None, &[]).is_some());
    }

    #[test]
    fn what_cannot_be_packed_is_no_failed_level_and_what_was_not_is() {
        let kept = |word: &str, unpacked| [codec("n", AS_IT_IS, 0), codec("w", word, unpacked)];
        assert_eq!(
            not_taken(Level::QueryHigh, &table(), &kept(AS_IT_IS, 0)),
            None
        );
        let waiting = not_taken(Level::QueryHigh, &table(), &kept(AS_IT_IS, 2)).unwrap();
        assert_eq!(waiting, "2 segments of column w were not packed");
        let odd = not_taken(Level::QueryLow, &table(), &kept("DICT_FSST", 0)).unwrap();
        assert!(odd.contains("DICT_FSST"), "{odd}");
    }
}
