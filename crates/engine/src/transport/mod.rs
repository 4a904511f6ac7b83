//! Transports, and what they share.

pub mod entropy;
pub mod ranges;
pub mod reordering;
pub mod tcp;
pub mod timer;
