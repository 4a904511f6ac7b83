//! How simulated time moves: the engine of windows, and the naive reference engine that tests hold it against.

pub mod progress;
pub mod reference;
pub mod windows;
