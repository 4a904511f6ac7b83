//! What an event may do at a node: send packets, set timers, leave observations, pause neighbours.

pub mod io;
pub mod pfc;
