//! Threads of one run: how they wait for one another, what they agree on, and which domains each of them has.
//!
//! Nothing here knows of windows or packets. No `unsafe`: state is owned by one thread, or lies in atomics and mutexes.

pub mod barrier;
pub mod clock;
pub mod crew;
pub mod partition;
