//! Tests that need the machine for themselves: they count what other programs do.

mod memory;
mod others;
