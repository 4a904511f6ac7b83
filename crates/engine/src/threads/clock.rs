//! Clocks of a run's threads.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The processor time of a run's threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cost {
    /// That of each, between the first event and the last.
    pub threads: Vec<Duration>,
    /// What set-up and outcome took on other threads than the caller's.
    pub helpers: Duration,
    /// Windows that several threads went through in step.
    pub in_step: u64,
}

/// Processor time that this thread has used so far; zero where the system does not tell.
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

/// Processor time of this thread, ns; time since the first call where the system does not tell.
pub fn own_ns() -> u64 {
    if cfg!(unix) { thread_time().as_nanos() as u64 } else { wall_ns() }
}
