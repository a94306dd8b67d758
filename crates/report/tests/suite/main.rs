//! Pages and terminal output as text.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod browser;
mod chromium;
mod columnar;
mod comparison;
mod devices;
mod first;
mod fixture;
mod held_back;
mod html;
mod prices;
mod scorecard;
mod screening;
mod shift;
mod terminal;
