//! How simulated time moves: the engine of windows, and when a run ends.

mod buckets;
mod by_port;
mod deal;
pub mod ending;
mod out;
mod pages;
mod parts;
mod queues;
pub mod windows;
pub mod worker;
