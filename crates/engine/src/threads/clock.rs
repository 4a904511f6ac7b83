//! The processor time of a thread.

use std::time::Duration;

/// The processor time of a run's threads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cost {
    /// That of each, between the first event and the last.
    pub threads: Vec<Duration>,
    /// What set-up and outcome took on other threads than the caller's.
    pub helpers: Duration,
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
