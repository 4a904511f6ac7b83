//! Progress of simulated time: the engine of windows, and the end of a run.

mod buckets;
mod by_port;
pub mod ending;
mod out;
mod pages;
mod parts;
mod queues;
mod scatter;
pub mod windows;
pub mod worker;
