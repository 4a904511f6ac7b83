//! Types of simulated time and of packets, used by all other modules.

pub mod interval;
pub mod metadata;
pub mod order;
pub mod outbox;
pub mod packet;
pub(crate) mod prefetch;
pub mod series;
