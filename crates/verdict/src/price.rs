//! Prices of a platform and of its figures: prices of its parts, divided by measured figures.
//!
//! * [`mod@file`]: the file of prices, as TOML.
//! * [`mod@bill`]: its items for one platform: quantities, licences by core factors, totals.
//! * [`mod@limit`]: the users within the limit of a run.
//! * [`mod@worth`]: the total divided by a run's figures.
//! * [`mod@change`]: cost and gain of a change, from a comparison.
//! * [`mod@json`]: all of these as JSON.
//!
//! Nothing is guessed: an item without a quantity makes the total unknown, and an item without source or date
//! prevents every ratio.

pub mod bill;
pub mod change;
pub mod file;
pub mod json;
pub mod limit;
pub mod worth;

pub use bill::{Bill, Line, Money, Origin, Platform, Quantity, Saved, bill, saved_by_cores};
pub use change::{Change, Gain, change};
pub use file::{Factor, Item, PriceError, PriceList, Rule};
pub use json::{change as change_json, json};
pub use limit::NotKnown;
pub use worth::{DISKS_SOURCE, What, Worth, disks_15k, worth};
