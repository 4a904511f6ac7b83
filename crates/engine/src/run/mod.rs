//! How simulated time moves: the engine of windows, and when a run ends.

mod buckets;
mod deal;
pub mod ending;
pub mod progress;
pub mod windows;
