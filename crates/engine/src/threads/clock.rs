//! Clocks of a run's threads.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Processor time of a run's threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Time of each thread, between the first event and the last.
    pub threads: Vec<Duration>,
    /// Time of set-up and outcome on threads other than the caller's.
    pub helpers: Duration,
    /// Windows that several threads ran in step.
    pub in_step: u64,
}

/// Processor time of this thread so far; zero on systems without such a clock.
pub fn thread_time() -> Duration {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }
    #[cfg(not(unix))]
    Duration::ZERO
}

/// Time since the first call, ns.
pub fn wall_ns() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Processor time of this thread, ns. On systems without such a clock: time since the first call.
pub fn own_ns() -> u64 {
    if cfg!(unix) { thread_time().as_nanos() as u64 } else { wall_ns() }
}
