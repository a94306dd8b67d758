//! Properties, error rates and golden numbers.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod analyses;
mod error_rates;
mod hostile;
mod invariants;
mod noise;
mod scaling_law;
mod warm_up;

#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
