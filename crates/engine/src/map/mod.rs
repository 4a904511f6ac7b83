//! Read-only facts of the fabric: locations of nodes, next hops, and ideal times of an idle network.

mod adjacency;
pub(crate) mod back;
pub(crate) mod cells;
mod connections;
mod deadlines;
pub(crate) mod duplexes;
pub mod earliest_end;
pub(crate) mod fabric;
pub mod failover;
pub mod flow_ports;
pub(crate) mod groups;
pub mod ideal;
pub(crate) mod jobs;
pub(crate) mod latency;
pub(crate) mod layout;
pub(crate) mod locality;
pub(crate) mod mirror;
pub(crate) mod packet_counts;
pub mod paths;
pub(crate) mod per_flow;
pub mod pfc;
pub(crate) mod planes;
mod segments;
mod transfer;
pub mod triggers;
mod ways;

pub use crate::port::buffer::Account;
