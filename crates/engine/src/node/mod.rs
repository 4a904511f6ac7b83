//! Actions of an event at a node: send packets, set timers, record observations, pause neighbours.

pub mod context;
mod credits;
pub mod departure_marks;
pub mod host;
pub mod pfc;
mod programs;
mod radio;
pub mod receiver_driven;
pub mod self_service;
mod send_back;
pub mod trace;
pub mod transmit;
pub mod triggers;
