//! How simulated time moves: the engine of windows, and the naive reference engine that tests hold it against.

mod buckets;
mod deal;
mod ending;
pub mod progress;
pub mod reference;
pub mod windows;
