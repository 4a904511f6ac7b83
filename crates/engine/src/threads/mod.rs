//! Threads of a run: waiting and agreement, shares of the domains, and changes to a single thread. Also the parallel
//! work before the first window and after the last.
//!
//! Nothing here knows of windows or packets. No `unsafe`: state is owned by one thread, or kept in atomics and mutexes.

pub mod barrier;
pub mod clock;
pub mod mode;
pub mod partition;
pub mod progress;
pub mod thread_pool;
pub mod window_loop;
pub mod workers;

/// Cores of this machine that the process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
