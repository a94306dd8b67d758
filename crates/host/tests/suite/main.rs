//! Facts and activity of made-up machines, and of this one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod block;
mod control_group;
mod hostile;
mod inventory;
mod lint;
mod live;
mod machines;
mod made_up_machine;

#[global_allocator]
static MEMORY: testing::Counting = testing::Counting;
