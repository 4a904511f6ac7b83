//! Runs of a graph without a network of packets: every message takes a time that no other changes.
//!
//! [`delay`] has the meaning of tasks that the engine has; [`loggops`] that of LogGOPSim and of its copy in htsim.

pub mod delay;
mod gathering;
mod heap;
pub mod least;
pub mod loggops;
mod network;
mod started;

pub use started::{Outcome, Stuck};
