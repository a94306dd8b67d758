//! Files for the comparison in `bench/olap.sh`: rows of the analytical workload, and its queries as SQL.
//!
//! ```text
//! olap_files tables DIRECTORY SCALE     TABLE.tbl for each table, texts between bars, as loaders of servers read them
//! olap_files queries ENGINE SCALE       the 22 statements in the order of stream 0, each on one line
//! ```

use std::error::Error;
use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use olap::{Parameters, QUERIES, Query, Scale, order};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, of, scale] = &arguments[..] else {
        return Err(
            "usage: olap_files tables DIRECTORY SCALE, or olap_files queries ENGINE SCALE".into(),
        );
    };
    let scale: Scale = scale.parse()?;
    match what.as_str() {
        "tables" => tables(Path::new(of), scale.factor()),
        "queries" => queries(of, scale),
        other => Err(format!("{other} is neither tables nor queries").into()),
    }
}

fn queries(engine: &str, scale: Scale) -> Result<(), Box<dyn Error>> {
    let all: Vec<u32> = (1..=QUERIES).collect();
    for number in order::of_stream(0, &all) {
        let parameters = Parameters::qualification(number, scale);
        let sql = Query::numbered(number)?.sql(engine, &parameters)?;
        println!("{};", sql.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

fn tables(directory: &Path, scale: f64) -> Result<(), Box<dyn Error>> {
    let file = |table: &str| File::create(directory.join(format!("{table}.tbl")));
    write(file("region")?, RegionGenerator::new(scale, 1, 1).iter())?;
    write(file("nation")?, NationGenerator::new(scale, 1, 1).iter())?;
    write(
        file("supplier")?,
        SupplierGenerator::new(scale, 1, 1).iter(),
    )?;
    write(file("part")?, PartGenerator::new(scale, 1, 1).iter())?;
    write(
        file("partsupp")?,
        PartSuppGenerator::new(scale, 1, 1).iter(),
    )?;
    write(
        file("customer")?,
        CustomerGenerator::new(scale, 1, 1).iter(),
    )?;
    write(file("orders")?, OrderGenerator::new(scale, 1, 1).iter())?;
    write(
        file("lineitem")?,
        LineItemGenerator::new(scale, 1, 1).iter(),
    )
}

fn write(file: File, rows: impl Iterator<Item = impl Display>) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::with_capacity(1 << 20, file);
    let mut line = String::new();
    for row in rows {
        use std::fmt::Write as _;
        line.clear();
        write!(line, "{row}")?;
        // The generator ends each row with a bar, which loaders take for one more column.
        file.write_all(line.trim_end_matches('|').as_bytes())?;
        file.write_all(b"\n")?;
    }
    Ok(file.flush()?)
}
