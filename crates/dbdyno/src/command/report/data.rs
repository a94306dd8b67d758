//! A run as JSON, CSV or Markdown.

use std::path::Path;

use anyhow::Result;
use archive::{Run, export};
use verdict::cores;
use verdict::price;

use crate::arguments::Format;
use crate::command::{prices, print, print_json_with};
use crate::output;

pub(super) fn write(
    run: &Run,
    format: Format,
    price_files: &[String],
    file: Option<&Path>,
) -> Result<()> {
    let text = match format {
        Format::Csv => export::csv(run),
        Format::Md => export::markdown(run, &report::summary(run, &[]).sentences()),
        _ => return json(run, price_files, file),
    };
    match file {
        Some(file) => output::write_and_tell(file, &text, "report", "-o"),
        None => print(&text),
    }
}

fn json(run: &Run, price_files: &[String], file: Option<&Path>) -> Result<()> {
    let prices = prices::load(price_files, &[run])?;
    let list = prices.of(&run.label);
    let bill = list.map(|list| price::bill(list, run));
    let mut exported = export::Exported::of(run);
    exported.grade = Some(report::grade(run, &[]));
    exported.spare_cores = Some(cores::exported(run, list));
    exported.prices = bill.map(|bill| price::json(&bill, &price::worth(&bill, run)));
    let Some(file) = file else {
        return print_json_with(|out| export::write_json(&exported, out));
    };
    let mut text = Vec::new();
    export::write_json(&exported, &mut text)?;
    output::write_and_tell(file, &String::from_utf8(text)?, "report", "-o")
}
