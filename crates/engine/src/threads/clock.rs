//! Clocks of a run's threads.

use std::time::Duration;
#[cfg(not(target_family = "wasm"))]
use std::{sync::OnceLock, time::Instant};

/// A moment of wall time. WebAssembly has no clock: there every moment is long past.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    #[cfg(not(target_family = "wasm"))]
    at: Instant,
}

impl Moment {
    /// The present.
    pub fn now() -> Moment {
        Moment {
            #[cfg(not(target_family = "wasm"))]
            at: Instant::now(),
        }
    }

    /// Time since then.
    pub fn elapsed(&self) -> Duration {
        #[cfg(not(target_family = "wasm"))]
        return self.at.elapsed();
        #[cfg(target_family = "wasm")]
        Duration::MAX
    }
}

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

/// Time since the first call, ns; 0 on systems without a clock.
pub fn wall_ns() -> u64 {
    #[cfg(target_family = "wasm")]
    return 0;
    #[cfg(not(target_family = "wasm"))]
    {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
    }
}

/// Processor time of this thread, ns. On systems without such a clock: time since the first call.
pub fn own_ns() -> u64 {
    if cfg!(unix) { thread_time().as_nanos() as u64 } else { wall_ns() }
}
