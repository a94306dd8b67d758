//! `dbdyno data`: the databases of the workloads.

mod columnar;
pub(super) mod database;
mod estimate;
mod olap;
mod oltp;
mod wanted;

use anyhow::Result;

use crate::arguments::data::{Check, DataVerb, Drop, Load, Restore};
use crate::exit::Status;

pub fn data(verb: &DataVerb) -> Result<Status> {
    match verb {
        DataVerb::Load(Load::Oltp(arguments)) => oltp::load(arguments),
        DataVerb::Load(Load::Olap(arguments)) => olap::load(arguments),
        DataVerb::Load(Load::Columnar(arguments)) => columnar::load(arguments),
        DataVerb::Check(Check::Oltp(arguments)) => oltp::check(arguments),
        DataVerb::Check(Check::Olap(arguments)) => olap::check(arguments),
        DataVerb::Restore(Restore::Oltp(arguments)) => oltp::restore(arguments),
        DataVerb::Drop(Drop::Oltp(arguments)) => oltp::drop_tables(arguments),
        DataVerb::Drop(Drop::Olap(arguments)) => olap::drop_tables(arguments),
        DataVerb::Estimate(arguments) => estimate::estimate(arguments),
    }
}
