//! Words of simulated time and of packets: what every other room speaks.

pub mod aside;
pub mod interval;
pub mod order;
pub mod outbox;
pub mod packet;
pub(crate) mod prefetch;
pub mod series;
