//! Actions of an event at a node: send packets, set timers, record observations, pause neighbours.

pub mod context;
mod credits;
mod departure;
mod early_sending;
pub mod host;
pub mod late_marking;
pub mod lazy_service;
mod nic_slots;
pub mod pause_record;
pub mod pfc;
mod programs;
mod radio;
mod send_back;
pub mod trace;
pub mod transmit;
pub mod triggers;
