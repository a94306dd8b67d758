//! What held a point back, read.

use rusqlite::{Connection, Row};

use crate::store::Result;
use crate::store::rows::rows;
use crate::{BackgroundEvent, Bottleneck, EventSource, Remark, Resource, WaitHistogram};

/// The sentence of a point's own row, and what could not be understood of it.
pub(super) fn bottleneck(
    row: &Row<'_>,
    problems: &mut Vec<Remark>,
) -> rusqlite::Result<Option<Bottleneck>> {
    let resource: Option<String> = row.get("bottleneck_resource")?;
    let sentence: Option<String> = row.get("bottleneck_sentence")?;
    let Some((word, sentence)) = resource.zip(sentence) else {
        return Ok(None);
    };
    let resource = Resource::named(&word).unwrap_or_else(|| {
        problems.push(Remark::ResourceUnknown { word: word.clone() });
        Resource::Unknown
    });
    Ok(Some(Bottleneck { resource, sentence }))
}

pub(super) fn background_events(connection: &Connection, id: i64) -> Result<Vec<BackgroundEvent>> {
    let sql = "SELECT * FROM background_event WHERE point_id = ?1 ORDER BY seq";
    rows(connection, sql, [id], |row| {
        Ok(BackgroundEvent {
            process: row.get("process")?,
            event: row.get("event")?,
            count: row.get::<_, Option<i64>>("count")?.map(i64::cast_unsigned),
            time_s: row.get("time_s")?,
            mb: row.get("mb")?,
            source: EventSource::named(&row.get::<_, String>("source")?),
        })
    })
}

/// The histograms, and what could not be understood of them.
pub(super) fn wait_histograms(
    connection: &Connection,
    id: i64,
) -> Result<(Vec<WaitHistogram>, Vec<Remark>)> {
    let sql = "SELECT class, counts, remark FROM wait_histogram WHERE point_id = ?1 ORDER BY seq";
    let mut problems = Vec::new();
    let histograms = rows(connection, sql, [id], |row| {
        let class: String = row.get(0)?;
        let counts: Option<String> = row.get(1)?;
        let counts = counts.and_then(|text| {
            serde_json::from_str(&text)
                .inspect_err(|error| {
                    problems.push(Remark::WaitsUnreadable {
                        class: class.clone(),
                        error: error.to_string(),
                    });
                })
                .ok()
        });
        Ok(WaitHistogram {
            counts,
            class,
            remark: row.get(2)?,
        })
    })?;
    Ok((histograms, problems))
}
