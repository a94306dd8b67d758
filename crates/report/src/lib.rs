//! Pages and tables for HTML and the terminal, from the archive alone.
//!
//! Everything is rendered from [`archive::Run`] and [`archive::reference::Reference`], never from a
//! live object, so any archive can be rendered without a database.
//!
//! * [`ending()`]: about ten lines for the end of a measurement.
//! * [`fleet_page()`]: many systems before and after, as one page.
//! * [`mod@grade`]: how far the figures of a run may be used, with the reasons.
//! * [`html()`]: one self-contained page.
//! * [`level`]: points in order: tests, curves, levels with their repetitions.
//! * [`mod@main_figures`]: the figures of the first screen, the summary and the grade.
//! * [`published()`]: the full content of a reference, as text.
//! * [`scorecard`]: the fixed table of metrics from `scorecard.toml`.
//! * [`terminal()`]: tables for a terminal of any width, and the line shown after each point.

#![forbid(unsafe_code)]

mod arrangement;
mod comparison;
mod component;
mod cores;
mod delivered;
mod devices;
mod ending;
mod fleet;
pub mod grade;
mod held_back;
mod html;
mod io_by_purpose;
pub mod level;
pub mod main_figures;
mod metric_name;
pub mod number;
mod plans;
mod prices;
mod published;
mod ramp;
mod remarks;
pub mod scorecard;
mod section;
mod shifted;
mod summary;
mod terminal;
mod transactions;
mod users;

pub use arrangement::arrangement;
pub use comparison::{
    Shown, alternatives, analyses_words, analysis, chances, comparison, design_words, ended,
    in_rounds, length, planned, ramps, screening, shifts, toward_a_verdict,
};
pub use cores::{CORES_BEFORE_CLOCK, saved as saved_words};
pub use ending::ending;
pub use fleet::text as fleet_text;
pub use grade::grade;
pub use html::{HtmlOptions, fleet as fleet_page, html, run_mark};
pub use prices::{Prices, prices};
pub use published::published;
pub use scorecard::{Against, Scorecard};
pub use summary::{Summary, summary};
pub use terminal::table::wrap;
pub use terminal::{point_line, terminal};
pub use users::parallelism;
