//! Threads of one run: how they wait for one another, what they agree on, which domains each of them has, and when one
//! of them goes on alone; before its first window and after its last, how they share the work.
//!
//! Nothing here knows of windows or packets. No `unsafe`: state is owned by one thread, or lies in atomics and mutexes.

pub mod barrier;
pub mod clock;
pub mod crew;
pub mod pace;
pub mod partition;
pub mod stretch;
pub mod team;
pub mod watch;

/// Cores of this machine that the process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
