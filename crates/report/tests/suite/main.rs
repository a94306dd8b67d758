//! Pages and terminal output as text.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod alternatives;
mod browser;
#[allow(dead_code, reason = "the tests of the live page use the rest")]
mod chromium;
mod columnar;
mod comparison;
mod devices;
mod ending;
mod first;
mod fixture;
mod held_back;
mod html;
mod prices;
mod scorecard;
mod screening;
mod shift;
mod terminal;
