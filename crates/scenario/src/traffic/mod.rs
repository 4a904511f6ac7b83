//! Traffic: the flows that the entries of a document make in a network.

pub mod arrivals;
mod collectives;
pub(crate) mod elephants;
mod file;
mod place;
mod queries;

pub(crate) use place::{check_two_hosts, host, shuffled};
