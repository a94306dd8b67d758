//! Columns with unsupported values: all at once, so that one message names them.

use engine::source::{Misfit, Reader, Source, SourceTable};

use super::chosen::LeftOut;
use super::{ColumnarError, Result};

/// Rows of each table that are searched for such values.
const SEARCHED_ROWS: u64 = 1_000_000;

/// Error that names the `known` columns, and those that the first rows of `tables` reveal.
pub(super) fn refused(
    source: &dyn Source,
    tables: &[SourceTable],
    known: &[LeftOut],
) -> Result<ColumnarError> {
    let mut unfit = known.to_vec();
    let mut reader = [source.open_reader()?];
    for table in tables {
        if (reader[0].read(&table.first(SEARCHED_ROWS), &None, &mut |_| Ok(()))).is_ok() {
            continue;
        }
        for column in named(table, &misfits(&mut reader)) {
            if unfit.iter().all(|known| known.name != column.name) {
                unfit.push(column);
            }
        }
        reader = [source.open_reader()?];
    }
    Ok(ColumnarError::Unholdable {
        columns: (unfit.iter())
            .map(|LeftOut { name, why }| format!("{name} ({why})"))
            .collect::<Vec<_>>()
            .join("; "),
        flags: (unfit.iter())
            .map(|LeftOut { name, .. }| match name.rsplit_once('.') {
                Some((table, column)) => format!("-{table}:{column}"),
                None => format!("-{name}"),
            })
            .collect::<Vec<_>>()
            .join(","),
    })
}

/// Misfits that readers found in their last table, each column once.
pub(super) fn misfits(readers: &mut [Box<dyn Reader>]) -> Vec<Misfit> {
    let mut found: Vec<Misfit> = Vec::new();
    for misfit in readers.iter_mut().flat_map(|reader| reader.misfits()) {
        if found.iter().all(|known| known.place != misfit.place) {
            found.push(misfit);
        }
    }
    found
}

pub(super) fn named(table: &SourceTable, misfits: &[Misfit]) -> Vec<LeftOut> {
    let named = misfits.iter().map(|misfit| LeftOut {
        name: format!("{}.{}", table.label(), table.columns[misfit.place].name),
        why: misfit.what.clone(),
    });
    named.collect()
}
