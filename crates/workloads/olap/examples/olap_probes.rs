//! Finds drawn parameters with which queries answer more than a row of nothing, and prints the sections of
//! `library/olap/answers` for them.
//!
//! ```text
//! olap_probes URL QUERY=ROWS...     such as sqlite:/tmp/olap.db 8=2 17=1, on a loaded database
//! ```

use std::error::Error;

use engines::find;
use olap::metadata::Metadata;
use olap::reference::{PROBE_SEED, stored_probe};
use olap::{Answer, Parameters, Query};

const STREAMS_MAX: u32 = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = engines::parse(
        &arguments
            .next()
            .ok_or("usage: olap_probes URL QUERY=ROWS...")?,
    )?;
    let target = find(&url)?.open(&url)?;
    let mut session = target.open_session()?;
    let scale = Metadata::as_loaded(session.as_mut())?.scale;
    for wanted in arguments {
        let (number, rows) = wanted.split_once('=').ok_or("a query and its rows: 8=2")?;
        let query = Query::numbered(number.parse()?)?;
        let rows: usize = rows.parse()?;
        for stream in 1..=STREAMS_MAX {
            let parameters = Parameters::seeded(query.number, scale, PROBE_SEED, stream);
            let found = session.texts(&query.sql(url.engine(), &parameters)?)?;
            let answer = Answer::of(found).rounded(query);
            let is_nothing = |cell: &String| cell == "NULL" || cell.parse() == Ok(0.0);
            let says_something = !answer.rows.iter().flatten().any(is_nothing);
            if answer.rows.len() >= rows && says_something {
                print!("{}", stored_probe(query, stream, &answer));
                break;
            }
        }
    }
    Ok(())
}
