//! TCP: sender and receiver as state machines (event in, actions out).
//!
//! One transport with switches for what differs between references ([`crate::spec::TransportSpec`]).
//! Sequence numbers are 64-bit byte counts from 0, so they never wrap; SYN takes none, FIN takes
//! one after the last byte.

pub mod receiver;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
