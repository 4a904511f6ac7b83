//! The state of a host: its NIC, what it costs its packets, its applications and connections. Pure: no event is made
//! here.

pub mod app;
pub mod messages;
pub mod nic;
pub mod processing;
