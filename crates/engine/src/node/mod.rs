//! Actions of an event at a node: send packets, set timers, record observations, pause neighbours.

pub mod context;
mod credits;
pub mod host;
pub mod late_marking;
pub mod lazy_service;
pub mod pfc;
mod programs;
mod radio;
pub mod receiver_driven;
mod send_back;
pub mod trace;
pub mod transmit;
pub mod triggers;
