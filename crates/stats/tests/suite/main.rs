//! Properties, error rates and golden numbers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod error_rates;
mod invariants;
mod noise;
mod scaling_law;
