//! `dbdyno export`: a run as JSON, CSV or Markdown.

use std::path::PathBuf;

use anyhow::Result;
use archive::export;

use super::{load_run, print, print_json_with};
use crate::arguments::{ExportArguments, Format};
use crate::exit::{Status, invalid};
use verdict::cores;
use verdict::price::{self, PriceList};

pub fn export(arguments: &ExportArguments, archive: &Option<PathBuf>) -> Result<Status> {
    let prices = arguments
        .prices
        .as_deref()
        .map(PriceList::load)
        .transpose()?;
    let run = load_run(&arguments.run, archive)?;
    match arguments.format {
        Format::Json => {
            let bill = prices.as_ref().map(|list| price::bill(list, &run));
            let mut exported = export::Exported::of(&run);
            exported.grade = Some(report::grade(&run, &[]));
            exported.spare_cores = Some(cores::exported(&run, prices.as_ref()));
            exported.prices = bill.map(|bill| price::json(&bill, &price::worth(&bill, &run)));
            print_json_with(|out| export::write_json(&exported, out))?;
        }
        _ if prices.is_some() => {
            return invalid(
                "--prices needs --format json: the other formats have no place for prices",
            );
        }
        Format::Csv => print(&export::csv(&run))?,
        Format::Markdown => {
            let answer = report::summary(&run, &[]).sentences();
            print(&export::markdown(&run, &answer))?;
        }
    }
    Ok(Status::Fine)
}
